import type { Bounds, IndexEntry, Store } from './store.ts';

const PAGE = 1_000;

/** Reads an index page by page, oldest entry first; the index may be written to meanwhile. */
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
    // The score is the cursor, since the cost of an offset grows with it; the offset only skips entries of equal score.
    const same = page.filter(({ score }) => score === last.score).length;
    [min, offset] = [last.score, last.score === min ? offset + same : same];
  }
}
