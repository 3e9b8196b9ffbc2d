import type { UsualDuration } from '../tasks/duration-estimates.ts';
import { priceOf } from '../tasks/price.ts';
import { isFetching, phaseOf } from '../tasks/state-machine.ts';
import { isWaitingFor, type StepRetry } from '../tasks/step-retry.ts';
import { type Phase, sinceMs, type Task } from '../tasks/task.ts';
import type { Model } from '../videos/model.ts';
import type { ButtonAction, Handover, TaskView } from './view.ts';

/** Input of a view besides the task's record. */
export interface ViewContext {
  readonly nowMs: number;
  /** Highest percentage known, 0 to 100. */
  readonly progress: number | null;
  /** The service has reported the task as running. */
  readonly isRunning: boolean;
  /** The task's model; undefined once the catalog no longer has it. */
  readonly model: Model | undefined;
  readonly usual: UsualDuration | null;
  /** Last failed step that is being retried; `null` where none failed. */
  readonly retrying: StepRetry | null;
  readonly deadlineMs: number;
  readonly slowestPollMs: number;
  readonly refundKnown: boolean;
  /** Form in which the clip was delivered; `null` until it is. */
  readonly handover: Handover | null;
}

/** Builds the view of a task's message; pure. */
export function viewOf(task: Task, context: ViewContext): TaskView {
  const { request, origin } = task;
  const { model, prompt, media, ...settings } = request;
  const phase = phaseOf(task, {
    isRunning: context.isRunning || (context.progress ?? 0) > 0,
    isHandedOver: context.handover !== null,
  });
  const isOpen = phase === 'queued' || phase === 'running';
  const ageMs = context.nowMs - sinceMs(task);
  const retrying = retryOf(task, context);
  const isOverdue = isOpen && task.acceptedAtMs !== undefined && ageMs >= context.deadlineMs;
  return {
    kind: 'task',
    task: task.id,
    state: task.state,
    phase,
    prompt,
    modelTitle: context.model?.title ?? model,
    settings,
    references: { image: media.image.length, audio: media.audio.length, video: media.video.length },
    price: task.price,
    by: origin.user,
    progress: task.state === 'completed' ? 100 : context.progress,
    createdAtMs: task.createdAtMs,
    endedAtMs: task.endedAtMs ?? null,
    nowMs: context.nowMs,
    usual: isOpen ? context.usual : null,
    longerThanUsual: isOpen && context.usual !== null && ageMs > context.usual.toMs,
    overdue: isOverdue ? { deadlineMs: context.deadlineMs, pollEveryMs: context.slowestPollMs } : null,
    retrying,
    failure: task.failure ?? null,
    refundKnown: context.refundKnown,
    sends: task.sends,
    cancelledBy: task.cancelledBy ?? null,
    lateOutcome: task.lateOutcome ?? null,
    leftBy: task.leftBy ?? null,
    handover: phase === 'done' ? context.handover : null,
    retryOf: task.retryOf ?? null,
    retryPrice: context.model === undefined ? null : priceOf(context.model, settings.seconds),
    buttons: buttonsOf(task, phase, { retrying, handover: context.handover }),
  };
}

/** Returns the failed step while the task still waits for it. */
function retryOf(task: Task, { retrying }: ViewContext): StepRetry | null {
  if (retrying === null || !isWaitingFor(retrying, task.state)) return null;
  return task.state !== 'completed' || isFetching(task) ? retrying : null;
}

function buttonsOf(
  task: Task,
  phase: Phase,
  { retrying, handover }: Pick<ViewContext, 'retrying' | 'handover'>,
): readonly ButtonAction[] {
  switch (phase) {
    case 'queued':
    case 'running':
      return ['cancel', 'details'];
    case 'fetching':
      return retrying === null ? ['details'] : ['refetch', 'details'];
    case 'lost':
      return ['refetch', 'retry', 'details'];
    case 'done':
      return handover?.kind === 'unshown' ? ['show', 'retry', 'edit', 'details'] : ['retry', 'edit', 'details'];
    case 'failed':
      return ['retry', 'edit', 'details'];
    case 'refused':
      return task.sends === 0 ? ['retry', 'edit', 'details'] : ['lookup', 'retry', 'edit', 'details'];
    case 'uncertain':
      return task.leftBy === undefined ? ['lookup', 'again', 'leave', 'details'] : ['lookup', 'again', 'details'];
    case 'cancelled':
      if (task.state === 'sending') return ['details'];
      if (task.lateOutcome !== 'completed' || isFetching(task)) return ['retry', 'edit', 'details'];
      return ['show', 'retry', 'edit', 'details'];
  }
}
