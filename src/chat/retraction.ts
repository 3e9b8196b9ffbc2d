import type { RecordWrite } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { boardRecords, insertionRecords, type TaskSet } from '../orders/index.ts';
import {
  isContentRemoved,
  type Origin,
  type RemovalReason,
  type SetPlace,
  type Task,
  type TaskId,
} from '../tasks/index.ts';
import { unlessGone } from './attachment-plan.ts';
import { endKey, endPhaseOf } from './completion-notices.ts';
import type { MessageLock } from './message-lock.ts';
import type { ChatParts } from './parts.ts';
import type { MessageRef, Platform } from './platform.ts';
import { taskPosts } from './posts.ts';
import { deliveryOf, deliveryRecords, retractions, setNotices } from './records.ts';
import { isOnCard, setCardId } from './sets/set-view.ts';

/** Outcome of a retraction: the number of messages that show the removal, or are gone, and of those that stay. */
export interface RetractionCount {
  readonly retracted: number;
  /** Users may still see these: the bot may not change them. */
  readonly kept: number;
}

/**
 * Finds every message that shows a removed task, its prompt, its requester or its clip, and removes these from the chat. The
 * card of a set follows with the last of its tasks: until then, it shows the prompts of the others.
 */
export class TaskRetraction {
  readonly #options: ChatParts;

  constructor(options: ChatParts) {
    this.#options = options;
  }

  /** Returns the messages of a task: its notices, deleted messages that were replaced, and its card last. */
  messagesOf(task: Task): Promise<readonly MessageRef[]> {
    return this.#messagesOf(taskToRetract(task));
  }

  /**
   * Returns the messages of a task, or a set: its notices to the requester, approvers and subscribers, deleted messages that
   * were replaced, and its card last. A file that is posted in a message of its own belongs to the card.
   * @param isOwnAlone `true`: only its card and those that this replaced.
   */
  async #messagesOf(subject: Retracted, isOwnAlone = false): Promise<readonly MessageRef[]> {
    const { cards, notices } = this.#options;
    const others = isOwnAlone ? [] : [notices.messages(subject, subject.ends)];
    const found = await Promise.all([...others, cards.messages(subject.id)]);
    if ((found.at(-1) ?? []).length > 0) return found.flat();
    // The records of an expired task are deleted, but its messages are not.
    const own = await this.#options.platformOf(subject).find('task', subject.id);
    return own === undefined ? found.flat() : [...found.flat(), own];
  }

  /**
   * Retracts every message of a removed task, under the lock of its own; may be repeated, and then goes on after those that
   * are done.
   * @param origin its origin with the address that its record no longer has
   * @throws DailiesError retryable, at the first that may work later, also while another process edits the message
   */
  async retract(task: Task, origin: Origin, reason: RemovalReason): Promise<RetractionCount> {
    const { edits, locks } = this.#options;
    await edits.hold(task.id);
    try {
      const count = await locks.runOrThrow(task.id, 'message', (lock) =>
        this.#retractAll({ ...taskToRetract(task), origin }, reason, lock),
      );
      const onCard = task.set === undefined ? NONE : await this.#retractCard(task.set, reason);
      return { retracted: count.retracted + onCard.retracted, kept: count.kept + onCard.kept };
    } finally {
      edits.forget(task.id);
      edits.release(task.id);
    }
  }

  /** Deletes what the adapters themselves store of a task whose clip, or content, has expired. May be repeated. */
  async expire(task: Task): Promise<void> {
    const { cards, edits, sets, platformOf, viewOf } = this.#options;
    const platform = platformOf(task);
    const view = isContentRemoved(task) ? ({ kind: 'removed', reason: 'expired' } as const) : await viewOf(task);
    edits.forget(task.id);
    const isOwnAlone = view.kind === 'task';
    for (const message of await this.#messagesOf(taskToRetract(task), isOwnAlone)) await platform.expire(message, view);
    const set = task.set === undefined ? null : await sets.get(task.set);
    if (set === null) return;
    const card = cardToRetract(set);
    if (!isContentRemoved(set.shown)) {
      if (!isOnCard(task)) return;
      return sets.change(card.id, async () => {
        const now = await sets.view(await sets.get(set.place));
        for (const message of await cards.messages(card.id)) await platform.expire(message, now);
      });
    }
    edits.forget(card.id);
    for (const message of await this.#messagesOf(card)) await platform.expire(message, view);
  }

  /** Returns the writes that delete what is recorded about the messages and the delivery of a removed task. */
  async deletions(task: Task): Promise<readonly RecordWrite[]> {
    const { edits, sets, comparisons } = this.#options;
    edits.forget(task.id);
    const set = task.set === undefined ? undefined : await sets.find(task.set);
    const own = await this.#ownDeletions(task);
    if (set === undefined || !isContentRemoved(set.shown)) return own;
    const { id } = set.place;
    const records = [
      boardRecords.overwriting(id, null),
      insertionRecords.overwriting(id, null),
      setNotices.overwriting({ id }, null),
    ];
    return [...own, ...(await this.#ownDeletions(cardToRetract(set))), ...records, comparisons.records.deletion(id)];
  }

  /** Takes a removed task off the card of its set, which is retracted with the last of its tasks. */
  async #retractCard(place: SetPlace, reason: RemovalReason): Promise<RetractionCount> {
    const { sets, approvals, cards, logger } = this.#options;
    const set = await sets.get(place);
    const card = cardToRetract(set);
    if (isContentRemoved(set.shown)) {
      await sets.change(card.id, async (lock) => void (await this.#retractAll(card, reason, lock)));
      return NONE;
    }
    // The notices of its request show the prompts of the others alone.
    await approvals.settleSet(set);
    if (!isOnCard({ set: place })) return NONE;
    let [retracted, kept] = [0, 0];
    await sets.change(card.id, async (lock) => {
      const view = await sets.view(await sets.get(place));
      // Files of a deleted card may still be there, such as those in its thread.
      for (const message of await cards.messages(card.id)) {
        try {
          await cards.edit(card, { message, view, lock }).catch(unlessGone);
          retracted += 1;
        } catch (thrown) {
          const err = asDailiesError(thrown, `taking a clip off card ${card.id}`);
          if (err.retryable) throw err;
          logger.warn({ event: 'message_kept', task: card.id, err }, 'a removed clip stays on its card');
          kept += 1;
        }
      }
    });
    return { retracted, kept };
  }

  async #retractAll(subject: Retracted, reason: RemovalReason, lock: MessageLock): Promise<RetractionCount> {
    const messages = await this.#messagesOf(subject);
    const { store, logger } = this.#options;
    const platform = this.#options.platformOf(subject);
    const ended = [...((await retractions.get(store, subject.id)) ?? [])];
    const isEnded = (one: MessageRef): boolean =>
      ended.some(({ channel, message }) => channel === one.channel && message === one.message);
    for (const message of messages.filter((one) => !isEnded(one))) {
      lock.assertHeld();
      try {
        const isRetracted = await retractMessage({ platform, logger }, subject, message, reason);
        ended.push({ ...message, isKept: !isRetracted });
      } catch (thrown) {
        if (ended.length > 0) await retractions.set(store, subject.id, ended);
        throw thrown;
      }
    }
    const kept = ended.filter(({ isKept }) => isKept).length;
    return { retracted: ended.length - kept, kept };
  }

  async #ownDeletions(of: Pick<Task, 'id' | 'origin'>): Promise<readonly RecordWrite[]> {
    const { store, cards } = this.#options;
    const kinds = [deliveryRecords, taskPosts, retractions];
    const deleted = kinds.map((kind) => kind.overwriting(of.id, null));
    const { files = [] } = await deliveryOf(store, of.id);
    const ofFiles = files.map((file) => cards.fileWrite(of.origin, file, null));
    return [...deleted, ...ofFiles, ...(await cards.deletions(of))];
  }
}

const NONE: RetractionCount = { retracted: 0, kept: 0 };

/** Task, or set, whose messages are retracted. */
interface Retracted {
  /** Of a set, the `setCardId`. */
  readonly id: TaskId;
  readonly origin: Origin;
  /** Keys of the notices of its end that may have been posted. */
  readonly ends: readonly string[];
}

function taskToRetract(task: Task): Retracted {
  const phase = endPhaseOf(task);
  return { id: task.id, origin: task.origin, ends: phase === null ? [] : [endKey(task, phase)] };
}

function cardToRetract({ place, origin }: TaskSet): Retracted {
  const id = setCardId(place.id);
  return { id, origin, ends: (['done', 'failed'] as const).map((phase) => endKey({ id, sends: 1 }, phase)) };
}

/**
 * Retracts a message of a task, or of a cut. @returns `false`: it stays as it is, since the bot may not change it
 * @throws DailiesError retryable
 */
export async function retractMessage(
  { platform, logger }: { readonly platform: Pick<Platform, 'retract'>; readonly logger: Logger },
  { id, origin }: Pick<Task, 'id' | 'origin'>,
  message: MessageRef,
  reason: RemovalReason,
): Promise<boolean> {
  try {
    await platform.retract(message, origin, { kind: 'removed', reason });
    return true;
  } catch (thrown) {
    const err = asDailiesError(thrown, `retracting a message of task ${id}`);
    if (err.retryable) throw err;
    const about = { event: 'message_kept', task: id, err };
    logger.warn(about, 'a message of a removed task stays: the bot may not change it');
    return false;
  }
}
