import type { Keyv } from 'keyv';
import type { MessageLock } from '../cluster/message-lock.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Task } from '../tasks/task.ts';
import type { Audiences } from './audiences.ts';
import type { MessageRef, Platform, Upload } from './platform.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import type { EndNotice, Handover } from './view.ts';

/** What of a task is shown when people are told of it. */
interface Shown {
  readonly message: MessageRef;
  readonly isThere: boolean;
  readonly handover: Handover['kind'] | null;
}

/** The mentions at the end of a task. */
export interface CompletionNotices {
  /**
   * Mentions the requester under the task's message, and in every channel that asked for it; each once, however often
   * this is repeated. It rejects while somebody who can be told is yet to be told.
   * @param shown the task's own message, whether it is still there, and how the clip is.
   */
  tell(task: Task, shown: Shown, turn: MessageLock): Promise<void>;
  /** Returns what the message of a clip says where it mentions the requester; `null` where they were told already. */
  withFile(task: Task, shown: Omit<Shown, 'isThere'>): Promise<NonNullable<Upload['notice']> | null>;
  /** Remembers that the requester was told with the clip. */
  toldWithFile(task: Task): Promise<void>;
}

/** Collaborators of {@link createCompletionNotices}. */
export interface CompletionNoticesOptions {
  /** A Keyv, in which the keys of the notices that were posted are kept by task; shared with delivery records. */
  readonly records: Keyv;
  readonly subscriptions: Subscriptions;
  readonly audiences: Pick<Audiences, 'of'>;
  readonly platformOf: (task: Task) => Platform;
  readonly logger: Logger;
}

/** What is told, and the right to tell it. */
interface Telling {
  readonly task: Task;
  /** Names the end that is told: a task that is sent again has another one. */
  readonly end: string;
  readonly turn: MessageLock;
}

type Where = Pick<Parameters<Platform['notify']>[0], 'place' | 'replyTo'>;

/** Notices on a store and the platforms. */
export function createCompletionNotices({
  records,
  subscriptions,
  audiences,
  platformOf,
  logger,
}: CompletionNoticesOptions): CompletionNotices {
  const tellOnce = async ({ task, turn }: Telling, key: string, notice: Where & { view: EndNotice }): Promise<void> => {
    const posted = (await records.get<readonly string[]>(recordOf(task))) ?? [];
    if (posted.includes(key)) return;
    turn.assertHeld();
    // The requester is mentioned once, where they asked; other channels hear of it without a mention.
    const mention = notice.view.subscribed ? null : task.origin.user;
    await platformOf(task).notify({ key, mention, ...notice });
    await records.set(recordOf(task), [...posted, key]);
  };

  const tellHere = async (telling: Telling, view: EndNotice, replyTo: MessageRef | null): Promise<void> => {
    const { task, end } = telling;
    const { team, channel, address } = task.origin;
    try {
      await tellOnce(telling, end, { place: { team, channel, address }, replyTo, view });
    } catch (thrown) {
      if (!(thrown instanceof DailiesError) || thrown.code !== 'message_gone') throw thrown;
      // Without a message to reply to, what is gone is the channel.
      if (replyTo !== null) return tellHere(telling, view, null);
      logger.warn({ task: task.id, err: thrown }, 'the channel of a task is gone; nobody can be told there');
    }
  };

  const tellElsewhere = async (telling: Telling, view: EndNotice): Promise<void> => {
    const { task, end } = telling;
    const { platform, team } = task.origin;
    // What only a channel may see is announced there and nowhere else.
    if ((await audiences.of(task.origin)) === 'channel') return;
    const subscribed = (await subscriptions.list(platform, team)).filter((one) => announces(one, task));
    for (const there of new Set(subscribed.map((subscription) => subscription.channel))) {
      const place = { team, channel: there, address: {} };
      try {
        await tellOnce(telling, `${end}:${there}`, { place, replyTo: null, view });
      } catch (thrown) {
        const error = asDailiesError(thrown, `telling channel ${there} of task ${task.id}`);
        if (error.retryable) throw error;
        logger.warn({ task: task.id, channel: there, err: error }, 'a subscribed channel cannot be told');
      }
    }
  };

  return {
    async withFile(task, shown) {
      const posted = (await records.get<readonly string[]>(recordOf(task))) ?? [];
      if (posted.includes(endKey(task, 'done'))) return null;
      return { view: noticeOf(task, 'done', shown), mention: task.origin.user };
    },
    async toldWithFile(task) {
      const posted = (await records.get<readonly string[]>(recordOf(task))) ?? [];
      const key = endKey(task, 'done');
      if (!posted.includes(key)) await records.set(recordOf(task), [...posted, key]);
    },
    async tell(task, { message, isThere, handover }, turn) {
      const phase = endPhaseOf(task);
      if (phase === null) return;
      const notice = noticeOf(task, phase, { message, handover });
      const telling = { task, end: endKey(task, phase), turn };
      await tellHere(telling, notice, isThere ? message : null);
      if (phase === 'done') await tellElsewhere(telling, { ...notice, subscribed: true });
    },
  };
}

/** Whether a subscription is for a task; its requester, and its channel, are told in any case. */
function announces({ who, channel, from, by }: Subscription, { origin }: Task): boolean {
  if (who !== 'everyone' && who.id !== origin.user.id) return false;
  return from === undefined ? channel !== origin.channel : from === origin.channel && by.id !== origin.user.id;
}

/** Names the end of a task that people are told: one that is sent again has another one. */
function endKey({ id, sends }: Task, phase: EndNotice['phase']): string {
  return `end:${id}:${phase}:${sends}`;
}

/** What the requester is told. */
function noticeOf(task: Task, phase: EndNotice['phase'], shown: Omit<Shown, 'isThere'>): EndNotice {
  const { id, request, origin, sends } = task;
  return { kind: 'end', task: id, phase, prompt: request.prompt, by: origin.user, sends, ...shown, subscribed: false };
}

/** Apart from the delivery record, since both may be written at once when a task moves on. */
function recordOf({ id }: Task): string {
  return `notices:${id}`;
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
      return task.upstreamId === undefined ? 'uncertain' : 'disowned';
    case 'claimed':
    case 'sending':
    case 'polling':
    case 'cancelled':
      return null;
  }
}
