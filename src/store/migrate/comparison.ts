import { isDeepStrictEqual } from 'node:util';
import { pagesOf } from '../pages.ts';
import type { IndexEntry, IndexWrite, Namespace, RecordWrite, Store, StoredRecord } from '../store.ts';

/** Source and target of a migration. */
export interface Pair {
  readonly from: Store;
  readonly to: Store;
}

/** State in `to` of one record of `from`. */
export type Standing =
  /** Present and equal. */
  | 'same'
  /** Not present. */
  | 'absent'
  /** Present in an earlier revision. */
  | 'older'
  /** Present and different, in an unknown order. */
  | 'different'
  /** Present in a later revision. */
  | 'newer';

/** One record of `from`, compared with the record of the same key in `to`. */
export interface Compared {
  readonly record: StoredRecord;
  readonly standing: Standing;
  /** Precondition of the write to `to`. */
  readonly expected: RecordWrite['expected'];
}

/** Compares every record of a namespace in `from` with `to`, in pages. */
export async function* compareRecords({ from, to }: Pair, namespace: Namespace): AsyncGenerator<readonly Compared[]> {
  for await (const page of from.contents.records(namespace)) {
    const there = await to.keyv(namespace).getMany<unknown>(page.map(({ key }) => key));
    yield page.map((record, at) => compare(record, there[at]));
  }
}

function compare(record: StoredRecord, there: unknown): Compared {
  if (there === undefined) return { record, standing: 'absent', expected: 'absent' };
  const [ours, theirs] = [revisionOf(record.value), revisionOf(there)];
  const expected = theirs ?? 'any';
  if (isDeepStrictEqual(record.value, there)) return { record, standing: 'same', expected };
  if (ours === null || theirs === null || ours === theirs) return { record, standing: 'different', expected };
  return { record, standing: theirs > ours ? 'newer' : 'older', expected };
}

function revisionOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('revision' in value)) return null;
  return typeof value.revision === 'number' ? value.revision : null;
}

/** Counts the records of a namespace that `to` holds and `from` does not, except for those that expire. */
export async function countForeign({ from, to }: Pair, namespace: Namespace): Promise<number> {
  let foreign = 0;
  for await (const page of to.contents.records(namespace)) {
    const lasting = page.filter(({ endsAtMs }) => endsAtMs === undefined);
    if (lasting.length === 0) continue;
    const there = await from.keyv(namespace).getMany<unknown>(lasting.map(({ key }) => key));
    foreign += there.filter((value) => value === undefined).length;
  }
  return foreign;
}

/** Writes that make some entries of an index in `to` equal to those in `from`. */
export interface ComparedEntries {
  /** Number of these entries in `from`. */
  readonly entries: number;
  readonly writes: readonly IndexWrite[];
}

/** Compares every entry of every index of both stores, in pages; `to` may be written to between two pages. */
export async function* compareIndexes({ from, to }: Pair): AsyncGenerator<ComparedEntries> {
  for (const index of await from.contents.indexes()) {
    for await (const page of pagesOf(from, index)) {
      const there = await to.contents.scores(index, membersOf(page));
      const missing = page.filter(({ score }, at) => there[at] !== score);
      yield { entries: page.length, writes: missing.map(({ member, score }) => ({ index, member, score })) };
    }
  }
  for (const index of await to.contents.indexes()) {
    const excess: IndexWrite[] = [];
    for await (const page of pagesOf(to, index)) {
      const there = await from.contents.scores(index, membersOf(page));
      for (const [at, { member }] of page.entries()) {
        if (there[at] === null) excess.push({ index, member, score: null });
      }
    }
    yield { entries: 0, writes: excess };
  }
}

function membersOf(page: readonly IndexEntry[]): readonly string[] {
  return page.map(({ member }) => member);
}
