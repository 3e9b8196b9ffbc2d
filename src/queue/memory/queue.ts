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

/** A plan to step something. A plan that was replaced stays in the heap and is skipped when its turn comes. */
interface Plan {
  readonly id: string;
  /** By the clock's {@link Clock.monotonic}, as every time in here: whoever sets the clock moves no step. */
  readonly atMs: number;
}

interface LaneState {
  readonly heap: TinyQueue<Plan>;
  /** The plan that holds, by id. */
  readonly planned: Map<string, Plan>;
  readonly running: Map<string, Promise<void>>;
  readonly concurrency: number;
  readonly limit: QueueLimit | undefined;
  /** How many steps began since when, within the stretch of time of the limit. */
  window: { readonly sinceMs: number; begun: number };
  lag: SeenLag | null;
  /** No step begins before. */
  heldUntilMs: number;
  timer: { readonly atMs: number; readonly cancel: CancelTimer } | null;
}

/** Collaborators of {@link createMemoryQueue}. */
export interface MemoryQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many steps of a lane of each kind run at once, at least 1 each. */
  readonly concurrency: Readonly<Record<JobKind, number>>;
  readonly limits?: QueueLimits;
}

/** The work queue of one process: a heap of plans and one timer a lane. */
export function createMemoryQueue({ clock, logger, concurrency, limits = {} }: MemoryQueueOptions): WorkQueue {
  let steps: Readonly<Record<JobKind, JobHandler>> | null = null;
  const stopping = new AbortController();
  const newLane = (lane: QueueName): LaneState => emptyLane(concurrency[jobKindOf(lane)], limits[lane]);
  /** By lane; those of platforms come to be with their first step. */
  const lanes = new Map<QueueName, LaneState>(queueNamesOf([]).map((lane) => [lane, newLane(lane)]));

  const laneOf = (lane: QueueName): LaneState => {
    const state = lanes.get(lane) ?? newLane(lane);
    lanes.set(lane, state);
    return state;
  };

  const plan = (lane: QueueName, id: string, atMs: number): void => {
    const state = laneOf(lane);
    const entry: Plan = { id, atMs };
    state.planned.set(id, entry);
    // Two steps of one thing never run at once: the plan waits beside the heap until the running one ends.
    if (state.running.has(id)) return;
    state.heap.push(entry);
    if (state.timer === null || atMs < state.timer.atMs) wake(lane);
  };

  /** Begins what is due, as far as there is room, and sets the timer for what comes next. */
  const wake = (lane: QueueName): void => {
    if (steps === null || stopping.signal.aborted) return;
    const state = laneOf(lane);
    const nowMs = clock.monotonic();
    if (state.heldUntilMs > nowMs) {
      setTimer(lane, state.heldUntilMs);
      return;
    }
    for (let next = state.heap.peek(); next !== undefined; next = state.heap.peek()) {
      if (state.planned.get(next.id) !== next) {
        state.heap.pop();
        continue;
      }
      // With no room left, the end of a running step wakes the lane.
      if (state.running.size >= state.concurrency) return;
      if (next.atMs > nowMs) {
        setTimer(lane, next.atMs);
        return;
      }
      const fullUntilMs = limitedUntil(state, nowMs);
      if (fullUntilMs > nowMs) {
        setTimer(lane, fullUntilMs);
        return;
      }
      state.heap.pop();
      run(lane, next, nowMs);
    }
  };

  const setTimer = (lane: QueueName, atMs: number): void => {
    const state = laneOf(lane);
    if (state.timer !== null && state.timer.atMs <= atMs) return;
    state.timer?.cancel();
    const fire = (): void => {
      state.timer = null;
      wake(lane);
    };
    state.timer = { atMs, cancel: clock.after(atMs - clock.monotonic(), fire) };
  };

  const run = (lane: QueueName, { id, atMs }: Plan, nowMs: number): void => {
    const state = laneOf(lane);
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
      if (!stopping.signal.aborted) logger.error({ lane, id, err: thrown }, 'a step threw; it is tried again later');
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
      const there = [lane, ...orIn].map(laneOf);
      const fromMs = clock.monotonic() + atMs - clock.now();
      const untilMs = clock.monotonic() + latestMs - clock.now();
      const isPlanned = (plan: Plan | undefined): boolean => plan !== undefined && plan.atMs <= untilMs;
      let lost = 0;
      for (const [place, id] of ids.entries()) {
        if (there.some(({ planned, running }) => isPlanned(planned.get(id)) || running.has(id))) continue;
        plan(lane, id, fromMs + Math.floor(place * apartMs));
        lost += 1;
      }
      return lost;
    },
    holdBack(lane, forMs) {
      const state = laneOf(lane);
      state.heldUntilMs = Math.max(state.heldUntilMs, clock.monotonic() + forMs);
    },
    get lanes() {
      return [...lanes.keys()];
    },
    async stats(lane) {
      const state = laneOf(lane);
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

/** Until when the limit of a lane is used up; the present where it is not. */
function limitedUntil(state: LaneState, nowMs: number): number {
  if (state.limit === undefined) return nowMs;
  const { max, perMs } = state.limit;
  if (nowMs >= state.window.sinceMs + perMs) state.window = { sinceMs: nowMs, begun: 0 };
  return state.window.begun < max ? nowMs : state.window.sinceMs + perMs;
}

function emptyLane(concurrency: number, limit: QueueLimit | undefined): LaneState {
  return {
    heap: new TinyQueue<Plan>([], (a, b) => a.atMs - b.atMs),
    planned: new Map(),
    running: new Map(),
    concurrency,
    limit,
    window: { sinceMs: Number.NEGATIVE_INFINITY, begun: 0 },
    lag: null,
    heldUntilMs: Number.NEGATIVE_INFINITY,
    timer: null,
  };
}
