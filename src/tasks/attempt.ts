import type { UpstreamId } from '../videos/index.ts';
import type { Attempt, EventOf, Task } from './task.ts';

/** Returns the attempt that a record describes: the one in flight, or the last one. */
export function attemptOf({ sends, unsentTries }: Task): Attempt {
  return { sends, unsentTries };
}

/** Returns whether a record lacks the outcome of an attempt; for a `claimed` one, whether it lost the submission. */
export function isBehind({ state, sends, unsentTries }: Task, of: Attempt | undefined): boolean {
  if (of === undefined || !(state === 'claimed' || state === 'sending')) return false;
  const current = state === 'claimed' ? sends + 1 : sends;
  return of.sends > current || (of.sends === current && of.unsentTries >= unsentTries);
}

/** Applies an upstream id: the task is polled, quietly if a user cancelled it. */
export function toPolled(task: Task, upstreamId: UpstreamId, accepted: NonNullable<Task['accepted']>): Task {
  const state = task.cancelledBy === undefined ? 'polling' : 'cancelled';
  return { ...task, state, upstreamId, accepted };
}

export function acceptedThere(task: Task, { of, upstreamId, atMs }: EventOf<'accepted'>): Task {
  return { ...toPolled(sent(task, of), upstreamId, { atMs }), turnAtMs: atMs };
}

/** Applies the acceptance of an earlier attempt, whose response arrived after the task ended without an id. */
export function acceptedLate(task: Task, event: EventOf<'accepted'>): Task | null {
  const { of } = event;
  if (task.upstreamId !== undefined || of === undefined || of.sends > task.sends) return null;
  return acceptedThere(without(withoutDoubt(task), 'endedAtMs'), event);
}

/** Time from its POST for which a task is looked for; it may be in a list for longer. */
const SEARCH_MS = 10 * 60_000;

/** Applies a lost response: unknown whether the service has it. */
export function lostThere(task: Task, { of, failure, isListed = false }: EventOf<'lost'>): Task {
  const { lease, cancelledBy } = task;
  const lost = { ...sent(task, of), state: 'uncertain' as const, failure };
  if (lease === undefined) return lost;
  const search = { untilMs: lease.atMs + SEARCH_MS };
  const mayBeFound = isListed && cancelledBy === undefined;
  return { ...lost, turnAtMs: lease.atMs, failure: mayBeFound ? { ...failure, search } : failure };
}

/** Returns whether an uncertain task is being looked for in the list of its service: it needs no decision yet. */
export function isSought({ state, leftBy, failure }: Pick<Task, 'state' | 'leftBy' | 'failure'>): boolean {
  const { search } = failure ?? {};
  return state === 'uncertain' && leftBy === undefined && search !== undefined && search.result === undefined;
}

/** Counts an attempt as sent, even if the record lacked it. */
function sent(task: Task, of: Attempt | undefined): Task {
  return { ...free(task), sends: Math.max(task.sends, of?.sends ?? 0) };
}

/** Takes the submission back: nothing exists at the service. */
export function takenBack(task: Task, { isBusy = false, atMs }: EventOf<'unsent'>): Task {
  const tries = { unsentTries: task.unsentTries + 1, ...(isBusy ? { busyTries: (task.busyTries ?? 0) + 1 } : {}) };
  const back = { ...free(task), sends: task.sends - 1, ...tries };
  if (task.cancelledBy === undefined) return { ...back, state: 'claimed' };
  return { ...back, state: 'cancelled', endedAtMs: atMs };
}

/** Applies a refusal: nothing exists at the service. */
export function refusedThere(task: Task, { failure, atMs }: EventOf<'refused'>): Task {
  return { ...free(task), state: 'rejected', sends: task.sends - 1, failure, endedAtMs: atMs };
}

function free(task: Task): Task {
  return without(task, 'lease');
}

/** Removes the fields that were set while it was uncertain. */
export function withoutDoubt(task: Task): Task {
  const { failure: _f, leftBy: _l, upstreamId: _u, accepted: _a, turnAtMs: _t, ...rest } = task;
  return rest;
}

/** Clears the cancellation of a task with a doubtful submission, since a user wants its clip. */
export function wantedAgain(task: Task): Task {
  return without(withoutDoubt(task), 'cancelledBy');
}

export function without<Key extends 'busyTries' | 'clip' | 'cancelledBy' | 'endedAtMs' | 'failure' | 'lease'>(
  task: Task,
  key: Key,
): Task {
  const { [key]: _gone, ...rest } = task;
  return rest as Task;
}
