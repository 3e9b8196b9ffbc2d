import type { Keyv } from 'keyv';
import { DailiesError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { toChange } from '../tasks/indexes.ts';
import { boundsOf, type LimitReached, NO_LIMITS, reachedOf } from '../tasks/limits.ts';
import { readTask } from '../tasks/record-shape.ts';
import { transition } from '../tasks/state-machine.ts';
import type { Task, TaskEvent, TaskId } from '../tasks/task.ts';
import type { UpstreamId } from '../videos/service.ts';
import { createUpstreamIds, type UpstreamIds } from './upstream-ids.ts';

/** Observes tasks. Called after the commit; must not throw. */
export interface TaskObserver {
  /** Called with a new task (`before` is null), or one that an event changed. */
  changed(task: Task, event: TaskEvent['kind'] | 'claimed', before: Task | null): void;
}

/** Outcome of an event. */
export interface Recorded {
  /** `false` when the event did not count in the task's state. */
  readonly done: boolean;
  readonly task: Task;
}

/** Outcome of a claim. */
export type Claim =
  /** The task is new. */
  | { readonly kind: 'taken' }
  /** A task of that id exists; `task` is its current record. */
  | { readonly kind: 'known'; readonly task: Task }
  /** No such task exists, and a limit is reached. */
  | { readonly kind: 'refused'; readonly limit: LimitReached };

/** Compare-and-set attempts of a claim before giving up. */
const MAX_TRIES = 100;

/** Reads the records of tasks, and is the only way to write them. */
export class TaskRepository {
  readonly #store: Store;
  readonly #upstreamIds: UpstreamIds;
  readonly #records: Keyv;
  readonly #observers: TaskObserver[] = [];

  /** @param service identifies the video service, such as its base URL: ids of two services may be the same. */
  constructor(store: Store, service = '') {
    this.#store = store;
    this.#upstreamIds = createUpstreamIds(store, service);
    this.#records = store.keyv('tasks');
  }

  /** Adds an observer, called after each write, in the order of subscription. */
  subscribe(observer: TaskObserver): void {
    this.#observers.push(observer);
  }

  get(id: TaskId): Promise<Task | undefined> {
    return readTask(this.#records, id);
  }

  /** Returns the task that holds an id of the video service. */
  holderOf(upstreamId: UpstreamId): Promise<TaskId | undefined> {
    return this.#upstreamIds.holder(upstreamId);
  }

  /**
   * Stores a new task unless one of that id exists or a limit is reached. Atomic: concurrent claims, on any number of
   * replicas, exceed no limit. Default: no limits.
   */
  async claim(task: Task, limits = NO_LIMITS): Promise<Claim> {
    const bounds = boundsOf(limits, task);
    const change = { ...toChange(null, task), bounds: bounds.map(({ bound }) => bound) };
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await this.#store.commit(change)) {
        this.#notify(task, 'claimed', null);
        return { kind: 'taken' };
      }
      const known = await this.get(task.id);
      if (known !== undefined) return { kind: 'known', task: known };
      const limit = await reachedOf(this.#store, bounds, task.createdAtMs);
      if (limit !== null) return { kind: 'refused', limit };
      // Another task has ended meanwhile, so the limit is not reached any more.
    }
    throw new DailiesError(`claiming task ${task.id}: its record is there and cannot be read`, {
      code: 'internal',
      retryable: false,
    });
  }

  /**
   * Applies an event to the current record of a task: after a concurrent change, the event is judged again by the new
   * state. An `accepted` with an id that another task holds is recorded as `lost`, with the failure `id_taken`.
   * @param known the record as the caller read or wrote it last: it is read again only if it has changed.
   * @returns undefined when no such task exists.
   * @throws `id_taken` when another task holds the id that a user enters.
   */
  async record(id: TaskId, event: TaskEvent, known?: Task): Promise<Recorded | undefined> {
    try {
      for (let task = known ?? (await this.get(id)); task !== undefined; task = await this.get(id)) {
        const next = transition(task, event);
        if (next !== null && (await this.#change(task, next))) {
          this.#notify(next, event.kind, task);
          return { done: true, task: next };
        }
        // `known` may be stale; a record that was just read is current.
        if (next === null && task !== known) return { done: false, task };
      }
      return undefined;
    } catch (thrown) {
      const isTaken = thrown instanceof DailiesError && thrown.code === 'id_taken';
      if (!isTaken || event.kind !== 'accepted') throw thrown;
      // The service accepted one of the two tasks, and its id does not say which: a user has to look.
      const of = event.of === undefined ? {} : { of: event.of };
      return this.record(id, { kind: 'lost', ...of, failure: { code: 'id_taken', words: null } });
    }
  }

  /** Commits a change. @returns `false` when the record has changed meanwhile. @throws `id_taken` */
  async #change(before: Task, after: Task): Promise<boolean> {
    const ids = await this.#upstreamIds.writes(before, after);
    const written = toChange(before, after);
    return this.#store.commit({ ...written, records: [...written.records, ...ids] });
  }

  #notify(...change: Parameters<TaskObserver['changed']>): void {
    for (const observer of this.#observers) observer.changed(...change);
  }
}
