import type { Store } from '../engine/index.ts';
import { asDailiesError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { comparisonOf, type Phase, phaseAtEnd, pseudonymsIn, type Task, typedPrompt } from '../tasks/index.ts';
import type { ApprovalNotices } from './approval-notices.ts';
import type { MessageLock } from './message-lock.ts';
import { isClosed, notifyDirectly } from './notices/direct-notice.ts';
import { eraseNotice } from './notices/erased-notice.ts';
import type { EndNotice } from './notices/views.ts';
import type { MessageRef, Notice, Platform, Upload } from './platform.ts';
import { endNotices, type Posted } from './records.ts';
import type { ReviewNotices } from './reviews.ts';
import type { SetNotices } from './sets/set-notices.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import { type Handover, type NoticedPhase, PHASES } from './view.ts';

/** State of a task's message at the time of its notices. */
interface Shown {
  readonly message: MessageRef;
  readonly isThere: boolean;
  readonly handover: Handover['kind'] | null;
}

/** Options of {@link CompletionNotices}. */
interface CompletionNoticesOptions {
  readonly store: Pick<Store, 'keyv'>;
  readonly subscriptions: Subscriptions;
  readonly platformOf: (task: Task) => Platform;
  readonly approvals: Pick<ApprovalNotices, 'send' | 'settle'>;
  readonly setNotices: Pick<SetNotices, 'covers'>;
  readonly reviews: Pick<ReviewNotices, 'send'>;
  readonly logger: Logger;
}

/** Task whose end is notified, and the lock held for it. */
interface Notification {
  readonly task: Task;
  /** Key of the task's end: a resubmitted task has another one. */
  readonly end: string;
  readonly lock: MessageLock;
}

type Target = Pick<Notice, 'place' | 'replyTo'>;

/** Completion notices of tasks, with the mention of the requester. */
export class CompletionNotices {
  readonly #options: CompletionNoticesOptions;

  constructor(options: CompletionNoticesOptions) {
    this.#options = options;
  }

  /** Returns the notice for a clip's own message; `null` where the requester is notified already. */
  async withFile(task: Task, shown: Omit<Shown, 'isThere'>): Promise<NonNullable<Upload['notice']> | null> {
    // A set has one notice, at its end.
    if ((comparisonOf(task) ?? task.set) !== undefined) return null;
    const posted = await this.#posted(task);
    if (posted.includes(endKey(task, 'done'))) return null;
    return { view: noticeOf(task, 'done', shown), mention: task.origin.user };
  }

  /** Returns the messages of a task's notices; those that are not recorded as far as the platform knows them. */
  async messages(task: Task): Promise<readonly MessageRef[]> {
    const phase = endPhaseOf(task);
    const posted = await this.#posted(task);
    const recorded = posted.length > 0 || phase === null ? posted : [endKey(task, phase)];
    const platform = this.#options.platformOf(task);
    const messages = await Promise.all(
      recorded.map(async (one, at) => {
        if (typeof one === 'object') return one;
        return typeof recorded[at + 1] === 'object' ? undefined : platform.find('notice', one);
      }),
    );
    return messages.filter((message) => message !== undefined);
  }

  /** Records that the requester was notified with the clip. */
  async sentWithFile(task: Task): Promise<void> {
    const posted = await this.#posted(task);
    const key = endKey(task, 'done');
    if (!posted.includes(key)) await endNotices.set(this.#options.store, task.id, [...posted, key]);
  }

  /**
   * Notifies the approvers of a request. At its end, mentions the requester below the task's message and notifies every subscribed channel, each once however often this
   * is repeated. Rejects while a reachable recipient is not notified yet.
   */
  async send(task: Task, shown: Shown, lock: MessageLock): Promise<void> {
    // Who subscribes after the end is not notified of it because of a review.
    const isReview = task.review !== undefined && (await this.#posted(task)).includes(endKey(task, 'done'));
    if (!isReview) await this.#sendEnd(task, shown, lock);
    // The notices to the approvers name the one who decided.
    if (pseudonymsIn(task.approval).size > 0) await this.#options.approvals.settle(task, lock);
    if (task.review !== undefined) await this.#options.reviews.send({ ...shown, task, lock });
  }

  async #sendEnd(task: Task, { message, isThere, handover }: Shown, lock: MessageLock): Promise<void> {
    if (task.state === 'requested') return this.#options.approvals.send(task, isThere ? message : null, lock);
    if (task.state === 'declined') await this.#options.approvals.settle(task, lock);
    const set = comparisonOf(task) ?? task.set;
    if (set !== undefined && (await this.#options.setNotices.covers(task, set, this))) return;
    const phase = endPhaseOf(task);
    if (phase === null) return;
    const notice = noticeOf(task, phase, { message, handover });
    const notification = { task, end: endKey(task, phase), lock };
    await this.#notifyOrigin(notification, notice, isThere ? message : null);
    if (phase === 'done') await this.#notifySubscribed(notification, { ...notice, subscribed: true });
  }

  /** Posts the notice about a set, once, to its requester and, if a clip is ready, to the subscribed channels. */
  async sendForSet(card: Task, notice: EndNotice, lock: MessageLock, isThere: boolean): Promise<void> {
    const notification = { task: card, end: endKey(card, notice.phase), lock };
    await this.#notifyOrigin(notification, notice, isThere ? notice.message : null);
    if (notice.phase === 'done') await this.#notifySubscribed(notification, { ...notice, subscribed: true });
  }

  /** @param target `null`: the requester's direct messages. */
  async #notifyOnce({ task, lock }: Notification, key: string, view: EndNotice, target: Target | null): Promise<void> {
    const posted = await this.#posted(task);
    const platform = this.#options.platformOf(task);
    if (posted.includes(key)) {
      const { store, logger } = this.#options;
      return eraseNotice({ task, store, platform, key, view, logger });
    }
    lock.assertHeld();
    // The requester is mentioned once, in the task's channel; notices in other channels have no mention.
    const notice = { key, mention: view.subscribed ? null : task.origin.user, view };
    const message = await (target === null
      ? notifyDirectly(notice, platform, task.origin)
      : platform.notify({ ...notice, ...target }));
    const added = message === null ? [key] : [key, message];
    await endNotices.set(this.#options.store, task.id, [...posted, ...added]);
    if (message !== null) return;
    const event = 'notice_channel_gone';
    this.#options.logger.warn(
      { event, task: task.id },
      'skipped a notice: neither its channel nor its requester takes it',
    );
  }

  async #posted(task: Pick<Task, 'id'>): Promise<readonly Posted[]> {
    return (await endNotices.get(this.#options.store, task.id)) ?? [];
  }

  async #notifyOrigin(notification: Notification, view: EndNotice, replyTo: MessageRef | null): Promise<void> {
    const { task, end } = notification;
    const { team, channel, address } = task.origin;
    // Where the channel took no message, the notice is below the direct message.
    const isAway = replyTo !== null && replyTo.channel !== channel;
    const place = isAway ? { team, channel: replyTo.channel, address: {} } : { team, channel, address };
    try {
      await this.#notifyOnce(notification, end, view, { place, replyTo });
    } catch (thrown) {
      if (!(await isClosed(thrown, this.#options.platformOf(task), task.origin))) throw thrown;
      // Without a message to reply to, `message_gone` means the channel.
      if (replyTo !== null) return this.#notifyOrigin(notification, view, null);
      await this.#notifyOnce(notification, end, view, null);
    }
  }

  /**
   * Ends the subscriptions by direct message to a person who left or accepts none, and those of a deleted channel.
   * @param code of the refusal; `null` for a person who left the team, though a message might reach them elsewhere.
   */
  async #end({ origin }: Task, there: string, code: ErrorCode | null): Promise<void> {
    const isOver = ({ channel, from }: Subscription): boolean =>
      channel === there && (from !== undefined || code === 'message_gone');
    await this.#options.subscriptions.remove(origin.platform, origin.team, isOver);
  }

  /** Returns whether the person of a direct message left the team. */
  async #hasLeft(task: Task, { from, by }: Subscription): Promise<boolean> {
    if (from === undefined) return false;
    const place = { team: task.origin.team, channel: from, address: {} };
    return !(await this.#options
      .platformOf(task)
      .isMember(place, by.id)
      .catch((thrown: unknown) => {
        if (asDailiesError(thrown, 'looking for a subscriber').retryable) throw thrown;
        return true;
      }));
  }

  async #notifySubscribed(notification: Notification, notice: EndNotice): Promise<void> {
    const { task, end } = notification;
    const { platform, team, channel } = task.origin;
    // Nobody else sees a direct message.
    const view = notice.message.channel === channel ? notice : { ...notice, message: { channel, message: '' } };
    // A task that only its channel may see is not announced elsewhere.
    if (task.origin.audience !== 'team') return;
    const subscribed = (await this.#options.subscriptions.list(platform, team)).filter((one) => announces(one, task));
    for (const [there, subscription] of new Map(subscribed.map((one) => [one.channel, one]))) {
      const place = { team, channel: there, address: {} };
      try {
        if (await this.#hasLeft(task, subscription)) {
          await this.#end(task, there, null);
          continue;
        }
        await this.#notifyOnce(notification, `${end}:${there}`, view, { place, replyTo: null });
      } catch (thrown) {
        const error = asDailiesError(thrown, `telling channel ${there} of task ${task.id}`);
        if (error.retryable) throw error;
        this.#options.logger.warn(
          { event: 'subscription_notice_failed', task: task.id, channel: there, err: error },
          'failed to notify a subscribed channel',
        );
        await this.#end(task, there, error.code);
      }
    }
  }
}

/** Returns whether a subscription matches a task; its requester and its own channel are notified in any case. */
function announces({ who, channel, from, by }: Subscription, { origin }: Task): boolean {
  if (who !== 'everyone' && who.id !== origin.user.id) return false;
  return from === undefined ? channel !== origin.channel : from === origin.channel && by.id !== origin.user.id;
}

/** Returns the key of a task's end: a resubmitted task has another one. */
export function endKey({ id, sends }: Task, phase: EndNotice['phase']): string {
  return `end:${id}:${phase}:${sends}`;
}

function noticeOf(task: Task, phase: EndNotice['phase'], shown: Omit<Shown, 'isThere'>): EndNotice {
  const { id, request, origin, sends } = task;
  const declined = task.declined === undefined ? {} : { declined: task.declined };
  const of = { task: id, phase, prompt: typedPrompt(request), by: origin.user, sends, ...declined };
  return { kind: 'end', ...of, ...shown, subscribed: false };
}

/** Returns the phase to notify of a task in the outbox; `null`: its message suffices. */
export function endPhaseOf(task: Task): EndNotice['phase'] | null {
  const phase = phaseAtEnd(task);
  if (task.declined?.how === 'withdrawn') return null;
  if (phase === 'uncertain' && task.upstreamId !== undefined) return 'disowned';
  return hasNotice(phase) ? phase : null;
}

function hasNotice(phase: Phase): phase is NoticedPhase {
  return PHASES[phase].hasNotice;
}
