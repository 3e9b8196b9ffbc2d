import { BoundedMap } from '../bounded-map.ts';
import type { CancelTimer, Clock } from '../clock.ts';
import type { MessageLock, MessageLocks } from '../cluster/message-lock.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { retryFingerprint, type StepRetry } from '../tasks/step-retry.ts';
import { sinceMs, type Task, type TaskId } from '../tasks/task.ts';
import type { UpstreamTask } from '../videos/service.ts';
import type { Platform } from './platform.ts';
import type { TaskMessages } from './task-messages.ts';
import type { TaskView } from './view.ts';

/** Live state of a running task between its state changes. Kept in memory, one for each polled task. */
export interface Live {
  /** Highest percentage reported by the service; `null`: none yet. */
  progress: number | null;
  isRunning: boolean;
  /** Step that failed last, until it succeeds. */
  retrying: StepRetry | null;
  /** Time at which its message changes by the passing of time alone, in milliseconds since the Unix epoch. */
  lookAgainAtMs: number;
}

/** Throttled edits that keep the messages of running tasks up to date. */
export interface ProgressEdits {
  /** Returns the live state of a task that its record does not hold. */
  liveOf(task: TaskId): Readonly<Live> | undefined;
  /** Applies a poll result, and schedules an edit if the message has to change. */
  progressed(task: Pick<Task, 'id'>, upstream: UpstreamTask): void;
  /** Applies a failed step that is being retried, and schedules an edit if the message has to change. */
  retrying(task: Pick<Task, 'id'>, retry: StepRetry): void;
  /** Schedules an edit because the task itself changed. */
  refresh(task: TaskId): void;
  /**
   * Pauses the edits of a task's message for a delivery: resolves once an edit in flight has ended. No edit begins
   * until {@link release}, which reschedules those requested meanwhile. Allows one delivery of a task at a time.
   */
  hold(task: TaskId): Promise<void>;
  release(task: TaskId): void;
  /** Drops the live state of a task that has ended. */
  forget(task: TaskId): void;
  /** Cancels scheduled edits and waits for those in flight. */
  stop(): Promise<void>;
}

/** Options of {@link createProgressEdits}. */
export interface ProgressEditsOptions {
  readonly cards: TaskMessages;
  readonly turns: MessageLocks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly getTask: (id: TaskId) => Promise<Task | undefined>;
  readonly platformOf: (task: Task) => Platform;
  readonly viewOf: (task: Task) => Promise<TaskView>;
  /** Age at which a task is overdue, in milliseconds. */
  readonly deadlineMs: number;
  /** Minimum time between two edits of one message, in milliseconds; a platform may require more. */
  readonly editIntervalMs: number;
}

/** Pending or running edit of one message; exists only while there is something new to show. */
interface Editing {
  timer: CancelTimer | null;
  running: Promise<void> | null;
  isDirty: boolean;
}

/** Result of one edit. */
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

/** Creates {@link ProgressEdits}: at most one at a time per message, the latest state only, paused by deliveries. */
export function createProgressEdits(options: ProgressEditsOptions): ProgressEdits {
  const { cards, turns: locks, clock, logger } = options;
  // Bounded because `forget` is not called here for tasks that another process delivers.
  const lives = new BoundedMap<TaskId, Live>(MAX_TRACKED);
  const edits = new Map<TaskId, Editing>();
  const notBeforeMs = new BoundedMap<TaskId, number>(MAX_TRACKED);
  /** Messages paused for a delivery, and whether an edit was requested meanwhile. */
  const paused = new Map<TaskId, { isDirty: boolean }>();
  const muted = new BoundedMap<TaskId, true>(MAX_TRACKED);
  let isStopping = false;

  const liveFor = (id: TaskId): Live => {
    const live = lives.get(id) ?? { progress: null, isRunning: false, retrying: null, lookAgainAtMs: 0 };
    lives.set(id, live);
    return live;
  };

  const isSame = (before: StepRetry | null, now: StepRetry): boolean =>
    before !== null && retryFingerprint(before, clock.now()) === retryFingerprint(now, clock.now());

  const schedule = (id: TaskId): void => {
    if (isStopping || muted.has(id)) return;
    const pause = paused.get(id);
    if (pause !== undefined) {
      pause.isDirty = true;
      return;
    }
    const editing = edits.get(id) ?? { timer: null, running: null, isDirty: false };
    edits.set(id, editing);
    if (editing.running !== null) editing.isDirty = true;
    else editing.timer ??= clock.after((notBeforeMs.get(id) ?? 0) - clock.now(), () => begin(id, editing));
  };

  const begin = (id: TaskId, editing: Editing): void => {
    editing.timer = null;
    editing.isDirty = false;
    editing.running = editOnce(id).then(({ isShown, pauseMs }) => {
      edits.delete(id);
      if (pauseMs > 0) notBeforeMs.set(id, clock.now() + pauseMs);
      if (editing.isDirty || !isShown) schedule(id);
    });
  };

  const editOnce = async (id: TaskId): Promise<EditResult> => {
    let intervalMs = options.editIntervalMs;
    try {
      const task = await options.getTask(id);
      // A task in the outbox is shown by its delivery.
      if (task === undefined || !task.presented) return { isShown: true, pauseMs: 0 };
      const platform = options.platformOf(task);
      intervalMs = Math.max(intervalMs, platform.limits.editIntervalMs);
      await cards.open(task);
      const edited = await locks.run(id, 'message', (lock) => editLocked(task, lock, intervalMs));
      return edited ?? { isShown: false, pauseMs: Math.max(intervalMs, LOCKED_RETRY_MS) };
    } catch (thrown) {
      const error = asDailiesError(thrown, `editing the message of task ${id}`);
      if (error.code === 'message_gone') await cards.gone(id);
      if (error.code === 'message_gone' || error.code === 'missing_permission') muted.set(id, true);
      logger.debug({ event: 'progress_edit_failed', task: id, err: error }, 'failed to edit the progress of a task');
      return { isShown: false, pauseMs: Math.max(intervalMs, error.retryAfterMs ?? FAILED_RETRY_MS) };
    }
  };

  const editLocked = async ({ id }: Task, lock: MessageLock, intervalMs: number): Promise<EditResult> => {
    // The previous holder of the lock may have changed the task and shown it.
    const [task, card] = await Promise.all([options.getTask(id), cards.get(id)]);
    if (task === undefined || card === undefined || !task.presented) return { isShown: true, pauseMs: 0 };
    const view = await options.viewOf(task);
    const live = lives.get(id);
    if (live !== undefined) live.lookAgainAtMs = sinceMs(task) + nextChangeMs(view, options.deadlineMs);
    if (cards.isShown(card, task, view)) return { isShown: true, pauseMs: 0 };
    if (!(await locks.mayEdit(id, intervalMs))) return { isShown: false, pauseMs: intervalMs };
    lock.assertHeld();
    await options.platformOf(task).edit(card.message, task.origin, view, 'progress');
    await cards.shown(task, view);
    return { isShown: true, pauseMs: intervalMs };
  };

  return {
    liveOf: (id) => lives.get(id),
    progressed(task, upstream) {
      const live = liveFor(task.id);
      const progress = upstream.progress === null ? live.progress : Math.max(live.progress ?? 0, upstream.progress);
      const isRunning = live.isRunning || upstream.status === 'in_progress';
      const isOther = progress !== live.progress || isRunning !== live.isRunning || live.retrying !== null;
      const needsEdit = isOther || clock.now() >= live.lookAgainAtMs;
      Object.assign(live, { progress, isRunning, retrying: null });
      if (needsEdit) schedule(task.id);
    },
    retrying(task, retry) {
      const live = liveFor(task.id);
      const needsEdit = !isSame(live.retrying, retry) || clock.now() >= live.lookAgainAtMs;
      live.retrying = retry;
      if (needsEdit) schedule(task.id);
    },
    refresh: schedule,
    async hold(id) {
      const editing = edits.get(id);
      paused.set(id, { isDirty: editing !== undefined });
      if (editing === undefined) return;
      editing.timer?.();
      if (editing.running === null) edits.delete(id);
      else await editing.running;
    },
    release(id) {
      const isDirty = paused.get(id)?.isDirty;
      paused.delete(id);
      if (isDirty === true) schedule(id);
    },
    forget(id) {
      for (const map of [lives, notBeforeMs]) map.delete(id);
      muted.delete(id);
    },
    async stop() {
      isStopping = true;
      for (const { timer } of edits.values()) timer?.();
      await Promise.all([...edits.values()].flatMap(({ running }) => running ?? []));
    },
  };
}

/** Returns the age of a running task, in milliseconds, at which its view next changes by the passing of time alone. */
function nextChangeMs(view: TaskView, deadlineMs: number): number {
  const longer = view.usual === null || view.longerThanUsual ? Number.POSITIVE_INFINITY : view.usual.toMs;
  const overdue = view.overdue === null ? deadlineMs : Number.POSITIVE_INFINITY;
  return Math.min(longer, overdue);
}
