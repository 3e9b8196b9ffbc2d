import type { IndexEntry, Store } from '../engine/index.ts';
import { retryKey, type TaskRepository, taskIdOf, type VisibleScope, visibleEntries } from '../pipeline/index.ts';
import {
  byCreation,
  holdsWords,
  isBlind,
  isVisible,
  type Origin,
  readTasks,
  type Task,
  type TaskId,
  typedPrompt,
} from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';

/** A finished task whose clip is kept. */
export type ClipTask = Task & { readonly clip: Clip };

/** Team of a session, and what its person may see. */
export type ViewScope = Pick<VisibleScope, 'platform' | 'team' | 'viewer'>;

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
    for await (const entry of visibleEntries(this.#options.store, historyScope(scope, filter), cursor)) {
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

function historyScope(scope: ViewScope, { user, channel, fromMs, toMs }: ClipFilter): VisibleScope {
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
