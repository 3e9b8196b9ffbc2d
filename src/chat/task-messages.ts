import type { MessageLock, MessageLocks } from '../cluster/message-lock.ts';
import { SingleFlight } from '../single-flight.ts';
import type { RecordWrite, Store } from '../store/store.ts';
import { retryFingerprint, type StepRetry } from '../tasks/step-retry.ts';
import type { Origin, Task, TaskId } from '../tasks/task.ts';
import { copyKey, type MessageRef, type Platform, type PlatformLimits } from './platform.ts';
import type { TaskView } from './view.ts';

/** Stored record of a task's message. */
export interface TaskMessageRecord {
  readonly revision: number;
  readonly message: MessageRef;
  /** Highest percentage shown so far; a lower one is never shown. */
  readonly progress: number | null;
  /** The message has shown the task as running. Absent: no. */
  readonly isRunning?: boolean;
  /** Failed step that the message showed last. Absent: none. */
  readonly retrying?: StepRetry;
  /** Ordinal of the message: a deleted one may be replaced by another. Default 1. */
  readonly copy?: number;
  /** The message is known to be deleted. */
  readonly isGone?: true;
  /** {@link fingerprintOf} of the view shown last; `null` while that is not certain. */
  readonly shown: string | null;
}

/** Maps each task to its one message, which is opened once and found again after a restart. */
export interface TaskMessages {
  get(task: TaskId): Promise<TaskMessageRecord | undefined>;
  /** Posts a task's message, or returns the existing one; concurrent calls post only one. */
  open(task: Task): Promise<TaskMessageRecord>;
  /** Posts a replacement for a deleted message, or returns it; calls with the same `copy` post only one. */
  reopen(task: Task, copy: number): Promise<TaskMessageRecord>;
  /** Records that the message of a task was deleted. */
  gone(task: TaskId): Promise<void>;
  /** Returns whether a task's message already looks like `view`. */
  isShown(card: TaskMessageRecord, task: Task, view: TaskView): boolean;
  /** Records the view that the message shows. */
  shown(task: Task, view: TaskView): Promise<void>;
  /** Returns the task of a message. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
}

/** Options of {@link createTaskMessages}. */
export interface TaskMessagesOptions {
  readonly store: Store;
  readonly turns: MessageLocks;
  readonly platformOf: (origin: Pick<Origin, 'platform'>) => Platform;
  /** Returns the view of a message that is not posted yet. */
  readonly firstView: (task: Task) => TaskView;
}

/** Creates {@link TaskMessages} that are kept in a store. */
export function createTaskMessages({ store, turns, platformOf, firstView }: TaskMessagesOptions): TaskMessages {
  const records = store.keyv('cards');
  const opening = new SingleFlight<TaskId, TaskMessageRecord>();

  const openNow = async (task: Task): Promise<TaskMessageRecord> => {
    const known = await records.get<TaskMessageRecord>(task.id);
    if (known !== undefined) return known;
    return turns.first(task.id, (lock) => openFirst(task, lock));
  };

  const openFirst = async (task: Task, lock: MessageLock): Promise<TaskMessageRecord> => {
    const known = await records.get<TaskMessageRecord>(task.id);
    if (known !== undefined) return known;
    const wasBegun = (await records.get(openingKey(task.id))) !== undefined;
    if (!wasBegun) await records.set(openingKey(task.id), { revision: 1 });
    const view = firstView(task);
    lock.assertHeld();
    const message = await platformOf(task.origin).open(task.id, task.origin, view);
    // A message that was posted before a crash may show an older state.
    const shown = wasBegun ? null : fingerprint(task, view);
    const record: TaskMessageRecord = { revision: 1, message, progress: view.progress, shown };
    const isFirst = await store.commit({
      records: [
        { namespace: 'cards', key: task.id, value: record, expected: 'absent' },
        { namespace: 'cards', key: openingKey(task.id), value: null, expected: 'any' },
        messageWrite(task, message),
      ],
    });
    // A process that was suspended past its lease uses the record of the process that took over.
    return (isFirst ? undefined : await records.get<TaskMessageRecord>(task.id)) ?? record;
  };

  const fingerprint = ({ origin }: Pick<Task, 'origin'>, view: TaskView): string =>
    fingerprintOf(view, platformOf(origin).limits);

  return {
    get: (task) => records.get<TaskMessageRecord>(task),
    open: (task) => opening.run(task.id, () => openNow(task)),
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

/** Returns a key that is equal for views that look the same to users; elapsed time alone makes no difference. */
export function fingerprintOf(view: TaskView, { showsState }: Pick<PlatformLimits, 'showsState'>): string {
  const { state, phase, progress, overdue, longerThanUsual, lateOutcome, buttons } = view;
  const shown = [showsState ? state : null, phase, progress, overdue !== null, longerThanUsual, lateOutcome, buttons];
  return JSON.stringify(view.retrying === null ? shown : [...shown, retryFingerprint(view.retrying, view.nowMs)]);
}

function messageWrite({ id, origin }: Task, message: MessageRef): RecordWrite {
  const key = messageKey(origin.platform, message);
  return { namespace: 'cards', key, value: { revision: 1, task: id }, expected: 'any' };
}

/** Key of the marker kept while the first message is being opened: a message found then may be an earlier attempt's. */
function openingKey(task: TaskId): string {
  return `opening:${task}`;
}

function messageKey(platform: string, { channel, message }: MessageRef): string {
  return `message:${platform}:${channel}:${message}`;
}
