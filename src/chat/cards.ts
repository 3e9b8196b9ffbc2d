import { hash } from 'node:crypto';
import { collection, type RecordWrite } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import { SingleFlight } from '../single-flight.ts';
import {
  isEnded,
  isFollowedQuietly,
  type Origin,
  pseudonymsIn,
  retryFingerprint,
  type StepRetry,
  type Task,
  type TaskId,
} from '../tasks/index.ts';
import { hasCode } from './attachment-plan.ts';
import type { MessageLock } from './message-lock.ts';
import type { ChatParts } from './parts.ts';
import type { AlsoRecorded, MessageRef, Opened, PlatformLimits } from './platform.ts';
import type { CardView, Handover } from './view.ts';

export interface CardRecord {
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
  /** The message is a direct one to the requester, since the channel took none. */
  readonly isDirect?: true;
  /** The message is known to be deleted. */
  readonly isGone?: true;
  /** Messages of the task before this one. Absent: none. */
  readonly earlier?: readonly MessageRef[];
  /** The message that this one replaced in its channel and that may still be there, as it was. Absent: none. */
  readonly outdated?: MessageRef;
  /** Fingerprint of the view shown last; `null` while that is not certain. */
  readonly shown: string | null;
}

type Options = Pick<ChatParts, 'store' | 'locks' | 'platformOf'>;

type Posted = Pick<CardSubject, 'id' | 'origin'>;

type PostedCard = Pick<CardRecord, 'message' | 'isDirect'>;

/** What a card shows: a task, the tasks of a set, or a cut. */
export interface CardSubject {
  /** Of the task or the cut; of a set, its `setCardId`. */
  readonly id: TaskId;
  readonly origin: Origin;
  /** It has ended, or needs a decision: where its channel refuses the card, the requester gets it. */
  readonly isOutcome: boolean;
  /**
   * Returns its present view.
   * @param card the card that shows it; absent: it is still to be posted
   * @param handover how its file was delivered; `null`: it has none, or not yet. Default: as it is recorded
   */
  readonly view: (card?: CardRecord, handover?: Handover | null) => Promise<CardView>;
  /** Returns the origin to post its card for, such as below the card of its set. */
  readonly place: () => Promise<Origin>;
  /** Ids of the cards of sets that show it as well. Default: none. */
  readonly onCards?: readonly TaskId[];
  /** Only these show it, unless it has a message of its own already. Default: false. */
  readonly isOnCardAlone?: boolean;
  /** Called when its card is posted anew, without the files of the one before. Default: nothing is to be done. */
  readonly reposted?: () => Promise<void>;
}

/** Returns whether a task has ended for its requester, or needs a decision. */
export function isOutcome(task: Task): boolean {
  return isEnded(task) || isFollowedQuietly(task) || task.state === 'uncertain';
}

export const cardRecords = collection<TaskId, CardRecord>({
  name: 'cards',
  holds: 'the messages that show a task',
  kept: 'until the task’s content is removed',
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

/** Maps each subject to its one message, which is opened once and found again after a restart. */
export class Cards {
  readonly #options: Options;
  readonly #opening = new SingleFlight<TaskId, CardRecord>();

  constructor(options: Options) {
    this.#options = options;
  }

  get(id: TaskId): Promise<CardRecord | undefined> {
    return cardRecords.get(this.#options.store, id);
  }

  /** Posts a card, or returns the existing one; concurrent calls post only one. */
  open(subject: CardSubject): Promise<CardRecord> {
    const { id } = subject;
    return this.#opening.run(id, async () => {
      const known = await this.get(id);
      return known ?? this.#options.locks.first(id, (lock) => this.#openFirst(subject, lock));
    });
  }

  /**
   * Posts a replacement for a message that is deleted or cannot be changed, or returns it; calls with the same `copy` post
   * only one.
   */
  async reopen(subject: CardSubject, copy: number): Promise<CardRecord> {
    const { id } = subject;
    const view = await subject.view(undefined, null);
    const { isRecorded: _, ...posted } = await this.#post(copyKey(id, copy), subject, view);
    const { message } = posted;
    const before = await this.get(id);
    const earlier = messagesOf(before).filter((one) => one.message !== message.message);
    // One elsewhere shows what was asked for there, or is in a channel that takes no message.
    const isBeside = before?.isGone !== true && before?.message.channel === message.channel;
    const outdated = isBeside ? { outdated: before.message } : {};
    const record = { revision: 1, ...posted, earlier, progress: progressIn(view), copy, shown: null, ...outdated };
    const records = [cardRecords.overwriting(id, record), messageWrite(subject, message)];
    // First, so that no crash leaves files behind on the deleted card; their deliveries wait for the lock of this one.
    await subject.reposted?.();
    await this.#options.store.commit({ records });
    return record;
  }

  /** @param message the one that is deleted; one that was replaced changes nothing. Default: that of the record */
  async gone(id: TaskId, message?: MessageRef): Promise<void> {
    const record = await this.get(id);
    const isPresent = message === undefined || message.message === record?.message.message;
    if (record !== undefined && record.isGone !== true && isPresent)
      await cardRecords.set(this.#options.store, id, { ...record, isGone: true });
  }

  /** Records that the message that a card replaced is up to date, or cannot be. */
  async settled(id: TaskId): Promise<void> {
    const record = await this.get(id);
    if (record === undefined) return;
    const { outdated: _, ...rest } = record;
    await cardRecords.set(this.#options.store, id, rest);
  }

  /** Returns every message that was opened for a subject, oldest first; they may be deleted. */
  async messages(id: TaskId): Promise<readonly MessageRef[]> {
    return messagesOf(await this.get(id));
  }

  /** Returns whether a card already looks like `view`. */
  isShown(card: CardRecord, subject: Posted, view: CardView): boolean {
    return card.shown === this.#fingerprint(subject, view);
  }

  /** Shows a view in a card, and records that, or that its message is deleted. @throws DailiesError as `Platform.edit` */
  async edit(
    { id, origin }: Posted,
    { message, view, lock }: { readonly message: MessageRef; readonly view: CardView; readonly lock: MessageLock },
    urgency: 'progress' | 'final' = 'final',
  ): Promise<void> {
    lock.assertHeld();
    try {
      await this.#options.platformOf({ origin }).edit(message, origin, view, urgency);
    } catch (thrown) {
      if (hasCode(thrown, 'message_gone')) await this.gone(id, message);
      throw thrown;
    }
    await this.shown({ id, origin }, view, message);
  }

  /** Records that a card shows a view. @param message as of {@link gone} */
  async shown(subject: Posted, view: CardView, message?: MessageRef): Promise<void> {
    const { id } = subject;
    const record = await this.get(id);
    if (record === undefined || (message !== undefined && message.message !== record.message.message)) return;
    const isRunning = view.phase === 'running' || record.isRunning === true;
    const { retrying: _earlier, ...rest } = record;
    const retrying = view.kind !== 'task' || view.retrying === null ? {} : { retrying: view.retrying };
    const progress = progressIn(view) ?? record.progress;
    const next = {
      ...rest,
      progress,
      ...progressOf(view),
      isRunning,
      ...retrying,
      shown: this.#fingerprint(subject, view),
    };
    if (next.shown !== record.shown || next.progress !== record.progress)
      await cardRecords.set(this.#options.store, id, next);
  }

  /** Returns the write that records of which task the message of a file is. @param task `null`: of none any more */
  fileWrite({ platform }: Origin, message: MessageRef, task: TaskId | null): RecordWrite {
    return tasksOfMessages.overwriting({ platform, message }, task === null ? null : { task });
  }

  async taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined> {
    return (await tasksOfMessages.get(this.#options.store, { platform, message }))?.task;
  }

  /** Returns the writes that delete everything recorded about the messages of a subject. */
  async deletions({ id, origin }: Posted): Promise<readonly RecordWrite[]> {
    const { platform } = origin;
    const messages = await this.messages(id);
    return [
      cardRecords.overwriting(id, null),
      ...messages.map((message) => tasksOfMessages.overwriting({ platform, message }, null)),
    ];
  }

  async #openFirst(subject: CardSubject, lock: MessageLock): Promise<CardRecord> {
    const { store } = this.#options;
    const { id } = subject;
    const view = await subject.view(undefined, null);
    lock.assertHeld();
    // A message that was posted before a crash may show an older state, if there is one.
    const { limits } = this.#options.platformOf(subject);
    const shown = isFirstView(view, limits) ? this.#fingerprint(subject, view) : null;
    const known = { revision: 1, progress: progressIn(view), shown };
    const writesOf = (posted: PostedCard): readonly RecordWrite[] => [
      { ...cardRecords.overwriting(id, { ...known, ...posted }), expected: 'absent' },
      messageWrite(subject, posted.message),
    ];
    // One that another process has posted meanwhile is found by the platform's own dedup.
    const { isRecorded, ...posted } = await this.#post(id, subject, view, (message) => writesOf({ message }));
    const isFirst = isRecorded === true || (await store.commit({ records: writesOf(posted) }));
    // A process that was suspended past its lease uses the record of the process that took over.
    return (isFirst ? undefined : await this.get(id)) ?? { ...known, ...posted };
  }

  /**
   * Posts a card; one that its channel does not take goes to the requester by direct message.
   * @param also as of `Platform.open`, for a card in its channel
   * @throws DailiesError that of the channel, where the requester takes none either
   */
  async #post(
    key: TaskId,
    { origin, isOutcome: isOver, place }: CardSubject,
    view: CardView,
    also?: AlsoRecorded,
  ): Promise<PostedCard & Pick<Opened, 'isRecorded'>> {
    const platform = this.#options.platformOf({ origin });
    try {
      const { isRecorded, ...message } = await platform.open(key, await place(), view, also);
      return { message, ...(isRecorded === true ? { isRecorded } : {}) };
    } catch (thrown) {
      const isClosed = hasCode(thrown, 'message_gone') || (hasCode(thrown, 'missing_permission') && isOver);
      if (!isClosed || !platform.limits.hasDirectMessages) throw thrown;
      return this.#postDirectly(key, origin, { view, refusal: thrown });
    }
  }

  async #postDirectly(
    key: TaskId,
    { replyTo: _replyTo, ...origin }: Origin,
    { view, refusal }: { readonly view: CardView; readonly refusal: unknown },
  ): Promise<PostedCard> {
    const platform = this.#options.platformOf({ origin });
    const { team, channel: from, user } = origin;
    try {
      const channel = await platform.channels.directChannel({ team, channel: from, address: origin.address }, user.id);
      const place = { ...origin, channel, address: {} };
      return { message: await platform.open(directKey(key), place, { ...view, awayFrom: from }), isDirect: true };
    } catch (thrown) {
      throw asDailiesError(thrown, 'posting a direct message').retryable ? thrown : refusal;
    }
  }

  #fingerprint({ origin }: Posted, view: CardView): string {
    const fingerprint = fingerprintOf(view, this.#options.platformOf({ origin }).limits);
    const isMoving = view.kind === 'set' || MOVING.has(view.phase);
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
const MOVING: ReadonlySet<CardView['phase']> = new Set(['queued', 'running', 'fetching']);

/** Returns whether nothing that looks different can have been shown before a view. */
function isFirstView(view: CardView, limits: Pick<PlatformLimits, 'showsState'>): boolean {
  if (view.kind === 'set') return view.members.every((member) => isFirstView(member.view, limits));
  if (view.kind === 'cut') return false;
  const { task, phase, retrying } = view;
  // One that was approved has been shown as a request.
  const isFirst =
    task.approval === undefined
      ? task.state === 'claimed' || (phase === 'queued' && !limits.showsState)
      : task.state === 'requested';
  return isFirst && retrying === null;
}

function withoutTimes(key: string, value: unknown): unknown {
  return key === 'nowMs' || key === 'remindedAtMs' ? undefined : value;
}

/** Returns a key that is equal for views that look the same to users; elapsed time alone makes no difference. */
export function fingerprintOf(view: CardView, { showsState }: Pick<PlatformLimits, 'showsState'>): string {
  // A forgotten person's name is to go.
  const erased = [...pseudonymsIn(view)];
  if (view.kind === 'cut') return JSON.stringify([view.phase, ...erased]);
  const { phase, progress, buttons } = view;
  if (view.kind === 'set') {
    const members = view.members.map(({ view: one, message, file, shot }) => [
      fingerprintOf(one, { showsState }),
      message !== null,
      file?.name ?? one.handover?.kind,
      ...(shot === undefined ? [] : [one.task.id, shot]),
    ]);
    return JSON.stringify([
      phase,
      progress,
      buttons,
      members,
      view.comparison,
      view.boardCut,
      view.boardRevision,
      ...erased,
    ]);
  }
  const { task, pace, ahead, retrying, blind, earlierNotes, nowMs } = view;
  const late = pace?.kind === 'usual' ? null : pace?.kind;
  const retry = retrying === null ? null : retryFingerprint(retrying, nowMs);
  const review = task.review?.map(({ kind }) => kind);
  const shown = [
    phase,
    showsState ? task.state : null,
    progress,
    late,
    task.lateOutcome,
    buttons,
    ahead,
    retry,
    review,
    // Sought, and what that found.
    task.failure?.search && (task.failure.search.result ?? true),
  ];
  // Of the notes, the key has no text.
  const notes = earlierNotes?.notes.map(({ text }) => text.length) ?? [];
  return JSON.stringify([...shown, blind, ...erased, ...notes]);
}

/** Returns the percentage that a card shows; `null` for none. */
function progressIn(view: CardView): number | null {
  return view.kind === 'cut' ? null : view.progress;
}

/** Returns the percentages that the card of a set shows. */
function progressOf(view: CardView): Pick<CardRecord, 'progressOf'> {
  if (view.kind !== 'set') return {};
  const shown = view.members.flatMap(({ view: { task, progress } }) =>
    progress === null ? [] : [[task.id, progress] as const],
  );
  return { progressOf: Object.fromEntries(shown) };
}

function messagesOf(record: CardRecord | undefined): readonly MessageRef[] {
  return record === undefined ? [] : [...(record.earlier ?? []), record.message];
}

function messageWrite({ id, origin }: Posted, message: MessageRef): RecordWrite {
  return tasksOfMessages.overwriting({ platform: origin.platform, message }, { task: id });
}
