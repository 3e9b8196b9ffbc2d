import type { Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { TaskRepository } from '../pipeline/index.ts';
import { isEnded, newerVersions, type ReviewDecision, readTasks, type Task } from '../tasks/index.ts';

/** Outcome of a decision: whether it counts, and the current task. */
interface Reviewed {
  readonly done: boolean;
  readonly task: Task;
}

/** Reviews of clips. Who may review is checked by the caller. Rejects with `store_unavailable`. */
export interface Reviews {
  /**
   * Records a decision on a clip. The first of two that saw the same state counts.
   * @param after number of decisions that the reviewer saw
   */
  decide(task: Task, decision: ReviewDecision, after: number): Promise<Reviewed>;
  /** Returns the versions after a task's that have a clip or may still get one, newest first. */
  newer(task: Task): Promise<readonly Task[]>;
}

/** Creates the reviews of one process. */
export function createReviews({
  store,
  repository,
  logger,
}: {
  readonly store: Pick<Store, 'scan' | 'keyv'>;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly logger: Logger;
}): Reviews {
  return {
    async decide(task, decision, after) {
      const recorded = await repository.record(task.id, { kind: 'review', after, decision }, task);
      if (recorded === undefined) return { done: false, task };
      if (recorded.done)
        logger.info({ event: 'clip_reviewed', task: task.id, decision: decision.kind }, 'a clip was reviewed');
      return { done: recorded.done, task: recorded.task };
    },
    async newer(task) {
      const ids = await newerVersions(store, task);
      return (await readTasks(store, ids)).filter(isLive);
    },
  };
}

/** Returns whether a version has a clip, or may still get one. */
function isLive(task: Task): boolean {
  if (task.state === 'completed') return task.clip !== undefined || !isEnded(task);
  return task.state !== 'cancelled' && !isEnded(task);
}
