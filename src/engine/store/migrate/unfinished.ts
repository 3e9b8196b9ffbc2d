import { DailiesError } from '../../../errors.ts';
import type { Store } from '../store.ts';

/** Lease that a migration holds on both stores, so that only one runs at a time and no bot starts meanwhile. */
export const MIGRATION_LEASE = 'migration';

/** Record in the target of a migration, from before the first record is copied until the copy is verified. */
export const UNFINISHED = { namespace: 'migration', key: 'unfinished' } as const;

/** Returns whether the store is a copy that was not completed. */
export async function isUnfinishedCopy(store: Pick<Store, 'keyv'>): Promise<boolean> {
  return (await store.keyv(UNFINISHED.namespace).get(UNFINISHED.key)) !== undefined;
}

/**
 * Asserts that a bot may use the store. To be called again once the bot's membership lease is visible: a migration first
 * marks the stores and then looks for such leases, so one of the two always notices the other.
 *
 * @throws `store_locked` while the store is being migrated; `internal` where it is an unfinished copy of another store.
 */
export async function assertNotMigrating(store: Pick<Store, 'keyv' | 'leases'>): Promise<void> {
  if ((await store.leases.holder(MIGRATION_LEASE)) !== null) {
    throw refused('store_locked', 'a migration from or to it is running; start Dailies once that is done');
  }
  if (await isUnfinishedCopy(store)) {
    throw refused('internal', 'it is an unfinished copy of another store; repeat the migration, or use the other one');
  }
}

function refused(code: 'store_locked' | 'internal', reason: string): DailiesError {
  return new DailiesError(`using the store: ${reason}`, { code, retryable: false });
}
