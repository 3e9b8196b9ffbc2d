import { type Change, collection, pagesOf, type RecordWrite, type Store, type Versioned } from '../engine/index.ts';
import { cutIdOf as idOfClips, type ShotDifference } from '../media/index.ts';
import { isoOf } from '../period.ts';
import type { Origin, Task, TaskId } from '../tasks/index.ts';

/** Record of a cut: one file of several clips, and its message. */
export interface Cut extends Versioned {
  readonly id: TaskId;
  readonly tasks: readonly TaskId[];
  /** Who asked for it first, and where its message is. */
  readonly origin: Origin;
  readonly requestedAtMs: number;
  /** An outcome is in the chat once it is presented. */
  readonly state: 'joining' | 'joined' | 'failed';
  /** Time of its outcome. Absent: none yet. */
  readonly endedAtMs?: number;
  /** The file, once it was made; it may be deleted meanwhile, and is made again on demand. */
  readonly file?: { readonly bytes: number; readonly seconds: number };
  /** Set in `failed`. */
  readonly failure?: CutFailure;
  /** `false` while its outcome is not in the chat. */
  readonly presented: boolean;
  /** One of its clips has expired: only its messages are left, which a later deletion has to find. Absent: no. */
  readonly isExpired?: true;
}

/** Index of the cuts whose outcome is not in the chat yet, by the time of the request. */
export const OPEN_CUTS = 'cuts-open';

/** Names the index of the cuts that a clip is in. */
function cutsOfTask(task: TaskId): string {
  return `cuts-of:${task}`;
}

/** Returns the id of the cut of these clips in this order, in the place of a task's: no task has it. */
export function cutIdOf(tasks: readonly TaskId[]): TaskId {
  return idOfClips(tasks) as TaskId;
}

/** Returns whether an id is a {@link cutIdOf}. */
export function isCutId(id: string): id is TaskId {
  return /^cut-[0-9a-f]{32}$/u.test(id);
}

const cutRecords = collection<TaskId, Cut>({
  name: 'cuts',
  holds: 'cuts: the tasks of their clips, who asked for them and where',
  kept: 'until one of the clips is deleted, or who asked is forgotten; without the file once one has expired',
  personal: {
    byOwner: true,
    export: ({ id, tasks, origin, requestedAtMs, state, file }, { platform, team, person }) =>
      origin.user.id === person.id && origin.platform === platform && origin.team === team
        ? [
            {
              record: 'cut',
              id,
              clips: tasks,
              channel: origin.channel,
              state,
              file,
              requestedAt: isoOf(requestedAtMs),
            },
          ]
        : [],
  },
});

/** Reads and writes the records of cuts. */
export class CutRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(id: TaskId): Promise<Cut | undefined> {
    return cutRecords.get(this.#store, id);
  }

  /** Returns the change that stores a new cut; the commit is refused where there is one. */
  claimOf(cut: Cut): Change {
    const index = cut.tasks.map((task) => ({ index: cutsOfTask(task), member: cut.id, score: cut.requestedAtMs }));
    const record = cutRecords.replacing(cut.id, undefined, cut);
    return { records: [record], index: [...index, this.#open(cut)] };
  }

  /** Returns the change of a cut that was read and changed, with `also`; refused where it has changed meanwhile. */
  changeOf(cut: Cut, also: readonly RecordWrite[] = []): Change {
    return { records: [cutRecords.replacing(cut.id, cut, cut), ...also], index: [this.#open(cut)] };
  }

  /** Writes a cut that was read and changed. @returns the new record; `null` where another process changed it meanwhile. */
  async write(cut: Cut): Promise<Cut | null> {
    return (await this.#store.commit(this.changeOf(cut))) ? { ...cut, revision: cut.revision + 1 } : null;
  }

  /** Returns the change that deletes a cut with its index entries, and `also`. */
  removalOf(cut: Cut, also: readonly RecordWrite[]): Change {
    const record = cutRecords.replacing(cut.id, cut, null);
    const index = [OPEN_CUTS, ...cut.tasks.map(cutsOfTask)].map((name) => ({
      index: name,
      member: cut.id,
      score: null,
    }));
    return { records: [record, ...also], index };
  }

  async ofTask(task: TaskId): Promise<readonly TaskId[]> {
    const ids: TaskId[] = [];
    for await (const page of pagesOf(this.#store, cutsOfTask(task)))
      ids.push(...page.map(({ member }) => member as TaskId));
    return ids;
  }

  /** Returns the cuts that are made, or being made, of some of these clips alone, newest first. */
  async among(clips: readonly Pick<Task, 'id'>[]): Promise<readonly Cut[]> {
    const known = new Set(clips.map(({ id }) => id));
    const ids = await Promise.all([...known].map((task) => this.ofTask(task)));
    const cuts = await Promise.all([...new Set(ids.flat())].map((id) => this.get(id)));
    const isAmong = (cut: Cut | undefined): cut is Cut =>
      cut !== undefined && cut.state !== 'failed' && cut.tasks.every((task) => known.has(task));
    return cuts.filter(isAmong).toSorted((one, other) => other.requestedAtMs - one.requestedAtMs);
  }

  /** Returns the ids of the cuts whose outcome is not in the chat yet, oldest first. */
  async open(): Promise<readonly TaskId[]> {
    const ids: TaskId[] = [];
    for await (const page of pagesOf(this.#store, OPEN_CUTS)) ids.push(...page.map(({ member }) => member as TaskId));
    return ids;
  }

  countOpen(): Promise<number> {
    return this.#store.count(OPEN_CUTS);
  }

  /** Returns the ids of the cuts that a person asked for. */
  async of({ platform, team, user }: { readonly platform: string; readonly team: string; readonly user: string }) {
    const ids: TaskId[] = [];
    for await (const page of cutRecords.all(this.#store)) {
      for (const { value } of page) {
        const { id, origin } = value;
        if (origin.platform === platform && origin.team === team && origin.user.id === user) ids.push(id);
      }
    }
    return ids;
  }

  #open({ id, presented, requestedAtMs }: Cut) {
    return { index: OPEN_CUTS, member: id, score: presented ? null : requestedAtMs };
  }
}

/** Why clips could not be joined. Numbers of shots count from 1. */
export type CutFailure =
  /** These shots have no clip any more. */
  | { readonly code: 'clip_missing'; readonly shots: readonly number[] }
  /** They cannot be copied into one file, and there is no ffmpeg. */
  | { readonly code: 'shots_differ'; readonly differences: readonly ShotDifference[] }
  /** `hdr`: its colours cannot be converted here; `not_converted`: ffmpeg failed at it. */
  | { readonly code: 'not_a_video' | 'hdr' | 'not_converted'; readonly shot: number }
  | { readonly code: 'timed_out' | 'disk_full' | 'failed' };

/** What the message of a cut shows besides what every message of a task does. */
export interface CutFacts {
  /** Its clips in their order; `null` for a prompt that was removed. `seconds`: as ordered. */
  readonly shots: readonly { readonly prompt: string | null; readonly seconds: number }[];
  /** The file; `null` while it is being made, and where it could not be. */
  readonly file: { readonly bytes: number; readonly seconds: number } | null;
  /** `null` unless it failed. */
  readonly failure: CutFailure | null;
}
