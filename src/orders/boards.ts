import { collection, type Store } from '../engine/index.ts';
import { memberIds } from '../pipeline/index.ts';
import { boardTakesIndex, readTasks, type SetPlace, type TaskId } from '../tasks/index.ts';
import { type Board, type BoardRecord, boardOf } from './board.ts';

/** Change of a board. */
export interface BoardEdit {
  /** Numbers of all shots in the order of the cut. Absent: unchanged. */
  readonly order?: readonly number[];
  /** Numbers of the shots to leave out of the cut. Absent: unchanged. */
  readonly skipped?: readonly number[];
  /** Take to use for a shot. Absent: unchanged. */
  readonly choice?: { readonly at: number; readonly take: TaskId; readonly atMs: number };
}

export const boardRecords = collection<TaskId, BoardRecord>({
  name: 'boards',
  holds: 'order, skipped shots and chosen takes of a storyboard',
  kept: 'until the content of its shots is removed',
  personal: 'with its task',
});

/** Largest number of further takes of a board that are read. */
const MAX_TAKES = 200;

/** Boards of storyboards: the order of their shots and the take of each, in the store. Rejects with `store_unavailable`. */
export class Boards {
  readonly #store: Pick<Store, 'keyv' | 'scan' | 'commit'>;

  constructor(store: Pick<Store, 'keyv' | 'scan' | 'commit'>) {
    this.#store = store;
  }

  async get(place: SetPlace): Promise<Board> {
    const [record, entries] = await Promise.all([
      boardRecords.get(this.#store, place.id),
      this.#store.scan(boardTakesIndex(place.id), { limit: MAX_TAKES }),
    ]);
    const [members, takes] = await Promise.all([
      readTasks(this.#store, memberIds(place)),
      readTasks(
        this.#store,
        entries.map(({ member }) => member),
      ),
    ]);
    return boardOf(place, record, { members, takes });
  }

  /**
   * Changes a board as it was read; edits by several persons, on any replicas, are serialised by its revision.
   * @returns `false`, without a change, where it has changed since.
   */
  async change({ place, revision, shots }: Board, edit: BoardEdit): Promise<boolean> {
    const before = await boardRecords.get(this.#store, place.id);
    const chosen = { ...before?.chosen };
    if (edit.choice !== undefined) {
      const { at, take, atMs } = edit.choice;
      chosen[at] = { take, atMs };
    }
    const value = {
      order: edit.order ?? shots.map(({ at }) => at),
      skipped: edit.skipped ?? shots.filter(({ isSkipped }) => isSkipped).map(({ at }) => at),
      chosen,
    };
    const read = revision === 0 ? undefined : { revision };
    return this.#store.commit({ records: [boardRecords.replacing(place.id, read, value)] });
  }
}
