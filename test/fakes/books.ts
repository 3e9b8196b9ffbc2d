import type { Store, StoredRecord, SumPart, SumParts } from '#src/engine/store/store.ts';
import { addParts, ZERO_SUM } from '#src/engine/store/sums.ts';
import { checkBooks } from '#src/money/books/check.ts';
import { restoredAmounts } from '#src/money/carried-spend.ts';
import { ledgerKey, ledgerOf } from '#src/tasks/indexes.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { microsOf, sumsOf } from '#src/tasks/money.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';

/** Contents of a store that are about money. */
interface KeptMoney {
  readonly tasks: ReadonlyMap<string, Task>;
  readonly ledger: ReadonlyMap<string, LedgerEntry>;
  readonly sums: ReadonlyMap<string, SumParts>;
}

/** Adds the ledger up by scope and month. @returns in words, the sums of the store that are something else. */
export function wrongSums({ tasks, ledger, sums }: KeptMoney): readonly string[] {
  const folded = new Map<string, SumParts>();
  for (const entry of ledger.values()) {
    const task = tasks.get(entry.task);
    const part = task === undefined ? undefined : partOf(entry, task);
    if (task === undefined || part === undefined) continue;
    const period = entry.period ?? new Date(entry.createdAtMs).toISOString().slice(0, 7);
    for (const sum of Object.values(sumsOf(task.origin, { period, currency: entry.currency }))) {
      const parts = { ...ZERO_SUM, [part]: microsOf(entry.amount) };
      folded.set(sum, addParts(folded.get(sum) ?? ZERO_SUM, parts));
    }
  }
  return [...new Set([...folded.keys(), ...sums.keys()])].flatMap((sum) => {
    const [is, shouldBe] = [sums.get(sum) ?? ZERO_SUM, folded.get(sum) ?? ZERO_SUM];
    if (is.held === shouldBe.held && is.settled === shouldBe.settled && is.doubted === shouldBe.doubted) return [];
    const parts = ({ held, settled, doubted }: SumParts) => `${held} held, ${settled} settled, ${doubted} in doubt`;
    return [`${sum} is ${parts(is)}; by the ledger ${parts(shouldBe)}`];
  });
}

function partOf({ state, booked }: LedgerEntry, { money }: Task): SumPart | undefined {
  if (state === 'refunded' && booked === undefined && money?.awaitsRefund === true) return 'held';
  return PARTS[state === 'reserved' ? state : (booked ?? state)];
}

const PARTS: Readonly<Partial<Record<LedgerEntry['state'], SumPart>>> = {
  reserved: 'held',
  settled: 'settled',
  in_doubt: 'doubted',
};

/**
 * Compares the sums of a store at rest with what its tasks count, and with its ledger.
 * @returns in words, what is wrong, tasks that are not counted included.
 */
export async function wrongBooks({ contents }: Pick<Store, 'contents'>): Promise<readonly string[]> {
  const mapOf = async <Value>(namespace: 'tasks' | 'ledger'): Promise<ReadonlyMap<string, Value>> => {
    const records: readonly StoredRecord[] = (await Array.fromAsync(contents.records(namespace))).flat();
    return new Map(records.map(({ key, value }) => [key, value as Value]));
  };
  const [tasks, stored] = [await mapOf<Task>('tasks'), await mapOf<LedgerEntry>('ledger')];
  // The entries of a removed task are derived from it.
  const removed = [...tasks.values()].filter(isContentRemoved).flatMap(ledgerOf);
  const ledger = new Map([...removed.map((entry) => [ledgerKey(entry), entry] as const), ...stored]);
  const sums = new Map((await Array.fromAsync(contents.sums())).flat().map(({ sum, parts }) => [sum, parts]));
  // What the sums of people hold who were forgotten and are back is no task's.
  for await (const { sum, micros } of restoredAmounts({ contents }))
    sums.set(sum, addParts(sums.get(sum) ?? ZERO_SUM, { ...ZERO_SUM, settled: -micros }));
  const { stale, disagreements, busy } = await checkBooks({ contents });
  return [
    ...stale.map((task) => `task ${task} counts something else than its ledger says`),
    ...[...disagreements.map(({ sum }) => sum), ...busy].map((sum) => `${sum} is not what the tasks count`),
    ...wrongSums({ tasks, ledger, sums }),
  ];
}
