import { comparisonOf, type Phase, type Task, typedPrompt } from '../../tasks/index.ts';
import type { ButtonAction, Handover, ShownTask, TaskView } from '../view.ts';

/** Buttons of a blind clip: none that would buy at its own price, or show its request. */
const BLIND_BUTTONS: ReadonlySet<ButtonAction> = new Set(['cancel', 'retry', 'refetch', 'show', 'lookup', 'leave']);

/** Phases whose tasks can be made again before the reveal: those without a clip. */
const WITHOUT_CLIP: ReadonlySet<Phase> = new Set(['failed', 'refused', 'lost']);

/** Phases that are shown before the outcomes of a comparison appear: those that need a decision, or were cancelled. */
const SHOWN_AT_ONCE: ReadonlySet<Phase> = new Set(['requested', 'uncertain', 'cancelled', 'declined']);

/**
 * Returns the view of a task of a comparison without what would betray its model: name, own price, times, progress, words
 * of the service, sizes, and settings that only some models take.
 * @param isHeld its outcome is not shown yet: it looks like one that is in progress
 */
export function blindViewOf(task: Task, seen: TaskView, isHeld: boolean): TaskView {
  const place = comparisonOf(task);
  if (place === null) return seen;
  const price = place.upTo ?? task.price;
  const isShown = !isHeld || SHOWN_AT_ONCE.has(seen.phase);
  const phase = isShown && seen.phase !== 'queued' ? seen.phase : 'running';
  return {
    kind: 'task',
    task: {
      ...blindTaskOf(seen.task, isShown),
      price,
      ...(isShown && phase !== 'running' ? {} : { state: 'polling' }),
    },
    phase,
    modelTitle: '',
    progress: null,
    startedAtMs: task.createdAtMs,
    nowMs: seen.nowMs,
    pace: null,
    retrying: null,
    refundKnown: seen.refundKnown,
    handover: isShown ? withoutSize(seen.handover) : null,
    ...(isShown && seen.isLabelled === true ? { isLabelled: true } : {}),
    ...(seen.earlierNotes === undefined ? {} : { earlierNotes: seen.earlierNotes }),
    retryPrice: seen.retryPrice === null ? null : price,
    buttons: isShown ? seen.buttons.filter((action) => isLeft(action, phase)) : ['cancel'],
    blind: { set: place.id, at: place.at },
  };
}

/**
 * Returns what may be shown of a blind task: its time of removal follows from that of its end, and models may differ in the
 * files, settings and figures that they take or send.
 */
function blindTaskOf(task: ShownTask, isShown: boolean): ShownTask {
  const { accepted: _accepted, endedAtMs: _ended, clip: _clip, failure, request, ...shown } = task;
  const { seconds, media } = request;
  return {
    ...shown,
    request: { model: '', prompt: typedPrompt(request), seconds, media },
    ...(failure === undefined || !isShown ? {} : { failure: { code: failure.code, words: null } }),
  };
}

function isLeft(action: ButtonAction, phase: Phase): boolean {
  return action === 'retry' ? WITHOUT_CLIP.has(phase) : BLIND_BUTTONS.has(action);
}

/** Returns a handover without the size of the clip. */
function withoutSize(handover: Handover | null): Handover | null {
  return handover !== null && 'bytes' in handover ? { ...handover, bytes: 0, limitBytes: null } : handover;
}
