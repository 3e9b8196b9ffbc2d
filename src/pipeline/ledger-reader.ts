import type { Store } from '../store/store.ts';
import { ledgerOf, spendIndex } from '../tasks/indexes.ts';
import type { Ledger, LedgerEntry } from '../tasks/ledger.ts';

/** Creates the reader of the entries that {@link import('../tasks/indexes.ts').toChange} writes with the tasks. */
export function createLedger(store: Store): Ledger {
  const records = store.keyv('ledger');
  return {
    of: ledgerOf,
    async month({ platform, team, user }, month) {
      const entries = await store.scan(spendIndex(platform, team, month));
      if (entries.length === 0) return [];
      const found = await records.getMany<LedgerEntry>(entries.map(({ member }) => member));
      return found.filter((entry) => entry !== undefined).filter((entry) => user === undefined || entry.user === user);
    },
  };
}
