import type { Clock } from '../clock.ts';
import { OnOneReplica, pagesOf, type Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { APPROVAL_TTL_MS, isExpired, stateIndex, type TaskId } from '../tasks/index.ts';
import type { TaskRepository } from './repository.ts';

/** Delay between two sweeps. */
const SWEEP_EVERY_MS = 20_000;
/** TTL of the lease: the time until another replica takes over from one that died. */
const LEASE_MS = 15_000;
/** Time before its expiry at which the approvers of a request are reminded. */
const REMINDER_MS = 4 * 3_600_000;

/** Options of {@link createApprovalSweep}. */
interface ApprovalSweepOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Creates the sweep over requests for approval: records those that have expired, so that their messages say so, and
 * reminds the approvers of the others once, every 20 seconds on one replica. An expired request cannot be approved even
 * where no sweep has run.
 */
export function createApprovalSweep({ store, repository, clock, logger }: ApprovalSweepOptions): OnOneReplica {
  const step = async (id: TaskId): Promise<void> => {
    const task = await repository.get(id);
    if (task?.state !== 'requested') return;
    const atMs = clock.now();
    const hasExpired = isExpired(task, atMs);
    if (!hasExpired && task.approval?.remindedAtMs !== undefined) return;
    await repository.record(id, hasExpired ? { kind: 'decline', how: 'expired', atMs } : { kind: 'remind', atMs });
  };
  const run = async (): Promise<void> => {
    const max = clock.now() - APPROVAL_TTL_MS + REMINDER_MS;
    for await (const page of pagesOf(store, stateIndex('requested'), { max })) {
      for (const { member } of page) await step(member as TaskId);
    }
  };
  return new OnOneReplica({
    leases: store.leases,
    clock,
    name: 'approval-sweep',
    ttlMs: LEASE_MS,
    everyMs: SWEEP_EVERY_MS,
    run,
    failed: (thrown) =>
      logger.warn({ event: 'approval_sweep_failed', err: thrown }, 'failed to look for expired requests, retrying'),
  });
}
