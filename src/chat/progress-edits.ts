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

/** What is known of a running task between its changes of state. Kept in memory, one for each task the service speaks of. */
export interface Live {
  /** The greatest percentage the service gave; `null`: none yet. */
  progress: number | null;
  isRunning: boolean;
  /** The step that failed last, until it succeeds. */
  retrying: StepRetry | null;
  /** When its message says something else by the passing of time alone. */
  lookAgainAtMs: number;
}

/** Keeps the messages of running tasks up to date, quietly and in good time. */
export interface ProgressEdits {
  /** What is known of a task that is not in its record. */
  liveOf(task: TaskId): Readonly<Live> | undefined;
  /** Takes in what a poll told, and has the message edited if that changes what it shows. */
  progressed(task: Pick<Task, 'id'>, upstream: UpstreamTask): void;
  /** Takes in that a step failed and is repeated, and has the message edited if that changes what it shows. */
  retrying(task: Pick<Task, 'id'>, retry: StepRetry): void;
  /** Has the message edited because the task itself changed. */
  refresh(task: TaskId): void;
  /**
   * Stops editing a task's message, so that a delivery has it for itself: resolves once a running edit has ended. None
   * begins until {@link release}; what was wanted meanwhile is looked at again then. One delivery of a task at a time.
   */
  hold(task: TaskId): Promise<void>;
  release(task: TaskId): void;
  /** Forgets a task that has ended. */
  forget(task: TaskId): void;
  /** Begins no more edits, and waits for those that run. */
  stop(): Promise<void>;
}

/** Collaborators of {@link createProgressEdits}. */
export interface ProgressEditsOptions {
  readonly cards: TaskMessages;
  readonly turns: MessageLocks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly getTask: (id: TaskId) => Promise<Task | undefined>;
  readonly platformOf: (task: Task) => Platform;
  readonly viewOf: (task: Task) => Promise<TaskView>;
  /** From when on a task is overdue, in milliseconds of its age. */
  readonly deadlineMs: number;
  /** Least time between two edits of one message; a platform may ask for more. */
  readonly editIntervalMs: number;
}

/** One message that is being edited. Only messages with something new to show have one. */
interface Editing {
  timer: CancelTimer | null;
  running: Promise<void> | null;
  isDirty: boolean;
}

/** What became of one edit. */
interface Edited {
  /** Whether the message says now what it should. */
  readonly isShown: boolean;
  /** How long to leave the message alone. */
  readonly pauseMs: number;
}

/** How long to leave a message alone that another process is changing. */
const NOT_OUR_TURN_MS = 1_000;
/** More than one process ever follows. */
const MOST_LIVES = 500_000;
/** How long to leave a message alone after an edit failed for another reason than a rate limit. */
const AFTER_A_FAILURE_MS = 30_000;

/** Progress edits: at most one at a time for each message, the latest state only, never in the way of a delivery. */
export function createProgressEdits(options: ProgressEditsOptions): ProgressEdits {
  const { cards, turns, clock, logger } = options;
  // Where another process delivers a task, nobody here is told that it can be forgotten.
  const lives = new BoundedMap<TaskId, Live>(MOST_LIVES);
  const edits = new Map<TaskId, Editing>();
  const notBeforeMs = new BoundedMap<TaskId, number>(MOST_LIVES);
  /** The messages that a delivery has for itself, and whether an edit waits for its end. */
  const held = new Map<TaskId, { isDirty: boolean }>();
  const muted = new BoundedMap<TaskId, true>(MOST_LIVES);
  let isStopping = false;

  const liveFor = (id: TaskId): Live => {
    const live = lives.get(id) ?? { progress: null, isRunning: false, retrying: null, lookAgainAtMs: 0 };
    lives.set(id, live);
    return live;
  };

  const isSame = (before: StepRetry | null, now: StepRetry): boolean =>
    before !== null && retryFingerprint(before, clock.now()) === retryFingerprint(now, clock.now());

  const want = (id: TaskId): void => {
    if (isStopping || muted.has(id)) return;
    const hold = held.get(id);
    if (hold !== undefined) {
      hold.isDirty = true;
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
      if (editing.isDirty || !isShown) want(id);
    });
  };

  const editOnce = async (id: TaskId): Promise<Edited> => {
    let intervalMs = options.editIntervalMs;
    let turn: MessageLock | null = null;
    try {
      const task = await options.getTask(id);
      // What is in the outbox is the delivery's to show.
      if (task === undefined || !task.presented) return { isShown: true, pauseMs: 0 };
      const platform = options.platformOf(task);
      intervalMs = Math.max(intervalMs, platform.limits.editIntervalMs);
      await cards.open(task);
      turn = await turns.take(id, 'message');
      if (turn === null) return { isShown: false, pauseMs: Math.max(intervalMs, NOT_OUR_TURN_MS) };
      return await editInTurn(task, turn, intervalMs);
    } catch (thrown) {
      const error = asDailiesError(thrown, `editing the message of task ${id}`);
      if (error.code === 'message_gone') await cards.gone(id);
      if (error.code === 'message_gone' || error.code === 'missing_permission') muted.set(id, true);
      logger.debug({ task: id, err: error }, 'a progress edit has to wait');
      return { isShown: false, pauseMs: Math.max(intervalMs, error.retryAfterMs ?? AFTER_A_FAILURE_MS) };
    } finally {
      await turn?.end();
    }
  };

  const editInTurn = async ({ id }: Task, turn: MessageLock, intervalMs: number): Promise<Edited> => {
    // Whoever had the turn before may have moved the task on, and shown it.
    const [task, card] = await Promise.all([options.getTask(id), cards.get(id)]);
    if (task === undefined || card === undefined || !task.presented) return { isShown: true, pauseMs: 0 };
    const view = await options.viewOf(task);
    const live = lives.get(id);
    if (live !== undefined) live.lookAgainAtMs = sinceMs(task) + nextChangeMs(view, options.deadlineMs);
    if (cards.isShown(card, task, view)) return { isShown: true, pauseMs: 0 };
    if (!(await turns.mayEdit(id, intervalMs))) return { isShown: false, pauseMs: intervalMs };
    turn.assertHeld();
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
      const isNews = isOther || clock.now() >= live.lookAgainAtMs;
      Object.assign(live, { progress, isRunning, retrying: null });
      if (isNews) want(task.id);
    },
    retrying(task, retry) {
      const live = liveFor(task.id);
      const isNews = !isSame(live.retrying, retry) || clock.now() >= live.lookAgainAtMs;
      live.retrying = retry;
      if (isNews) want(task.id);
    },
    refresh: want,
    async hold(id) {
      const editing = edits.get(id);
      held.set(id, { isDirty: editing !== undefined });
      if (editing === undefined) return;
      editing.timer?.();
      if (editing.running === null) edits.delete(id);
      else await editing.running;
    },
    release(id) {
      const isDirty = held.get(id)?.isDirty;
      held.delete(id);
      if (isDirty === true) want(id);
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

/** At what age of a running task its view changes without any news from the service, in milliseconds. */
function nextChangeMs(view: TaskView, deadlineMs: number): number {
  const longer = view.usual === null || view.longerThanUsual ? Number.POSITIVE_INFINITY : view.usual.toMs;
  const overdue = view.overdue === null ? deadlineMs : Number.POSITIVE_INFINITY;
  return Math.min(longer, overdue);
}
