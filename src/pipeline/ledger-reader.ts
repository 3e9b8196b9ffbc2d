import { type Bounds, pagesOf, type Store } from '../engine/index.ts';
import {
  type LedgerEntry,
  type LedgerScope,
  ledgerKey,
  ledgerOf,
  ledgerRecords,
  readTasks,
  spendIndex,
} from '../tasks/index.ts';

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
  for await (const page of pagesOf(store, spendIndex(platform, team, month), bounds)) {
    const found = await ledgerEntries(
      store,
      page.map(({ member }) => member),
    );
    yield found.filter((entry) => user === undefined || entry.user === user);
  }
}

/**
 * Reads entries of the ledger by their keys, in the same order, without missing ones. Those of removed tasks have no
 * records of their own: they are derived from the tasks.
 * @throws `store_unavailable`
 */
export async function ledgerEntries(
  store: Pick<Store, 'keyv'>,
  keys: readonly string[],
): Promise<readonly LedgerEntry[]> {
  if (keys.length === 0) return [];
  const found = await store.keyv(ledgerRecords.name).getMany<LedgerEntry>([...keys]);
  const missing = keys.filter((_, at) => found[at] === undefined);
  const ids = new Set(missing.map((key) => key.slice(0, key.lastIndexOf('#'))));
  const derived = (await readTasks(store, [...ids])).flatMap(ledgerOf);
  const byKey = new Map(derived.map((entry) => [ledgerKey(entry), entry]));
  return keys.map((key, at) => found[at] ?? byKey.get(key)).filter((entry) => entry !== undefined);
}
