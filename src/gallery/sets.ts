import type { Board, Boards, Cut } from '../orders/index.ts';
import type { TaskRepository } from '../pipeline/index.ts';
import type { Cuts } from '../studio/index.ts';
import type { Task, TaskId } from '../tasks/index.ts';
import {
  type ClipFilter,
  type ClipPage,
  fitsFilter,
  type GalleryClips,
  isClip,
  isPlaceVisible,
  type PageRequest,
  pageOf,
  type ViewScope,
} from './clips.ts';

/** Options of {@link GallerySets}. */
interface GallerySetsOptions {
  readonly clips: Pick<GalleryClips, 'find' | 'isShown'>;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly boards: Pick<Boards, 'get'>;
  readonly cuts: Pick<Cuts, 'get' | 'madeOf'>;
}

/** A set with the tasks of it that a viewer may see; at least one. */
export interface VisibleSet {
  readonly board: Board;
  readonly tasks: ReadonlyMap<TaskId, Task>;
}

/**
 * Finds the sets of a team, their clips and their cuts, as far as a viewer may see them. Before its reveal, none of a
 * comparison's tasks is shown, and so neither is the comparison.
 */
export class GallerySets {
  readonly #options: GallerySetsOptions;

  constructor(options: GallerySetsOptions) {
    this.#options = options;
  }

  /** Returns a set by its id; `undefined` where the viewer may see none of its tasks. @throws `store_unavailable` */
  async find(scope: ViewScope, id: string): Promise<VisibleSet | undefined> {
    const { boards, clips, repository } = this.#options;
    const place = (await repository.get(id as TaskId))?.set;
    if (place?.id !== id) return undefined;
    const board = await boards.get(place);
    const all = new Set(board.shots.flatMap(({ takes, chosen }) => [...takes, chosen]));
    const tasks = [...all].filter((task) => clips.isShown(scope, task));
    return tasks.length === 0 ? undefined : { board, tasks: new Map(tasks.map((task) => [task.id, task])) };
  }

  /** Returns a page of a set's clips, later takes included, in the order of its board. @throws `store_unavailable` */
  async page(scope: ViewScope, set: string, filter: ClipFilter, { cursor, limit }: PageRequest): Promise<ClipPage> {
    const found = await this.find(scope, set);
    const tasks = [...(found?.tasks.values() ?? [])];
    const fits = fitsFilter(filter);
    const later = tasks.slice(tasks.findIndex(({ id }) => id === cursor?.member) + 1);
    const clips = later.filter(isClip).filter((task) => fits(task));
    const page = clips.slice(0, limit);
    return clips.length > limit ? pageOf(page) : { clips: page, next: null, searchedToMs: null };
  }

  /** Returns the joined cuts of a set's clips that the viewer may see, newest first. @throws `store_unavailable` */
  async cutsOf(scope: ViewScope, { tasks }: VisibleSet): Promise<readonly Cut[]> {
    const clips = [...tasks.values()].filter(isClip).map(({ id }) => id);
    const cuts = await this.#options.cuts.madeOf(clips);
    return cuts.filter((cut) => isPlaceVisible(scope, cut.origin));
  }

  /** Returns a cut, unless the viewer may not see it or one of its clips. @throws `store_unavailable` */
  async findCut(scope: ViewScope, id: string): Promise<Cut | undefined> {
    const { cuts, clips } = this.#options;
    const cut = await cuts.get(id);
    if (cut === undefined || !isPlaceVisible(scope, cut.origin)) return undefined;
    const shown = await Promise.all(cut.tasks.map((task) => clips.find(scope, task)));
    return shown.includes(undefined) ? undefined : cut;
  }
}
