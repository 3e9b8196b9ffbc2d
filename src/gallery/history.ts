import type { Bounds, IndexEntry, Store } from '../engine/index.ts';
import { channelHistoryIndex, historyIndex, sharedIndex, type Viewer } from '../tasks/index.ts';

/** Place in a list of tasks, newest first: the entry after which it continues. */
export type Cursor = IndexEntry;

/** Scope of a list: tasks of a team that a viewer may see, narrowed by what indexes know. */
export interface HistoryScope extends Bounds {
  readonly platform: string;
  readonly team: string;
  readonly viewer: Viewer;
  /** Only this requester's. Default: all. */
  readonly user?: string | undefined;
  /** Only those of this channel. Default: all. */
  readonly channel?: string | undefined;
}

/** Entries in index order (descending score, then descending member). */
interface EntryStream {
  /** Returns the next entry; `null` at the end. */
  peek(): Promise<IndexEntry | null>;
  /** Leaves out the entries before this one. */
  seek(entry: IndexEntry): void;
  /** Leaves out the next entry. */
  skip(): void;
}

/** Entries per scan. */
const BATCH = 200;

/**
 * Lists the tasks that a viewer may see, newest first, from after a cursor. Merges indexes that hold nothing else (shared
 * tasks, the viewer's own, those of the channel) and intersects them with those of the filters, so no record of a hidden
 * task is read, and the cost does not grow with the distance from the newest.
 */
export async function* entriesBefore(
  store: Pick<Store, 'scan'>,
  scope: HistoryScope,
  cursor: Cursor | null,
): AsyncGenerator<IndexEntry> {
  const { platform, team, viewer, user, channel, min, max } = scope;
  const of = (index: string): EntryStream => new IndexStream(store, index, { min, max, cursor });
  const here = channelHistoryIndex({ platform, team, channel: viewer.channel });
  const own = historyIndex(platform, team, viewer.user);
  const visible = viewer.isExternal === true ? [here] : [sharedIndex(platform, team), here, own];
  const all: EntryStream[] = [new Union(visible.map(of))];
  if (user !== undefined) all.push(of(historyIndex(platform, team, user)));
  if (channel !== undefined) all.push(of(channelHistoryIndex({ platform, team, channel })));
  const stream = new Intersection(all);
  for (let entry = await stream.peek(); entry !== null; entry = await stream.peek()) {
    yield entry;
    stream.skip();
  }
}

/** Returns a negative number where `one` comes before `other` in index order, 0 where they are the same. */
function compare(one: IndexEntry, other: IndexEntry): number {
  if (one.score !== other.score) return other.score - one.score;
  return one.member === other.member ? 0 : one.member > other.member ? -1 : 1;
}

/** Reads an index in batches. The score is the cursor, since the cost of an offset grows with it. */
class IndexStream implements EntryStream {
  readonly #store: Pick<Store, 'scan'>;
  readonly #index: string;
  readonly #min: number | undefined;
  #batch: readonly IndexEntry[] = [];
  #at = 0;
  /** Where the next scan begins: entries up to this score, without the first `offset` of them. */
  #from: { readonly max: number | undefined; readonly offset: number } | null;
  /** Entries up to and including this one are left out. */
  #after: IndexEntry | null;

  constructor(
    store: Pick<Store, 'scan'>,
    index: string,
    {
      min,
      max,
      cursor,
    }: { readonly min?: number | undefined; readonly max?: number | undefined; cursor: Cursor | null },
  ) {
    this.#store = store;
    this.#index = index;
    this.#min = min;
    this.#after = cursor;
    const limits = [max, cursor?.score].filter((one) => one !== undefined);
    this.#from = { max: limits.length === 0 ? undefined : Math.min(...limits), offset: 0 };
  }

  async peek(): Promise<IndexEntry | null> {
    for (;;) {
      for (; this.#at < this.#batch.length; this.#at += 1) {
        const entry = this.#batch[this.#at];
        if (entry !== undefined && (this.#after === null || compare(entry, this.#after) > 0)) return entry;
      }
      if (this.#from === null) return null;
      await this.#read(this.#from);
    }
  }

  seek(entry: IndexEntry): void {
    const last = this.#batch.at(-1);
    // Far away: the entries in between need not be read.
    if (this.#from !== null && (last === undefined || last.score > entry.score)) {
      this.#batch = [];
      this.#at = 0;
      const { max } = this.#from;
      if (max === undefined || max > entry.score) this.#from = { max: entry.score, offset: 0 };
    }
    for (; this.#at < this.#batch.length; this.#at += 1) {
      const next = this.#batch[this.#at];
      if (next !== undefined && compare(next, entry) >= 0) return;
    }
  }

  skip(): void {
    this.#at += 1;
  }

  async #read({ max, offset }: { readonly max: number | undefined; readonly offset: number }): Promise<void> {
    const bounds = { ...(this.#min === undefined ? {} : { min: this.#min }), ...(max === undefined ? {} : { max }) };
    this.#batch = await this.#store.scan(this.#index, { ...bounds, offset, limit: BATCH });
    this.#at = 0;
    const last = this.#batch.at(-1);
    if (last === undefined || this.#batch.length < BATCH) {
      this.#from = null;
      return;
    }
    const same = this.#batch.filter(({ score }) => score === last.score).length;
    this.#from = { max: last.score, offset: last.score === max ? offset + same : same };
  }
}

/** Entries of any of the streams, each once. */
class Union implements EntryStream {
  readonly #streams: readonly EntryStream[];
  /** The next entry of each stream, as of the last look. */
  #heads: readonly (IndexEntry | null)[] = [];

  constructor(streams: readonly EntryStream[]) {
    this.#streams = streams;
  }

  async peek(): Promise<IndexEntry | null> {
    this.#heads = await Promise.all(this.#streams.map((stream) => stream.peek()));
    return this.#first();
  }

  seek(entry: IndexEntry): void {
    for (const stream of this.#streams) stream.seek(entry);
  }

  skip(): void {
    const first = this.#first();
    this.#streams.forEach((stream, at) => {
      const head = this.#heads[at] ?? null;
      if (head !== null && first !== null && compare(head, first) === 0) stream.skip();
    });
  }

  #first(): IndexEntry | null {
    return this.#heads.filter((head) => head !== null).toSorted(compare)[0] ?? null;
  }
}

/** Entries of all of the streams. */
class Intersection implements EntryStream {
  readonly #streams: readonly EntryStream[];

  constructor(streams: readonly EntryStream[]) {
    this.#streams = streams;
  }

  async peek(): Promise<IndexEntry | null> {
    for (;;) {
      const heads: IndexEntry[] = [];
      for (const stream of this.#streams) {
        const head = await stream.peek();
        if (head === null) return null;
        heads.push(head);
      }
      const [last] = heads.toSorted((one, other) => compare(other, one));
      if (last === undefined || heads.every((head) => compare(head, last) === 0)) return last ?? null;
      for (const stream of this.#streams) stream.seek(last);
    }
  }

  seek(entry: IndexEntry): void {
    for (const stream of this.#streams) stream.seek(entry);
  }

  skip(): void {
    for (const stream of this.#streams) stream.skip();
  }
}
