import TinyQueue from 'tinyqueue';
import { type CancelTimer, type Clock, within } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import {
  type JobHandler,
  type JobKind,
  jobEndings,
  jobKindOf,
  lagOf,
  pauseAfter,
  type QueueLimit,
  type QueueLimits,
  type QueueName,
  queueNamesOf,
  type SeenLag,
  type WorkQueue,
} from '../queue.ts';

/** A scheduled job. One that was replaced stays in the heap and is skipped when it is due. */
interface ScheduledJob {
  readonly id: string;
  /** Due time by the clock's {@link Clock.monotonic}, as all times in this file: clock adjustments move no job. */
  readonly atMs: number;
}

interface QueueState {
  readonly heap: TinyQueue<ScheduledJob>;
  /** The current job of each id. */
  readonly planned: Map<string, ScheduledJob>;
  readonly running: Map<string, Promise<void>>;
  readonly concurrency: number;
  readonly limit: QueueLimit | undefined;
  /** Current period of the rate limit, and the number of jobs started in it. */
  window: { readonly sinceMs: number; begun: number };
  lag: SeenLag | null;
  /** End of the pause: no job starts before. */
  pausedUntilMs: number;
  timer: { readonly atMs: number; readonly cancel: CancelTimer } | null;
}

/** Options of {@link createMemoryQueue}. */
export interface MemoryQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Number of jobs that run at once in each queue of a kind, at least 1 each. */
  readonly concurrency: Readonly<Record<JobKind, number>>;
  readonly limits?: QueueLimits;
}

/** Creates the work queue of a single process: a heap of jobs and one timer per queue. */
export function createMemoryQueue({ clock, logger, concurrency, limits = {} }: MemoryQueueOptions): WorkQueue {
  let steps: Readonly<Record<JobKind, JobHandler>> | null = null;
  const stopping = new AbortController();
  const newState = (lane: QueueName): QueueState => emptyState(concurrency[jobKindOf(lane)], limits[lane]);
  /** State by queue name; the queues of platforms are created with their first job. */
  const lanes = new Map<QueueName, QueueState>(queueNamesOf([]).map((lane) => [lane, newState(lane)]));

  const stateOf = (lane: QueueName): QueueState => {
    const state = lanes.get(lane) ?? newState(lane);
    lanes.set(lane, state);
    return state;
  };

  const plan = (lane: QueueName, id: string, atMs: number): void => {
    const state = stateOf(lane);
    const entry: ScheduledJob = { id, atMs };
    state.planned.set(id, entry);
    // Two jobs of one id never run at once: the new one waits outside of the heap until the running one ends.
    if (state.running.has(id)) return;
    state.heap.push(entry);
    if (state.timer === null || atMs < state.timer.atMs) wake(lane);
  };

  /** Starts due jobs while slots are free, and sets the timer for the next one. */
  const wake = (lane: QueueName): void => {
    if (steps === null || stopping.signal.aborted) return;
    const state = stateOf(lane);
    const nowMs = clock.monotonic();
    if (state.pausedUntilMs > nowMs) {
      setTimer(lane, state.pausedUntilMs);
      return;
    }
    for (let next = state.heap.peek(); next !== undefined; next = state.heap.peek()) {
      if (state.planned.get(next.id) !== next) {
        state.heap.pop();
        continue;
      }
      // Without a free slot, the end of a running job wakes the queue.
      if (state.running.size >= state.concurrency) return;
      if (next.atMs > nowMs) {
        setTimer(lane, next.atMs);
        return;
      }
      const limitedUntilMs = limitedUntil(state, nowMs);
      if (limitedUntilMs > nowMs) {
        setTimer(lane, limitedUntilMs);
        return;
      }
      state.heap.pop();
      run(lane, next, nowMs);
    }
  };

  const setTimer = (lane: QueueName, atMs: number): void => {
    const state = stateOf(lane);
    if (state.timer !== null && state.timer.atMs <= atMs) return;
    state.timer?.cancel();
    const fire = (): void => {
      state.timer = null;
      wake(lane);
    };
    state.timer = { atMs, cancel: clock.after(atMs - clock.monotonic(), fire) };
  };

  const run = (lane: QueueName, { id, atMs }: ScheduledJob, nowMs: number): void => {
    const state = stateOf(lane);
    state.planned.delete(id);
    state.window.begun += 1;
    state.lag = { lagMs: nowMs - atMs, seenAtMs: nowMs };
    const ended = (delayMs: number | null): void => {
      state.running.delete(id);
      const waiting = state.planned.get(id)?.atMs ?? Number.POSITIVE_INFINITY;
      const dueMs = Math.min(waiting, delayMs === null ? Number.POSITIVE_INFINITY : clock.monotonic() + delayMs);
      if (dueMs < Number.POSITIVE_INFINITY) plan(lane, id, dueMs);
      wake(lane);
    };
    const step = steps?.[jobKindOf(lane)] ?? (() => Promise.resolve(null));
    const done = step(id, stopping.signal).then(ended, (thrown: unknown) => {
      if (!stopping.signal.aborted) {
        logger.error({ event: 'job_failed', lane, id, err: thrown }, 'job threw an error, retrying later');
      }
      ended(pauseAfter(thrown));
    });
    state.running.set(id, done);
  };

  return {
    start(given) {
      steps = given;
      for (const lane of lanes.keys()) wake(lane);
    },
    schedule: (lane, id, atMs) => plan(lane, id, clock.monotonic() + atMs - clock.now()),
    async ensure({ lane, ids, atMs, apartMs = 0, orIn = [], latestMs = Number.POSITIVE_INFINITY }) {
      const there = [lane, ...orIn].map(stateOf);
      const fromMs = clock.monotonic() + atMs - clock.now();
      const untilMs = clock.monotonic() + latestMs - clock.now();
      const isPlanned = (plan: ScheduledJob | undefined): boolean => plan !== undefined && plan.atMs <= untilMs;
      let lost = 0;
      for (const [position, id] of ids.entries()) {
        if (there.some(({ planned, running }) => isPlanned(planned.get(id)) || running.has(id))) continue;
        plan(lane, id, fromMs + Math.floor(position * apartMs));
        lost += 1;
      }
      return lost;
    },
    holdBack(lane, forMs) {
      const state = stateOf(lane);
      state.pausedUntilMs = Math.max(state.pausedUntilMs, clock.monotonic() + forMs);
    },
    get lanes() {
      return [...lanes.keys()];
    },
    async stats(lane) {
      const state = stateOf(lane);
      return { planned: state.planned.size, running: state.running.size, lagMs: lagOf(state.lag, clock.monotonic()) };
    },
    async drain(patienceMs = Number.POSITIVE_INFINITY) {
      stopping.abort(jobEndings());
      const all = [...lanes.values()];
      for (const { timer } of all) timer?.cancel();
      const ended = Promise.all(all.flatMap(({ running }) => [...running.values()])).then(() => true);
      return patienceMs === Number.POSITIVE_INFINITY ? ended : within(clock, patienceMs, ended, false);
    },
    close: () => Promise.resolve(),
  };
}

/** Returns the time until which the rate limit of a queue is used up; `nowMs` where it is not. */
function limitedUntil(state: QueueState, nowMs: number): number {
  if (state.limit === undefined) return nowMs;
  const { max, perMs } = state.limit;
  if (nowMs >= state.window.sinceMs + perMs) state.window = { sinceMs: nowMs, begun: 0 };
  return state.window.begun < max ? nowMs : state.window.sinceMs + perMs;
}

function emptyState(concurrency: number, limit: QueueLimit | undefined): QueueState {
  return {
    heap: new TinyQueue<ScheduledJob>([], (a, b) => a.atMs - b.atMs),
    planned: new Map(),
    running: new Map(),
    concurrency,
    limit,
    window: { sinceMs: Number.NEGATIVE_INFINITY, begun: 0 },
    lag: null,
    pausedUntilMs: Number.NEGATIVE_INFINITY,
    timer: null,
  };
}
