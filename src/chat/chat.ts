import { setImmediate } from 'node:timers/promises';
import { type Clock, within } from '../clock.ts';
import type { Store, WorkQueue } from '../engine/index.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { Boards, type Cut, CutRepository } from '../orders/index.ts';
import {
  type Clips,
  deliverQueue,
  ensureDeliveries,
  type ProgressObserver,
  type TaskObserver,
  type TaskRepository,
} from '../pipeline/index.ts';
import {
  type Audience,
  type DurationEstimates,
  hasReview,
  isContentRemoved,
  isWaitingFor,
  newerVersions,
  type Origin,
  type Phase,
  type Price,
  type ReviewRules,
  type SetPlace,
  type StepRetry,
  stateIndex,
  type Task,
  type TaskId,
  versionOf,
} from '../tasks/index.ts';
import type { Admin } from '../teams/index.ts';
import type { Model } from '../videos/index.ts';
import { ApprovalNotices } from './approval-notices.ts';
import type { AttachmentPlanner, Links } from './attachment-plan.ts';
import { CardDelivery } from './card-delivery.ts';
import { type CardRecord, type CardSubject, Cards, cardRecords, isOutcome } from './cards.ts';
import { Comparisons } from './comparisons/comparisons.ts';
import { CompletionNotices } from './completion-notices.ts';
import { Delivery, type DeliveryObserver } from './deliver.ts';
import type { MessageLocks } from './message-lock.ts';
import { type MessageRef, type Place, type Platform, type PlatformOf, platformsIn } from './platform.ts';
import { Posts } from './posts.ts';
import { ProgressEdits } from './progress-edits.ts';
import { TaskRetraction } from './retraction.ts';
import { type ReviewContext, ReviewNotices, type ReviewNoticesOptions } from './reviews.ts';
import { SetCards } from './sets/set-cards.ts';
import { isSettled, setCardId, setOfCard } from './sets/set-view.ts';
import type { Subscriptions } from './subscriptions.ts';
import { type IsLabelled, SubmissionPause, TaskViews } from './task-views.ts';
import { type Elsewhere, isPending, type TaskView } from './view.ts';

/** What a platform knows of its channels and members. */
export type PlatformFacts = Pick<
  Platform,
  'limits' | 'missingRight' | 'rights' | 'isMember' | 'isInGroup' | 'directChannel' | 'lastingAddress'
>;

/** Chat side of tasks: their messages, progress and delivery. */
export interface Chat {
  show(task: TaskId): Promise<MessageRef>;
  /** Returns a task's message, unless it has none or the message is known to be deleted. */
  messageOf(task: TaskId): Promise<MessageRef | undefined>;
  /** Returns the task of a message, or the `setCardId` of a card. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
  view(task: Task): Promise<TaskView>;
  /** Returns the current view of a set's card. */
  setView(place: SetPlace): Promise<TaskView>;
  readonly comparisons: Pick<Comparisons, 'vote' | 'reveal' | 'entries' | 'records'>;
  /** Posts the card of a set anew if its message was deleted. @returns whether it was @throws DailiesError retryable */
  showSet(place: SetPlace): Promise<boolean>;
  setOf(place: Pick<SetPlace, 'id' | 'of'>): Promise<readonly Task[]>;
  /** Shows the present board of a storyboard on its card. @throws DailiesError retryable */
  updateBoard(place: SetPlace): Promise<void>;
  /** Returns a platform by its name. @throws DailiesError `platform_unavailable`, retryable: it is not turned on */
  platform(name: string): PlatformFacts;
  /** Returns the audience of a new order there. Never rejects: `channel` where the platform cannot determine it. */
  audienceAt(platform: string, place: Place): Promise<Audience>;
}

/** Options of {@link ChatEngine}. */
export interface ChatOptions extends Pick<ReviewNoticesOptions, 'reviewRules'> {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  /** Enabled platforms, by name. */
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clips: Pick<Clips, 'find'>;
  readonly handing: AttachmentPlanner;
  readonly links: Links;
  readonly subscriptions: Subscriptions;
  readonly locks: MessageLocks;
  readonly durationEstimates: DurationEstimates;
  readonly modelOf: (name: string) => Model | undefined;
  readonly observer: DeliveryObserver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly editIntervalMs: number;
  readonly deadlineMs: number;
  readonly slowestPollMs: number;
  /** The video service is known to refund failed tasks. */
  readonly refundKnown: boolean;
  /** Persons named in `ADMINS`, who are pinged where there is no approver. Default: none. */
  readonly admins?: readonly Admin[];
  readonly isLabelled?: IsLabelled;
  /** Returns what the team of a task has left in its currency this month; `null` without a limit. */
  readonly leftFor: (task: Task) => Promise<Price | null>;
  /** Returns the model of another service that takes a task's order as it is; `null`: there is none. Default: none has. */
  readonly elsewhere?: (task: Task) => Promise<Elsewhere | null>;
  /** Returns the time at which the clip of a task is removed; `null`: it has none, or keeps it. Default: none is. */
  readonly keptUntil?: (task: Task) => Promise<number | null>;
}

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
export class ChatEngine implements Chat {
  readonly #options: ChatOptions;
  readonly #platformOf: PlatformOf;
  readonly #cards: Cards;
  readonly #sets: SetCards;
  readonly #edits: ProgressEdits;
  readonly #delivery: Delivery;
  readonly #approvals: ApprovalNotices;
  readonly retraction: TaskRetraction;
  readonly #views: TaskViews;
  readonly comparisons: Comparisons;
  readonly #pause: SubmissionPause;
  /** The search for outdated cards; it ends early once `#isStopping`. */
  #catchUp: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: ChatOptions) {
    const platformOf = platformsIn(options.platforms);
    this.#platformOf = platformOf;
    const viewOf = this.view.bind(this);
    this.#options = options;
    this.#cards = new Cards({ ...options, platformOf });
    const refresh = (set: TaskId): void => this.#edits.refresh(setCardId(set));
    this.comparisons = new Comparisons({ ...options, refresh });
    const posts = new Posts({ ...options, platformOf });
    const messages = { ...options, cards: this.#cards, comparisons: this.comparisons, platformOf, posts };
    this.#sets = new SetCards({
      ...messages,
      boards: new Boards(options.store),
      cuts: new CutRepository(options.store),
      viewOf: (task, progress) => this.#views.current(task, { before: { progress } }),
      progressOf: (task) => this.#edits.liveOf(task)?.progress ?? null,
    });
    const shared = { ...messages, sets: this.#sets, viewOf, subjectOf: this.#subjectOf };
    const approvals = new ApprovalNotices({ ...shared, admins: options.admins ?? [] });
    const edits = new ProgressEdits({ ...shared, getTask: (id) => this.#sets.get(id) });
    this.#pause = new SubmissionPause(options);
    this.#views = new TaskViews({
      ...options,
      pause: this.#pause,
      messages: this.#cards,
      edits,
      reviewContext: createReviewContext(options),
      comparisons: this.comparisons,
    });
    const reviews = new ReviewNotices(shared);
    const notices = new CompletionNotices({ ...shared, approvals, reviews });
    this.#approvals = approvals;
    this.#edits = edits;
    this.retraction = new TaskRetraction({ ...shared, notices, approvals, edits });
    this.#delivery = new Delivery({ ...shared, edits, notices, cardDelivery: new CardDelivery(shared) });
  }

  async show(id: TaskId): Promise<MessageRef> {
    const task = await this.#options.repository.get(id);
    if (task === undefined) throw new TypeError(`showing task ${id}: there is no such task`);
    if (isContentRemoved(task)) {
      const gone = { code: 'message_gone', retryable: false } as const;
      throw new DailiesError(`showing task ${id}: its content was removed`, gone);
    }
    return task.set === undefined ? (await this.#cards.open(this.#subjectOf(task))).message : this.#sets.open(task.set);
  }

  async messageOf(id: TaskId): Promise<MessageRef | undefined> {
    const record = await this.#cards.get(id);
    if (record !== undefined) return record.isGone === true ? undefined : record.message;
    const set = setOfCard(id) === null ? (await this.#options.repository.get(id))?.set : undefined;
    return set === undefined ? undefined : this.messageOf(setCardId(set.id));
  }

  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined> {
    return this.#cards.taskOf(platform, message);
  }

  view(task: Task, card?: CardRecord): Promise<TaskView> {
    if (setOfCard(task.id) !== null) return this.#sets.view(task);
    return this.#views.current(task, card === undefined ? {} : { card });
  }

  async setView(place: SetPlace): Promise<TaskView> {
    return this.#sets.view(await this.#sets.cardOf(place));
  }

  async showSet(place: SetPlace): Promise<boolean> {
    const isNew = await this.#sets.showAgain(place);
    // Its edits ended with the deleted message.
    if (isNew) this.#edits.forget(setCardId(place.id));
    return isNew;
  }

  setOf(place: Pick<SetPlace, 'id' | 'of'>): Promise<readonly Task[]> {
    return this.#sets.members(place);
  }

  updateBoard(place: SetPlace): Promise<void> {
    return this.#sets.update(place);
  }

  platform(name: string): PlatformFacts {
    return this.#platformOf({ origin: { platform: name } });
  }

  async audienceAt(platform: string, place: Place): Promise<Audience> {
    const { platforms, clock, logger } = this.#options;
    const asked = platforms.get(platform)?.audience(place) ?? Promise.resolve(null);
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
    const { queue, clock } = this.#options;
    if (!task.presented) queue.schedule(deliverQueue(task), task.id, clock.now());
    else if (!INVISIBLE_EVENTS.has(event)) this.#edits.refresh(task.id);
    else if (event === 'remove' || (event === 'claimed' && task.takeOf !== undefined)) this.#refreshCard(task);
    // One in the outbox is shown again with its notices.
    const isForgotten = event === 'forget' && task.presented && !isContentRemoved(task);
    if (event === 'approve' || isForgotten) this.#showApproval(task);
    if (event === 'forget' && task.review !== undefined) this.#refreshNewer(task);
  }

  /** Schedules edits for the later versions of a clip: they show its notes. */
  #refreshNewer(task: Task): void {
    newerVersions(this.#options.store, task).then(
      (ids) => {
        for (const id of ids) this.#edits.refresh(id);
      },
      (thrown: unknown) => {
        const about = { event: 'notes_display_failed', task: task.id, err: thrown };
        this.#options.logger.warn(about, 'failed to update the notes in the messages of later versions');
      },
    );
  }

  /** Shows an approval in the notices of its request. Where that fails, a press on them tells. */
  #showApproval(task: Task): void {
    this.#approvals.settle(task).catch((thrown: unknown) => {
      const about = { event: 'approval_display_failed', task: task.id, err: thrown };
      this.#options.logger.warn(about, 'failed to show an approval in the notices of its request');
    });
  }

  /** Notified of the poll results of open tasks. */
  progressed(...[task, upstream]: Parameters<ProgressObserver['progressed']>): void {
    // Polls of a cancelled task do not edit its message.
    if (task.state === 'polling') this.#edits.progressed(task, upstream);
  }

  /** Schedules an edit of the card that shows a task whose own message stays as it is. */
  #refreshCard({ set, takeOf }: Task): void {
    const card = set ?? takeOf;
    if (card !== undefined) this.#edits.refresh(setCardId(card.id));
  }

  /** Notified of the messages of cuts: the boards of their clips show them. */
  cutShown({ tasks }: Pick<Cut, 'tasks'>): void {
    for (const id of tasks)
      this.#options.repository.get(id).then(
        (task) => task !== undefined && this.#refreshCard(task),
        (err: unknown) =>
          this.#options.logger.warn({ event: 'cut_not_on_board', err }, 'failed to show a cut on its board'),
      );
  }

  /** Notified of failed steps that are retried. */
  retrying(...[task, retry, { failures, isForAll }]: Parameters<ProgressObserver['retrying']>): void {
    const { clock, logger } = this.#options;
    const waitMs = retry.nextAtMs - clock.now();
    if (failures < MIN_SHOWN_FAILURES[retry.step] && waitMs < LONG_WAIT_MS) return;
    if (isWaitingFor(retry, task.state)) this.#edits.retrying(task, retry);
    if (!isForAll || waitMs < LONG_WAIT_MS) return;
    this.#pause.publish(retry);
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
    const { there } = await ensureDeliveries(this.#options);
    this.#catchUp = this.#refreshOutdated().catch((thrown: unknown) =>
      this.#options.logger.warn({ event: 'cards_not_compared', err: thrown }, 'failed to look for outdated cards'),
    );
    return there;
  }

  /** Cancels scheduled progress edits and waits for those in flight. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#pause.close();
    await Promise.all([this.#catchUp, this.#edits.stop()]);
  }

  /** Returns a task, or the stand-in of a set's card, as what its message shows. */
  readonly #subjectOf = (task: Task): CardSubject => {
    if (setOfCard(task.id) !== null) return this.#sets.subjectOf(task);
    return {
      id: task.id,
      origin: task.origin,
      isOutcome: isOutcome(task),
      view: (handover, card) => this.#views.kept(task, card, { handover }),
      place: () => this.#sets.placeOf(task),
    };
  };

  /** Schedules edits for the cards that show tasks in progress although all of their set have ended, or need a decision. */
  async #refreshOutdated(): Promise<void> {
    const { store, platforms } = this.#options;
    for await (const page of cardRecords.all(store)) {
      for (const { key, value } of page) {
        if (this.#isStopping) return;
        const id = key as TaskId;
        const card = setOfCard(id) !== null && showsProgress(value) ? await this.#sets.get(id) : undefined;
        if (card?.set === undefined || !platforms.has(card.origin.platform)) continue;
        if ((await this.#sets.members(card.set)).every(isSettled)) this.#edits.refresh(id);
      }
      await setImmediate();
    }
  }

  /** Schedules edits for the messages of paused tasks, oldest first. */
  async #refreshPaused(): Promise<void> {
    const range = { order: 'oldest', limit: MAX_PAUSED_EDITS } as const;
    const waiting = await this.#options.store.scan(stateIndex('claimed'), range);
    for (const { member } of waiting) this.#edits.refresh(member as TaskId);
  }
}

/** Notes that a message shows at most, the newest ones. */
const MAX_NOTES = 3;

/** Creates the reader of {@link ReviewContext}. */
function createReviewContext({
  repository,
  reviewRules = async () => ({}),
}: {
  readonly repository: { get(id: TaskId): Promise<Task | undefined> };
  /** Reads the review rules of a team. Default: none are set. */
  readonly reviewRules?: (of: Pick<Origin, 'platform' | 'team'>) => Promise<ReviewRules>;
}): (task: Task) => Promise<ReviewContext> {
  return async ({ origin, retryOf, state }) => {
    // Progress edits of other tasks read nothing more.
    if (state !== 'completed' && retryOf === undefined) return { isReviewed: false };
    const isReviewed = hasReview(await reviewRules(origin), origin);
    if (!isReviewed || retryOf === undefined) return { isReviewed };
    const before = await repository.get(retryOf);
    // A retry elsewhere does not show the notes of a private channel.
    if (before === undefined || before.origin.channel !== origin.channel) return { isReviewed };
    const notes = (before.review ?? []).flatMap(({ note }) => note ?? []).slice(-MAX_NOTES);
    return notes.length === 0 ? { isReviewed } : { isReviewed, earlier: { version: versionOf(before), notes } };
  };
}

/** Returns whether the record of a message, which may be damaged, says that it shows something in progress. */
function showsProgress(record: unknown): boolean {
  try {
    const { shown, isGone } = record as CardRecord;
    const [, phase] = JSON.parse(shown ?? '[]') as [state: unknown, phase: Phase];
    return isGone !== true && isPending(phase);
  } catch {
    return false;
  }
}
