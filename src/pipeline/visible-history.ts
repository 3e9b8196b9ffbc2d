import type { Bounds, IndexEntry, Store } from '../engine/index.ts';
import { channelHistoryIndex, historyIndex, sharedIndex, type Viewer } from '../tasks/index.ts';

/** Tasks of a team that a viewer may see, narrowed by what indexes know; the scores are their times of creation. */
export interface VisibleScope extends Bounds {
  readonly platform: string;
  readonly team: string;
  readonly viewer: Viewer;
  /** Only this requester's. Default: all. */
  readonly user?: string | undefined;
  /** Only those of this channel. Default: all. */
  readonly channel?: string | undefined;
}

export interface HistoryPage {
  readonly offset: number;
  readonly limit: number;
}

/** Returns a page of {@link visibleEntries}. */
export async function visiblePage(
  store: Pick<Store, 'scan'>,
  scope: VisibleScope,
  { offset, limit }: HistoryPage,
): Promise<readonly IndexEntry[]> {
  const found: IndexEntry[] = [];
  for await (const entry of visibleEntries(store, scope, null)) {
    found.push(entry);
    if (found.length >= offset + limit) break;
  }
  return found.slice(offset, offset + limit);
}

/**
 * Lists the tasks that a viewer may see, newest first, from after an entry. Merges indexes that hold nothing else (shared
 * tasks, the viewer's own, those of the channel) and intersects them with those of the filters, so no record of a hidden
 * task is read, and the cost does not grow with the distance from the newest.
 */
export async function* visibleEntries(
  store: Pick<Store, 'scan'>,
  { platform, team, viewer, user, channel, ...bounds }: VisibleScope,
  after: IndexEntry | null,
): AsyncGenerator<IndexEntry> {
  const of = (index: string): EntryStream => new IndexStream(store, index, bounds, after);
  const here = channelHistoryIndex({ platform, team, channel: viewer.channel });
  const own = historyIndex(platform, team, viewer.user);
  const toMember = user === viewer.user ? [own] : [sharedIndex(platform, team), here, own];
  const all: EntryStream[] = [new Union((viewer.isExternal === true ? [here] : toMember).map(of))];
  if (user !== undefined) all.push(of(historyIndex(platform, team, user)));
  if (channel !== undefined) all.push(of(channelHistoryIndex({ platform, team, channel })));
  const stream = new Intersection(all);
  for (let entry = await stream.peek(); entry !== null; entry = await stream.peek()) {
    yield entry;
    stream.skip();
  }
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

  constructor(store: Pick<Store, 'scan'>, index: string, { min, max }: Bounds, after: IndexEntry | null) {
    this.#store = store;
    this.#index = index;
    this.#min = min;
    this.#after = after;
    const limits = [max, after?.score].filter((one) => one !== undefined);
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
