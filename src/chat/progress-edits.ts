import { BoundedMap } from '../bounded-map.ts';
import type { CancelTimer } from '../clock.ts';
import { asDailiesError } from '../errors.ts';
import { retryFingerprint, type StepRetry, sinceMs, type Task, type TaskId } from '../tasks/index.ts';
import type { UpstreamTask } from '../videos/index.ts';
import { isUnchangeable } from './attachment-plan.ts';
import type { MessageLock } from './message-lock.ts';
import type { ChatParts } from './parts.ts';
import type { Pace } from './view.ts';

/** Live state of a running task between its state changes. Kept in memory, one for each polled task. */
interface Live {
  /** Highest percentage reported by the service; `null`: none yet. */
  progress: number | null;
  isRunning: boolean;
  /** Number of requests ahead of it at the service; `null`: it does not say. */
  ahead: number | null;
  /** Step that failed last, until it succeeds. */
  retrying: StepRetry | null;
  /** Time at which its message changes by the passing of time alone, in milliseconds since the Unix epoch. */
  lookAgainAtMs: number;
}

type Options = Pick<
  ChatParts,
  'cards' | 'locks' | 'clock' | 'logger' | 'subjectAt' | 'platformOf' | 'deadlineMs' | 'editIntervalMs'
>;

/** Pending or running edit of one message; exists only while there is something new to show. */
interface Editing {
  timer: CancelTimer | null;
  running: Promise<void> | null;
  isDirty: boolean;
}

interface EditResult {
  /** The message is up to date. */
  readonly isShown: boolean;
  /** Time until the next edit of the message, at least. */
  readonly pauseMs: number;
}

/** Delay before the next attempt where another process holds the lock of a message. */
const LOCKED_RETRY_MS = 1_000;
/** Upper bound on the tasks tracked per process. */
const MAX_TRACKED = 500_000;
/** Delay after an edit failed without a `retryAfterMs`. */
const FAILED_RETRY_MS = 30_000;

/**
 * Throttled edits that keep the messages of running tasks up to date: at most one at a time per message, the latest
 * state only, paused by deliveries.
 */
export class ProgressEdits {
  readonly #options: Options;
  // Bounded because `forget` is not called here for tasks that another process delivers.
  readonly #lives = new BoundedMap<TaskId, Live>(MAX_TRACKED);
  readonly #edits = new Map<TaskId, Editing>();
  /** Times of the next edits by {@link Clock.monotonic}. */
  readonly #notBeforeMs = new BoundedMap<TaskId, number>(MAX_TRACKED);
  /** Messages paused for a delivery, and whether an edit was requested meanwhile. */
  readonly #paused = new Map<TaskId, { isDirty: boolean }>();
  readonly #muted = new BoundedMap<TaskId, true>(MAX_TRACKED);
  #isStopping = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns the live state of a task that its record does not hold. */
  liveOf(task: TaskId): Readonly<Live> | undefined {
    return this.#lives.get(task);
  }

  /** Applies a poll result, and schedules an edit if the message has to change. */
  progressed(task: Pick<Task, 'id'>, upstream: UpstreamTask): void {
    const live = this.#liveFor(task.id);
    const progress = upstream.progress === null ? live.progress : Math.max(live.progress ?? 0, upstream.progress);
    const isRunning = live.isRunning || upstream.status === 'in_progress';
    const { ahead = null } = upstream;
    const isMoved = progress !== live.progress || isRunning !== live.isRunning || ahead !== live.ahead;
    const isOther = isMoved || live.retrying !== null;
    const needsEdit = isOther || this.#options.clock.now() >= live.lookAgainAtMs;
    Object.assign(live, { progress, isRunning, ahead, retrying: null });
    if (needsEdit) this.refresh(task.id);
  }

  /** Applies a failed step that is being retried, and schedules an edit if the message has to change. */
  retrying(task: Pick<Task, 'id'>, retry: StepRetry): void {
    const nowMs = this.#options.clock.now();
    const live = this.#liveFor(task.id);
    const before = live.retrying;
    const isSame = before !== null && retryFingerprint(before, nowMs) === retryFingerprint(retry, nowMs);
    live.retrying = retry;
    if (!isSame || nowMs >= live.lookAgainAtMs) this.refresh(task.id);
  }

  /** Schedules an edit of a task's message. */
  refresh(task: TaskId): void {
    const { clock } = this.#options;
    if (this.#isStopping || this.#muted.has(task)) return;
    const pause = this.#paused.get(task);
    if (pause !== undefined) {
      pause.isDirty = true;
      return;
    }
    const editing = this.#edits.get(task) ?? { timer: null, running: null, isDirty: false };
    this.#edits.set(task, editing);
    if (editing.running !== null) editing.isDirty = true;
    else {
      const dueMs = this.#notBeforeMs.get(task) ?? 0;
      editing.timer ??= clock.after(dueMs - clock.monotonic(), () => this.#begin(task, editing));
    }
  }

  /**
   * Pauses the edits of a task's message for a delivery: resolves once an edit in flight has ended. No edit begins
   * until {@link release}, which reschedules those requested meanwhile. Allows one delivery of a task at a time.
   */
  async hold(task: TaskId): Promise<void> {
    const editing = this.#edits.get(task);
    this.#paused.set(task, { isDirty: editing !== undefined });
    if (editing === undefined) return;
    editing.timer?.();
    if (editing.running === null) this.#edits.delete(task);
    else await editing.running;
  }

  release(task: TaskId): void {
    const isDirty = this.#paused.get(task)?.isDirty;
    this.#paused.delete(task);
    if (isDirty === true) this.refresh(task);
  }

  /** Drops the live state of a task that has ended. */
  forget(task: TaskId): void {
    for (const map of [this.#lives, this.#notBeforeMs, this.#muted]) map.delete(task);
  }

  /** Cancels scheduled edits and waits for those in flight. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const { timer } of this.#edits.values()) timer?.();
    await Promise.all([...this.#edits.values()].flatMap(({ running }) => running ?? []));
  }

  #liveFor(id: TaskId): Live {
    const live = this.#lives.get(id) ?? {
      progress: null,
      isRunning: false,
      ahead: null,
      retrying: null,
      lookAgainAtMs: 0,
    };
    this.#lives.set(id, live);
    return live;
  }

  #begin(id: TaskId, editing: Editing): void {
    editing.timer = null;
    editing.isDirty = false;
    editing.running = this.#edit(id).then(({ isShown, pauseMs }) => {
      this.#edits.delete(id);
      if (pauseMs > 0) this.#notBeforeMs.set(id, this.#options.clock.monotonic() + pauseMs);
      if (editing.isDirty || !isShown) this.refresh(id);
    });
  }

  async #edit(id: TaskId): Promise<EditResult> {
    const { locks, logger } = this.#options;
    try {
      const edited = await locks.run(id, 'message', (lock) => this.#editLocked(id, lock));
      const lockedMs = Math.max(this.#options.editIntervalMs, LOCKED_RETRY_MS);
      return edited ?? { isShown: false, pauseMs: lockedMs };
    } catch (thrown) {
      const error = asDailiesError(thrown, `editing the message of task ${id}`);
      if (isUnchangeable(error)) this.#muted.set(id, true);
      logger.debug({ event: 'progress_edit_failed', task: id, err: error }, 'failed to edit the progress of a task');
      const pauseMs = Math.max(this.#options.editIntervalMs, error.retryAfterMs ?? FAILED_RETRY_MS);
      return { isShown: false, pauseMs };
    }
  }

  /** Shows what changed. Everything is read under the lock: its previous holder may have shown it. */
  async #editLocked(id: TaskId, lock: MessageLock): Promise<EditResult> {
    const { cards, locks, subjectAt, platformOf, deadlineMs } = this.#options;
    const subject = await subjectAt(id);
    if (subject === undefined) return SHOWN;
    for (const card of subject.onCards ?? []) this.refresh(card);
    if (subject.isOnCardAlone === true && (await cards.get(id)) === undefined) return SHOWN;
    const card = await cards.open(subject);
    const view = await subject.view(card);
    const live = this.#lives.get(id);
    if (live !== undefined && view.kind === 'task')
      live.lookAgainAtMs = sinceMs(view.task) + nextChangeMs(view.pace, deadlineMs);
    if (cards.isShown(card, subject, view)) return SHOWN;
    const intervalMs = Math.max(this.#options.editIntervalMs, platformOf(subject).limits.editIntervalMs);
    if (!(await locks.mayEdit(id, intervalMs))) return { isShown: false, pauseMs: intervalMs };
    await cards.edit(subject, { message: card.message, view, lock }, 'progress');
    return { isShown: true, pauseMs: intervalMs };
  }
}

const SHOWN: EditResult = { isShown: true, pauseMs: 0 };

/** Returns the age of a running task, in milliseconds, at which its view next changes by the passing of time alone. */
function nextChangeMs(pace: Pace | null, deadlineMs: number): number {
  if (pace?.kind === 'overdue') return Number.POSITIVE_INFINITY;
  return pace?.kind === 'usual' ? Math.min(pace.toMs, deadlineMs) : deadlineMs;
}
