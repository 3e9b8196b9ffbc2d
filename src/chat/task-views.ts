import type { Clock } from '../clock.ts';
import type { Store } from '../engine/index.ts';
import type { ErrorCode } from '../errors.ts';
import {
  type DurationEstimates,
  isBlind,
  isContentRemoved,
  isWaitingFor,
  type Origin,
  orderIdOf,
  parsePause,
  type StepRetry,
  type Task,
} from '../tasks/index.ts';
import type { Model, VideoRequest } from '../videos/index.ts';
import { type Links, withFreshLink } from './attachment-plan.ts';
import type { CardRecord, Cards } from './cards.ts';
import type { Comparisons } from './comparisons/comparisons.ts';
import type { ProgressEdits } from './progress-edits.ts';
import { deliveryRecords } from './records.ts';
import type { ReviewContext } from './reviews.ts';
import { type Elsewhere, type Handover, standingIn, type TaskView, type ViewContext, viewOf } from './view.ts';

/** Options of {@link TaskViews}. */
interface TaskViewsOptions {
  readonly store: Pick<Store, 'keyv'>;
  readonly messages: Pick<Cards, 'get'>;
  readonly edits: Pick<ProgressEdits, 'liveOf'>;
  readonly comparisons: Pick<Comparisons, 'records'>;
  readonly links: Links;
  readonly pause: Pick<SubmissionPause, 'of'>;
  readonly reviewContext: (task: Task) => Promise<ReviewContext>;
  readonly isLabelled?: IsLabelled;
  readonly modelOf: (name: string) => Model | undefined;
  readonly durationEstimates: DurationEstimates;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly slowestPollMs: number;
  /** The video service is known to refund failed tasks. */
  readonly refundKnown: boolean;
  /** Returns the model of another service that takes a task's order as it is; `null`: there is none. Default: none has. */
  readonly elsewhere?: (task: Task) => Promise<Elsewhere | null>;
  /** Returns the time at which the clip of a task is removed; `null`: it has none, or keeps it. Default: none is. */
  readonly keptUntil?: (task: Task) => Promise<number | null>;
}

/** Returns whether a team wants the word *AI* on the cards of finished clips. Default: no team does. */
export type IsLabelled = (of: Pick<Origin, 'platform' | 'team'>) => Promise<boolean>;

/** What a message showed before. */
type ShownBefore = Pick<CardRecord, 'progress' | 'retrying' | 'isRunning'> & Partial<Pick<CardRecord, 'message'>>;

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

/** Views of tasks, with what their messages showed before and what this process knows of their progress. */
export class TaskViews {
  readonly #options: TaskViewsOptions;

  constructor(options: TaskViewsOptions) {
    this.#options = options;
  }

  /**
   * Returns the present view of a task.
   * @param known its card, if that was read already; `before` is used where it has none
   */
  async current(task: Task, known: { card?: CardRecord; before?: ShownBefore } = {}): Promise<TaskView> {
    const [card, delivery, isHeld] = await Promise.all([
      known.card ?? this.#options.messages.get(task.id),
      // No other task has a file.
      task.state === 'completed' ? deliveryRecords.get(this.#options.store, task.id) : undefined,
      this.#isHeld(task),
    ]);
    return this.kept(task, card ?? known.before, { handover: delivery?.handover ?? null, isHeld });
  }

  /** Returns the view of a task with the time until which its clip is kept. */
  async kept(
    task: Task,
    message: ShownBefore | undefined,
    { handover, isHeld = false }: { readonly handover: Handover | null; readonly isHeld?: boolean },
  ): Promise<TaskView> {
    const { links, keptUntil, reviewContext, isLabelled: isLabelledIn } = this.#options;
    const [keptUntilMs = null, review, elsewhere, isLabelled = false] = await Promise.all([
      keptUntil?.(task),
      reviewContext(task),
      this.#elsewhere(task),
      // No other card has the label.
      task.state === 'completed' ? isLabelledIn?.(task.origin) : false,
    ]);
    const fresh = await withFreshLink(handover, () => links.forClip(task));
    return this.#of(task, message, { handover: fresh, isHeld, isLabelled, review, keptUntilMs, elsewhere });
  }

  /** Clips that belong together are made again together. */
  async #elsewhere(task: Task): Promise<Elsewhere | null> {
    const { failure, set, takeOf } = task;
    const isAlone = set === undefined && takeOf === undefined && !isContentRemoved(task);
    const isStopped = task.state === 'rejected' && failure !== undefined && STOPPED_BY_SERVICE.has(failure.code);
    return isAlone && isStopped ? ((await this.#options.elsewhere?.(task)) ?? null) : null;
  }

  #of(
    task: Task,
    message: ShownBefore | undefined,
    read: Pick<ViewContext, 'handover' | 'isHeld' | 'isLabelled' | 'review' | 'keptUntilMs' | 'elsewhere'>,
  ): TaskView {
    const { clock, durationEstimates, modelOf, deadlineMs, slowestPollMs, refundKnown, edits } = this.#options;
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
      ...read,
    });
    return { ...view, ...standingIn(message?.message, task.origin) };
  }

  async #isHeld(task: Task): Promise<boolean> {
    if (!isBlind(task)) return false;
    const { records } = this.#options.comparisons;
    return (await records.get(task.takeOf?.id ?? orderIdOf(task))) === undefined;
  }

  /** Returns the task's own failed step, or the pause that delays all submissions. */
  #retryOf({ state, request }: Task, failed: StepRetry | null): StepRetry | null {
    if (failed !== null && isWaitingFor(failed, state)) return failed;
    return state === 'claimed' ? this.#options.pause.of(request) : null;
  }
}

/** Topic of the pauses of submissions that a video service asked for. */
const TOPIC = 'send-hold';

/** Latest pause of submissions of each service, on every replica: the next refusal broadcasts a missed one again. */
export class SubmissionPause {
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
