import TinyQueue from 'tinyqueue';
import type { CancelTimer, Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { LANES, type Lane, type Step, type WorkQueue } from './queue.ts';

/** A plan to step something. A plan that was replaced stays in the heap and is skipped when its turn comes. */
interface Plan {
  readonly id: string;
  atMs: number;
}

interface LaneState {
  readonly heap: TinyQueue<Plan>;
  /** The plan that holds, by id. */
  readonly planned: Map<string, Plan>;
  readonly running: Map<string, Promise<void>>;
  readonly concurrency: number;
  lagMs: number;
  timer: { readonly atMs: number; readonly cancel: CancelTimer } | null;
}

/** How long a step that threw what no step should throw is left alone. */
const AFTER_A_DEFECT_MS = 30_000;

/** Collaborators of {@link createInProcessQueue}. */
export interface InProcessQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many steps of each lane run at once, at least 1 each. */
  readonly concurrency: Readonly<Record<Lane, number>>;
}

/** The work queue of one process: a heap of plans and one timer a lane. */
export function createInProcessQueue({ clock, logger, concurrency }: InProcessQueueOptions): WorkQueue {
  let steps: Readonly<Record<Lane, Step>> | null = null;
  const stopping = new AbortController();
  const lanes = Object.fromEntries(LANES.map((lane) => [lane, emptyLane(concurrency[lane])])) as unknown as Readonly<
    Record<Lane, LaneState>
  >;

  const plan = (lane: Lane, id: string, atMs: number): void => {
    const state = lanes[lane];
    const entry: Plan = { id, atMs };
    state.planned.set(id, entry);
    // Two steps of one thing never run at once: the plan waits beside the heap until the running one ends.
    if (state.running.has(id)) return;
    state.heap.push(entry);
    if (state.timer === null || atMs < state.timer.atMs) wake(lane);
  };

  /** Begins what is due, as far as there is room, and sets the timer for what comes next. */
  const wake = (lane: Lane): void => {
    if (steps === null || stopping.signal.aborted) return;
    const state = lanes[lane];
    const nowMs = clock.now();
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
      state.heap.pop();
      run(lane, next, nowMs);
    }
  };

  const setTimer = (lane: Lane, atMs: number): void => {
    const state = lanes[lane];
    if (state.timer !== null && state.timer.atMs <= atMs) return;
    state.timer?.cancel();
    const fire = (): void => {
      state.timer = null;
      wake(lane);
    };
    state.timer = { atMs, cancel: clock.after(atMs - clock.now(), fire) };
  };

  const run = (lane: Lane, { id, atMs }: Plan, nowMs: number): void => {
    const state = lanes[lane];
    state.planned.delete(id);
    state.lagMs = nowMs - atMs;
    const ended = (delayMs: number | null): void => {
      state.running.delete(id);
      const waiting = state.planned.get(id)?.atMs ?? Number.POSITIVE_INFINITY;
      const dueMs = Math.min(waiting, delayMs === null ? Number.POSITIVE_INFINITY : clock.now() + delayMs);
      if (dueMs < Number.POSITIVE_INFINITY) plan(lane, id, dueMs);
      wake(lane);
    };
    const step = steps?.[lane] ?? (() => Promise.resolve(null));
    const done = step(id, stopping.signal).then(ended, (thrown: unknown) => {
      if (!stopping.signal.aborted) logger.error({ lane, id, err: thrown }, 'a step threw; it is tried again later');
      const askedMs = thrown instanceof DailiesError ? thrown.retryAfterMs : undefined;
      ended(askedMs ?? AFTER_A_DEFECT_MS);
    });
    state.running.set(id, done);
  };

  return {
    start(given) {
      steps = given;
      for (const lane of LANES) wake(lane);
    },
    schedule: plan,
    stats(lane) {
      const state = lanes[lane];
      return { planned: state.planned.size, running: state.running.size, lagMs: state.lagMs };
    },
    async drain(patienceMs = Number.POSITIVE_INFINITY) {
      stopping.abort(
        new DailiesError('stepping tasks: this process is stopping', { code: 'internal', retryable: true }),
      );
      for (const lane of LANES) lanes[lane].timer?.cancel();
      const ended = Promise.all(LANES.flatMap((lane) => [...lanes[lane].running.values()])).then(() => true);
      if (patienceMs === Number.POSITIVE_INFINITY) return ended;
      const late = Promise.withResolvers<boolean>();
      const cancel = clock.after(patienceMs, () => late.resolve(false));
      return Promise.race([ended, late.promise]).finally(cancel);
    },
  };
}

function emptyLane(concurrency: number): LaneState {
  return {
    heap: new TinyQueue<Plan>([], (a, b) => a.atMs - b.atMs),
    planned: new Map(),
    running: new Map(),
    concurrency,
    lagMs: 0,
    timer: null,
  };
}
