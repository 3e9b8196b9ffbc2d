import type { Bounds, IndexEntry, Store } from '../engine/index.ts';
import { retryKey, type TaskRepository, taskIdOf } from '../pipeline/index.ts';
import {
  byCreation,
  channelHistoryIndex,
  historyIndex,
  holdsWords,
  isBlind,
  isVisible,
  type Origin,
  readTasks,
  sharedIndex,
  type Task,
  type TaskId,
  typedPrompt,
  type Viewer,
} from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';

/** A finished task whose clip is kept. */
export type ClipTask = Task & { readonly clip: Clip };

/** Team of a session, and what its person may see. */
export interface ViewScope {
  readonly platform: string;
  readonly team: string;
  readonly viewer: Viewer;
}

/** Filters of the gallery. Default: none. */
export interface ClipFilter {
  /** Platform id of the requester. */
  readonly user?: string | undefined;
  readonly channel?: string | undefined;
  readonly model?: string | undefined;
  /** Words that the prompt holds, as {@link holdsWords} finds them. */
  readonly text?: string | undefined;
  /** First and last moment of the creation, in ms since the epoch. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** Page of clips, newest first. */
export interface ClipPage {
  readonly clips: readonly ClipTask[];
  /** Cursor of the next page; `null` at the end. */
  readonly next: Cursor | null;
  /** Time back to which was searched, where a page ends before it is full, in ms since the epoch; else `null`. */
  readonly searchedToMs: number | null;
}

/** Options of {@link GalleryClips}. */
interface GalleryClipsOptions {
  readonly store: Pick<Store, 'scan' | 'keyv'>;
  readonly repository: Pick<TaskRepository, 'get'>;
}

/** Records read for one page at most: those that the filters exclude count as well. */
const MAX_READ = 2_000;
const FIRST_BATCH = 32;
const BATCH = 200;
/** Takes of one clip that are shown at most. */
const MAX_TAKES = 20;
/** Time after a task in which its retries by command are looked for, and the number of records read for it. */
const RETRIED_WITHIN_MS = 24 * 3_600_000;
const MAX_READ_FOR_TAKES = 300;

/** Finds the clips of a team that a viewer may see. */
export class GalleryClips {
  readonly #options: GalleryClipsOptions;

  constructor(options: GalleryClipsOptions) {
    this.#options = options;
  }

  /** Returns a page of clips after a cursor. Reads at most {@link MAX_READ} records. @throws `store_unavailable` */
  async page(scope: ViewScope, filter: ClipFilter, { cursor, limit }: PageRequest): Promise<ClipPage> {
    const found: ClipTask[] = [];
    const fits = fitsFilter(filter);
    let last: Cursor | null = cursor;
    let read = 0;
    for await (const batch of this.#batches(scope, filter, cursor)) {
      for (const task of await readTasks(
        this.#options.store,
        batch.map(({ member }) => member),
      )) {
        // The indexes hold nothing else; the rule itself is checked besides.
        if (isClip(task) && this.isShown(scope, task) && fits(task)) found.push(task);
        if (found.length > limit) return pageOf(found.slice(0, limit));
      }
      last = batch.at(-1) ?? last;
      read += batch.length;
      if (read >= MAX_READ) return { clips: found, next: last, searchedToMs: last?.score ?? null };
    }
    return { clips: found, next: null, searchedToMs: null };
  }

  /** Returns a task of the team that the viewer may see. @throws `store_unavailable` */
  async find(scope: ViewScope, id: string): Promise<Task | undefined> {
    const task = await this.#options.repository.get(id as TaskId);
    return task !== undefined && this.isShown(scope, task) ? task : undefined;
  }

  isShown(scope: ViewScope, task: Task): boolean {
    // A clip of a comparison is shown after the reveal.
    return !isBlind(task) && isPlaceVisible(scope, task.origin);
  }

  /** Returns a task of the team that the viewer may see and that has a clip. @throws `store_unavailable` */
  async findClip(scope: ViewScope, id: string): Promise<ClipTask | undefined> {
    const task = await this.find(scope, id);
    return task !== undefined && isClip(task) ? task : undefined;
  }

  /**
   * Returns the other takes of a task that the viewer may see, oldest first: those with the same first take. Retries by
   * command are found within a day of the first take or of this one.
   */
  async takesOf(
    scope: ViewScope,
    task: Task,
  ): Promise<{ readonly before: readonly Task[]; readonly after: readonly Task[] }> {
    const get = (id: TaskId): Promise<Task | undefined> => this.#options.repository.get(id);
    let first = task;
    const takes = new Map([[task.id, task]]);
    while (first.retryOf !== undefined && takes.size < MAX_TAKES) {
      const earlier = await get(first.retryOf);
      if (earlier === undefined) break;
      first = earlier;
      takes.set(first.id, first);
    }
    const byCommand = [first, ...(first === task ? [] : [task])].map((one) => this.#retriesByCommand(scope, one));
    const known = (await Promise.all(byCommand)).flat();
    // Grows while it is iterated.
    const found = new Set([first, ...takes.values()]);
    for (const one of found) {
      const retries = [...known.filter(({ retryOf }) => retryOf === one.id), ...(await this.#retriesByButton(one))];
      for (const retry of retries.filter(({ id }) => !takes.has(id))) {
        if (takes.size >= MAX_TAKES) break;
        takes.set(retry.id, retry);
        found.add(retry);
      }
    }
    takes.delete(task.id);
    const others = await Promise.all([...takes.keys()].map((id) => this.find(scope, id)));
    const visible = others.filter((one) => one !== undefined).sort(byCreation);
    return {
      before: visible.filter((one) => byCreation(one, task) < 0),
      after: visible.filter((one) => byCreation(one, task) > 0),
    };
  }

  /** Returns the retries by button and reaction, whose keys are numbered from the second on. */
  async #retriesByButton({ id }: Task): Promise<readonly Task[]> {
    const found: Task[] = [];
    for (let number = 1; number <= MAX_TAKES; number += 1) {
      const retry = await this.#options.repository.get(taskIdOf(retryKey(id, number)));
      if (retry === undefined) break;
      found.push(retry);
    }
    return found;
  }

  async #retriesByCommand(scope: ViewScope, { createdAtMs }: Task): Promise<readonly Task[]> {
    const found: Task[] = [];
    let read = 0;
    const filter = { fromMs: createdAtMs, toMs: createdAtMs + RETRIED_WITHIN_MS };
    for await (const batch of this.#batches(scope, filter, null)) {
      const tasks = await readTasks(
        this.#options.store,
        batch.map(({ member }) => member),
      );
      found.push(...tasks.filter(({ retryOf }) => retryOf !== undefined));
      read += batch.length;
      if (read >= MAX_READ_FOR_TAKES) break;
    }
    return found;
  }

  async *#batches(scope: ViewScope, filter: ClipFilter, cursor: Cursor | null): AsyncGenerator<readonly IndexEntry[]> {
    let batch: IndexEntry[] = [];
    let size = FIRST_BATCH;
    for await (const entry of entriesBefore(this.#options.store, historyScope(scope, filter), cursor)) {
      batch.push(entry);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
      size = BATCH;
    }
    if (batch.length > 0) yield batch;
  }
}

/** Returns whether the viewer may see what was requested there. */
export function isPlaceVisible({ platform, team, viewer }: ViewScope, origin: Origin): boolean {
  return origin.platform === platform && origin.team === team && isVisible(origin, viewer);
}

export interface PageRequest {
  readonly cursor: Cursor | null;
  readonly limit: number;
}

export function isClip(task: Task): task is ClipTask {
  return task.state === 'completed' && task.clip !== undefined;
}

export function pageOf(clips: readonly ClipTask[]): ClipPage {
  const last = clips.at(-1);
  return { clips, next: last === undefined ? null : { score: last.createdAtMs, member: last.id }, searchedToMs: null };
}

function historyScope(scope: ViewScope, { user, channel, fromMs, toMs }: ClipFilter): HistoryScope {
  const bounds = { ...(fromMs === undefined ? {} : { min: fromMs }), ...(toMs === undefined ? {} : { max: toMs }) };
  return { ...scope, ...bounds, user, channel };
}

/** Returns the check of a task against all filters. */
export function fitsFilter({ user, channel, model, text, fromMs, toMs }: ClipFilter): (task: Task) => boolean {
  return ({ request, origin, createdAtMs }) =>
    (user === undefined || origin.user.id === user) &&
    (channel === undefined || origin.channel === channel) &&
    createdAtMs >= (fromMs ?? 0) &&
    createdAtMs <= (toMs ?? Number.POSITIVE_INFINITY) &&
    (model === undefined || request.model === model) &&
    (text === undefined || holdsWords(typedPrompt(request), text));
}

/** Place in a list of tasks, newest first: the entry after which it continues. */
export type Cursor = IndexEntry;

/** Scope of a list: tasks of a team that a viewer may see, narrowed by what indexes know. */
interface HistoryScope extends Bounds {
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
const INDEX_BATCH = 200;

/**
 * Lists the tasks that a viewer may see, newest first, from after a cursor. Merges indexes that hold nothing else (shared
 * tasks, the viewer's own, those of the channel) and intersects them with those of the filters, so no record of a hidden
 * task is read, and the cost does not grow with the distance from the newest.
 */
async function* entriesBefore(
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
    this.#batch = await this.#store.scan(this.#index, { ...bounds, offset, limit: INDEX_BATCH });
    this.#at = 0;
    const last = this.#batch.at(-1);
    if (last === undefined || this.#batch.length < INDEX_BATCH) {
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
