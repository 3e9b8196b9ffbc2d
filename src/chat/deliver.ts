import type { JobKind } from '../engine/index.ts';
import { asDailiesError, type DailiesError } from '../errors.ts';
import { deliverQueue, isWorthWaiting, notifyQueue } from '../pipeline/index.ts';
import { backoffMs, FailureCounter } from '../retry.ts';
import { comparisonOf, failureOf, type SetPlace, type Task, type TaskId } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';
import { unlessGone } from './attachment-plan.ts';
import type { Outcome } from './card-delivery.ts';
import type { CardSubject } from './cards.ts';
import { endKey, endPhaseOf } from './completion-notices.ts';
import type { MessageLock } from './message-lock.ts';
import type { ChatParts } from './parts.ts';
import { deliveryOf, deliveryRecords } from './records.ts';
import { fileOf, hasOwnMessage, sharedCardOf } from './sets/set-cards.ts';
import { setCardId } from './sets/set-view.ts';
import type { Handover } from './view.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Delay before the next attempt where another process holds the lock of the message. */
const LOCKED_RETRY_MS = 1_000;
/** Attempts to find a clip that the service has dropped: another process may have the file, and takes over the job. */
const MAX_FIND_ATTEMPTS = 10;

/** Observer of delivery outcomes. */
export interface DeliveryObserver {
  /**
   * Called once the outcome, with the clip where there is one, is in the chat; the notices follow.
   * @param lagMs time since the end of the task; `null` where an earlier outcome of it was shown already, since a clip
   *   may be requested again days later.
   */
  delivered(task: Task, handover: Handover | null, lagMs: number | null): void;
  /** Called when a deliver or notify job failed; it is retried. */
  failedOnce(task: Task, error: DailiesError): void;
}

/** Job handlers that show the outcome of a task in the outbox in the chat; both are idempotent. */
export class Delivery {
  readonly #options: ChatParts;
  /** Failures by {@link keyOf}. */
  readonly #failures: FailureCounter;
  /** Failures to find a clip, by task. */
  readonly #unfound: FailureCounter;

  constructor(options: ChatParts) {
    this.#options = options;
    this.#failures = new FailureCounter(options.clock);
    this.#unfound = new FailureCounter(options.clock);
  }

  /**
   * Handles jobs of the `deliver` queue: updates the task's own message to the outcome, attaches the clip, and
   * schedules the notices.
   */
  async deliver(key: string): Promise<number | null> {
    const found = await this.#waiting(key);
    if (found === null) return null;
    const { task, isFirst, shown } = found;
    if (shown === null) return this.#attempt('deliver', task, () => this.#deliverUnlessHeld(task, isFirst));
    // Shown before a restart, and nothing edits the message of a task in the outbox.
    this.#options.queue.schedule(notifyQueue(task), key, this.#options.clock.now());
    return null;
  }

  /**
   * Handles jobs of the `notify` queue: posts the completion notices, and removes the task from the outbox. It has its
   * own queue because chats rate-limit new messages: a channel with many mentions must not delay the clips of others.
   */
  async notify(key: string): Promise<number | null> {
    const found = await this.#waiting(key);
    if (found === null) return null;
    const { task, shown } = found;
    if (shown !== null) return this.#attempt('notify', task, () => this.#notifyOnce(task, shown.isThere));
    this.#options.queue.schedule(deliverQueue(task), key, this.#options.clock.now());
    return null;
  }

  /** Returns the set whose card shows a task; of a comparison, only if no retry has taken its place there. */
  async #sharedCardOf(task: Task): Promise<SetPlace | undefined> {
    const place = sharedCardOf(task);
    if (place?.kind !== 'comparison') return place;
    const entries = await this.#options.comparisons.entries(place);
    return entries.some(({ id }) => id === task.id) ? place : undefined;
  }

  async #show(task: Task, shared: SetPlace | undefined, lock: MessageLock): Promise<void> {
    const { cardDelivery, subjectOf, sets } = this.#options;
    const subject = shared === undefined ? subjectOf(task) : await sets.subjectWith(task, shared);
    const hasMessage = sharedCardOf(task) !== undefined || (await this.#hasMessage(task));
    const isThere = hasMessage ? await cardDelivery.show(this.#outcomeOf(task, subject), lock) : true;
    const card = task.set ?? task.takeOf;
    if (card !== undefined && shared === undefined) await sets.update(card);
    lock.assertHeld();
    const shown = { revision: task.revision, isThere, ...endOf(task) };
    const { store } = this.#options;
    await deliveryRecords.set(store, task.id, { ...(await deliveryOf(store, task.id)), shown });
  }

  /** Returns whether a task is shown in a message of its own, also one of a set that got it when it needed a decision. */
  async #hasMessage(task: Task): Promise<boolean> {
    return hasOwnMessage(task) || (await this.#options.cards.get(task.id)) !== undefined;
  }

  /** Returns what a message shows at the end of a task. */
  #outcomeOf(task: Task, subject: CardSubject): Outcome {
    const { notices } = this.#options;
    const file = {
      of: task,
      ...fileOf(task),
      find: () => this.#find(task),
      notice: (shown) => notices.withFile(task, shown),
      notified: () => notices.sentWithFile(task),
    } satisfies Outcome['file'];
    const hasFile = task.state === 'completed' && task.clip !== undefined;
    return { ...subject, ...endOf(task), wants: task.wants ?? 0, ...(hasFile ? { file } : {}) };
  }

  /** Returns the clip of a task; records a permanently lost one, so that its requester is notified. */
  async #find(task: Task): Promise<Clip | undefined> {
    try {
      const clip = await this.#options.clips.find(task);
      this.#unfound.forget(task.id);
      return clip;
    } catch (thrown) {
      const error = asDailiesError(thrown, `finding the clip of task ${task.id}`);
      const { count, forMs } = this.#unfound.failedAgain(task.id);
      if (count >= MAX_FIND_ATTEMPTS && !isWorthWaiting(error, task, { forMs, nowMs: this.#options.clock.now() })) {
        this.#unfound.forget(task.id);
        this.#options.logger.error(
          { event: 'clip_lost', task: task.id, err: error },
          'the clip of a task is on no disk and cannot be downloaded again',
        );
        await this.#options.repository.record(task.id, {
          kind: 'vanished',
          revision: task.revision,
          failure: failureOf(error),
        });
      }
      throw error;
    }
  }

  /** Runs a job once; a failure is retried with backoff. */
  async #attempt(lane: JobKind, task: Task, work: () => Promise<number | null>): Promise<number | null> {
    const key = keyOf(lane, task);
    try {
      const dueInMs = await work();
      this.#failures.forget(key);
      return dueInMs;
    } catch (thrown) {
      const error = asDailiesError(thrown, `delivering task ${task.id}`);
      const { count } = this.#failures.failedAgain(key);
      this.#options.observer.failedOnce(task, error);
      this.#options.logger.warn(
        { event: 'delivery_failed', task: task.id, lane, failures: count, err: error },
        'a delivery failed; retrying',
      );
      const backoff = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: this.#options.random() };
      return backoffMs(count, { ...backoff, askedMs: error.retryAfterMs });
    }
  }

  /** Shows a task, unless its outcome waits for those of a comparison: then their card alone is brought up to date. */
  async #deliverUnlessHeld(task: Task, isFirst: boolean): Promise<number | null> {
    const place = comparisonOf(task);
    const heldForMs = place === null ? null : await this.#options.comparisons.heldForMs(task);
    if (place !== null && heldForMs !== null) await this.#options.sets.update(place);
    return heldForMs ?? this.#deliverOnce(task, isFirst && place === null);
  }

  /** Shows a task and schedules its notices, with progress edits paused. */
  async #deliverOnce(task: Task, isFirst: boolean): Promise<number | null> {
    const { locks, sets, edits } = this.#options;
    const shared = await this.#sharedCardOf(task);
    const card = shared === undefined ? task.id : setCardId(shared.id);
    const show = (lock: MessageLock): Promise<void> => this.#show(task, shared, lock);
    // The clips of a set follow one another on its card.
    const isShown = await sets.inTurn(card, async () => {
      await edits.hold(card);
      try {
        if ((await locks.run(card, 'message', show)) === null) return false;
        // A card that was posted anew is edited again.
        for (const id of [task.id, card]) edits.forget(id);
        return true;
      } finally {
        edits.release(card);
      }
    });
    if (!isShown) return LOCKED_RETRY_MS;
    const now = await this.#options.repository.get(task.id);
    // The task changed while it was being shown: show it again.
    if (now?.revision !== task.revision) return 0;
    const { handover } = await deliveryOf(this.#options.store, task.id);
    const lagMs = isFirst && task.endedAtMs !== undefined ? this.#options.clock.now() - task.endedAtMs : null;
    this.#options.observer.delivered(task, handover ?? null, lagMs);
    this.#options.queue.schedule(notifyQueue(task), task.id, this.#options.clock.now());
    return null;
  }

  async #notifyOnce(task: Task, isThere: boolean): Promise<number | null> {
    const { cards, sets } = this.#options;
    const isOnCard = task.set !== undefined && !(await this.#hasMessage(task));
    // One that neither its channel nor its requester takes has no message, and nothing to notify of.
    const message = isOnCard ? await sets.open(task.set).catch(unlessGone) : (await cards.get(task.id))?.message;
    if (message !== undefined) {
      const { handover } = await deliveryOf(this.#options.store, task.id);
      const shown = { message, isThere, handover: handover?.kind ?? null };
      const sent = await this.#options.locks.run(task.id, 'notices', (lock) =>
        this.#options.notices.send(task, shown, lock),
      );
      if (sent === null) return LOCKED_RETRY_MS;
    }
    const recorded = await this.#options.repository.record(task.id, { kind: 'presented', revision: task.revision });
    // The task changed while its notices were posted: show it again.
    if (recorded?.done === false) this.#options.queue.schedule(deliverQueue(task), task.id, this.#options.clock.now());
    return null;
  }

  /** Returns the task while it is in the outbox, with what its message shows. */
  async #waiting(key: string) {
    const task = await this.#options.repository.get(key as TaskId);
    if (task === undefined || task.presented) return null;
    const { shown } = await deliveryOf(this.#options.store, task.id);
    return { task, isFirst: shown === undefined, shown: shown?.revision === task.revision ? shown : null };
  }
}

/** Returns the key of the end of a task, if the requester is notified of that. */
function endOf(task: Task): { readonly end?: string } {
  const phase = endPhaseOf(task);
  return phase === null ? {} : { end: endKey(task, phase) };
}

function keyOf(lane: JobKind, { id }: Task): string {
  return `${lane}:${id}`;
}
