import { setImmediate } from 'node:timers/promises';
import { within } from '../clock.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Cut } from '../orders/index.ts';
import { deliverQueue, ensureDeliveries, type ProgressObserver, type TaskObserver } from '../pipeline/index.ts';
import {
  type Audience,
  isContentRemoved,
  isWaitingFor,
  newerVersions,
  type Phase,
  type SetPlace,
  type StepRetry,
  stateIndex,
  type Task,
  type TaskId,
} from '../tasks/index.ts';
import { ApprovalNotices } from './approval-notices.ts';
import { CardDelivery } from './card-delivery.ts';
import { type CardRecord, type CardSubject, Cards, cardRecords, isOutcome } from './cards.ts';
import { Comparisons } from './comparisons/comparisons.ts';
import { CompletionNotices } from './completion-notices.ts';
import { Delivery } from './deliver.ts';
import type { ChatOptions, ChatParts } from './parts.ts';
import { type MessageRef, type Place, type Platform, platformsIn } from './platform.ts';
import { Posts } from './posts.ts';
import { ProgressEdits } from './progress-edits.ts';
import { TaskRetraction } from './retraction.ts';
import { ReviewNotices } from './reviews.ts';
import { SetCards } from './sets/set-cards.ts';
import { isSettled, setCardId, setOfCard } from './sets/set-view.ts';
import { TaskViews } from './task-views.ts';
import { isPending, type SetView, type TaskView } from './view.ts';

/** What a platform knows of its channels and members. */
export type PlatformFacts = Pick<Platform, 'limits' | 'channels'>;

/** Chat side of tasks: their messages, progress and delivery. */
export type Chat = Pick<
  ChatEngine,
  | 'show'
  | 'messageOf'
  | 'taskOf'
  | 'view'
  | 'setView'
  | 'comparisons'
  | 'showSet'
  | 'setOf'
  | 'updateBoard'
  | 'platform'
  | 'audienceAt'
>;

/** Task events that leave the task's message unchanged. */
const INVISIBLE_EVENTS: ReadonlySet<string> = new Set(['claimed', 'send', 'unsent', 'presented', 'remove']);

/** Consecutive failures before a message shows them: a single failure usually passes unnoticed. */
const MIN_SHOWN_FAILURES: Readonly<Record<StepRetry['step'], number>> = { send: 3, poll: 2, fetch: 2 };
/** Shortest wait, in milliseconds, that a message shows after a single failure. */
const LONG_WAIT_MS = 10_000;
/** Timeout of the look-up of an audience for an order, which must be acknowledged within 3 s. */
const AUDIENCE_TIMEOUT_MS = 1_500;
/** Largest number of paused tasks whose messages are edited at once. */
const MAX_PAUSED_EDITS = 200;

/** {@link Chat} with its delivery, observers and lifecycle, for the wiring. */
export class ChatEngine {
  /** What the parts of this chat are made of; those of cuts, too. */
  readonly parts: ChatParts;
  readonly comparisons: Comparisons;
  readonly retraction: TaskRetraction;
  readonly #delivery: Delivery;
  /** The search for outdated cards; it ends early once `#isStopping`. */
  #catchUp: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: ChatOptions) {
    const own = {
      ...options,
      platformOf: platformsIn(options.platforms),
      subjectOf: this.#subjectOf,
      subjectAt: this.#subjectAt,
      viewOf: this.view.bind(this),
    };
    const cards = new Cards(own);
    const refresh = (set: TaskId): void => this.parts.edits.refresh(setCardId(set));
    const comparisons = new Comparisons({ ...own, refresh });
    const shown = { ...own, cards, comparisons, edits: new ProgressEdits({ ...own, cards }) };
    const views = new TaskViews(shown);
    const messages = { ...shown, views, sets: new SetCards({ ...shown, views }), posts: new Posts(own) };
    const [approvals, reviews] = [new ApprovalNotices(messages), new ReviewNotices(messages)];
    const notices = new CompletionNotices({ ...messages, approvals, reviews });
    this.parts = { ...messages, approvals, reviews, notices, cardDelivery: new CardDelivery(messages) };
    this.comparisons = comparisons;
    this.retraction = new TaskRetraction(this.parts);
    this.#delivery = new Delivery(this.parts);
  }

  /** @param claimed the task as it was just claimed. Default: it is read. */
  async show(id: TaskId, claimed?: Task): Promise<MessageRef> {
    const task = claimed ?? (await this.parts.repository.get(id));
    if (task === undefined) throw new TypeError(`showing task ${id}: there is no such task`);
    if (isContentRemoved(task)) {
      const gone = { code: 'message_gone', retryable: false } as const;
      throw new DailiesError(`showing task ${id}: its content was removed`, gone);
    }
    return task.set === undefined
      ? (await this.parts.cards.open(this.#subjectOf(task))).message
      : this.parts.sets.open(task.set);
  }

  /** Returns a task's message, unless it has none or the message is known to be deleted. */
  async messageOf(id: TaskId): Promise<MessageRef | undefined> {
    const record = await this.parts.cards.get(id);
    if (record !== undefined) return record.isGone === true ? undefined : record.message;
    const set = setOfCard(id) === null ? (await this.parts.repository.get(id))?.set : undefined;
    return set === undefined ? undefined : this.messageOf(setCardId(set.id));
  }

  /** Returns the task of a message, or the `setCardId` of a card. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined> {
    return this.parts.cards.taskOf(platform, message);
  }

  view(task: Task): Promise<TaskView> {
    return this.parts.views.current(task);
  }

  /** Returns the current view of a set's card. */
  async setView(place: SetPlace): Promise<SetView> {
    return this.parts.sets.view(await this.parts.sets.get(place));
  }

  /** Posts the card of a set anew if its message was deleted. @returns whether it was @throws DailiesError retryable */
  async showSet(place: SetPlace): Promise<boolean> {
    const isNew = await this.parts.sets.showAgain(place);
    // Its edits ended with the deleted message.
    if (isNew) this.parts.edits.forget(setCardId(place.id));
    return isNew;
  }

  setOf(place: Pick<SetPlace, 'id' | 'of'>): Promise<readonly Task[]> {
    return this.parts.sets.members(place);
  }

  /** Shows the present board of a storyboard on its card. @throws DailiesError retryable */
  updateBoard(place: SetPlace): Promise<void> {
    return this.parts.sets.update(place);
  }

  /** Returns a platform by its name. @throws DailiesError `platform_unavailable`, retryable: it is not turned on */
  platform(name: string): PlatformFacts {
    return this.parts.platformOf({ origin: { platform: name } });
  }

  /** Returns the audience of a new order there. Never rejects: `channel` where the platform cannot determine it. */
  async audienceAt(platform: string, place: Place): Promise<Audience> {
    const { platforms, clock, logger } = this.parts;
    const asked = platforms.get(platform)?.channels.audience(place) ?? Promise.resolve(null);
    const found = asked.catch((thrown: unknown) => {
      const err = asDailiesError(thrown, `looking up who may see channel ${place.channel}`);
      const about = { event: 'audience_unknown', platform, channel: place.channel, err };
      logger.warn(about, 'failed to look up the audience of a channel');
      return null;
    });
    return (await within(clock, AUDIENCE_TIMEOUT_MS, found, null)) ?? 'channel';
  }

  /** Runs a job of the `deliver` queue. */
  deliver(id: string): Promise<number | null> {
    return this.#delivery.deliver(id);
  }

  /** Runs a job of the `notify` queue. */
  notify(id: string): Promise<number | null> {
    return this.#delivery.notify(id);
  }

  changed(task: Task, event: Parameters<TaskObserver['changed']>[1]): void {
    const { queue, clock } = this.parts;
    if (!task.presented) queue.schedule(deliverQueue(task), task.id, clock.now());
    else if (!INVISIBLE_EVENTS.has(event)) this.parts.edits.refresh(task.id);
    else if (event === 'remove' || (event === 'claimed' && task.takeOf !== undefined)) this.#refreshCard(task);
    if (event === 'remove') this.#refreshBoards(task);
    // One in the outbox is shown again with its notices.
    const isForgotten = event === 'forget' && task.presented && !isContentRemoved(task);
    if (event === 'approve' || isForgotten) this.#showApproval(task);
    if (event === 'forget' && task.review !== undefined) this.#refreshNewer(task);
  }

  /** Schedules edits for the later versions of a clip: they show its notes. */
  #refreshNewer(task: Task): void {
    newerVersions(this.parts.store, task).then(
      (ids) => {
        for (const id of ids) this.parts.edits.refresh(id);
      },
      (thrown: unknown) => {
        const about = { event: 'notes_display_failed', task: task.id, err: thrown };
        this.parts.logger.warn(about, 'failed to update the notes in the messages of later versions');
      },
    );
  }

  /** Schedules edits for the boards on which a removed clip was in the place of a shot. */
  #refreshBoards({ id }: Task): void {
    const { sets, edits, logger } = this.parts;
    sets.boardsWith(id).then(
      (boards) => {
        for (const set of boards) edits.refresh(setCardId(set));
      },
      (err: unknown) =>
        logger.warn({ event: 'boards_display_failed', task: id, err }, 'failed to update the boards of a removed clip'),
    );
  }

  /** Shows an approval in the notices of its request. Where that fails, a press on them tells. */
  #showApproval(task: Task): void {
    this.parts.approvals.settle(task).catch((thrown: unknown) => {
      const about = { event: 'approval_display_failed', task: task.id, err: thrown };
      this.parts.logger.warn(about, 'failed to show an approval in the notices of its request');
    });
  }

  /** Notified of the poll results of open tasks. */
  progressed(...[task, upstream]: Parameters<ProgressObserver['progressed']>): void {
    // Polls of a cancelled task do not edit its message.
    if (task.state === 'polling') this.parts.edits.progressed(task, upstream);
  }

  /** Schedules an edit of the card that shows a task whose own message stays as it is. */
  #refreshCard({ set, takeOf }: Task): void {
    const card = set ?? takeOf;
    if (card !== undefined) this.parts.edits.refresh(setCardId(card.id));
  }

  /** Notified of the messages of cuts: the boards of their clips show them. */
  cutShown({ tasks }: Pick<Cut, 'tasks'>): void {
    for (const id of tasks)
      this.parts.repository.get(id).then(
        (task) => task !== undefined && this.#refreshCard(task),
        (err: unknown) =>
          this.parts.logger.warn({ event: 'cut_not_on_board', err }, 'failed to show a cut on its board'),
      );
  }

  /** Notified of failed steps that are retried. */
  retrying(...[task, retry, { failures, isForAll }]: Parameters<ProgressObserver['retrying']>): void {
    const { clock, logger } = this.parts;
    const waitMs = retry.nextAtMs - clock.now();
    if (failures < MIN_SHOWN_FAILURES[retry.step] && waitMs < LONG_WAIT_MS) return;
    if (isWaitingFor(retry, task.state)) this.parts.edits.retrying(task, retry);
    if (!isForAll || waitMs < LONG_WAIT_MS) return;
    this.parts.views.pause.publish(retry);
    this.#refreshPaused().catch((thrown: unknown) =>
      logger.warn(
        { event: 'pause_display_failed', err: thrown },
        'failed to show a pause on the messages of waiting tasks',
      ),
    );
  }

  /**
   * Schedules the delivery of everything in the outbox, at startup, and in the background the edits of cards that missed
   * the end of their tasks. @returns the number of tasks in the outbox.
   */
  async resume(): Promise<number> {
    const { there } = await ensureDeliveries(this.parts);
    this.#catchUp = this.#refreshOutdated().catch((thrown: unknown) =>
      this.parts.logger.warn({ event: 'cards_not_compared', err: thrown }, 'failed to look for outdated cards'),
    );
    return there;
  }

  /** Cancels scheduled progress edits and waits for those in flight. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.parts.views.pause.close();
    await Promise.all([this.#catchUp, this.parts.edits.stop()]);
  }

  readonly #subjectOf = (task: Task): CardSubject => {
    const { id, origin, set, takeOf } = task;
    const { views, sets } = this.parts;
    return {
      id,
      origin,
      isOutcome: isOutcome(task),
      view: (card, handover) =>
        handover === undefined ? views.current(task, card && { card }) : views.kept(task, card, { handover }),
      place: () => sets.placeOf(task),
      // A further take of a shot has a message of its own, and is also on the board.
      onCards: [takeOf, set].flatMap((place) => (place === undefined ? [] : [setCardId(place.id)])),
      isOnCardAlone: set !== undefined,
    };
  };

  readonly #subjectAt = async (id: TaskId): Promise<CardSubject | undefined> => {
    const { repository, sets } = this.parts;
    const setId = setOfCard(id);
    if (setId !== null) {
      const set = await sets.at(setId);
      if (set === undefined || isContentRemoved(set.shown)) return undefined;
      // The prompts of a set expire together, and the clips stay in the chat as they are.
      const isExpiring = set.tasks.some((task) => task.removal?.reason === 'expired' && isContentRemoved(task));
      return isExpiring ? undefined : sets.subjectOf(set);
    }
    const task = await repository.get(id);
    // A task in the outbox is shown by its delivery, and one without content by nothing.
    return task === undefined || !task.presented || isContentRemoved(task) ? undefined : this.#subjectOf(task);
  };

  /** Schedules edits for the cards that show tasks in progress although all of their set have ended, or need a decision. */
  async #refreshOutdated(): Promise<void> {
    const { store, platforms } = this.parts;
    for await (const page of cardRecords.all(store)) {
      for (const { key, value } of page) {
        if (this.#isStopping) return;
        const id = setOfCard(key as TaskId);
        const set = id !== null && showsProgress(value) ? await this.parts.sets.at(id) : undefined;
        if (set === undefined || !platforms.has(set.origin.platform)) continue;
        if (set.tasks.every(isSettled)) this.parts.edits.refresh(key as TaskId);
      }
      await setImmediate();
    }
  }

  /** Schedules edits for the messages of paused tasks, oldest first. */
  async #refreshPaused(): Promise<void> {
    const range = { order: 'oldest', limit: MAX_PAUSED_EDITS } as const;
    const waiting = await this.parts.store.scan(stateIndex('claimed'), range);
    for (const { member } of waiting) this.parts.edits.refresh(member as TaskId);
  }
}

/** Returns whether the record of a message, which may be damaged, says that it shows something in progress. */
function showsProgress(record: unknown): boolean {
  try {
    const { shown, isGone } = record as CardRecord;
    const [phase] = JSON.parse(shown ?? '[]') as [Phase];
    return isGone !== true && isPending(phase);
  } catch {
    return false;
  }
}
