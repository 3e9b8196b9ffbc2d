import { asDailiesError, type ErrorCode } from '../errors.ts';
import { declinedOf, type TaskSet } from '../orders/index.ts';
import {
  comparisonOf,
  isBlind,
  isEnded,
  isSought,
  type Phase,
  phaseAtEnd,
  pseudonymsIn,
  type SetPlace,
  type Task,
  typedPrompt,
} from '../tasks/index.ts';
import { unlessGone } from './attachment-plan.ts';
import type { MessageLock } from './message-lock.ts';
import type { EndNotice, SetOutcome } from './notices/views.ts';
import type { ChatParts } from './parts.ts';
import type { MessageRef, Upload } from './platform.ts';
import { type About, placesNear } from './posts.ts';
import { deliveryOf, setNotices } from './records.ts';
import { sharedCardOf } from './sets/set-cards.ts';
import { isSettled, setCardId } from './sets/set-view.ts';
import type { Subscription } from './subscriptions.ts';
import { type Handover, isPending, type NoticedPhase, PHASES } from './view.ts';

/** State of a task's message at the time of its notices. */
interface Shown {
  readonly message: MessageRef;
  readonly isThere: boolean;
  readonly handover: Handover['kind'] | null;
}

type Options = Pick<
  ChatParts,
  | 'store'
  | 'posts'
  | 'sets'
  | 'comparisons'
  | 'cards'
  | 'locks'
  | 'subscriptions'
  | 'platformOf'
  | 'viewOf'
  | 'approvals'
  | 'reviews'
  | 'logger'
>;

/** Task whose end is notified. */
interface Notification extends About {
  /** Key of the task's end: a resubmitted task has another one. */
  readonly end: string;
}

/**
 * Completion notices of tasks, with the mention of the requester. A set has one, once every task has ended or needs a
 * decision.
 */
export class CompletionNotices {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns the notice for a clip's own message; `null` where the requester is notified already. */
  async withFile(task: Task, shown: Omit<Shown, 'isThere'>): Promise<NonNullable<Upload['notice']> | null> {
    // A set has one notice, at its end.
    if ((comparisonOf(task) ?? task.set) !== undefined) return null;
    if (await this.#isPosted(task, endKey(task, 'done'))) return null;
    return { view: noticeOf(task, 'done', shown), mention: task.origin.user };
  }

  /**
   * Returns the messages about a task, or a set, besides its card; those that are not recorded as far as the platform knows
   * them.
   * @param ends keys of the notices of its end that may have been posted
   */
  async messages(of: About['of'], ends: readonly string[]): Promise<readonly MessageRef[]> {
    const posted = await this.#options.posts.of(of.id);
    const missing = ends.filter((end) => !posted.some(({ key }) => key === end));
    const unrecorded = missing.map((key) => ({ key, message: null }));
    const platform = this.#options.platformOf(of);
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
   * Notifies the approvers of a request. At its end, mentions the requester below the task's message and notifies every
   * subscribed channel, each once however often this is repeated. Rejects while a reachable recipient is not notified yet.
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
    if (set !== undefined && (await this.#isCoveredBy(set, task))) return;
    const phase = endPhaseOf(task);
    if (phase !== null) await this.#notify({ of: task, lock }, noticeOf(task, phase, { message, handover }), isThere);
  }

  /**
   * Posts the notice of a set, if this task was the last one. The task that is shown last finds all others shown.
   * @returns whether the end of the task needs no notice of its own: only one after that of the set does.
   * @throws DailiesError retryable, also while another process posts it
   */
  async #isCoveredBy(place: SetPlace, task: Task): Promise<boolean> {
    const { store, sets, cards, comparisons, locks } = this.#options;
    const set = await sets.get(place);
    const id = setCardId(place.id);
    return locks.runOrThrow(id, 'notices', async (lock) => {
      const before = await setNotices.get(store, place);
      // The notice of a denial is shown again without whoever was forgotten.
      if (before !== undefined && pseudonymsIn(declinedOf(set.tasks)).size === 0) return before.includes(endOf(task));
      const isComparison = place.kind === 'comparison';
      const members = isComparison ? await comparisons.entries(place) : set.tasks;
      // The clips of a comparison may have appeared without those that are late.
      const isLateLeft = isComparison && (await comparisons.records.get(place.id)) !== undefined;
      const settled = await Promise.all(
        members.map(
          async (one) =>
            (one.id === task.id && !isSought(one)) || (isLateLeft && !isSettled(one)) || this.#isShown(one),
        ),
      );
      const open = members.filter((_, at) => settled[at] === false);
      if (open.length > 0) {
        const undecided = open.every((one) => awaitsDecision(one, members)) ? members.filter(needsDecision) : [];
        for (const one of undecided) await this.#askForDecision(one, lock);
        return true;
      }
      // No one waits for a set that was cancelled or withdrawn.
      if (members.some((one) => endPhaseOf(one) !== null)) {
        const message = await sets.open(place).catch(unlessGone);
        const notice = message && (await this.#noticeOfSet(set, members, message));
        if (notice !== undefined)
          await this.#notify({ of: { id, origin: set.origin }, lock }, notice, (await cards.get(id))?.isGone !== true);
      }
      lock.assertHeld();
      await setNotices.set(store, place, members.map(endOf));
      return true;
    });
  }

  /** Notifies the requester, once, of a decision without which a set does not go on. */
  async #askForDecision(task: Task, lock: MessageLock): Promise<void> {
    const phase = endPhaseOf(task);
    const shared = sharedCardOf(task);
    const card = await this.#options.cards.get(shared === undefined ? task.id : setCardId(shared.id));
    // One that neither its channel nor its requester takes has no message, and nothing to notify of.
    if (phase === null || card === undefined) return;
    const notice = noticeOf(task, phase, { message: card.message, handover: null });
    await this.#notify({ of: task, lock }, notice, card.isGone !== true);
  }

  /** Returns whether a task has ended or needs a decision, and the chat shows that. */
  async #isShown(task: Task): Promise<boolean> {
    if (!isSettled(task)) return false;
    if (task.presented) return true;
    return (await deliveryOf(this.#options.store, task.id)).shown?.revision === task.revision;
  }

  async #noticeOfSet(set: TaskSet, members: readonly Task[], message: MessageRef): Promise<EndNotice> {
    const views = await Promise.all(members.map((task) => this.#options.viewOf(task)));
    const { place, origin, shown } = set;
    const board = place.kind === 'storyboard' ? await this.#boardOf(set) : null;
    const phases = members.map(phaseAtEnd);
    const ready = board?.ready ?? phases.filter((phase) => phase === 'done').length;
    const tasks = members.flatMap((task, index): SetOutcome['others'] => {
      const phase = phases[index] ?? 'failed';
      const retryPrice = views[index]?.buttons.includes('retry') === true ? (views[index]?.retryPrice ?? null) : null;
      const dropped = task.dropped === undefined ? {} : { isDropped: true };
      return phase === 'done' ? [] : [{ at: task.set?.at ?? index + 1, task: task.id, phase, retryPrice, ...dropped }];
    });
    const declined = declinedOf(set.tasks);
    const whole = { id: setCardId(place.id), request: shown.request, origin, sends: 1 };
    return {
      ...noticeOf(whole, ready > 0 ? 'done' : 'failed', { message, handover: null }),
      set: {
        kind: place.kind,
        of: members.length,
        ready,
        others: board?.others ?? tasks,
        ...(declined === null ? {} : { declined }),
        ...(isBlind(shown) ? { isBlind: true } : {}),
      },
    };
  }

  /** Returns what became of the shots of a storyboard by now: a retry may be ready, or on its way. */
  async #boardOf(set: TaskSet): Promise<Pick<SetOutcome, 'ready' | 'others'>> {
    const view = await this.#options.sets.view(set);
    // A shot that was inserted has a notice of its own.
    const members = view.members.filter(({ shot }) => shot === undefined || shot.at <= set.place.of);
    const others = members.flatMap(({ view, shot }): SetOutcome['others'] => {
      if (shot === undefined || shot.isReady) return [];
      const { at, isRetrying, original } = shot;
      const isPendingTake = isRetrying || isPending(view.phase);
      const hasRetry = !isPendingTake && view.buttons.includes('retry');
      const dropped = view.task.dropped === undefined || isPendingTake ? {} : { isDropped: true };
      const phase = isPendingTake ? 'running' : view.phase;
      return [{ at, task: original.task, phase, retryPrice: hasRetry ? original.retryPrice : null, ...dropped }];
    });
    return { ready: members.length - others.length, others: others.toSorted((one, other) => one.at - other.at) };
  }

  /** Posts a notice once, to the requester and, if a clip is ready, to the subscribed channels. */
  async #notify(about: About, notice: EndNotice, isThere: boolean): Promise<void> {
    const notification = { ...about, end: endKey({ ...about.of, sends: notice.sends }, notice.phase) };
    await this.#notifyOrigin(notification, notice, isThere ? notice.message : null);
    if (notice.phase === 'done') await this.#notifySubscribed(notification, { ...notice, subscribed: true });
  }

  async #isPosted({ id }: Task, key: string): Promise<boolean> {
    return (await this.#options.posts.find(id, key)) !== undefined;
  }

  /** Mentions the requester, once, near the task's message; notices in other channels have no mention. */
  async #notifyOrigin({ end, ...about }: Notification, view: EndNotice, message: MessageRef | null): Promise<void> {
    const { origin } = about.of;
    const places = placesNear(origin, message);
    await this.#options.posts.post(about, { key: end, view, mention: origin.user, places, otherwise: 'requester' });
  }

  /**
   * Ends the subscriptions by direct message to a person who left or accepts none, and those of a deleted channel.
   * @param code of the refusal; `null` for a person who left the team, though a message might reach them elsewhere.
   */
  async #end({ origin }: About['of'], there: string, code: ErrorCode | null): Promise<void> {
    const isOver = ({ channel, from }: Subscription): boolean =>
      channel === there && (from !== undefined || code === 'message_gone');
    await this.#options.subscriptions.remove(origin.platform, origin.team, isOver);
  }

  /** Returns whether the person of a direct message left the team. */
  async #hasLeft(of: About['of'], { from, by }: Subscription): Promise<boolean> {
    if (from === undefined) return false;
    const place = { team: of.origin.team, channel: from, address: {} };
    return !(await this.#options
      .platformOf(of)
      .channels.isMember(place, by.id)
      .catch((thrown: unknown) => {
        if (asDailiesError(thrown, 'looking for a subscriber').retryable) throw thrown;
        return true;
      }));
  }

  async #notifySubscribed(notification: Notification, notice: EndNotice): Promise<void> {
    const { of, end } = notification;
    const { platform, team, channel } = of.origin;
    // A direct message is private.
    const view = notice.message.channel === channel ? notice : { ...notice, message: { channel, message: '' } };
    // A task that only its channel may see is not announced elsewhere.
    if (of.origin.audience !== 'team') return;
    const subscribed = (await this.#options.subscriptions.list(platform, team)).filter((one) => announces(one, of));
    for (const [there, subscription] of new Map(subscribed.map((one) => [one.channel, one]))) {
      const place = { team, channel: there, address: {} };
      try {
        if (await this.#hasLeft(of, subscription)) {
          await this.#end(of, there, null);
          continue;
        }
        const places = [{ place, replyTo: null }];
        const only = subscription.from === undefined ? {} : { onlyFor: subscription.by };
        await this.#options.posts.post(notification, { key: `${end}:${there}`, view, mention: null, places, ...only });
      } catch (thrown) {
        const error = asDailiesError(thrown, `telling channel ${there} of task ${of.id}`);
        if (error.retryable) throw error;
        this.#options.logger.warn(
          { event: 'subscription_notice_failed', task: of.id, channel: there, err: error },
          'failed to notify a subscribed channel',
        );
        await this.#end(of, there, error.code);
      }
    }
  }
}

/** Returns whether a subscription matches a task; its requester and its own channel are notified in any case. */
function announces({ who, channel, from, by }: Subscription, { origin }: About['of']): boolean {
  if (who !== 'everyone' && who.id !== origin.user.id) return false;
  return from === undefined ? channel !== origin.channel : from === origin.channel && by.id !== origin.user.id;
}

/** Returns whether a shot waits for a person's decision on it. */
function needsDecision(task: Task): boolean {
  return task.state === 'uncertain' && task.cancelledBy === undefined && !isEnded(task) && !isSought(task);
}

/** Returns whether a chained shot waits for such a decision on one before it. */
function awaitsDecision({ state, set }: Task, members: readonly Task[]): boolean {
  const before = members.find((one) => one.set?.at === (set?.at ?? 1) - 1);
  return state === 'waiting' && before !== undefined && (needsDecision(before) || awaitsDecision(before, members));
}

/** Returns the key of a task's end: a resubmitted task has another one. */
export function endKey({ id, sends }: Pick<Task, 'id' | 'sends'>, phase: EndNotice['phase']): string {
  return `end:${id}:${phase}:${sends}`;
}

/** Returns the key of a task's end, also of one without a notice. */
function endOf(task: Task): string {
  return endKey(task, endPhaseOf(task) ?? 'declined');
}

function noticeOf(
  task: Pick<Task, 'id' | 'request' | 'origin' | 'sends' | 'declined'>,
  phase: EndNotice['phase'],
  shown: Omit<Shown, 'isThere'>,
): EndNotice {
  const { id, request, origin, sends } = task;
  const declined = task.declined === undefined ? {} : { declined: task.declined };
  const of = { task: id, phase, prompt: typedPrompt(request), by: origin.user, sends, ...declined };
  return { kind: 'end', ...of, ...shown, subscribed: false };
}

/** Returns the phase to notify of a task in the outbox; `null`: its message suffices. */
export function endPhaseOf(task: Task): EndNotice['phase'] | null {
  const phase = phaseAtEnd(task);
  if (task.declined?.how === 'withdrawn' || isSought(task)) return null;
  if (phase === 'uncertain' && task.upstreamId !== undefined) return 'disowned';
  return hasNotice(phase) ? phase : null;
}

function hasNotice(phase: Phase): phase is NoticedPhase {
  return PHASES[phase].hasNotice;
}
