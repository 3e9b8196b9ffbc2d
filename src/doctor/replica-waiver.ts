import type { Clock } from '../clock.ts';
import { openStore, withoutPassword } from '../engine/index.ts';
import { RedisConnection, type ReplicaState, restoreRequirement, waiveReplica } from '../engine/store/redis/index.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type Actor, type AuditEntry, AuditTrail, textFact } from '../teams/index.ts';

interface Deps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Waives the confirmation of writes by a replica of the Redis at `url`, with an entry in the audit log of the
 * deployment; what cannot be logged is taken back.
 * @returns a sentence for the operator.
 * @throws DailiesError `store_unavailable`, or `internal` where replicas are connected.
 */
export async function forgetReplica(url: string, deps: Deps): Promise<string> {
  const address = withoutPassword(url);
  const link = await RedisConnection.open(url, deps);
  try {
    const before = await link.call('waiving the confirmation by a replica', () => waiveReplica(link.client));
    if (before.replicas > 0) {
      const attached = `${address} has ${before.replicas} replica(s) connected, so the requirement stays: detach them first (REPLICAOF NO ONE on each).`;
      throw new DailiesError(attached, { code: 'internal', retryable: false });
    }
    try {
      await log(url, before, deps);
    } catch (thrown) {
      await link.call('restoring the requirement', () => restoreRequirement(link.client, before));
      const { code, message } = asDailiesError(thrown, 'writing the audit log');
      const undone = `nothing was waived, since the audit log could not be written: ${message}`;
      throw new DailiesError(undone, { code, retryable: false, cause: thrown });
    }
    deps.logger.warn(
      { event: 'redis_replica_waiver_set', redis: address },
      'waived the confirmation by a Redis replica',
    );
    return (
      `Running bots notice within 5 s and take orders again without a replica. Once one is attached to ${address}, ` +
      'it is required again.'
    );
  } finally {
    await link.close();
  }
}

async function log(url: string, { requirement }: ReplicaState, deps: Deps): Promise<void> {
  if (requirement === 'waived') return;
  const entry: AuditEntry = {
    action: 'environment',
    subject: [textFact('the confirmation of writes by a Redis replica')],
    before: requirement === null ? [] : [textFact(requirement)],
    after: [textFact('waived')],
  };
  const actor: Actor = { person: null, surface: 'command_line' };
  const store = await openStore(url, deps);
  try {
    const audit = new AuditTrail(store, deps.clock);
    await audit.commitAudited('deployment', actor, async () => ({ entries: [entry], result: undefined }));
  } finally {
    await store.close();
  }
}
