import { hash } from 'node:crypto';
import { collection, type RecordWrite, type Store } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import { SingleFlight } from '../single-flight.ts';
import {
  isEnded,
  type Origin,
  pseudonymsIn,
  retryFingerprint,
  type StepRetry,
  type Task,
  type TaskId,
} from '../tasks/index.ts';
import { hasCode } from './attachment-plan.ts';
import type { MessageLock, MessageLocks } from './message-lock.ts';
import type { MessageRef, Platform, PlatformLimits } from './platform.ts';
import type { TaskView } from './view.ts';

export interface TaskMessageRecord {
  readonly revision: number;
  readonly message: MessageRef;
  /** Highest percentage shown so far; a lower one is never shown. */
  readonly progress: number | null;
  /** On the card of a set: the highest percentage shown so far, by task. */
  readonly progressOf?: Readonly<Record<string, number>>;
  /** The message has shown the task as running. Absent: no. */
  readonly isRunning?: boolean;
  /** Failed step that the message showed last. Absent: none. */
  readonly retrying?: StepRetry;
  /** Ordinal of the message: a deleted one may be replaced by another. Default 1. */
  readonly copy?: number;
  /** The message is known to be deleted. */
  readonly isGone?: true;
  /** Messages of the task before this one. Absent: none. */
  readonly earlier?: readonly MessageRef[];
  /** Fingerprint of the view shown last; `null` while that is not certain. */
  readonly shown: string | null;
}

/** Options of {@link TaskMessages}. */
interface TaskMessagesOptions {
  readonly store: Store;
  readonly locks: MessageLocks;
  readonly platformOf: (origin: Pick<Origin, 'platform'>) => Platform;
  /** Returns the view of a message that is not posted yet. */
  readonly firstView: (task: Task) => Promise<TaskView>;
  /** Returns the origin to post a task's message for, such as below the card of its set. */
  readonly placeOf: (task: Task) => Promise<Origin>;
}

export const cards = collection<TaskId, TaskMessageRecord>({
  name: 'cards',
  holds: 'the messages that show a task',
  kept: 'until the task’s content is removed',
  personal: 'with its task',
});

/** Markers kept while the first message is being opened: a message found then may be an earlier attempt's. */
const openings = collection<TaskId, object>({
  name: 'openings',
  holds: 'which tasks a message is being posted for',
  kept: 'until it is posted',
  personal: 'with its task',
});

const tasksOfMessages = collection<
  { readonly platform: string; readonly message: MessageRef },
  { readonly task: TaskId }
>({
  name: 'messages',
  key: ({ platform, message: { channel, message } }) => `${platform}:${channel}:${message}`,
  holds: 'the task of each message',
  kept: 'until the task’s content is removed',
  personal: 'with its task',
});

/** Maps each task to its one message, which is opened once and found again after a restart. */
export class TaskMessages {
  readonly #options: TaskMessagesOptions;
  readonly #opening = new SingleFlight<TaskId, TaskMessageRecord>();

  constructor(options: TaskMessagesOptions) {
    this.#options = options;
  }

  get(task: TaskId): Promise<TaskMessageRecord | undefined> {
    return cards.get(this.#options.store, task);
  }

  /** Posts a task's message, or returns the existing one; concurrent calls post only one. */
  open(task: Task): Promise<TaskMessageRecord> {
    return this.#opening.run(task.id, async () => {
      const known = await this.get(task.id);
      return known ?? this.#options.locks.first(task.id, (lock) => this.#openFirst(task, lock));
    });
  }

  /** Posts a replacement for a deleted message, or returns it; calls with the same `copy` post only one. */
  async reopen(task: Task, copy: number): Promise<TaskMessageRecord> {
    const { store, firstView } = this.#options;
    const view = await firstView(task);
    const message = await this.#post(copyKey(task.id, copy), task, view);
    const earlier = (await this.messages(task.id)).filter((one) => one.message !== message.message);
    const record: TaskMessageRecord = { revision: 1, message, earlier, progress: view.progress, copy, shown: null };
    await store.commit({ records: [cards.overwriting(task.id, record), messageWrite(task, message)] });
    return record;
  }

  async gone(task: TaskId): Promise<void> {
    const record = await this.get(task);
    if (record !== undefined && record.isGone !== true)
      await cards.set(this.#options.store, task, { ...record, isGone: true });
  }

  /** Returns every message that was opened for a task, oldest first; they may be deleted. */
  async messages(task: TaskId): Promise<readonly MessageRef[]> {
    const record = await this.get(task);
    return record === undefined ? [] : [...(record.earlier ?? []), record.message];
  }

  /** Returns whether a task's message already looks like `view`. */
  isShown(card: TaskMessageRecord, task: Task, view: TaskView): boolean {
    return card.shown === this.#fingerprint(task, view);
  }

  async shown(task: Task, view: TaskView): Promise<void> {
    const record = await this.get(task.id);
    if (record === undefined) return;
    const isRunning = view.phase === 'running' || record.isRunning === true;
    const { retrying: _earlier, ...rest } = record;
    const retrying = view.retrying === null ? {} : { retrying: view.retrying };
    const progress = view.progress ?? record.progress;
    const next = {
      ...rest,
      progress,
      ...progressOf(view),
      isRunning,
      ...retrying,
      shown: this.#fingerprint(task, view),
    };
    if (next.shown !== record.shown || next.progress !== record.progress)
      await cards.set(this.#options.store, task.id, next);
  }

  async taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined> {
    return (await tasksOfMessages.get(this.#options.store, { platform, message }))?.task;
  }

  /** Returns the writes that delete everything recorded about the messages of a task. */
  async deletions({ id, origin }: Pick<Task, 'id' | 'origin'>): Promise<readonly RecordWrite[]> {
    const { platform } = origin;
    const messages = await this.messages(id);
    return [
      ...[cards, openings].map((kind) => kind.overwriting(id, null)),
      ...messages.map((message) => tasksOfMessages.overwriting({ platform, message }, null)),
    ];
  }

  async #openFirst(task: Task, lock: MessageLock): Promise<TaskMessageRecord> {
    const { store, firstView } = this.#options;
    const known = await this.get(task.id);
    if (known !== undefined) return known;
    const wasBegun = (await openings.get(store, task.id)) !== undefined;
    if (!wasBegun) await openings.set(store, task.id, {});
    const view = await firstView(task);
    lock.assertHeld();
    const message = await this.#post(task.id, task, view);
    // A message that was posted before a crash may show an older state.
    const shown = wasBegun ? null : this.#fingerprint(task, view);
    const record: TaskMessageRecord = { revision: 1, message, progress: view.progress, shown };
    const isFirst = await store.commit({
      records: [
        { ...cards.overwriting(task.id, record), expected: 'absent' },
        openings.overwriting(task.id, null),
        messageWrite(task, message),
      ],
    });
    // A process that was suspended past its lease uses the record of the process that took over.
    return (isFirst ? undefined : await this.get(task.id)) ?? record;
  }

  /**
   * Posts a message of a task; one that its channel does not take goes to the requester by direct message.
   * @throws DailiesError that of the channel, where the requester takes none either
   */
  async #post(key: TaskId, task: Task, view: TaskView): Promise<MessageRef> {
    const platform = this.#options.platformOf(task.origin);
    try {
      return await platform.open(key, await this.#options.placeOf(task), view);
    } catch (thrown) {
      const isOutcome = isEnded(task) || task.state === 'uncertain';
      const isClosed = hasCode(thrown, 'message_gone') || (hasCode(thrown, 'missing_permission') && isOutcome);
      if (!isClosed || !platform.limits.hasDirectMessages) throw thrown;
      return this.#postDirectly(key, task, { view, refusal: thrown });
    }
  }

  async #postDirectly(
    key: TaskId,
    { origin: { replyTo: _replyTo, ...origin } }: Task,
    { view, refusal }: { readonly view: TaskView; readonly refusal: unknown },
  ): Promise<MessageRef> {
    const platform = this.#options.platformOf(origin);
    const { team, channel: from, user } = origin;
    try {
      const channel = await platform.directChannel({ team, channel: from, address: origin.address }, user.id);
      const place = { ...origin, channel, address: {} };
      return await platform.open(directKey(key), place, { ...view, awayFrom: from });
    } catch (thrown) {
      throw asDailiesError(thrown, 'posting a direct message').retryable ? thrown : refusal;
    }
  }

  #fingerprint({ origin }: Task, view: TaskView): string {
    const fingerprint = fingerprintOf(view, this.#options.platformOf(origin).limits);
    const isMoving = view.members !== undefined || MOVING.has(view.phase);
    return isMoving ? fingerprint : `${fingerprint} ${hash('sha256', JSON.stringify(view, withoutTimes), 'hex')}`;
  }
}

/** Returns the key of a task's message by its ordinal; the key of the first one is the task's id. */
export function copyKey(task: TaskId, copy: number): TaskId {
  return (copy < 2 ? task : `${task}~${copy}`) as TaskId;
}

/** Returns the key of the direct message that stands in for a task's message of `key`. */
function directKey(key: TaskId): TaskId {
  return `${key}~0` as TaskId;
}

/** Phases in which {@link fingerprintOf} alone counts; in the others, a message may change in anything, but not by time. */
const MOVING: ReadonlySet<TaskView['phase']> = new Set(['queued', 'running', 'fetching']);

function withoutTimes(key: string, value: unknown): unknown {
  return key === 'nowMs' || key === 'remindedAtMs' ? undefined : value;
}

/** Returns a key that is equal for views that look the same to users; elapsed time alone makes no difference. */
export function fingerprintOf(view: TaskView, { showsState }: Pick<PlatformLimits, 'showsState'>): string {
  const { state, phase, progress, overdue, longerThanUsual, lateOutcome, buttons } = view;
  const shown = [showsState ? state : null, phase, progress, overdue !== null, longerThanUsual, lateOutcome, buttons];
  const members = view.members?.map(({ view: one, message, shot }) => [
    fingerprintOf(one, { showsState }),
    message !== null,
    ...(shot === undefined ? [] : [one.task, shot]),
  ]);
  const more = members === undefined ? [] : [members];
  const retrying = view.retrying === null ? [] : [retryFingerprint(view.retrying, view.nowMs)];
  const { boardCut, comparison, blind, earlierNotes } = view;
  const review = view.review?.map(({ kind }) => kind);
  const further = [review === undefined ? [] : [{ review }], comparison ?? [], blind ?? [], boardCut ?? []].flat();
  // A forgotten person's name is to go, and their notes, of which the key has no text.
  const erased = [...pseudonymsIn(view), ...(earlierNotes?.notes.map(({ text }) => text.length) ?? [])];
  return JSON.stringify([...shown, ...retrying, ...more, ...further, ...erased]);
}

/** Returns the percentages that the card of a set shows. */
function progressOf({ members }: TaskView): Pick<TaskMessageRecord, 'progressOf'> {
  if (members === undefined) return {};
  const shown = members.flatMap(({ view: { task, progress } }) =>
    progress === null ? [] : [[task, progress] as const],
  );
  return { progressOf: Object.fromEntries(shown) };
}

function messageWrite({ id, origin }: Task, message: MessageRef): RecordWrite {
  return tasksOfMessages.overwriting({ platform: origin.platform, message }, { task: id });
}
