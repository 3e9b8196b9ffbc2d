import type { Keyv } from 'keyv';
import { DailiesError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { toChange } from '../tasks/indexes.ts';
import { boundsOf, type LimitReached, type Limits, NO_LIMITS, reachedOf } from '../tasks/limits.ts';
import { readTask } from '../tasks/record-shape.ts';
import { type TaskEvent, transition } from '../tasks/state-machine.ts';
import type { Task, TaskId } from '../tasks/task.ts';
import type { UpstreamId } from '../videos/service.ts';
import { createUpstreamIds } from './upstream-ids.ts';

/** Who wants to know what happens to tasks. Called after the store has it; must not throw. */
export interface TaskObserver {
  /** A task came to be, or an event changed it. */
  changed(task: Task, event: TaskEvent['kind'] | 'claimed'): void;
}

/** What an event did. */
export interface Recorded {
  /** Whether the event counted in the state the task was in. */
  readonly done: boolean;
  readonly task: Task;
}

/** What became of a claim. */
export type Claim =
  /** The task is new. */
  | { readonly kind: 'taken' }
  /** There is one of that id already, and this is how it is now. */
  | { readonly kind: 'known'; readonly task: Task }
  /** There is none, and no room for it. */
  | { readonly kind: 'refused'; readonly limit: LimitReached };

/** The one way in which tasks are written. */
export interface TaskRepository {
  get(id: TaskId): Promise<Task | undefined>;
  /**
   * Stores a new task unless one of that id is there, or a limit is reached. However many claim at once, on however
   * many machines: no limit is exceeded. Default: no limits.
   */
  claim(task: Task, limits?: Limits): Promise<Claim>;
  /**
   * Lets an event happen to a task, on whatever the record is by then: when somebody else was faster, the event is
   * judged again by the new state. An `accepted` with an id that another task holds counts as `lost`, with the failure
   * `id_taken`.
   * @param known the record as the caller read or wrote it last: while it is so still, it is not read once more.
   * @returns undefined when there is no such task.
   * @throws `id_taken` when another task holds the id that a person gives it.
   */
  record(id: TaskId, event: TaskEvent, known?: Task): Promise<Recorded | undefined>;
  /** Returns the task that holds an id of the video service. */
  holderOf(upstreamId: UpstreamId): Promise<TaskId | undefined>;
}

/** Nobody is as often too late by chance. */
const MOST_TRIES = 100;

/**
 * The recorder on a store.
 * @param observers told in their order, after each write.
 * @param service identifies the video service, such as its base URL: ids of two services may be the same.
 */
export function createTaskRepository(store: Store, observers: readonly TaskObserver[], service = ''): TaskRepository {
  const upstreamIds = createUpstreamIds(store, service);
  const records: Keyv = store.keyv('tasks');
  const get = (id: TaskId): Promise<Task | undefined> => readTask(records, id);
  const tell = (task: Task, event: TaskEvent['kind'] | 'claimed'): void => {
    for (const observer of observers) observer.changed(task, event);
  };

  /** Makes a change; `false`: the record is another one by now. @throws `id_taken` */
  const change = async (before: Task, after: Task): Promise<boolean> => {
    const ids = await upstreamIds.writes(before, after);
    const written = toChange(before, after);
    return store.commit({ ...written, records: [...written.records, ...ids] });
  };

  const record: TaskRepository['record'] = async (id, event, known) => {
    try {
      for (let task = known ?? (await get(id)); task !== undefined; task = await get(id)) {
        const next = transition(task, event);
        if (next !== null && (await change(task, next))) {
          tell(next, event.kind);
          return { done: true, task: next };
        }
        // What was known may be long past; what was read now is how it is.
        if (next === null && task !== known) return { done: false, task };
      }
      return undefined;
    } catch (thrown) {
      const isTaken = thrown instanceof DailiesError && thrown.code === 'id_taken';
      if (!isTaken || event.kind !== 'accepted') throw thrown;
      // The service took something, and nobody knows which of the two: a person has to look.
      const of = event.of === undefined ? {} : { of: event.of };
      return record(id, { kind: 'lost', ...of, failure: { code: 'id_taken', words: null } });
    }
  };

  return {
    get,
    async claim(task, limits = NO_LIMITS) {
      const bounds = boundsOf(limits, task);
      const change = { ...toChange(null, task), bounds: bounds.map(({ bound }) => bound) };
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        if (await store.commit(change)) {
          tell(task, 'claimed');
          return { kind: 'taken' };
        }
        const known = await get(task.id);
        if (known !== undefined) return { kind: 'known', task: known };
        const limit = await reachedOf(store, bounds, task.createdAtMs);
        if (limit !== null) return { kind: 'refused', limit };
        // There is room by now: another task has ended meanwhile.
      }
      throw new DailiesError(`claiming task ${task.id}: its record is there and cannot be read`, {
        code: 'internal',
        retryable: false,
      });
    },
    record,
    holderOf: (upstreamId) => upstreamIds.holder(upstreamId),
  };
}
