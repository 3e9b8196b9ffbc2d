import { comparisonOf, type Phase, type Task } from '../../tasks/index.ts';
import type { ButtonAction, Handover, TaskView } from '../view.ts';

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
  // The time of its removal follows from that of its end, and models may differ in the files and figures that they send.
  const { keptUntilMs: _keptUntilMs, isUnproven: _isUnproven, ahead: _ahead, isLabelled, ...view } = seen;
  const price = place.upTo ?? view.price;
  const isShown = !isHeld || SHOWN_AT_ONCE.has(view.phase);
  const phase = isShown && view.phase !== 'queued' ? view.phase : 'running';
  return {
    ...view,
    state: isShown && phase !== 'running' ? view.state : 'polling',
    phase,
    modelTitle: '',
    settings: { seconds: view.settings.seconds },
    price,
    progress: null,
    startedAtMs: view.createdAtMs,
    endedAtMs: null,
    usual: null,
    longerThanUsual: false,
    overdue: null,
    retrying: null,
    failure: view.failure === null || !isShown ? null : { code: view.failure.code, words: null },
    ...(isShown && isLabelled === true ? { isLabelled } : {}),
    handover: isShown ? withoutSize(view.handover) : null,
    retryPrice: view.retryPrice === null ? null : price,
    buttons: isShown ? view.buttons.filter((action) => isLeft(action, phase)) : ['cancel'],
    blind: { set: place.id, at: place.at },
  };
}

function isLeft(action: ButtonAction, phase: Phase): boolean {
  return action === 'retry' ? WITHOUT_CLIP.has(phase) : BLIND_BUTTONS.has(action);
}

/** Returns a handover without the size of the clip. */
function withoutSize(handover: Handover | null): Handover | null {
  return handover !== null && 'bytes' in handover ? { ...handover, bytes: 0, limitBytes: null } : handover;
}
