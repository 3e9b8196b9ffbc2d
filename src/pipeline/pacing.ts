import type { Clock } from '../clock.ts';
import type { WorkQueue } from '../engine/index.ts';
import { sinceMs, type Task, type TaskEvent, type TaskId } from '../tasks/index.ts';
import { serviceQueue } from './next-job.ts';
import type { TaskObserver, TaskRepository } from './repository.ts';
import { memberIdOf } from './task-ids.ts';

/** Number of shots of a storyboard that are made at a time. */
const SHOTS_AT_A_TIME = 2;

/** Events after which the next shot may start. */
const ENDS: ReadonlySet<TaskEvent['kind'] | 'claimed'> = new Set([
  'completed',
  'failed',
  'refused',
  'lost',
  'disowned',
  'cancel',
]);

/** Options of {@link StoryboardPacing}. */
interface PacingOptions {
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly queue: Pick<WorkQueue, 'schedule'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Age of a shot at the service from which the next ones no longer wait for it, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Lets the shots of a storyboard start in their order, {@link SHOTS_AT_A_TIME} at a time. A shot may start while fewer than that
 * many of the shots before it are unfinished, which their records say: no counter can be wrong after a restart, and two
 * replicas need no lock, since of the shots in progress the last one had at most one before it.
 */
export class StoryboardPacing implements TaskObserver {
  readonly #options: PacingOptions;

  constructor(options: PacingOptions) {
    this.#options = options;
  }

  /** Returns whether a claimed task may be sent now; one that is no shot always may. */
  async mayStart({ set }: Task): Promise<boolean> {
    if (set?.kind !== 'storyboard' || set.at <= SHOTS_AT_A_TIME) return true;
    const before = Array.from({ length: set.at - 1 }, (_, index) => memberIdOf(set.id, index + 1));
    let unfinished = 0;
    for (const id of before) {
      const task = await this.#options.repository.get(id);
      if (task !== undefined && this.#isUnfinished(task)) unfinished += 1;
      if (unfinished === SHOTS_AT_A_TIME) return false;
    }
    return true;
  }

  /** Brings the jobs of the shots after one that has ended forward. */
  changed({ set }: Task, event: TaskEvent['kind'] | 'claimed'): void {
    if (set?.kind !== 'storyboard' || !ENDS.has(event)) return;
    const first = Math.max(set.at, SHOTS_AT_A_TIME) + 1;
    for (let at = first; at <= set.of; at += 1) void this.#bringForward(memberIdOf(set.id, at));
  }

  /** Without the store, the shot is checked again when its own job is due. */
  async #bringForward(id: TaskId): Promise<void> {
    const { repository, queue, clock } = this.#options;
    const task = await repository.get(id).catch(() => undefined);
    if (task?.state === 'claimed') queue.schedule(serviceQueue('send', task.request), id, clock.now());
  }

  /** Returns whether a shot occupies a place; one that is unconfirmed, cancelled or overdue does not. */
  #isUnfinished(task: Task): boolean {
    const { clock, deadlineMs } = this.#options;
    if (task.cancelledBy !== undefined) return false;
    if (task.state === 'claimed' || task.state === 'sending') return true;
    return task.state === 'polling' && clock.now() - sinceMs(task) < deadlineMs;
  }
}
