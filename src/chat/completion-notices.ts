import { asDailiesError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { comparisonOf, type Phase, phaseAtEnd, pseudonymsIn, type Task, typedPrompt } from '../tasks/index.ts';
import type { ApprovalNotices } from './approval-notices.ts';
import type { MessageLock } from './message-lock.ts';
import type { EndNotice } from './notices/views.ts';
import type { MessageRef, Platform, Upload } from './platform.ts';
import { type About, type Posts, placesNear } from './posts.ts';
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
  readonly posts: Posts;
  readonly subscriptions: Subscriptions;
  readonly platformOf: (task: Task) => Platform;
  readonly approvals: Pick<ApprovalNotices, 'send' | 'settle'>;
  readonly setNotices: Pick<SetNotices, 'covers'>;
  readonly reviews: Pick<ReviewNotices, 'send'>;
  readonly logger: Logger;
}

/** Task whose end is notified. */
interface Notification extends About {
  /** Key of the task's end: a resubmitted task has another one. */
  readonly end: string;
}

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
    if (await this.#isPosted(task, endKey(task, 'done'))) return null;
    return { view: noticeOf(task, 'done', shown), mention: task.origin.user };
  }

  /** Returns the messages about a task besides its own; those that are not recorded as far as the platform knows them. */
  async messages(task: Task): Promise<readonly MessageRef[]> {
    const phase = endPhaseOf(task);
    const posted = await this.#options.posts.of(task.id);
    const end = phase === null ? undefined : endKey(task, phase);
    const unrecorded = end === undefined || posted.some(({ key }) => key === end) ? [] : [{ key: end, message: null }];
    const platform = this.#options.platformOf(task);
    const messages = await Promise.all(
      [...posted, ...unrecorded].map(async ({ key, message }) => message ?? platform.find('notice', key)),
    );
    return messages.filter((message) => message !== undefined);
  }

  /** Records that the requester was notified with the clip. */
  async sentWithFile(task: Task): Promise<void> {
    const key = endKey(task, 'done');
    if (!(await this.#isPosted(task, key))) await this.#options.posts.record(task, { key, message: null });
  }

  /**
   * Notifies the approvers of a request. At its end, mentions the requester below the task's message and notifies every subscribed channel, each once however often this
   * is repeated. Rejects while a reachable recipient is not notified yet.
   */
  async send(task: Task, shown: Shown, lock: MessageLock): Promise<void> {
    // Who subscribes after the end is not notified of it because of a review.
    const isReview = task.review !== undefined && (await this.#isPosted(task, endKey(task, 'done')));
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

  async #isPosted({ id }: Task, key: string): Promise<boolean> {
    return (await this.#options.posts.find(id, key)) !== undefined;
  }

  /** Mentions the requester, once, near the task's message; notices in other channels have no mention. */
  async #notifyOrigin({ end, ...about }: Notification, view: EndNotice, message: MessageRef | null): Promise<void> {
    const { origin } = about.task;
    const places = placesNear(origin, message);
    await this.#options.posts.post(about, { key: end, view, mention: origin.user, places, otherwise: 'requester' });
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
        const places = [{ place, replyTo: null }];
        await this.#options.posts.post(notification, { key: `${end}:${there}`, view, mention: null, places });
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
