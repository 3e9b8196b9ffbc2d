import type { IndexWrite, Namespace, RecordWrite, Store, Versioned } from './store.ts';

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
  for (;;) {
    const before = await records.get<Value>(key);
    const { value: next, index = [], records: others = [], result } = await edit(before);
    if (next === undefined) return result;
    const counted = before === undefined ? 0 : (before.revision as number | undefined);
    const revision = counted === undefined ? {} : { revision: counted + 1 };
    const value = next === null ? null : { ...next, ...revision };
    const expected = before === undefined ? 'absent' : (counted ?? 'any');
    if (await store.commit({ records: [{ namespace, key, value, expected }, ...others], index })) return result;
  }
}
