import { collection, pagesOf, type RecordWrite, type Store } from '../engine/index.ts';
import { isoOf } from '../period.ts';
import type { Task, TaskId } from '../tasks/index.ts';
import { type Cut, cutsOfTask, OPEN_CUTS } from './cut.ts';

export const cutRecords = collection<TaskId, Cut>({
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

  /** Stores a new cut. @returns `false` where there is one. */
  claim(cut: Cut): Promise<boolean> {
    const index = cut.tasks.map((task) => ({ index: cutsOfTask(task), member: cut.id, score: cut.requestedAtMs }));
    const record = cutRecords.replacing(cut.id, undefined, cut);
    return this.#store.commit({ records: [record], index: [...index, this.#open(cut)] });
  }

  /** Writes a cut that was read and changed. @returns the new record; `null` where another process changed it meanwhile. */
  async write(cut: Cut): Promise<Cut | null> {
    const next: Cut = { ...cut, revision: cut.revision + 1 };
    const record = cutRecords.replacing(cut.id, cut, cut);
    return (await this.#store.commit({ records: [record], index: [this.#open(next)] })) ? next : null;
  }

  /** Deletes a cut with its index entries, and `also`. @returns `false` where another process changed it meanwhile. */
  remove(cut: Cut, also: readonly RecordWrite[]): Promise<boolean> {
    const record = cutRecords.replacing(cut.id, cut, null);
    const index = [OPEN_CUTS, ...cut.tasks.map(cutsOfTask)].map((name) => ({
      index: name,
      member: cut.id,
      score: null,
    }));
    return this.#store.commit({ records: [record, ...also], index });
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
