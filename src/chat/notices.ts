import type { Keyv } from 'keyv';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Task } from '../tasks/task.ts';
import type { MessageRef, Platform } from './platform.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { Turn } from './turns.ts';
import type { EndNotice } from './view.ts';

/** The mentions at the end of a task. */
export interface Notices {
  /**
   * Mentions the requester under the task's message, and in every channel that asked for it; each once, however often
   * this is repeated. It rejects while somebody who can be told is yet to be told.
   * @param shown the task's own message, and whether it is still there.
   */
  tell(task: Task, shown: { readonly message: MessageRef; readonly isThere: boolean }, turn: Turn): Promise<void>;
}

/** Collaborators of {@link createNotices}. */
export interface NoticesOptions {
  /** A Keyv, in which the keys of the notices that were posted are kept by task; shared with delivery records. */
  readonly records: Keyv;
  readonly subscriptions: Subscriptions;
  readonly platformOf: (task: Task) => Platform;
  readonly logger: Logger;
}

/** What is told, and the right to tell it. */
interface Telling {
  readonly task: Task;
  /** Names the end that is told: a task that is sent again has another one. */
  readonly end: string;
  readonly turn: Turn;
}

type Where = Pick<Parameters<Platform['notify']>[0], 'place' | 'replyTo'>;

/** Notices on a store and the platforms. */
export function createNotices({ records, subscriptions, platformOf, logger }: NoticesOptions): Notices {
  const tellOnce = async ({ task, turn }: Telling, key: string, notice: Where & { view: EndNotice }): Promise<void> => {
    const posted = (await records.get<readonly string[]>(recordOf(task))) ?? [];
    if (posted.includes(key)) return;
    turn.assertOurs();
    await platformOf(task).notify({ key, mention: task.origin.user, ...notice });
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
    const { platform, team, channel, user } = task.origin;
    const subscribed = (await subscriptions.list(platform, team)).filter(
      ({ who, channel: there }) => there !== channel && (who === 'everyone' || who.id === user.id),
    );
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
    async tell(task, { message, isThere }, turn) {
      const phase = endPhaseOf(task);
      if (phase === null) return;
      const notice = {
        kind: 'end',
        task: task.id,
        phase,
        prompt: task.request.prompt,
        by: task.origin.user,
        message,
        sends: task.sends,
      } as const;
      const telling = { task, end: `end:${task.id}:${phase}:${task.sends}`, turn };
      await tellHere(telling, { ...notice, subscribed: false }, isThere ? message : null);
      if (phase === 'done') await tellElsewhere(telling, { ...notice, subscribed: true });
    },
  };
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
