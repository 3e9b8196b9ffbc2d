import type { MessageLock, MessageLocks } from '../cluster/message-lock.ts';
import type { RecordWrite, Store } from '../store/store.ts';
import { retryFingerprint, type StepRetry } from '../tasks/step-retry.ts';
import type { Origin, Task, TaskId } from '../tasks/task.ts';
import { copyKey, type MessageRef, type Platform, type PlatformLimits } from './platform.ts';
import type { TaskView } from './view.ts';

/** What is remembered of a task's message. */
export interface TaskMessageRecord {
  readonly revision: number;
  readonly message: MessageRef;
  /** The greatest percentage that people saw; never shown smaller again. */
  readonly progress: number | null;
  /** Whether people saw that the service works on it; absent: no. */
  readonly isRunning?: boolean;
  /** The failed step that people were told of last; absent: none. */
  readonly retrying?: StepRetry;
  /** Which message of the task it is: a deleted one may be followed by another. Default 1. */
  readonly copy?: number;
  /** The message is known to be deleted. */
  readonly isGone?: true;
  /** What was shown last, by {@link fingerprintOf}; `null` as long as that is not known for sure. */
  readonly shown: string | null;
}

/** The messages of tasks: one each, opened once, found again after a restart. */
export interface TaskMessages {
  get(task: TaskId): Promise<TaskMessageRecord | undefined>;
  /** Shows a task for the first time, or finds its message; many callers at once open one. */
  open(task: Task): Promise<TaskMessageRecord>;
  /** Shows a task in another message than the deleted one, or finds that. Repeated with the same `copy`, it opens one. */
  reopen(task: Task, copy: number): Promise<TaskMessageRecord>;
  /** Remembers that the message of a task was deleted. */
  gone(task: TaskId): Promise<void>;
  /** Whether a task's message looks as if it showed `view` already. */
  isShown(card: TaskMessageRecord, task: Task, view: TaskView): boolean;
  /** Remembers what was shown. */
  shown(task: Task, view: TaskView): Promise<void>;
  /** Which task a message shows. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
}

/** Collaborators of {@link createTaskMessages}. */
export interface TaskMessagesOptions {
  readonly store: Store;
  readonly turns: MessageLocks;
  readonly platformOf: (origin: Pick<Origin, 'platform'>) => Platform;
  /** What a message says that nobody has seen yet. */
  readonly firstView: (task: Task) => TaskView;
}

/** Cards on a store. */
export function createTaskMessages({ store, turns, platformOf, firstView }: TaskMessagesOptions): TaskMessages {
  const records = store.keyv('cards');
  const opening = new Map<TaskId, Promise<TaskMessageRecord>>();

  const openNow = async (task: Task): Promise<TaskMessageRecord> => {
    const known = await records.get<TaskMessageRecord>(task.id);
    if (known !== undefined) return known;
    return turns.first(task.id, (turn) => openFirst(task, turn));
  };

  const openFirst = async (task: Task, turn: MessageLock): Promise<TaskMessageRecord> => {
    const known = await records.get<TaskMessageRecord>(task.id);
    if (known !== undefined) return known;
    const wasBegun = (await records.get(openingKey(task.id))) !== undefined;
    if (!wasBegun) await records.set(openingKey(task.id), { revision: 1 });
    const view = firstView(task);
    turn.assertHeld();
    const message = await platformOf(task.origin).open(task.id, task.origin, view);
    // A message that was there already, from before a crash, may say something older.
    const shown = wasBegun ? null : fingerprint(task, view);
    const record: TaskMessageRecord = { revision: 1, message, progress: view.progress, shown };
    const isFirst = await store.commit({
      records: [
        { namespace: 'cards', key: task.id, value: record, expected: 'absent' },
        { namespace: 'cards', key: openingKey(task.id), value: null, expected: 'any' },
        messageWrite(task, message),
      ],
    });
    // A process that was stopped for so long that another one went on in its place keeps to what that one knows.
    return (isFirst ? undefined : await records.get<TaskMessageRecord>(task.id)) ?? record;
  };

  const fingerprint = ({ origin }: Pick<Task, 'origin'>, view: TaskView): string =>
    fingerprintOf(view, platformOf(origin).limits);

  return {
    get: (task) => records.get<TaskMessageRecord>(task),
    open(task) {
      const underWay = opening.get(task.id);
      if (underWay !== undefined) return underWay;
      const opened = openNow(task).finally(() => opening.delete(task.id));
      opening.set(task.id, opened);
      return opened;
    },
    async reopen(task, copy) {
      const view = firstView(task);
      const message = await platformOf(task.origin).open(copyKey(task.id, copy), task.origin, view);
      const record: TaskMessageRecord = { revision: 1, message, progress: view.progress, copy, shown: null };
      const card = { namespace: 'cards', key: task.id, value: record, expected: 'any' } as const;
      await store.commit({ records: [card, messageWrite(task, message)] });
      return record;
    },
    async gone(task) {
      const record = await records.get<TaskMessageRecord>(task);
      if (record !== undefined && record.isGone !== true) await records.set(task, { ...record, isGone: true });
    },
    isShown: (card, task, view) => card.shown === fingerprint(task, view),
    async shown(task, view) {
      const record = await records.get<TaskMessageRecord>(task.id);
      if (record === undefined) return;
      const isRunning = view.phase === 'running' || record.isRunning === true;
      const { retrying: _earlier, ...rest } = record;
      const retrying = view.retrying === null ? {} : { retrying: view.retrying };
      const progress = view.progress ?? record.progress;
      const next: TaskMessageRecord = { ...rest, progress, isRunning, ...retrying, shown: fingerprint(task, view) };
      if (next.shown !== record.shown || next.progress !== record.progress) await records.set(task.id, next);
    },
    async taskOf(platform, message) {
      const found = await records.get<{ task: TaskId }>(messageKey(platform, message));
      return found?.task;
    },
  };
}

/** Tells whether two views look the same to people; elapsed time alone is no difference. */
export function fingerprintOf(view: TaskView, { showsState }: Pick<PlatformLimits, 'showsState'>): string {
  const { state, phase, progress, overdue, longerThanUsual, lateOutcome, buttons } = view;
  const shown = [showsState ? state : null, phase, progress, overdue !== null, longerThanUsual, lateOutcome, buttons];
  return JSON.stringify(view.retrying === null ? shown : [...shown, retryFingerprint(view.retrying, view.nowMs)]);
}

function messageWrite({ id, origin }: Task, message: MessageRef): RecordWrite {
  const key = messageKey(origin.platform, message);
  return { namespace: 'cards', key, value: { revision: 1, task: id }, expected: 'any' };
}

/** There while a task's first message is being opened: a message that is found then may be an earlier try's. */
function openingKey(task: TaskId): string {
  return `opening:${task}`;
}

function messageKey(platform: string, { channel, message }: MessageRef): string {
  return `message:${platform}:${channel}:${message}`;
}
