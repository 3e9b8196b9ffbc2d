import type { Keyv } from 'keyv';
import type { Clock } from '../clock.ts';
import { asDailiesError, DailiesError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Step } from '../tasks/queue.ts';
import type { Recorder } from '../tasks/recorder.ts';
import { backoffMs } from '../tasks/schedule.ts';
import type { Task, TaskId } from '../tasks/task.ts';
import type { Cards } from './cards.ts';
import { fileNameOf } from './file-name.ts';
import type { Handing } from './handover.ts';
import type { MessageRef, Platform } from './platform.ts';
import type { ProgressEdits } from './progress.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { EndNotice, Handover, TaskView } from './view.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;

/** How far the delivery of a task has come; written after each step, so that a restart goes on where it was. */
export interface DeliveryRecord {
  /** How the clip was handed over; absent: not yet. */
  readonly handover?: Handover;
  /** Largest upload that is known to fit, once the platform refused a larger one. */
  readonly limitBytes?: number;
  /** Keys of the notices that were posted. */
  readonly notified: readonly string[];
}

/** Who wants to know how deliveries end. */
export interface DeliveryObserver {
  /** @param lagMs from the end of the task to its delivery. */
  delivered(task: Task, handover: Handover | null, lagMs: number): void;
  failedOnce(task: Task, error: DailiesError): void;
}

/** Collaborators of {@link createDelivery}. */
export interface DeliveryOptions {
  readonly recorder: Recorder;
  /** The Keyv of {@link DeliveryRecord}s, by task. */
  readonly records: Keyv;
  readonly cards: Cards;
  readonly edits: ProgressEdits;
  readonly handing: Handing;
  readonly subscriptions: Subscriptions;
  readonly platformOf: (task: Task) => Platform;
  readonly viewOf: (task: Task, handover: Handover | null) => Promise<TaskView>;
  readonly observer: DeliveryObserver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * The step of the `deliver` lane, for a task in the outbox: brings its message to what the task came to, puts the clip
 * on it, tells those who are to be told, and takes it out of the outbox. Every part of it can be repeated without
 * doubling anything, so it is repeated until all of it succeeded.
 */
export function createDelivery(options: DeliveryOptions): Step {
  const { recorder, records, cards, edits, clock, logger } = options;
  const failures = new Map<string, number>();

  const deliver = async (task: Task): Promise<void> => {
    const { message } = await cards.open(task);
    const isThere = await present(task, message).then(
      () => true,
      (thrown: unknown) => {
        if (!hasCode(thrown, 'message_gone')) throw thrown;
        // Somebody deleted the message: there is nothing to edit any more, but they are still told.
        logger.info({ task: task.id }, 'the message of a task is gone; its clip is kept');
        return false;
      },
    );
    await tell(task, message, isThere);
  };

  /** Brings the task's own message up to date, with the clip where there is one. */
  const present = async (task: Task, message: MessageRef): Promise<void> => {
    const platform = options.platformOf(task);
    const delivery = await read(task.id);
    if (task.state !== 'completed' || task.clip === undefined || delivery.handover !== undefined) {
      const view = await options.viewOf(task, delivery.handover ?? null);
      await platform.edit(message, task.origin, view, 'final');
      return cards.shown(task.id, view);
    }
    const limitBytes = Math.min(delivery.limitBytes ?? Number.POSITIVE_INFINITY, uploadLimitOf(task, platform));
    const { handover, file } = await options.handing.prepare(task, task.clip, limitBytes);
    const view = await options.viewOf(task, handover);
    try {
      const upload = { name: fileNameOf(task), description: task.request.prompt };
      if (file === null) await platform.edit(message, task.origin, view, 'final');
      else await platform.attach(message, task.origin, view, { ...file, ...upload });
    } catch (thrown) {
      if (file !== null && hasCode(thrown, 'missing_permission')) return withhold(task, message, thrown);
      if (file === null || !hasCode(thrown, 'too_large')) throw thrown;
      await write(task.id, { ...delivery, limitBytes: smaller(file.bytes, thrown.limitBytes) });
      // A smaller copy is worth a try at once.
      return present(task, message);
    }
    await write(task.id, { ...delivery, handover });
    await cards.shown(task.id, view);
  };

  /** The chat takes no file: a link does as well; without one, it is said, and tried again until somebody gives the right. */
  const withhold = async (task: Task, message: MessageRef, refusal: DailiesError): Promise<void> => {
    const handover = options.handing.withhold(task, refusal.words ?? 'attach files');
    const view = await options.viewOf(task, handover);
    await options.platformOf(task).edit(message, task.origin, view, 'final');
    await cards.shown(task.id, view);
    if (handover.link === null) throw refusal;
    await write(task.id, { ...(await read(task.id)), handover });
  };

  /** One mention of the requester at the end, here and in every channel that asked for it. */
  const tell = async (task: Task, message: MessageRef, isThere: boolean): Promise<void> => {
    const phase = endPhaseOf(task);
    if (phase === null) return;
    const { platform, team, channel, address, user } = task.origin;
    const notice = { kind: 'end', task: task.id, phase, prompt: task.request.prompt, by: user, message } as const;
    const end = `end:${task.id}:${phase}:${task.sends}`;
    await tellOnce(task, end, {
      place: { team, channel, address },
      replyTo: isThere ? message : null,
      view: { ...notice, subscribed: false },
    }).catch((thrown: unknown) => {
      // What is gone is the channel, where there was no message to reply to.
      if (isThere || !hasCode(thrown, 'message_gone')) throw thrown;
      logger.warn({ task: task.id, err: thrown }, 'the channel of a task is gone; nobody can be told there');
    });
    if (phase !== 'done') return;
    const subscribed = (await options.subscriptions.list(platform, team)).filter(
      ({ who, channel: there }) => there !== channel && (who === 'everyone' || who.id === user.id),
    );
    for (const there of new Set(subscribed.map((subscription) => subscription.channel))) {
      const place = { team, channel: there, address: {} };
      try {
        await tellOnce(task, `${end}:${there}`, { place, replyTo: null, view: { ...notice, subscribed: true } });
      } catch (thrown) {
        const error = asDailiesError(thrown, `telling channel ${there} of task ${task.id}`);
        if (error.retryable) throw error;
        logger.warn({ task: task.id, channel: there, err: error }, 'a subscribed channel cannot be told');
      }
    }
  };

  const tellOnce = async (
    task: Task,
    key: string,
    notice: Pick<Parameters<Platform['notify']>[0], 'place' | 'replyTo'> & { readonly view: EndNotice },
  ): Promise<void> => {
    const delivery = await read(task.id);
    if (delivery.notified.includes(key)) return;
    await options.platformOf(task).notify({ key, mention: task.origin.user, ...notice });
    await write(task.id, { ...delivery, notified: [...delivery.notified, key] });
  };

  const read = async (id: TaskId): Promise<DeliveryRecord> =>
    (await records.get<DeliveryRecord>(id)) ?? { notified: [] };
  const write = async (id: TaskId, record: DeliveryRecord): Promise<void> => {
    await records.set(id, record);
  };

  const retryAfter = (task: Task, thrown: unknown): number => {
    const error = asDailiesError(thrown, `delivering task ${task.id}`);
    const count = (failures.get(task.id) ?? 0) + 1;
    failures.set(task.id, count);
    options.observer.failedOnce(task, error);
    logger.warn({ task: task.id, failures: count, err: error }, 'a delivery failed; it is repeated');
    const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: options.random() };
    return backoffMs(count, { ...pace, askedMs: error.retryAfterMs });
  };

  return async (key) => {
    const task = await recorder.get(key as TaskId);
    if (task === undefined || task.presented) return null;
    await edits.hold(task.id);
    try {
      await deliver(task);
      const shown = await recorder.record(task.id, { kind: 'presented', revision: task.revision });
      // The task moved on while it was being shown: once more, with what it is now.
      if (shown?.done === false) return 0;
      failures.delete(task.id);
      const delivery = await read(task.id);
      const lagMs = clock.now() - (task.endedAtMs ?? clock.now());
      options.observer.delivered(task, delivery.handover ?? null, lagMs);
      return null;
    } catch (thrown) {
      return retryAfter(task, thrown);
    } finally {
      if (failures.get(task.id) === undefined) edits.forget(task.id);
      edits.release(task.id);
    }
  };
}

function uploadLimitOf(task: Task, platform: Platform): number {
  return task.origin.uploadLimitBytes ?? platform.limits.uploadBytes;
}

/** What people are told of a task in the outbox; `null`: its message says enough. */
function endPhaseOf(task: Task): EndNotice['phase'] | null {
  switch (task.state) {
    case 'completed':
      return task.clip === undefined ? 'lost' : 'done';
    case 'failed':
      return 'failed';
    case 'rejected':
      return 'refused';
    case 'uncertain':
      return 'uncertain';
    case 'claimed':
    case 'sending':
    case 'polling':
    case 'cancelled':
      return null;
  }
}

/** What to try after a file was refused: what the platform says it takes, unless that says nothing; else half. */
function smaller(refusedBytes: number, takenBytes = Number.POSITIVE_INFINITY): number {
  return takenBytes < refusedBytes ? takenBytes : Math.floor(refusedBytes / 2);
}

function hasCode(thrown: unknown, code: ErrorCode): thrown is DailiesError {
  return thrown instanceof DailiesError && thrown.code === code;
}
