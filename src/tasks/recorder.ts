import type { Keyv } from 'keyv';
import type { Store } from '../store/store.ts';
import { changeOf } from './records.ts';
import type { Task, TaskId } from './task.ts';
import { type TaskEvent, transition } from './transition.ts';

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

/** The one way in which tasks are written. */
export interface Recorder {
  get(id: TaskId): Promise<Task | undefined>;
  /** Stores a new task unless one of that id is there. @returns whether it was new. */
  claim(task: Task): Promise<boolean>;
  /**
   * Lets an event happen to a task, on whatever the record is by then: when somebody else was faster, the event is
   * judged again by the new state. @returns undefined when there is no such task.
   */
  record(id: TaskId, event: TaskEvent): Promise<Recorded | undefined>;
}

/** @param observers told in their order, after each write. */
export function createRecorder(store: Store, observers: readonly TaskObserver[]): Recorder {
  const records: Keyv = store.keyv('tasks');
  const get = (id: TaskId): Promise<Task | undefined> => records.get<Task>(id);
  const tell = (task: Task, event: TaskEvent['kind'] | 'claimed'): void => {
    for (const observer of observers) observer.changed(task, event);
  };
  return {
    get,
    async claim(task) {
      const isNew = await store.commit(changeOf(null, task));
      if (isNew) tell(task, 'claimed');
      return isNew;
    },
    async record(id, event) {
      for (;;) {
        const task = await get(id);
        if (task === undefined) return undefined;
        const next = transition(task, event);
        if (next === null) return { done: false, task };
        if (await store.commit(changeOf(task, next))) {
          tell(next, event.kind);
          return { done: true, task: next };
        }
      }
    },
  };
}
