import type { Clock } from '../clock.ts';
import { createMessageLocks } from '../cluster/message-lock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Clips } from '../pipeline/clip-files.ts';
import { deliverLane } from '../pipeline/next-job.ts';
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

/** The chat side of tasks: their messages, progress and delivery. */
export interface Chat {
  /** Shows a task's message, or finds it. */
  show(task: TaskId): Promise<MessageRef>;
  /** The message of a task, where it has one that is not known to be deleted. */
  messageOf(task: TaskId): Promise<MessageRef | undefined>;
  /** Which task a message shows. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
  /** What a task's message says now. */
  view(task: Task): Promise<TaskView>;
  /** What the bot lacks to post there, a clip (the default) or words alone; `null` when nothing does. */
  missingRight(platform: string, place: Place, what?: 'clip' | 'words'): Promise<MissingRight | null>;
  /** What a person may do in a channel. @throws DailiesError where the platform does not answer */
  rights(platform: string, place: Place, user: string): Promise<MemberRights>;
  /** Whether the bot can write to a person alone. */
  hasDirectMessages(platform: string): boolean;
  /** The channel of the bot's direct messages with a person. @throws DailiesError */
  directChannel(platform: string, place: Place, user: string): Promise<string>;
  /** Who may see what is ordered there. Never rejects. */
  audienceAt(platform: string, place: Place): Promise<Audience>;
  /** Who may see a task. @throws `store_unavailable` */
  audienceOf(origin: Origin): Promise<Audience>;
}

/** The chat side as the wiring sees it. */
export interface ChatEngine extends Chat, Delivery {
  /** Told of every change of a task. */
  readonly taskObserver: TaskObserver;
  /** Told of what the service says of open tasks. */
  readonly progressed: ProgressObserver['progressed'];
  /** Told of steps that failed and are repeated. */
  readonly retrying: ProgressObserver['retrying'];
  /** Has everything in the outbox delivered: what a process does first. @returns how many there are. */
  resume(): Promise<number>;
  /** Begins no more progress edits, and waits for those that run. */
  stop(): Promise<void>;
}

/** Collaborators of {@link createChat}. */
export interface ChatOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  /** Every platform that is turned on, by name. */
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clips: Pick<Clips, 'find'>;
  readonly handing: AttachmentPlanner;
  readonly links: Links;
  readonly subscriptions: Subscriptions;
  readonly audiences: Audiences;
  readonly waits: DurationEstimates;
  readonly modelOf: (name: string) => Model | undefined;
  readonly observer: DeliveryObserver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly editIntervalMs: number;
  readonly deadlineMs: number;
  readonly slowestPollMs: number;
  /** Whether the video service is known to refund failed tasks. */
  readonly refundKnown: boolean;
}

/** What happens to a task without its message saying anything else. */
const UNSEEN: ReadonlySet<string> = new Set(['claimed', 'send', 'unsent', 'presented']);

/** How many failures in a row are worth a word: one alone passes before anybody reads of it. */
const WORTH_SAYING: Readonly<Record<StepRetry['step'], number>> = { send: 3, poll: 2, fetch: 2 };
/** A wait that is worth a word after a single failure, in milliseconds. */
const LONG_WAIT_MS = 10_000;
/** How many of the tasks that a pause holds back have their messages edited at once. */
const MOST_HELD_BACK = 200;

/** The chat side on a store and the platforms. */
export function createChat(options: ChatOptions): ChatEngine {
  const { store, repository, queue, clock, logger } = options;
  const deliveries = store.keyv('deliveries');

  const platformOf = ({ platform }: Pick<Origin, 'platform'>): Platform => {
    const found = options.platforms.get(platform);
    if (found !== undefined) return found;
    throw new DailiesError(`answering on ${platform}: that platform is not turned on`, {
      code: 'platform_unavailable',
      retryable: true,
    });
  };

  const turns = createMessageLocks({ leases: store.leases, exclusive: store.exclusive, clock });

  const hold = createSendHold({ broadcast: store.broadcast, clock });

  /** What the task's own step failed with, or what holds every send back. */
  const retryingOf = (
    { state }: Task,
    live: ReturnType<typeof edits.liveOf>,
    card: TaskMessageRecord | undefined,
  ): StepRetry | null => {
    const known = live === undefined ? (card?.retrying ?? null) : live.retrying;
    if (known !== null && isWaitingFor(known, state)) return known;
    return state === 'claimed' ? hold.current() : null;
  };

  /** Has the messages of tasks edited that a pause holds back, the oldest first. */
  const showHeldBack = async (): Promise<void> => {
    const waiting = await store.scan(stateIndex('claimed'), { order: 'oldest', limit: MOST_HELD_BACK });
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
      handover: freshly(handover, task),
    });
  };

  /** A link in a handover expires; whoever looks gets a new one. */
  const freshly = (handover: Handover | null, task: Task): Handover | null => {
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

  const cards = createTaskMessages({ store, turns, platformOf, firstView: (task) => makeView(task, undefined, null) });
  const view = async (task: Task): Promise<TaskView> => {
    const [card, delivery] = await Promise.all([cards.get(task.id), deliveries.get<DeliveryRecord>(task.id)]);
    return makeView(task, card, delivery?.handover ?? null);
  };
  const edits = createProgressEdits({
    cards,
    turns,
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
    turns,
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
        if (!task.presented) queue.schedule(deliverLane(task), task.id, clock.now());
        else if (!UNSEEN.has(event)) edits.refresh(task.id);
      },
    },
    progressed: (task, upstream) => {
      // A cancelled task is followed without a word.
      if (task.state === 'polling') edits.progressed(task, upstream);
    },
    retrying(task, retry, { failures, isForAll }) {
      const waitMs = retry.nextAtMs - clock.now();
      if (failures < WORTH_SAYING[retry.step] && waitMs < LONG_WAIT_MS) return;
      if (isWaitingFor(retry, task.state)) edits.retrying(task, retry);
      if (!isForAll || waitMs < LONG_WAIT_MS) return;
      hold.announce(retry);
      showHeldBack().catch((thrown: unknown) =>
        logger.warn({ err: thrown }, 'tasks that wait for the video service could not be told so'),
      );
    },
    resume: async () => (await ensureDeliveries(options)).there,
    stop: () => {
      hold.stop();
      return edits.stop();
    },
  };
}
