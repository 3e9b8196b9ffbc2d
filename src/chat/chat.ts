import type { Clock } from '../clock.ts';
import type { MessageLocks } from '../cluster/message-lock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Clips } from '../pipeline/clip-files.ts';
import { deliverQueue } from '../pipeline/next-job.ts';
import type { ProgressObserver } from '../pipeline/poll.ts';
import { ensureDeliveries } from '../pipeline/reconcile.ts';
import type { TaskObserver, TaskRepository } from '../pipeline/repository.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import type { DurationEstimates } from '../tasks/duration-estimates.ts';
import { stateIndex } from '../tasks/indexes.ts';
import { isWaitingFor, type StepRetry } from '../tasks/step-retry.ts';
import type { Audience, Origin, Task, TaskId } from '../tasks/task.ts';
import type { Model } from '../videos/model.ts';
import type { AttachmentPlanner, Links } from './attachment-plan.ts';
import type { Audiences } from './audiences.ts';
import { createCompletionNotices } from './completion-notices.ts';
import { createDelivery, type Delivery, type DeliveryObserver, type DeliveryRecord } from './deliver.ts';
import type { MemberRights, MessageRef, MissingRight, Place, Platform } from './platform.ts';
import { createProgressEdits } from './progress-edits.ts';
import { createSendHold } from './send-hold.ts';
import type { Subscriptions } from './subscriptions.ts';
import { createTaskMessages, type TaskMessageRecord } from './task-messages.ts';
import { viewOf } from './task-view.ts';
import type { Handover, TaskView } from './view.ts';

/** Chat side of tasks: their messages, progress and delivery. */
export interface Chat {
  /** Posts a task's message, or returns the existing one. */
  show(task: TaskId): Promise<MessageRef>;
  /** Returns a task's message, unless it has none or the message is known to be deleted. */
  messageOf(task: TaskId): Promise<MessageRef | undefined>;
  /** Returns the task of a message. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
  /** Returns the current view of a task. */
  view(task: Task): Promise<TaskView>;
  /** Returns the right that the bot lacks to post a clip (the default) or text there; `null` when it lacks none. */
  missingRight(platform: string, place: Place, what?: 'clip' | 'words'): Promise<MissingRight | null>;
  /** Returns a user's rights in a channel. @throws DailiesError where the platform does not respond */
  rights(platform: string, place: Place, user: string): Promise<MemberRights>;
  /** Returns whether the bot can send direct messages. */
  hasDirectMessages(platform: string): boolean;
  /** Returns the bot's direct message channel with a user. @throws DailiesError */
  directChannel(platform: string, place: Place, user: string): Promise<string>;
  /** Returns the audience of a new order there. Never rejects. */
  audienceAt(platform: string, place: Place): Promise<Audience>;
  /** Returns the audience of a task. @throws `store_unavailable` */
  audienceOf(origin: Origin): Promise<Audience>;
}

/** {@link Chat} with its delivery, observers and lifecycle, for the wiring. */
export interface ChatEngine extends Chat, Delivery {
  /** Notified of every change of a task. */
  readonly taskObserver: TaskObserver;
  /** Notified of the poll results of open tasks. */
  readonly progressed: ProgressObserver['progressed'];
  /** Notified of failed steps that are retried. */
  readonly retrying: ProgressObserver['retrying'];
  /** Schedules the delivery of everything in the outbox, at startup. @returns the number of tasks in the outbox. */
  resume(): Promise<number>;
  /** Cancels scheduled progress edits and waits for those in flight. */
  stop(): Promise<void>;
}

/** Options of {@link createChat}. */
export interface ChatOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  /** Enabled platforms, by name. */
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clips: Pick<Clips, 'find'>;
  readonly handing: AttachmentPlanner;
  readonly links: Links;
  readonly subscriptions: Subscriptions;
  readonly audiences: Audiences;
  readonly locks: MessageLocks;
  readonly waits: DurationEstimates;
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
}

/** Task events that leave the task's message unchanged. */
const INVISIBLE_EVENTS: ReadonlySet<string> = new Set(['claimed', 'send', 'unsent', 'presented']);

/** Consecutive failures before a message shows them: a single failure usually passes unnoticed. */
const MIN_SHOWN_FAILURES: Readonly<Record<StepRetry['step'], number>> = { send: 3, poll: 2, fetch: 2 };
/** Shortest wait, in milliseconds, that a message shows after a single failure. */
const LONG_WAIT_MS = 10_000;
/** Largest number of paused tasks whose messages are edited at once. */
const MAX_PAUSED_EDITS = 200;

/** Creates the chat side on a store and the platforms. */
export function createChat(options: ChatOptions): ChatEngine {
  const { store, repository, queue, locks, clock, logger } = options;
  const deliveries = store.keyv('deliveries');

  const platformOf = ({ platform }: Pick<Origin, 'platform'>): Platform => {
    const found = options.platforms.get(platform);
    if (found !== undefined) return found;
    throw new DailiesError(`answering on ${platform}: that platform is not turned on`, {
      code: 'platform_unavailable',
      retryable: true,
    });
  };

  const hold = createSendHold({ broadcast: store.broadcast, clock });

  /** Returns the task's own failed step, or the pause that delays all submissions. */
  const retryingOf = (
    { state }: Task,
    live: ReturnType<typeof edits.liveOf>,
    card: TaskMessageRecord | undefined,
  ): StepRetry | null => {
    const known = live === undefined ? (card?.retrying ?? null) : live.retrying;
    if (known !== null && isWaitingFor(known, state)) return known;
    return state === 'claimed' ? hold.current() : null;
  };

  /** Schedules edits for the messages of paused tasks, oldest first. */
  const refreshPaused = async (): Promise<void> => {
    const waiting = await store.scan(stateIndex('claimed'), { order: 'oldest', limit: MAX_PAUSED_EDITS });
    for (const { member } of waiting) edits.refresh(member as TaskId);
  };

  const makeView = (task: Task, card: TaskMessageRecord | undefined, handover: Handover | null): TaskView => {
    const live = edits.liveOf(task.id);
    const progress = Math.max(live?.progress ?? -1, card?.progress ?? -1);
    return viewOf(task, {
      nowMs: clock.now(),
      progress: progress < 0 ? null : progress,
      isRunning: live?.isRunning ?? card?.isRunning ?? false,
      retrying: retryingOf(task, live, card),
      model: options.modelOf(task.request.model),
      usual: options.waits.usual(task.request.model),
      deadlineMs: options.deadlineMs,
      slowestPollMs: options.slowestPollMs,
      refundKnown: options.refundKnown,
      handover: withFreshLink(handover, task),
    });
  };

  /** Replaces the expiring link of a handover by a new one. */
  const withFreshLink = (handover: Handover | null, task: Task): Handover | null => {
    const link = options.links.forClip(task);
    if (handover === null || link === null) return handover;
    switch (handover.kind) {
      case 'attached':
      case 'unshown':
        return handover;
      case 'fitted':
      case 'linked':
      case 'withheld':
        return { ...handover, link };
      case 'kept':
        return { kind: 'linked', bytes: handover.bytes, limitBytes: handover.limitBytes, link };
    }
  };

  const cards = createTaskMessages({
    store,
    turns: locks,
    platformOf,
    firstView: (task) => makeView(task, undefined, null),
  });
  const view = async (task: Task): Promise<TaskView> => {
    const [card, delivery] = await Promise.all([cards.get(task.id), deliveries.get<DeliveryRecord>(task.id)]);
    return makeView(task, card, delivery?.handover ?? null);
  };
  const edits = createProgressEdits({
    cards,
    turns: locks,
    clock,
    logger,
    getTask: (id) => repository.get(id),
    platformOf: (task) => platformOf(task.origin),
    viewOf: view,
    editIntervalMs: options.editIntervalMs,
    deadlineMs: options.deadlineMs,
  });
  const delivery = createDelivery({
    ...options,
    records: deliveries,
    cards,
    turns: locks,
    edits,
    notices: createCompletionNotices({
      ...options,
      records: deliveries,
      platformOf: (task) => platformOf(task.origin),
    }),
    platformOf: (task) => platformOf(task.origin),
    viewOf: async (task, handover) => makeView(task, await cards.get(task.id), handover),
  });

  const show = async (id: TaskId): Promise<MessageRef> => {
    const task = await repository.get(id);
    if (task === undefined) throw new TypeError(`showing task ${id}: there is no such task`);
    return (await cards.open(task)).message;
  };

  return {
    show,
    view,
    ...delivery,
    messageOf: async (id) => {
      const card = await cards.get(id);
      return card?.isGone === true ? undefined : card?.message;
    },
    taskOf: (platform, message) => cards.taskOf(platform, message),
    missingRight: (platform, place, what) => platformOf({ platform }).missingRight(place, what),
    rights: (platform, place, user) => platformOf({ platform }).rights(place, user),
    hasDirectMessages: (platform) => platformOf({ platform }).limits.hasDirectMessages,
    directChannel: (platform, place, user) => platformOf({ platform }).directChannel(place, user),
    audienceAt: (platform, place) => options.audiences.at(platform, place),
    audienceOf: (origin) => options.audiences.of(origin),
    taskObserver: {
      changed(task, event) {
        if (!task.presented) queue.schedule(deliverQueue(task), task.id, clock.now());
        else if (!INVISIBLE_EVENTS.has(event)) edits.refresh(task.id);
      },
    },
    progressed: (task, upstream) => {
      // Polls of a cancelled task do not edit its message.
      if (task.state === 'polling') edits.progressed(task, upstream);
    },
    retrying(task, retry, { failures, isForAll }) {
      const waitMs = retry.nextAtMs - clock.now();
      if (failures < MIN_SHOWN_FAILURES[retry.step] && waitMs < LONG_WAIT_MS) return;
      if (isWaitingFor(retry, task.state)) edits.retrying(task, retry);
      if (!isForAll || waitMs < LONG_WAIT_MS) return;
      hold.announce(retry);
      refreshPaused().catch((thrown: unknown) =>
        logger.warn(
          { event: 'pause_display_failed', err: thrown },
          'failed to show a pause on the messages of waiting tasks',
        ),
      );
    },
    resume: async () => (await ensureDeliveries(options)).there,
    stop: () => {
      hold.stop();
      return edits.stop();
    },
  };
}
