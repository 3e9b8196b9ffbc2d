import { DailiesError } from '../../errors.ts';
import type { Change, IndexWrite, Namespace, RecordWrite, Store, Versioned } from './store.ts';

/** Returns the writes of several changes as those of one. */
export function merged(changes: readonly Change[]): Required<Pick<Change, 'records' | 'index' | 'sums'>> {
  const all = { records: [], index: [], sums: [] } as {
    readonly [Kind in 'records' | 'index' | 'sums']: NonNullable<Change[Kind]>[number][];
  };
  for (const { records, index = [], sums = [] } of changes) {
    all.records.push(...records);
    all.index.push(...index);
    all.sums.push(...sums);
  }
  return all;
}

/** What one try of {@link commitWithRetries} makes of the records that it read. */
export interface Attempt<Result> {
  /** The writes, which expect the records as they were read. Absent: there is nothing to commit. */
  readonly change?: Change | undefined;
  /** Result once the change is committed, or where there is none. */
  readonly result: Result;
  /** Called once the change is committed. */
  readonly committed?: () => void;
  /**
   * Called where the commit was refused. Returns the result if another precondition than the records refused it, such as
   * a limit; `undefined`: tries again. Default: always tries again.
   */
  readonly refused?: () => Promise<Result | undefined>;
}

/** Bound on the tries of {@link commitWithRetries}. */
interface TryLimit<Result> {
  readonly tries: number;
  /** Called after the last try was refused. Returns the result, or throws. */
  readonly giveUp: () => Result;
}

/** Bounds the tries of {@link commitWithRetries}, which then rejects with `overloaded`. @param doing what it was about */
export function atMost(tries: number, doing: string): TryLimit<never> {
  const giveUp = (): never => {
    const reason = `${tries} attempts met another change, or a damaged record`;
    throw new DailiesError(`${doing}: ${reason}`, { code: 'overloaded', retryable: true });
  };
  return { tries, giveUp };
}

/**
 * Commits a change that depends on what it read (compare-and-set): after a concurrent change, reads and decides again.
 * @param attempt reads and decides, for each try again; the first try is number 1
 * @param limit Default: none. A refusal means that another change was committed.
 * @throws `store_unavailable`
 */
export async function commitWithRetries<Result>(
  store: Pick<Store, 'commit'>,
  attempt: (number: number) => Promise<Attempt<Result>>,
  limit?: TryLimit<Result>,
): Promise<Result> {
  for (let number = 1; ; number += 1) {
    const { change, result, committed, refused } = await attempt(number);
    if (change === undefined) return result;
    if (await store.commit(change)) {
      committed?.();
      return result;
    }
    const answer = await refused?.();
    if (answer !== undefined) return answer;
    if (number === limit?.tries) return limit.giveUp();
  }
}

/** What an edit makes of a record. */
export interface RecordEdit<Value extends Versioned, Result> {
  /** The next value; `null` deletes the record. Absent: it stays as it is. */
  readonly value?: Omit<Value, 'revision'> | null | undefined;
  /** Index entries, and further records, of the same commit. Default: none. */
  readonly index?: readonly IndexWrite[];
  readonly records?: readonly RecordWrite[];
  readonly result: Result;
}

/**
 * Changes a record by compare-and-set. One that does not count its writes is overwritten.
 * @param edit gets the record as it is, and is called again after a concurrent change
 * @returns the result of the edit that counts
 * @throws `store_unavailable`
 */
export async function changeRecord<Value extends Versioned, Result>(
  store: Pick<Store, 'keyv' | 'commit'>,
  { namespace, key }: { readonly namespace: Namespace; readonly key: string },
  edit: (before: Value | undefined) => RecordEdit<Value, Result> | Promise<RecordEdit<Value, Result>>,
): Promise<Result> {
  const records = store.keyv(namespace);
  return commitWithRetries(store, async () => {
    const before = await records.get<Value>(key);
    const { value: next, index = [], records: others = [], result } = await edit(before);
    if (next === undefined) return { result };
    const counted = before === undefined ? 0 : (before.revision as number | undefined);
    const revision = counted === undefined ? {} : { revision: counted + 1 };
    const value = next === null ? null : { ...next, ...revision };
    const expected = before === undefined ? 'absent' : (counted ?? 'any');
    return { change: { records: [{ namespace, key, value, expected }, ...others], index }, result };
  });
}
