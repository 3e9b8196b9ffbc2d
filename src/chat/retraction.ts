import type { Keyv } from 'keyv';
import type { MessageLock } from '../cluster/message-lock.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { RecordWrite } from '../store/store.ts';
import type { RemovalReason } from '../tasks/removal.ts';
import type { Task } from '../tasks/task.ts';
import { type ApprovalNotices, approvalNoticesKey } from './approval-notices.ts';
import { type CompletionNotices, noticesKey } from './completion-notices.ts';
import type { MessageRef, Platform } from './platform.ts';
import type { TaskMessages } from './task-messages.ts';

/** Options of {@link TaskRetraction}. */
export interface TaskRetractionOptions {
  readonly cards: TaskMessages;
  readonly notices: CompletionNotices;
  readonly approvals: ApprovalNotices;
  /** Keyv of the delivery records. */
  readonly records: Keyv;
  readonly platformOf: (task: Task) => Platform;
  readonly logger: Logger;
}

/** Outcome of a retraction: the number of messages that show the removal, or are gone, and of those that stay. */
export interface RetractionCount {
  readonly retracted: number;
  /** Users may still see these: the bot may not change them. */
  readonly kept: number;
}

/** Message that a retraction has dealt with. */
interface Ended extends MessageRef {
  /** It stays as it is. */
  readonly isKept: boolean;
}

/** Finds every message that shows a removed task, its prompt, its requester or its clip, and removes these from the chat. */
export class TaskRetraction {
  readonly #options: TaskRetractionOptions;

  constructor(options: TaskRetractionOptions) {
    this.#options = options;
  }

  /**
   * Returns the messages of a task: its notices to the requester, approvers and subscribers, deleted messages that were
   * replaced, and its own message last. A file that is posted in a message of its own belongs to the task's message.
   * @param isOwnAlone `true`: only its own message and those that this replaced.
   */
  async messagesOf(task: Task, isOwnAlone = false): Promise<readonly MessageRef[]> {
    const { cards, notices, approvals } = this.#options;
    const others = isOwnAlone ? [] : [approvals.messages(task), notices.messages(task)];
    const found = await Promise.all([...others, cards.messages(task.id)]);
    if ((found.at(-1) ?? []).length > 0) return found.flat();
    // The records of an expired task are deleted, but its messages are not.
    const own = await this.#options.platformOf(task).find('task', task.id);
    return own === undefined ? found.flat() : [...found.flat(), own];
  }

  /**
   * Retracts every message of a task; may be repeated, and then goes on after those that are done. Rejects with a
   * retryable error at the first that may work later.
   */
  async retract(task: Task, reason: RemovalReason, lock: MessageLock): Promise<RetractionCount> {
    const messages = await this.messagesOf(task);
    const { records } = this.#options;
    const ended = [...((await records.get<readonly Ended[]>(endedKey(task))) ?? [])];
    const isEnded = (one: MessageRef): boolean =>
      ended.some(({ channel, message }) => channel === one.channel && message === one.message);
    for (const message of messages.filter((one) => !isEnded(one))) {
      lock.assertHeld();
      try {
        ended.push({ ...message, isKept: await this.#isKept(task, message, reason) });
      } catch (thrown) {
        if (ended.length > 0) await records.set(endedKey(task), ended);
        throw thrown;
      }
    }
    const kept = ended.filter(({ isKept }) => isKept).length;
    return { retracted: ended.length - kept, kept };
  }

  /** Retracts a message. @returns whether it stays as it is. */
  async #isKept(task: Task, message: MessageRef, reason: RemovalReason): Promise<boolean> {
    try {
      await this.#options.platformOf(task).retract(message, task.origin, { kind: 'removed', reason });
      return false;
    } catch (thrown) {
      const err = asDailiesError(thrown, `retracting a message of task ${task.id}`);
      if (err.retryable) throw err;
      this.#options.logger.warn(
        { event: 'message_kept', task: task.id, err },
        'a message of a removed task stays: the bot may not change it',
      );
      return true;
    }
  }

  /** Returns the writes that delete what is recorded about a task's messages, notices and delivery. */
  async deletions(task: Task): Promise<readonly RecordWrite[]> {
    const keys = [task.id, noticesKey(task), approvalNoticesKey(task), endedKey(task)];
    const deleted = keys.map((key) => ({ namespace: 'deliveries', key, value: null, expected: 'any' }) as const);
    return [...deleted, ...(await this.#options.cards.deletions(task))];
  }
}

/** Returns the key of the messages that an interrupted retraction has dealt with. */
function endedKey({ id }: Pick<Task, 'id'>): string {
  return `retracted:${id}`;
}
