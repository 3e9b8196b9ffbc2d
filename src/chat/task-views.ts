import type { Clock } from '../clock.ts';
import type { Store } from '../engine/index.ts';
import type { ErrorCode } from '../errors.ts';
import {
  hasReview,
  isBlind,
  isContentRemoved,
  isWaitingFor,
  orderIdOf,
  parsePause,
  type StepRetry,
  type Task,
  versionOf,
} from '../tasks/index.ts';
import type { VideoRequest } from '../videos/index.ts';
import type { CardRecord } from './cards.ts';
import type { ChatParts } from './parts.ts';
import { deliveryRecords } from './records.ts';
import type { ReviewContext } from './reviews.ts';
import { type Elsewhere, type Handover, standingIn, type TaskView, viewOf } from './view.ts';

type Options = Pick<
  ChatParts,
  | 'store'
  | 'repository'
  | 'cards'
  | 'edits'
  | 'comparisons'
  | 'handing'
  | 'settingsOf'
  | 'modelOf'
  | 'durationEstimates'
  | 'clock'
  | 'deadlineMs'
  | 'slowestPollMs'
  | 'refundKnown'
  | 'elsewhere'
  | 'keptUntil'
>;

/** What a message showed before. */
type ShownBefore = Pick<CardRecord, 'progress' | 'retrying' | 'isRunning' | 'isDirect'>;

/** Failures that another service may not have: the order itself was not at fault. */
const STOPPED_BY_SERVICE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthorised',
  'no_balance',
  'forbidden',
  'unknown_model',
  'rate_limited',
  'unavailable',
  'timed_out',
]);

/** Notes that a message shows at most, the newest ones. */
const MAX_NOTES = 3;

/** Views of tasks, with what their messages showed before and what this process knows of their progress. */
export class TaskViews {
  readonly pause: SubmissionPause;
  readonly #options: Options;

  constructor(options: Options) {
    this.pause = new SubmissionPause(options);
    this.#options = options;
  }

  /**
   * Returns the present view of a task.
   * @param known its card, or how its clip was delivered, if that was read already; `before` is used where it has no card
   */
  async current(
    task: Task,
    known: { card?: CardRecord; before?: ShownBefore; handover?: Handover | null } = {},
  ): Promise<TaskView> {
    const [card, delivery, isHeld] = await Promise.all([
      known.card ?? this.#options.cards.get(task.id),
      // No other task has a file.
      task.state === 'completed' && known.handover === undefined
        ? deliveryRecords.get(this.#options.store, task.id)
        : undefined,
      this.#isHeld(task),
    ]);
    return this.kept(task, card ?? known.before, { handover: known.handover ?? delivery?.handover ?? null, isHeld });
  }

  /** Returns the view of a task with the time until which its clip is kept. */
  async kept(
    task: Task,
    message: ShownBefore | undefined,
    { handover, isHeld = false }: { readonly handover: Handover | null; readonly isHeld?: boolean },
  ): Promise<TaskView> {
    const { handing, keptUntil, settingsOf, edits, clock, durationEstimates, modelOf } = this.#options;
    const { deadlineMs, slowestPollMs, refundKnown } = this.#options;
    const [keptUntilMs, review, elsewhere, { aiLabel: isLabelled }] = await Promise.all([
      keptUntil(task),
      this.#reviewContext(task),
      this.#elsewhere(task),
      // No other card has the label.
      task.state === 'completed' ? settingsOf(task.origin) : { aiLabel: false },
    ]);
    const fresh = await handing.renewed(task, handover);
    const live = edits.liveOf(task.id);
    const progress = Math.max(live?.progress ?? -1, message?.progress ?? -1);
    const failed = live === undefined ? (message?.retrying ?? null) : live.retrying;
    const view = viewOf(task, {
      nowMs: clock.now(),
      progress: progress < 0 ? null : progress,
      ahead: live?.ahead ?? null,
      isRunning: live?.isRunning ?? message?.isRunning ?? false,
      retrying: this.#retryOf(task, failed),
      model: modelOf(task.request.model),
      usual: durationEstimates.usual(task.request.model),
      deadlineMs,
      slowestPollMs,
      refundKnown,
      handover: fresh,
      isHeld,
      isLabelled,
      review,
      keptUntilMs,
      elsewhere,
    });
    return { ...view, ...standingIn(message, task.origin) };
  }

  /** Clips that belong together are made again together. */
  async #elsewhere(task: Task): Promise<Elsewhere | null> {
    const { failure, set, takeOf } = task;
    const isAlone = set === undefined && takeOf === undefined && !isContentRemoved(task);
    const isStopped = task.state === 'rejected' && failure !== undefined && STOPPED_BY_SERVICE.has(failure.code);
    return isAlone && isStopped ? this.#options.elsewhere(task) : null;
  }

  async #reviewContext({ origin, retryOf, state }: Task): Promise<ReviewContext> {
    const { repository, settingsOf } = this.#options;
    // Progress edits of other tasks read nothing more.
    if (state !== 'completed' && retryOf === undefined) return { isReviewed: false };
    const isReviewed = hasReview(await settingsOf(origin), origin);
    if (!isReviewed || retryOf === undefined) return { isReviewed };
    const before = await repository.get(retryOf);
    // A retry elsewhere does not show the notes of a private channel.
    if (before === undefined || before.origin.channel !== origin.channel) return { isReviewed };
    const notes = (before.review ?? []).flatMap(({ note }) => note ?? []).slice(-MAX_NOTES);
    return notes.length === 0 ? { isReviewed } : { isReviewed, earlier: { version: versionOf(before), notes } };
  }

  async #isHeld(task: Task): Promise<boolean> {
    if (!isBlind(task)) return false;
    const { records } = this.#options.comparisons;
    return (await records.get(task.takeOf?.id ?? orderIdOf(task))) === undefined;
  }

  /** Returns the task's own failed step, or the pause that delays all submissions. */
  #retryOf({ state, request }: Task, failed: StepRetry | null): StepRetry | null {
    if (failed !== null && isWaitingFor(failed, state)) return failed;
    return state === 'claimed' ? this.pause.of(request) : null;
  }
}

/** Topic of the pauses of submissions that a video service asked for. */
const TOPIC = 'send-hold';

/** Latest pause of submissions of each service, on every replica: the next refusal broadcasts a missed one again. */
class SubmissionPause {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #broadcast: Store['broadcast'];
  readonly #unsubscribe: () => void;
  /** By the names of services; that of the only one is `undefined`. */
  readonly #latest = new Map<string | undefined, StepRetry>();

  constructor({ store, clock }: { readonly store: Pick<Store, 'broadcast'>; readonly clock: Pick<Clock, 'now'> }) {
    this.#clock = clock;
    this.#broadcast = store.broadcast;
    this.#unsubscribe = store.broadcast.subscribe(TOPIC, (text) => {
      const pause = parsePause(text);
      if (pause !== null) this.#latest.set(pause.service, pause);
    });
  }

  /** Returns the pause of a request's service that is not over; `null` for none. */
  of({ service }: Pick<VideoRequest, 'service'>): StepRetry | null {
    const latest = this.#latest.get(service);
    return latest !== undefined && latest.nextAtMs > this.#clock.now() ? latest : null;
  }

  /** Makes a pause known to this and the other replicas. */
  publish(pause: StepRetry): void {
    this.#latest.set(pause.service, pause);
    this.#broadcast.publish(TOPIC, JSON.stringify(pause));
  }

  close(): void {
    this.#unsubscribe();
  }
}
