import { type Phase, phaseOf, type Task } from '#src/tasks/index.ts';

/** Returns the phase of a task's message in one word or two. */
export function phaseWord(phase: Phase, { leftBy, declined }: Pick<Task, 'leftBy' | 'declined'>): string {
  switch (phase) {
    case 'requested':
      return 'waiting for approval';
    case 'declined':
      // Its time is over, although that is not recorded yet.
      return declined?.how === 'repriced' ? 'price has risen' : (declined?.how ?? 'expired');
    case 'queued':
    case 'running':
    case 'done':
    case 'failed':
    case 'refused':
    case 'cancelled':
      return phase;
    case 'fetching':
      return 'finished, fetching';
    case 'lost':
      return 'finished, not fetched';
    case 'uncertain':
      return leftBy === undefined ? 'unconfirmed' : 'left unresolved';
  }
}

/** Returns a task's state in one word or two, independently of its message. */
export function stateWord(task: Task): string {
  const phase = phaseOf(task, { isRunning: true, isHandedOver: true });
  return phase === 'running' ? 'in progress' : phaseWord(phase, task);
}

/** Continues the name of a task without a clip. */
export const ENDS: Partial<Readonly<Record<Phase, string>>> = {
  lost: 'could not be fetched',
  failed: 'failed',
  refused: 'was rejected',
  uncertain: 'needs a decision',
  declined: 'was not approved',
  cancelled: 'was cancelled',
};
