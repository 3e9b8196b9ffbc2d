import type { Attempt, Task } from './task.ts';

/** Returns the attempt that a record describes: the one in flight, or the last one. */
export function attemptOf({ sends, unsentTries }: Task): Attempt {
  return { sends, unsentTries };
}

/** Returns whether a record describes that attempt. */
export function isOf({ sends, unsentTries }: Attempt, task: Task): boolean {
  return task.sends === sends && task.unsentTries === unsentTries;
}

/** Returns whether a record lacks the outcome of an attempt; for a `claimed` one, whether it lost the submission. */
export function isBehind({ state, sends, unsentTries }: Task, of: Attempt | undefined): boolean {
  if (of === undefined || !(state === 'claimed' || state === 'sending')) return false;
  const current = state === 'claimed' ? sends + 1 : sends;
  return of.sends > current || (of.sends === current && of.unsentTries >= unsentTries);
}
