import type { Clock } from '../clock.ts';
import type { WorkQueue } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { LastFrames } from '../media/index.ts';
import type { Boards, Shot } from '../orders/index.ts';
import { memberIdOf, scheduleNext, type TaskObserver, type TaskRepository } from '../pipeline/index.ts';
import { backoffMs, FailureCounter } from '../retry.ts';
import {
  type Dropped,
  hasClip,
  isEnded,
  type SetPlace,
  type ShotEnd,
  type Task,
  type TaskEvent,
  type TaskId,
} from '../tasks/index.ts';

/** Delay before another check for the clip before; the job of a set's shot is also brought forward when that one ends. */
const RECHECK_MS = 10_000;
/** Failed attempts to take the frame of a shot, after which it is not ordered. */
const MAX_FAILURES = 5;
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

/** Events after which a shot may have a clip, or never will. */
const ENDS: ReadonlySet<TaskEvent['kind'] | 'claimed'> = new Set([
  'fetched',
  'unfetchable',
  'failed',
  'refused',
  'cancel',
  'leave',
  'drop',
]);

/** Options of {@link Chaining}. */
interface ChainingOptions {
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly boards: Pick<Boards, 'get'>;
  readonly frames: Pick<LastFrames, 'take'>;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * Gives chained shots of storyboards their first image: the last frame of the clip that is in the cut for the shot before, by
 * the order in which they were written. The frame's URL is committed with the state in which the shot may be sent, so that
 * any process sends the same request, and none without it. Where the shot before ends without a clip, the shot is cancelled
 * before anything was sent, and so are those after it.
 */
export class Chaining implements TaskObserver {
  readonly #options: ChainingOptions;
  readonly #failures: FailureCounter;

  constructor(options: ChainingOptions) {
    this.#options = options;
    this.#failures = new FailureCounter(options.clock);
  }

  /** Handles jobs of the `frame` queue. @throws the reason of `signal` */
  async run(id: string, signal: AbortSignal): Promise<number | null> {
    const { repository, boards, queue, clock } = this.#options;
    const task = await repository.get(id as TaskId);
    if (task?.state !== 'waiting') return null;
    const place = task.takeOf ?? task.set;
    const before = place === undefined ? undefined : orderedWith(task, await shotBefore(boards, place));
    if (before === undefined) return this.#drop(task, { shot: Math.max(1, (place?.at ?? 2) - 1), end: 'removed' });
    const { chosen, at: shot } = before;
    if (!hasClip(chosen)) {
      if (isInProgress(before)) return RECHECK_MS;
      return this.#drop(task, chosen.dropped ?? { shot, end: endOf(chosen) });
    }
    const url = await this.#frameOf(task, chosen, signal);
    if (typeof url !== 'string') return url.dueInMs ?? this.#drop(task, { shot, end: 'unframed' });
    const framed = await repository.record(task.id, { kind: 'framed', of: chosen.id, url }, task);
    if (framed !== undefined) scheduleNext(queue, framed.task, clock.now());
    return null;
  }

  /** Brings the job of the shot after one that has ended forward. */
  changed({ set }: Task, event: TaskEvent['kind'] | 'claimed'): void {
    if (set?.kind !== 'storyboard' || set.at === set.of || !ENDS.has(event)) return;
    const { queue, clock } = this.#options;
    queue.schedule('frame', memberIdOf(set.id, set.at + 1), clock.now());
  }

  /** Returns the URL of the last frame of the take before a shot, or the delay before another attempt: `null` for none. */
  async #frameOf({ id }: Task, take: Task, signal: AbortSignal): Promise<string | { readonly dueInMs: number | null }> {
    const { frames, random, logger } = this.#options;
    try {
      const url = await frames.take(take, signal);
      this.#failures.forget(id);
      return url;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = asDailiesError(thrown, `taking the last frame of clip ${take.id}`);
      const { count } = this.#failures.failedAgain(id);
      logger.warn({ event: 'frame_failed', task: take.id, failures: count, err: error }, 'failed to take a last frame');
      // A store, a bucket or a service that is away comes back.
      if (count >= MAX_FAILURES && !error.retryable) return { dueInMs: null };
      const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: random() };
      return { dueInMs: backoffMs(count, { ...pace, askedMs: error.retryAfterMs }) };
    }
  }

  async #drop(task: Task, dropped: Dropped): Promise<null> {
    const { repository, queue, clock, logger } = this.#options;
    const recorded = await repository.record(task.id, { kind: 'drop', dropped, atMs: clock.now() }, task);
    logger.info({ event: 'shot_dropped', task: task.id, ...dropped }, 'did not order a shot: it has no first image');
    if (recorded !== undefined) scheduleNext(queue, recorded.task, clock.now());
    return null;
  }
}

/** Returns the shot before a place, by the order in which the storyboard was written; `undefined` if there is none. */
export async function shotBefore(boards: Pick<Boards, 'get'>, place: SetPlace): Promise<Shot | undefined> {
  const { shots } = await boards.get(place);
  return shots.find(({ at }) => at === place.at - 1);
}

/** Returns a shot with the take alone that the same press ordered, where it did. */
function orderedWith({ press, takeOf }: Task, shot: Shot | undefined): Shot | undefined {
  const isTake = press !== undefined && takeOf !== undefined;
  const take = isTake ? shot?.takes.find((one) => one.press === press) : undefined;
  return shot === undefined || take === undefined ? shot : { ...shot, chosen: take, takes: [take] };
}

/** Returns whether a shot may still get a clip by itself, or by a decision on one that is unconfirmed. */
export function isInProgress({ takes }: Pick<Shot, 'takes'>): boolean {
  return takes.some((task) => !isEnded(task) && task.cancelledBy === undefined && task.removal === undefined);
}

/** Returns how a take ended without a clip. */
function endOf({ state, removal, cancelledBy }: Task): ShotEnd {
  if (removal !== undefined) return 'removed';
  return cancelledBy === undefined ? (ENDS_BY_STATE[state] ?? 'failed') : 'cancelled';
}

const ENDS_BY_STATE: Partial<Readonly<Record<Task['state'], ShotEnd>>> = {
  completed: 'lost',
  rejected: 'refused',
  uncertain: 'unconfirmed',
  cancelled: 'cancelled',
  declined: 'declined',
};
