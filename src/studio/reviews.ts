import type { Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { TaskRepository } from '../pipeline/index.ts';
import { isEnded, newerVersions, type ReviewDecision, readTasks, type Task } from '../tasks/index.ts';

/** Outcome of a decision: whether it counts, and the current task. */
interface Reviewed {
  readonly done: boolean;
  readonly task: Task;
}

/** Options of {@link Reviews}. */
interface ReviewsOptions {
  readonly store: Pick<Store, 'scan' | 'keyv'>;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly logger: Logger;
}

/** Reviews of clips. Who may review is checked by the caller. Rejects with `store_unavailable`. */
export class Reviews {
  readonly #options: ReviewsOptions;

  constructor(options: ReviewsOptions) {
    this.#options = options;
  }

  /**
   * Records a decision on a clip. The first of two that saw the same state counts.
   * @param after number of decisions that the reviewer saw
   */
  async decide(task: Task, decision: ReviewDecision, after: number): Promise<Reviewed> {
    const { repository, logger } = this.#options;
    const recorded = await repository.record(task.id, { kind: 'review', after, decision }, task);
    if (recorded === undefined) return { done: false, task };
    if (recorded.done)
      logger.info({ event: 'clip_reviewed', task: task.id, decision: decision.kind }, 'a clip was reviewed');
    return { done: recorded.done, task: recorded.task };
  }

  /** Returns the versions after a task's that have a clip or may still get one, newest first. */
  async newer(task: Task): Promise<readonly Task[]> {
    const { store } = this.#options;
    return (await readTasks(store, await newerVersions(store, task))).filter(isLive);
  }
}

/** Returns whether a version has a clip, or may still get one. */
function isLive(task: Task): boolean {
  if (task.state === 'completed') return task.clip !== undefined || !isEnded(task);
  return task.state !== 'cancelled' && !isEnded(task);
}
