import { collection, type Store, type Versioned } from '../engine/index.ts';
import { memberIds } from '../pipeline/index.ts';
import {
  boardTakesIndex,
  byCreation,
  hasClip,
  isBlind,
  isContentRemoved,
  isEnded,
  MAX_SET_SIZE,
  readTasks,
  type SetPlace,
  type Task,
  type TaskId,
} from '../tasks/index.ts';

/** Stored record of a board, by the id of its set. Without one, the shots are in the order in which they were written. */
export interface BoardRecord extends Versioned {
  /** Numbers of the shots, in the order of the cut; one that is missing follows at the end. */
  readonly order: readonly number[];
  /** Numbers of the shots that are left out of the cut. */
  readonly skipped: readonly number[];
  /** Takes, or other clips, that a person chose, by the number of the shot. A take that is finished later replaces the choice. */
  readonly chosen: Readonly<Record<string, { readonly take: TaskId; readonly atMs: number }>>;
}

/** Numbers and places of the shots that were asked for after their storyboard, by the press that asked. */
export interface InsertionRecord extends Versioned {
  /** `before`: the number of the shot that it goes before. */
  readonly shots: Readonly<
    Record<string, { readonly at: number; readonly before: number; readonly askedAtMs: number }>
  >;
}

/** One shot of a storyboard. */
export interface Shot {
  /** Number of the shot in the storyboard as it was written, from 1; one that was inserted later has a number after those. */
  readonly at: number;
  /** Its clips, oldest first: the one of the set, and those made by Retry, or of an inserted one. At least one. */
  readonly takes: readonly Task[];
  /** The take, or the other clip in its place, that is in the cut; where none is finished, the latest take. */
  readonly chosen: Task;
  readonly isSkipped: boolean;
}

/** Shots of a storyboard in the order of the cut. */
export interface Board {
  readonly place: SetPlace;
  /** Revision of its record; 0 without one. */
  readonly revision: number;
  readonly shots: readonly Shot[];
}

/** Returns the chosen clips of a board in the order of the cut: those that are ready and not skipped. */
export function clipsOf({ shots }: Board): readonly Task[] {
  return shots.filter(({ isSkipped, chosen }) => !isSkipped && hasClip(chosen)).map(({ chosen }) => chosen);
}

/** Returns the shots that the cut lacks, although they are not skipped. */
export function missingOf({ shots }: Board): readonly Shot[] {
  return shots.filter(({ isSkipped, chosen }) => !isSkipped && !hasClip(chosen));
}

/**
 * Returns the shots of the cut that start with the last frame of another take than the one that is in it, and those chained to
 * them; without those of which another take is in progress.
 */
export function outdatedIn({ shots }: Board): readonly Shot[] {
  const inOrder = shots.toSorted((one, other) => one.at - other.at);
  const outdated = new Set<number>();
  for (const shot of inOrder) {
    const { at, chosen } = shot;
    const before = inOrder.find((one) => one.at === at - 1);
    if (before === undefined || chosen.frameOf === undefined || !hasClip(chosen) || isReplaced(shot)) continue;
    const isOther = hasClip(before.chosen) && before.chosen.id !== chosen.frameOf;
    if (isOther || outdated.has(before.at)) outdated.add(at);
  }
  return inOrder.filter(({ at, isSkipped, takes }) => outdated.has(at) && !isSkipped && takes.every(isEnded));
}

/** Returns whether a clip that is no take of a shot is in its place. */
export function isReplaced({ takes, chosen }: Pick<Shot, 'takes' | 'chosen'>): boolean {
  return takes.every(({ id }) => id !== chosen.id);
}

/**
 * Builds a board; pure.
 * @param members the tasks of the set
 * @param takes further takes of its shots, and other clips that were chosen, in any order
 */
export function boardOf(
  place: SetPlace,
  record: BoardRecord | undefined,
  { members, takes }: { readonly members: readonly Task[]; readonly takes: readonly Task[] },
  inserted: InsertionRecord['shots'] = {},
): Board {
  const own = takes.filter((take) => take.takeOf?.id === place.id && isOrdered(take)).toSorted(byCreation);
  const places = [...members.map(({ set }) => set), ...own.map(({ takeOf }) => takeOf)];
  const order = orderOf(places, record, Object.values(inserted));
  const shots = order.flatMap((at): readonly Shot[] => {
    const first = members.filter(({ set }) => set?.at === at);
    const later = own.filter(({ takeOf }) => takeOf?.at === at);
    const all = [...first, ...later];
    const choice = record?.chosen[at];
    const other = takes.find(({ id }) => id === choice?.take);
    const chosen = chosenOf(all, choice, other);
    if (chosen === undefined) return [];
    return [{ at, takes: all, chosen, isSkipped: record?.skipped.includes(at) === true }];
  });
  return { place, revision: record?.revision ?? 0, shots };
}

/** Returns whether a take was bought: one that waits for an approval, or was denied it, is none yet. */
function isOrdered({ state }: Task): boolean {
  return state !== 'requested' && state !== 'declined';
}

/**
 * Returns the numbers of the shots in their order; one that the record does not know stands before the shot that it was inserted
 * before, else at the end.
 * @param places of the tasks of the set, then of its takes: a shot that was inserted has these alone
 */
function orderOf(
  places: readonly (SetPlace | undefined)[],
  record: BoardRecord | undefined,
  inserted: readonly { readonly at: number; readonly before: number }[],
): readonly number[] {
  const written = new Set(places.flatMap((one) => one?.at ?? []));
  const order = (record?.order ?? []).filter((at) => written.has(at));
  for (const at of written.difference(new Set(order))) {
    const before = inserted.find((one) => one.at === at)?.before ?? 0;
    const index = order.indexOf(before);
    order.splice(index < 0 ? order.length : index, 0, at);
  }
  return order;
}

/**
 * Returns the take of a shot that is in the cut: the one that was finished last, or that a person chose after that. While none
 * is finished, the latest one, unless an earlier one is still in progress.
 */
function chosenOf(
  takes: readonly Task[],
  choice: BoardRecord['chosen'][string] | undefined,
  other: Task | undefined,
): Task | undefined {
  const ready = takes.filter(hasClip);
  const replacing = other !== undefined && hasClip(other) && !isBlind(other) ? other : undefined;
  const picked = ready.find(({ id }) => id === choice?.take) ?? replacing;
  const latest = ready.toSorted((one, other) => endOf(other) - endOf(one))[0];
  if (picked !== undefined && (latest === undefined || endOf(latest) <= (choice?.atMs ?? 0))) return picked;
  if (latest !== undefined) return latest;
  const shown = takes.filter((task) => !isContentRemoved(task));
  return shown.findLast((task) => !isEnded(task)) ?? shown.at(-1) ?? takes[0];
}

function endOf({ endedAtMs }: Task): number {
  return endedAtMs ?? 0;
}

/** Change of a board. */
export interface BoardEdit {
  /** Numbers of all shots in the order of the cut. Absent: unchanged. */
  readonly order?: readonly number[];
  /** Numbers of the shots to leave out of the cut. Absent: unchanged. */
  readonly skipped?: readonly number[];
  /** Take, or another clip, to use for a shot. Absent: unchanged. */
  readonly choice?: { readonly at: number; readonly take: TaskId; readonly atMs: number };
}

export const boardRecords = collection<TaskId, BoardRecord>({
  name: 'boards',
  holds: 'order, skipped shots and chosen takes of a storyboard',
  kept: 'until the content of its shots is removed',
  personal: 'with its task',
});

export const insertionRecords = collection<TaskId, InsertionRecord>({
  name: 'inserted_shots',
  holds: 'numbers and places of shots that were inserted into a storyboard',
  kept: 'until the content of its shots is removed',
  personal: 'with its task',
});

/** Names the index of the boards on which a clip was chosen that is no take of theirs, by the time of the choice. */
function boardsWithClip(task: TaskId): string {
  return `boards-with:${task}`;
}

/** Longest time between the number of a shot and its order, or the question about it. */
const ORDERING_MS = 60_000;
/** Shot that is about to be ordered. */
interface AskedInsertion {
  readonly press: string;
  /** Number of the shot that it goes before. */
  readonly before: number;
  readonly nowMs: number;
  /** Returns whether what another press asked for is ordered, or may still be. */
  readonly isOpen: (press: string) => Promise<boolean>;
}

/**
 * Decides on the number of a shot that is about to be ordered, and leaves out those that were never ordered.
 * @param inserted by the presses before
 * @returns the number, or `null` where the board is full; `value`: what is to be recorded. Absent: nothing
 */
export async function insertionOn(
  { place, shots }: Board,
  inserted: InsertionRecord['shots'],
  { press, before, nowMs, isOpen }: AskedInsertion,
): Promise<{ readonly value?: Omit<InsertionRecord, 'revision'>; readonly result: number | null }> {
  const known = inserted[press];
  if (known !== undefined) return { result: known.at };
  const entries = await Promise.all(
    Object.entries(inserted).map(async (entry) => {
      const [other, { at, askedAtMs }] = entry;
      const isBought = shots.some((shot) => shot.at === at);
      return isBought || nowMs - askedAtMs < ORDERING_MS || (await isOpen(other)) ? [entry] : [];
    }),
  );
  const kept = Object.fromEntries(entries.flat());
  const taken = new Set([...shots.map(({ at }) => at), ...Object.values(kept).map(({ at }) => at)]);
  if (taken.size >= MAX_SET_SIZE) return { result: null };
  let at = place.of + 1;
  while (taken.has(at)) at += 1;
  return { value: { shots: { ...kept, [press]: { at, before, askedAtMs: nowMs } } }, result: at };
}

/** Largest number of further takes of a board that are read. */
const MAX_TAKES = 200;
/** Largest number of boards with one clip that are shown anew once it is removed. */
const MAX_BOARDS = 100;

/** Boards of storyboards: the order of their shots and the take of each, in the store. Rejects with `store_unavailable`. */
export class Boards {
  readonly #store: Pick<Store, 'keyv' | 'scan' | 'commit'>;

  constructor(store: Pick<Store, 'keyv' | 'scan' | 'commit'>) {
    this.#store = store;
  }

  async get(place: SetPlace): Promise<Board> {
    const [record, inserted, entries] = await Promise.all([
      boardRecords.get(this.#store, place.id),
      insertionRecords.get(this.#store, place.id),
      this.#store.scan(boardTakesIndex(place.id), { limit: MAX_TAKES }),
    ]);
    const ids = memberIds(place);
    const chosen = Object.values(record?.chosen ?? {}).map(({ take }) => take);
    const further = new Set<string>([...entries.map(({ member }) => member), ...chosen]);
    const [members, takes] = await Promise.all([
      readTasks(this.#store, ids),
      readTasks(this.#store, [...further.difference(new Set<string>(ids))]),
    ]);
    return boardOf(place, record, { members, takes }, inserted?.shots);
  }

  /**
   * Gives a shot that is about to be ordered a number that no other one has, and its place before another shot, wherever that
   * stands once it is bought. A press keeps what it got.
   * @returns `null`: all that is on the board or may still be ordered fills it
   */
  insert(place: SetPlace, asked: AskedInsertion): Promise<number | null> {
    return insertionRecords.change<number | null>(this.#store, place.id, async (current) =>
      insertionOn(await this.get(place), current?.shots ?? {}, asked),
    );
  }

  /** Returns the sets on whose boards a clip was chosen that is no take of theirs. */
  async withClip(task: TaskId): Promise<readonly TaskId[]> {
    const found = await this.#store.scan(boardsWithClip(task), { limit: MAX_BOARDS });
    return found.map(({ member }) => member as TaskId);
  }

  /**
   * Changes a board as it was read; edits by several persons, on any replicas, are serialised by its revision.
   * @returns `false`, without a change, where it has changed since.
   */
  async change({ place, revision, shots }: Board, edit: BoardEdit): Promise<boolean> {
    const before = await boardRecords.get(this.#store, place.id);
    const { choice } = edit;
    const chosen = {
      ...before?.chosen,
      ...(choice === undefined ? {} : { [choice.at]: { take: choice.take, atMs: choice.atMs } }),
    };
    const isOther = choice !== undefined && shots.every(({ takes }) => takes.every(({ id }) => id !== choice.take));
    const value = {
      order: edit.order ?? shots.map(({ at }) => at),
      skipped: edit.skipped ?? shots.filter(({ isSkipped }) => isSkipped).map(({ at }) => at),
      chosen,
    };
    const read = revision === 0 ? undefined : { revision };
    return this.#store.commit({
      records: [boardRecords.replacing(place.id, read, value)],
      ...(isOther ? { index: [{ index: boardsWithClip(choice.take), member: place.id, score: choice.atMs }] } : {}),
    });
  }
}
