import type { Bounds, IndexEntry, Store } from './store.ts';

/** How many entries of an index are read at once. */
const PAGE = 1_000;

/** An index from its oldest entry on, in pages; it may be written to meanwhile. */
export async function* pagesOf(
  store: Pick<Store, 'scan'>,
  index: string,
  bounds: Bounds = {},
): AsyncGenerator<readonly IndexEntry[]> {
  let [min, offset] = [bounds.min ?? Number.NEGATIVE_INFINITY, 0];
  for (;;) {
    const page = await store.scan(index, { ...bounds, min, offset, order: 'oldest', limit: PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    // By score, since skipping takes the longer the more is skipped; what is of one time is told apart by its place.
    const same = page.filter(({ score }) => score === last.score).length;
    [min, offset] = [last.score, last.score === min ? offset + same : same];
  }
}
