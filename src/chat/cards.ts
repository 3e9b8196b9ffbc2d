import type { Store } from '../store/store.ts';
import type { Origin, Task, TaskId } from '../tasks/task.ts';
import type { MessageRef, Platform } from './platform.ts';
import type { Turn, Turns } from './turns.ts';
import type { TaskView } from './view.ts';

/** What is remembered of a task's message. */
export interface CardRecord {
  readonly revision: number;
  readonly message: MessageRef;
  /** The greatest percentage that people saw; never shown smaller again. */
  readonly progress: number | null;
  /** Whether people saw that the service works on it; absent: no. */
  readonly isRunning?: boolean;
  /** What was shown last, by {@link fingerprintOf}; `null` as long as that is not known for sure. */
  readonly shown: string | null;
}

/** The messages of tasks: one each, opened once, found again after a restart. */
export interface Cards {
  get(task: TaskId): Promise<CardRecord | undefined>;
  /** Shows a task for the first time, or finds its message; many callers at once open one. */
  open(task: Task): Promise<CardRecord>;
  /** Remembers what was shown. */
  shown(task: TaskId, view: TaskView): Promise<void>;
  /** Which task a message shows. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
}

/** Collaborators of {@link createCards}. */
export interface CardsOptions {
  readonly store: Store;
  readonly turns: Turns;
  readonly platformOf: (origin: Pick<Origin, 'platform'>) => Platform;
  /** What a message says that nobody has seen yet. */
  readonly firstView: (task: Task) => TaskView;
}

/** Cards on a store. */
export function createCards({ store, turns, platformOf, firstView }: CardsOptions): Cards {
  const records = store.keyv('cards');
  const opening = new Map<TaskId, Promise<CardRecord>>();

  const openNow = async (task: Task): Promise<CardRecord> => {
    const known = await records.get<CardRecord>(task.id);
    if (known !== undefined) return known;
    return turns.first(task.id, (turn) => openFirst(task, turn));
  };

  const openFirst = async (task: Task, turn: Turn): Promise<CardRecord> => {
    const known = await records.get<CardRecord>(task.id);
    if (known !== undefined) return known;
    const view = firstView(task);
    turn.assertOurs();
    const message = await platformOf(task.origin).open(task.id, task.origin, view);
    // A message that was there already, from before a crash, may say something older.
    const record: CardRecord = { revision: 1, message, progress: view.progress, shown: null };
    const isFirst = await store.commit({
      records: [
        { namespace: 'cards', key: task.id, value: record, expected: 'absent' },
        {
          namespace: 'cards',
          key: messageKey(task.origin.platform, message),
          value: { revision: 1, task: task.id },
          expected: 'any',
        },
      ],
    });
    // A process that was stopped for so long that another one went on in its place keeps to what that one knows.
    return (isFirst ? undefined : await records.get<CardRecord>(task.id)) ?? record;
  };

  return {
    get: (task) => records.get<CardRecord>(task),
    open(task) {
      const underWay = opening.get(task.id);
      if (underWay !== undefined) return underWay;
      const opened = openNow(task).finally(() => opening.delete(task.id));
      opening.set(task.id, opened);
      return opened;
    },
    async shown(task, view) {
      const record = await records.get<CardRecord>(task);
      if (record === undefined) return;
      const isRunning = view.phase === 'running' || record.isRunning === true;
      const next = { ...record, progress: view.progress ?? record.progress, isRunning, shown: fingerprintOf(view) };
      if (next.shown !== record.shown || next.progress !== record.progress) await records.set(task, next);
    },
    async taskOf(platform, message) {
      const found = await records.get<{ task: TaskId }>(messageKey(platform, message));
      return found?.task;
    },
  };
}

/** Tells whether two views look the same to people; elapsed time alone is no difference. */
export function fingerprintOf(view: TaskView): string {
  const { state, phase, progress, overdue, longerThanUsual, lateOutcome, buttons } = view;
  return JSON.stringify([state, phase, progress, overdue !== null, longerThanUsual, lateOutcome, buttons]);
}

function messageKey(platform: string, { channel, message }: MessageRef): string {
  return `message:${platform}:${channel}:${message}`;
}
