import { isDeepStrictEqual } from 'node:util';
import { pagesOf } from '../pages.ts';
import type { IndexEntry, IndexWrite, Namespace, RecordWrite, Store, StoredRecord } from '../store.ts';

/** Two stores, one of which is to hold what the other one holds. */
export interface Pair {
  readonly from: Store;
  readonly to: Store;
}

/** What became of one record of `from` in `to`. */
export type Standing =
  /** The same is there. */
  | 'same'
  /** Nothing is there. */
  | 'absent'
  /** The same record is there as it was written before. */
  | 'older'
  /** Something else is there, and what was first cannot be told. */
  | 'different'
  /** The same record is there as it was written later. */
  | 'newer';

/** One record of `from` beside what `to` has under its key. */
export interface Compared {
  readonly record: StoredRecord;
  readonly standing: Standing;
  /** What has to be in `to` for the record to be written over it. */
  readonly expected: RecordWrite['expected'];
}

/** Every record of a namespace in `from` beside `to`, in pages. */
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

/** How many records of a namespace `to` holds that `from` does not; those that end by themselves do not count. */
export async function countForeign({ from, to }: Pair, namespace: Namespace): Promise<number> {
  let foreign = 0;
  for await (const page of to.contents.records(namespace)) {
    const staying = page.filter(({ endsAtMs }) => endsAtMs === undefined);
    if (staying.length === 0) continue;
    const there = await from.keyv(namespace).getMany<unknown>(staying.map(({ key }) => key));
    foreign += there.filter((value) => value === undefined).length;
  }
  return foreign;
}

/** What some entries of an index in `to` need to be as in `from`. */
export interface ComparedEntries {
  /** How many of them `from` has. */
  readonly entries: number;
  readonly writes: readonly IndexWrite[];
}

/** Every entry of every index of both stores, in pages; between two pages, `to` may be written to. */
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
