import type { Clock } from '../clock.ts';
import type { DueJob } from '../engine/index.ts';
import { APPROVAL_TTL_MS, isExpired, stateIndex, type TaskId } from '../tasks/index.ts';
import type { TaskRepository } from './repository.ts';

/** Time before its expiry at which the approvers of a request are reminded. */
const REMINDER_MS = 4 * 3_600_000;

/**
 * Returns the job that records the expiry of requests for approval, so that their messages say so, and reminds the
 * approvers once before. An expired request cannot be approved even where it has not run.
 */
export function approvalSweep(repository: Pick<TaskRepository, 'get' | 'record'>, clock: Clock): DueJob {
  return {
    name: 'approval_sweep',
    index: stateIndex('requested'),
    afterMs: APPROVAL_TTL_MS - REMINDER_MS,
    everyMs: 20_000,
    leaseMs: 15_000,
    async run(id) {
      const task = await repository.get(id as TaskId);
      if (task?.state !== 'requested') return;
      const atMs = clock.now();
      const hasExpired = isExpired(task, atMs);
      if (!hasExpired && task.approval?.remindedAtMs !== undefined) return;
      const event = hasExpired
        ? ({ kind: 'decline', how: 'expired', atMs } as const)
        : ({ kind: 'remind', atMs } as const);
      await repository.record(task.id, event);
    },
  };
}
