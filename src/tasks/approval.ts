import type { EventOf, Person, Price, Task } from './task.ts';

/** A person, Discord role or Slack user group that may approve. */
export interface Approver {
  readonly kind: 'person' | 'role' | 'group';
  /** The platform's id. */
  readonly id: string;
  /** The name others see, without markup. */
  readonly name: string;
}

/** Request for the approval of a task's price. Times are in milliseconds since the Unix epoch. */
export interface Approval {
  readonly expiresAtMs: number;
  /** The limit that the price exceeded; `null` where it exceeded a hard budget. */
  readonly above: Price | null;
  /** Approvers at the time of the request, to be named and notified; empty: administrators. A press checks anew. */
  readonly askedOf: readonly Approver[];
  /** `true` if the requester agreed that approvers outside of the task's channel see its prompt. */
  readonly isPromptShown: boolean;
  readonly remindedAtMs?: number;
  readonly approved?: { readonly by: Person; readonly atMs: number };
}

/** Approval to request; its time is set when it is. */
export type ApprovalRequest = Pick<Approval, 'above' | 'askedOf' | 'isPromptShown'>;

/** Time for an approval in milliseconds: a request expires then. */
export const APPROVAL_TTL_MS = 24 * 3_600_000;

/** End of a request for approval without one. */
export interface Declined {
  /** `repriced`: the price rose before the approval; the requester is offered the new one. */
  readonly how: 'denied' | 'withdrawn' | 'expired' | 'repriced';
  /** Absent where it expired. */
  readonly by?: Person;
  /** Reason entered by the person who denied it. */
  readonly reason?: string;
  /** The price that it rose to. */
  readonly price?: Price;
  /** In milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** Returns whether the time for an approval is over, in a task that still waits for one. */
export function isExpired({ state, approval }: Pick<Task, 'state' | 'approval'>, nowMs: number): boolean {
  return state === 'requested' && nowMs >= (approval?.expiresAtMs ?? 0);
}

/** Applies the end of a request. A late denial or withdrawal records that it had expired. */
export function declinedBy(task: Task, { kind: _kind, ...given }: EventOf<'decline'>): Task | null {
  const isLate = isExpired(task, given.atMs);
  if (given.how === 'expired' && !isLate) return null;
  const declined: Declined = isLate ? { how: 'expired', atMs: given.atMs } : given;
  return { ...task, state: 'declined', declined, endedAtMs: given.atMs };
}

/** Returns a task as it counts now: as expired once its time is over, even if no sweep has recorded that yet. */
export function asOf(task: Task, nowMs: number): Task {
  if (!isExpired(task, nowMs)) return task;
  const atMs = task.approval?.expiresAtMs ?? nowMs;
  return { ...task, state: 'declined', declined: { how: 'expired', atMs }, endedAtMs: atMs };
}
