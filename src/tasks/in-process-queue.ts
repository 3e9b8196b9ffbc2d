import TinyQueue from 'tinyqueue';
import type { CancelTimer, Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { kindOf, type Lane, lanesOf, type Step, type StepKind, type WorkQueue } from './queue.ts';

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
  /** No step begins before. */
  heldUntilMs: number;
  timer: { readonly atMs: number; readonly cancel: CancelTimer } | null;
}

/** How long a step that threw what no step should throw is left alone. */
const AFTER_A_DEFECT_MS = 30_000;

/** Collaborators of {@link createInProcessQueue}. */
export interface InProcessQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many steps of a lane of each kind run at once, at least 1 each. */
  readonly concurrency: Readonly<Record<StepKind, number>>;
}

/** The work queue of one process: a heap of plans and one timer a lane. */
export function createInProcessQueue({ clock, logger, concurrency }: InProcessQueueOptions): WorkQueue {
  let steps: Readonly<Record<StepKind, Step>> | null = null;
  const stopping = new AbortController();
  /** By lane; those of platforms come to be with their first step. */
  const lanes = new Map<Lane, LaneState>(lanesOf([]).map((lane) => [lane, emptyLane(concurrency[kindOf(lane)])]));

  const laneOf = (lane: Lane): LaneState => {
    const state = lanes.get(lane) ?? emptyLane(concurrency[kindOf(lane)]);
    lanes.set(lane, state);
    return state;
  };

  const plan = (lane: Lane, id: string, atMs: number): void => {
    const state = laneOf(lane);
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
    const state = laneOf(lane);
    const nowMs = clock.now();
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
      state.heap.pop();
      run(lane, next, nowMs);
    }
  };

  const setTimer = (lane: Lane, atMs: number): void => {
    const state = laneOf(lane);
    if (state.timer !== null && state.timer.atMs <= atMs) return;
    state.timer?.cancel();
    const fire = (): void => {
      state.timer = null;
      wake(lane);
    };
    state.timer = { atMs, cancel: clock.after(atMs - clock.now(), fire) };
  };

  const run = (lane: Lane, { id, atMs }: Plan, nowMs: number): void => {
    const state = laneOf(lane);
    state.planned.delete(id);
    state.lagMs = nowMs - atMs;
    const ended = (delayMs: number | null): void => {
      state.running.delete(id);
      const waiting = state.planned.get(id)?.atMs ?? Number.POSITIVE_INFINITY;
      const dueMs = Math.min(waiting, delayMs === null ? Number.POSITIVE_INFINITY : clock.now() + delayMs);
      if (dueMs < Number.POSITIVE_INFINITY) plan(lane, id, dueMs);
      wake(lane);
    };
    const step = steps?.[kindOf(lane)] ?? (() => Promise.resolve(null));
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
      for (const lane of lanes.keys()) wake(lane);
    },
    schedule: plan,
    async ensure(lane, ids, atMs) {
      const { planned, running } = laneOf(lane);
      const lost = ids.filter((id) => !planned.has(id) && !running.has(id));
      for (const id of lost) plan(lane, id, atMs);
      return lost.length;
    },
    holdBack(lane, forMs) {
      const state = laneOf(lane);
      state.heldUntilMs = Math.max(state.heldUntilMs, clock.now() + forMs);
    },
    get lanes() {
      return [...lanes.keys()];
    },
    async stats(lane) {
      const state = laneOf(lane);
      return { planned: state.planned.size, running: state.running.size, lagMs: state.lagMs };
    },
    async drain(patienceMs = Number.POSITIVE_INFINITY) {
      stopping.abort(
        new DailiesError('stepping tasks: this process is stopping', { code: 'internal', retryable: true }),
      );
      const all = [...lanes.values()];
      for (const { timer } of all) timer?.cancel();
      const ended = Promise.all(all.flatMap(({ running }) => [...running.values()])).then(() => true);
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
    heldUntilMs: 0,
    timer: null,
  };
}
