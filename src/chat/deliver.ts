import type { Keyv } from 'keyv';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { MessageLock, MessageLockPurpose, MessageLocks } from '../cluster/message-lock.ts';
import { asDailiesError, DailiesError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { backoffMs } from '../pipeline/backoff.ts';
import type { Clips } from '../pipeline/clip-files.ts';
import { deliverLane, notifyLane } from '../pipeline/next-job.ts';
import { isWorthWaiting } from '../pipeline/poll.ts';
import type { TaskRepository } from '../pipeline/repository.ts';
import type { JobHandler, JobKind, WorkQueue } from '../queue/queue.ts';
import { failureOf, type Task, type TaskId } from '../tasks/task.ts';
import type { Clip } from '../videos/service.ts';
import type { AttachmentPlanner, UploadLimit } from './attachment-plan.ts';
import type { CompletionNotices } from './completion-notices.ts';
import { fileNameOf } from './file-name.ts';
import type { MessageRef, Platform } from './platform.ts';
import type { ProgressEdits } from './progress-edits.ts';
import type { TaskMessages } from './task-messages.ts';
import type { Handover, TaskView } from './view.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Beyond so many failing deliveries, the count of those that failed longest ago begins anew. */
const MOST_FAILING = 50_000;
/** When to try again where another process is changing the message. */
const NOT_OUR_TURN_MS = 1_000;
/** How often a process looks for a clip that the service has dropped: another process may have the file, and its turn comes. */
const MOST_LOOKS = 10;

/** How far the delivery of a task has come; written as it goes on, so that a restart goes on where it was. */
export interface DeliveryRecord {
  /** How the clip was handed over; absent: not yet. */
  readonly handover?: Handover;
  /** Largest upload to try, once the platform refused a larger one. */
  readonly limitBytes?: number;
  /** {@link limitBytes} was guessed: nobody stated it. */
  readonly isGuess?: boolean;
  /** The size of a file that was refused as too large although it is within every limit that is known. */
  readonly refusedBytes?: number;
  /** How many messages of its own the task was given, the deleted ones included. Default 1. */
  readonly copies?: number;
  /** How many of the task's `wants` were met. Default 0. */
  readonly wantsMet?: number;
  /** The revision of the task that was shown last, and whether there was still a message to show it on. */
  readonly shown?: { readonly revision: number; readonly isThere: boolean };
}

/** Who wants to know how deliveries end. */
export interface DeliveryObserver {
  /**
   * The outcome, with the clip where there is one, is in the chat; who is to be told of it is told next.
   * @param lagMs from the end of the task until then; `null` where an earlier outcome of it was shown: whoever asks for a
   * clip days later has it days later.
   */
  delivered(task: Task, handover: Handover | null, lagMs: number | null): void;
  /** One of the two steps failed, and is repeated. */
  failedOnce(task: Task, error: DailiesError): void;
}

/** Collaborators of {@link createDelivery}. */
export interface DeliveryOptions {
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  /** The Keyv of {@link DeliveryRecord}s, by task. */
  readonly records: Keyv;
  readonly cards: TaskMessages;
  readonly turns: MessageLocks;
  readonly edits: ProgressEdits;
  readonly clips: Pick<Clips, 'find'>;
  readonly handing: AttachmentPlanner;
  readonly notices: CompletionNotices;
  readonly platformOf: (task: Task) => Platform;
  readonly viewOf: (task: Task, handover: Handover | null) => Promise<TaskView>;
  readonly observer: DeliveryObserver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** The steps that bring what a task in the outbox came to into the chat; each can be repeated without doubling anything. */
export interface Delivery {
  /**
   * The step of the `deliver` lane: brings the task's own message to what the task came to, puts the clip on it, and
   * plans the notices.
   */
  readonly deliver: JobHandler;
  /**
   * The step of the `notify` lane: tells those who are to be told of what is shown, and takes the task out of the
   * outbox. A lane of its own, since a chat takes new messages slowly: a channel with many mentions must not keep clips
   * from other channels.
   */
  readonly notify: JobHandler;
}

/** The delivery of tasks on a store and the platforms. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { repository, queue, records, cards, turns, edits, notices, clock, logger } = options;
  const failures = new BoundedMap<string, number>(MOST_FAILING);

  const show = async (task: Task, turn: MessageLock): Promise<void> => {
    const { message } = await cards.open(task);
    const isThere = (await unlessGone(task, present(task, message, turn))) || (await presentAnew(task, turn));
    turn.assertHeld();
    await write(task.id, { ...(await read(task.id)), shown: { revision: task.revision, isThere } });
  };

  /** Whether a message was there to be changed; one that was deleted is remembered. */
  const unlessGone = async (task: Task, presented: Promise<unknown>): Promise<boolean> => {
    try {
      await presented;
      return true;
    } catch (thrown) {
      if (!hasCode(thrown, 'message_gone')) throw thrown;
      logger.info({ task: task.id }, 'the message of a task is gone; its clip is kept');
      await cards.gone(task.id);
      return false;
    }
  };

  /**
   * Shows a finished task in another message where the deleted one never held the clip (once), or where somebody wants it.
   * @returns whether there is a message now.
   */
  const presentAnew = async (task: Task, turn: MessageLock): Promise<boolean> => {
    if (task.state !== 'completed' || task.clip === undefined) return false;
    const delivery = await read(task.id);
    const { handover, copies = 1, wantsMet = 0, ...rest } = delivery;
    const { wants = 0 } = task;
    const isBegun = copies > ((await cards.get(task.id))?.copy ?? 1);
    const isOwed = handover === undefined && copies === 1;
    if (!isBegun && !isOwed && wants <= wantsMet) {
      if (handover === undefined) await write(task.id, { ...delivery, handover: { kind: 'unshown' } });
      return false;
    }
    const copy = isBegun ? copies : copies + 1;
    turn.assertHeld();
    // Written first: whoever repeats this opens the same message, and puts the clip on it.
    await write(task.id, { ...rest, copies: copy, wantsMet: wants });
    const presented = cards.reopen(task, copy).then(({ message }) => present(task, message, turn));
    if (await unlessGone(task, presented)) return true;
    await write(task.id, { ...(await read(task.id)), handover: { kind: 'unshown' } });
    return false;
  };

  /** Brings the task's own message up to date, with the clip where there is one. */
  const present = async (task: Task, message: MessageRef, turn: MessageLock): Promise<void> => {
    const platform = options.platformOf(task);
    const delivery = await read(task.id);
    const isWanted = delivery.handover?.kind === 'unshown' && (task.wants ?? 0) > (delivery.wantsMet ?? 0);
    const isHandedOver = task.state !== 'completed' || (delivery.handover !== undefined && !isWanted);
    const clip = isHandedOver ? undefined : await find(task);
    if (clip === undefined) {
      const view = await options.viewOf(task, delivery.handover ?? null);
      turn.assertHeld();
      await platform.edit(message, task.origin, view, 'final');
      return cards.shown(task, view);
    }
    const { handover, file } = await options.handing.prepare(task, clip, limitOf(delivery, task, platform));
    const view = await options.viewOf(task, handover);
    turn.assertHeld();
    try {
      if (file === null) await platform.edit(message, task.origin, view, 'final');
      else await attach(task, { message, view, file, kind: handover.kind });
    } catch (thrown) {
      if (file !== null && isRefusal(thrown)) return withhold(task, message, { refusal: thrown, turn });
      if (file === null || !hasCode(thrown, 'too_large')) throw thrown;
      const refusal = afterRefusal(file.bytes, thrown, delivery);
      await write(task.id, { ...delivery, ...refusal });
      // A refusal of what should fit may pass: the same file is tried again later. A smaller copy is worth a try at once.
      if (refusal.limitBytes === undefined) throw refusedForNow(thrown);
      return present(task, message, turn);
    }
    turn.assertHeld();
    await write(task.id, { ...delivery, handover, ...(isWanted ? { wantsMet: task.wants ?? 0 } : {}) });
    await cards.shown(task, view);
  };

  /** Puts the clip on a task's message; where the clip's own message mentions the requester, no notice follows. */
  const attach = async (
    task: Task,
    shown: {
      readonly message: MessageRef;
      readonly view: TaskView;
      readonly file: Clip;
      readonly kind: Handover['kind'];
    },
  ): Promise<void> => {
    const { message, view, file, kind } = shown;
    const platform = options.platformOf(task);
    const { mentionsWithFile } = platform.limits;
    const notice = mentionsWithFile ? await notices.withFile(task, { message, handover: kind }) : null;
    const words = { name: fileNameOf(task), description: task.request.prompt };
    const upload = notice === null ? { ...file, ...words } : { ...file, ...words, notice };
    const isTold = await platform.attach(message, task.origin, view, upload);
    if (isTold) await notices.toldWithFile(task);
  };

  /** The clip of a task; one that is lost for good is recorded as such, so that people are told. */
  const find = async (task: Task): Promise<Clip | undefined> => {
    try {
      return await options.clips.find(task);
    } catch (thrown) {
      const error = asDailiesError(thrown, `finding the clip of task ${task.id}`);
      const looks = (failures.get(keyOf('deliver', task)) ?? 0) + 1;
      if (looks >= MOST_LOOKS && !isWorthWaiting(error, clock.now() - (task.endedAtMs ?? task.createdAtMs))) {
        logger.error({ task: task.id, err: error }, 'the clip of a task is on no disk, and cannot be fetched again');
        await repository.record(task.id, { kind: 'vanished', revision: task.revision, failure: failureOf(error) });
      }
      throw error;
    }
  };

  /** The chat takes no file: a link does as well; without one, it is said, and tried again until somebody gives the right. */
  const withhold = async (
    task: Task,
    message: MessageRef,
    { refusal, turn }: { readonly refusal: DailiesError; readonly turn: MessageLock },
  ): Promise<void> => {
    const handover = options.handing.withhold(task, refusal.words ?? 'attach files');
    const view = await options.viewOf(task, handover);
    turn.assertHeld();
    await options.platformOf(task).edit(message, task.origin, view, 'final');
    await cards.shown(task, view);
    if (handover.link === null) throw refusal;
    await write(task.id, { ...(await read(task.id)), handover });
  };

  const read = async (id: TaskId): Promise<DeliveryRecord> => (await records.get<DeliveryRecord>(id)) ?? {};
  const write = async (id: TaskId, record: DeliveryRecord): Promise<void> => {
    await records.set(id, record);
  };

  /** One try of a step; one that fails is repeated, later each time. */
  const attempt = async (lane: JobKind, task: Task, work: () => Promise<number | null>): Promise<number | null> => {
    const key = keyOf(lane, task);
    try {
      const dueInMs = await work();
      failures.delete(key);
      return dueInMs;
    } catch (thrown) {
      const error = asDailiesError(thrown, `delivering task ${task.id}`);
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      options.observer.failedOnce(task, error);
      logger.warn({ task: task.id, lane, failures: count, err: error }, 'a delivery failed; it is repeated');
      const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: options.random() };
      return backoffMs(count, { ...pace, askedMs: error.retryAfterMs });
    }
  };

  /** Does something that no other process does at the same time. @returns whether it was our turn. */
  const inTurn = async (
    task: Task,
    what: MessageLockPurpose,
    act: (turn: MessageLock) => Promise<void>,
  ): Promise<boolean> => {
    const turn = await turns.take(task.id, what);
    if (turn === null) return false;
    try {
      await act(turn);
      return true;
    } finally {
      await turn.end();
    }
  };

  /** Shows a task, and has what it says now told; nobody edits its message meanwhile. */
  const deliverOnce = async (task: Task, isFirst: boolean): Promise<number | null> => {
    await edits.hold(task.id);
    try {
      const wasOurs = await inTurn(task, 'message', (turn) => show(task, turn));
      if (!wasOurs) return NOT_OUR_TURN_MS;
      edits.forget(task.id);
    } finally {
      edits.release(task.id);
    }
    const now = await repository.get(task.id);
    // The task moved on while it was being shown: once more, with what it is now.
    if (now?.revision !== task.revision) return 0;
    const { handover } = await read(task.id);
    const lagMs = isFirst && task.endedAtMs !== undefined ? clock.now() - task.endedAtMs : null;
    options.observer.delivered(task, handover ?? null, lagMs);
    queue.schedule(notifyLane(task), task.id, clock.now());
    return null;
  };

  const notifyOnce = async (task: Task, isThere: boolean): Promise<number | null> => {
    const { message } = await cards.open(task);
    const { handover } = await read(task.id);
    const shown = { message, isThere, handover: handover?.kind ?? null };
    const wasOurs = await inTurn(task, 'notices', (turn) => notices.tell(task, shown, turn));
    if (!wasOurs) return NOT_OUR_TURN_MS;
    const told = await repository.record(task.id, { kind: 'presented', revision: task.revision });
    // The task moved on while they were told: it is shown once more, with what it is now.
    if (told?.done === false) queue.schedule(deliverLane(task), task.id, clock.now());
    return null;
  };

  /** The task, as long as it is in the outbox, and what of it is shown. */
  const waiting = async (key: string) => {
    const task = await repository.get(key as TaskId);
    if (task === undefined || task.presented) return null;
    const { shown } = await read(task.id);
    return { task, isFirst: shown === undefined, shown: shown?.revision === task.revision ? shown : null };
  };

  return {
    async deliver(key) {
      const found = await waiting(key);
      if (found === null) return null;
      const { task, isFirst, shown } = found;
      if (shown === null) return attempt('deliver', task, () => deliverOnce(task, isFirst));
      // Shown before a restart already, and nothing edits what is in the outbox.
      queue.schedule(notifyLane(task), key, clock.now());
      return null;
    },
    async notify(key) {
      const found = await waiting(key);
      if (found === null) return null;
      const { task, shown } = found;
      if (shown !== null) return attempt('notify', task, () => notifyOnce(task, shown.isThere));
      queue.schedule(deliverLane(task), key, clock.now());
      return null;
    },
  };
}

function keyOf(lane: JobKind, { id }: Task): string {
  return `${lane}:${id}`;
}

function uploadLimitOf(task: Task, platform: Platform): number {
  return task.origin.uploadLimitBytes ?? platform.limits.uploadBytes;
}

/** The largest upload to try: what the origin or the platform states, or less after a refusal. */
function limitOf({ limitBytes, isGuess = false }: DeliveryRecord, task: Task, platform: Platform): UploadLimit {
  const statedBytes = uploadLimitOf(task, platform);
  if (limitBytes === undefined || limitBytes >= statedBytes) return { bytes: statedBytes, isStated: true };
  return { bytes: limitBytes, isStated: !isGuess };
}

/**
 * What to remember of a file that was refused as too large: the limit where the platform states one; else the refusal, and
 * at the second one half of its size as a guess.
 */
function afterRefusal(
  refusedBytes: number,
  { limitBytes }: DailiesError,
  before: DeliveryRecord,
): Pick<DeliveryRecord, 'limitBytes' | 'isGuess' | 'refusedBytes'> {
  if (limitBytes !== undefined && limitBytes < refusedBytes) return { limitBytes, isGuess: false };
  if (before.refusedBytes === undefined) return { refusedBytes };
  return { limitBytes: Math.floor(refusedBytes / 2), isGuess: true };
}

/** When to send a file again that was refused as too large although it is not. */
const REFUSED_AGAIN_MS = 10_000;

function refusedForNow(cause: DailiesError): DailiesError {
  return new DailiesError(`${cause.message}: it is within the limit that is known, and is sent again`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: REFUSED_AGAIN_MS,
    cause,
  });
}

/** The chat takes no file, and would not take it the next time: not for its size, nor because its message is gone. */
function isRefusal(thrown: unknown): thrown is DailiesError {
  return (
    thrown instanceof DailiesError && !thrown.retryable && thrown.code !== 'too_large' && thrown.code !== 'message_gone'
  );
}

function hasCode(thrown: unknown, code: ErrorCode): thrown is DailiesError {
  return thrown instanceof DailiesError && thrown.code === code;
}
