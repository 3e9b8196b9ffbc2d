import type { IndexWrite, Namespace, Store, Versioned } from './store.ts';

/** What an edit makes of a record. */
export interface RecordEdit<Value extends Versioned, Result> {
  /** The next value; `null` deletes the record. Absent: it stays as it is. */
  readonly value?: Omit<Value, 'revision'> | null | undefined;
  /** Index entries of the same commit. Default: none. */
  readonly index?: readonly IndexWrite[];
  readonly result: Result;
}

/**
 * Changes a record by compare-and-set.
 * @param edit gets the record as it is, and is called again after a concurrent change
 * @returns the result of the edit that counts
 * @throws `store_unavailable`
 */
export async function changeRecord<Value extends Versioned, Result>(
  store: Pick<Store, 'keyv' | 'commit'>,
  { namespace, key }: { readonly namespace: Namespace; readonly key: string },
  edit: (before: Value | undefined) => RecordEdit<Value, Result>,
): Promise<Result> {
  const records = store.keyv(namespace);
  for (;;) {
    const before = await records.get<Value>(key);
    const { value: next, index = [], result } = edit(before);
    if (next === undefined) return result;
    const value = next === null ? null : { ...next, revision: (before?.revision ?? 0) + 1 };
    const expected = before?.revision ?? 'absent';
    if (await store.commit({ records: [{ namespace, key, value, expected }], index })) return result;
  }
}
