import { pagesOf } from '../store/pages.ts';
import type { Bounds, Store } from '../store/store.ts';
import { ledgerOf, spendIndex } from '../tasks/indexes.ts';
import type { Ledger, LedgerEntry, LedgerScope } from '../tasks/ledger.ts';

/**
 * Reads a month of the ledger page by page, oldest entry first, so that a month of any size fits into memory.
 * @param bounds only entries bought within them, in milliseconds since the Unix epoch. Default: all.
 * @throws `store_unavailable`
 */
export async function* ledgerPages(
  store: Pick<Store, 'scan' | 'keyv'>,
  { platform, team, user }: LedgerScope,
  month: string,
  bounds: Bounds = {},
): AsyncGenerator<readonly LedgerEntry[]> {
  const records = store.keyv('ledger');
  for await (const page of pagesOf(store, spendIndex(platform, team, month), bounds)) {
    const found = await records.getMany<LedgerEntry>(page.map(({ member }) => member));
    yield found.filter((entry) => entry !== undefined).filter((entry) => user === undefined || entry.user === user);
  }
}

/** Creates the reader of the entries that {@link import('../tasks/indexes.ts').toChange} writes with the tasks. */
export function createLedger(store: Store): Ledger {
  return { of: ledgerOf, month: (scope, month) => ledgerPages(store, scope, month) };
}
