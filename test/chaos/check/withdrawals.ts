import type { Task } from '#src/tasks/task.ts';
import type { History, Life, Made, Trouble, Violation, Withdrawal } from '../history.ts';

/** Presses by which a user cancels a clip. */
const CANCELLING: ReadonlySet<string> = new Set(['cancel', '❌']);
/** Time around a fault in which an answer of the service may not have been heard, or not been written down. */
const AFTERMATH_MS = 6_000;

/**
 * Checks the requests to cancel at the service: only what a user cancelled, never what has ended where that deletes the clip.
 * What the service cancelled is not billed; what it made all the same is, and is not lost.
 */
export function checkWithdrawals({ store, made, withdrawals, pressed }: History): readonly Violation[] {
  const taskOf = new Map([...store.tasks.values()].map((task) => [task.upstreamId ?? '', task]));
  const madeOf = new Map(made.map((one) => [one.upstreamId, one]));
  const cancelled = new Set(pressed.flatMap(({ action, task }) => (CANCELLING.has(action) ? [task] : [])));
  const ofRequests = withdrawals.flatMap(({ upstreamId, status, deletesEnded }): readonly Violation[] => {
    const task = taskOf.get(upstreamId);
    const what = `${upstreamId}, which is ${status}, of task ${task?.id ?? '?'}`;
    const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
    return [
      ...(isOver && deletesEnded ? [{ name: 'ended task deleted at the service', what }] : []),
      ...(task !== undefined && cancelled.has(task.id) ? [] : [{ name: 'cancelled, and nobody asked for it', what }]),
    ];
  });
  const asked = new Set(withdrawals.map(({ upstreamId }) => upstreamId));
  const ofEnds = [...asked].flatMap((upstreamId) => {
    const [task, one] = [taskOf.get(upstreamId), madeOf.get(upstreamId)];
    return task === undefined || one === undefined ? [] : wrongEnd(task, one, store.ledger);
  });
  return [...ofRequests, ...ofEnds];
}

function wrongEnd(task: Task, { status }: Made, ledger: History['store']['ledger']): readonly Violation[] {
  const entry = [...ledger.values()].find(({ task: of, send }) => of === task.id && send === task.sends);
  const state = entry?.booked ?? entry?.state ?? 'none';
  const what = `task ${task.id} (${task.state}, ${task.lateOutcome ?? 'open'}) is ${status} at the service, and ${state}`;
  if (status === 'cancelled' && state === 'settled') return [{ name: 'billed although it was cancelled', what }];
  const isLost = status === 'completed' && state !== 'settled' && task.lateOutcome !== 'unknown';
  return isLost ? [{ name: 'made all the same, and not billed', what }] : [];
}

/**
 * Returns whether the bot cannot know that a task was cancelled: the service has forgotten it, and the process that asked for
 * that has no answer, or is gone.
 */
export function isForgottenUnheard(
  { upstreamId, cancelledAtMs, isForgotten }: Made,
  {
    withdrawals,
    lives,
    troubles = [],
  }: {
    readonly withdrawals: readonly Withdrawal[];
    readonly lives: readonly Life[];
    readonly troubles?: readonly Trouble[];
  },
): boolean {
  if (cancelledAtMs === undefined || isForgotten !== true) return false;
  const isConfirmed = withdrawals.some((one) => one.upstreamId === upstreamId && one.isConfirmed);
  const wasTroubled = troubles.some(
    ({ fromMs, untilMs }) => fromMs - AFTERMATH_MS <= cancelledAtMs && cancelledAtMs <= untilMs + AFTERMATH_MS,
  );
  return !isConfirmed || wasTroubled || lives.some(({ fromMs }) => fromMs > cancelledAtMs);
}
