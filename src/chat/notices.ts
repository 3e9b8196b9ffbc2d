import type { Keyv } from 'keyv';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Task } from '../tasks/task.ts';
import type { MessageRef, Platform } from './platform.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { EndNotice } from './view.ts';

/** The mentions at the end of a task. */
export interface Notices {
  /**
   * Mentions the requester under the task's message, and in every channel that asked for it; each once, however often
   * this is repeated. It rejects while somebody who can be told is yet to be told.
   * @param message the task's own message, whether or not it is still there.
   */
  tell(task: Task, message: MessageRef, isThere: boolean): Promise<void>;
}

/** Collaborators of {@link createNotices}. */
export interface NoticesOptions {
  /** A Keyv, in which the keys of the notices that were posted are kept by task; shared with delivery records. */
  readonly records: Keyv;
  readonly subscriptions: Subscriptions;
  readonly platformOf: (task: Task) => Platform;
  readonly logger: Logger;
}

/** Notices on a store and the platforms. */
export function createNotices({ records, subscriptions, platformOf, logger }: NoticesOptions): Notices {
  const tellOnce = async (
    task: Task,
    key: string,
    notice: Pick<Parameters<Platform['notify']>[0], 'place' | 'replyTo'> & { readonly view: EndNotice },
  ): Promise<void> => {
    const posted = (await records.get<readonly string[]>(recordOf(task))) ?? [];
    if (posted.includes(key)) return;
    await platformOf(task).notify({ key, mention: task.origin.user, ...notice });
    await records.set(recordOf(task), [...posted, key]);
  };

  const tellHere = async (task: Task, end: string, view: EndNotice, replyTo: MessageRef | null): Promise<void> => {
    const { team, channel, address } = task.origin;
    try {
      await tellOnce(task, end, { place: { team, channel, address }, replyTo, view });
    } catch (thrown) {
      if (!(thrown instanceof DailiesError) || thrown.code !== 'message_gone') throw thrown;
      // Without a message to reply to, what is gone is the channel.
      if (replyTo !== null) return tellHere(task, end, view, null);
      logger.warn({ task: task.id, err: thrown }, 'the channel of a task is gone; nobody can be told there');
    }
  };

  const tellElsewhere = async (task: Task, end: string, view: EndNotice): Promise<void> => {
    const { platform, team, channel, user } = task.origin;
    const subscribed = (await subscriptions.list(platform, team)).filter(
      ({ who, channel: there }) => there !== channel && (who === 'everyone' || who.id === user.id),
    );
    for (const there of new Set(subscribed.map((subscription) => subscription.channel))) {
      const place = { team, channel: there, address: {} };
      try {
        await tellOnce(task, `${end}:${there}`, { place, replyTo: null, view });
      } catch (thrown) {
        const error = asDailiesError(thrown, `telling channel ${there} of task ${task.id}`);
        if (error.retryable) throw error;
        logger.warn({ task: task.id, channel: there, err: error }, 'a subscribed channel cannot be told');
      }
    }
  };

  return {
    async tell(task, message, isThere) {
      const phase = endPhaseOf(task);
      if (phase === null) return;
      const notice = {
        kind: 'end',
        task: task.id,
        phase,
        prompt: task.request.prompt,
        by: task.origin.user,
        message,
      } as const;
      const end = `end:${task.id}:${phase}:${task.sends}`;
      await tellHere(task, end, { ...notice, subscribed: false }, isThere ? message : null);
      if (phase === 'done') await tellElsewhere(task, end, { ...notice, subscribed: true });
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
      return 'uncertain';
    case 'claimed':
    case 'sending':
    case 'polling':
    case 'cancelled':
      return null;
  }
}
