import { setCardId } from '#src/chat/index.ts';
import type { ApprovalTasks } from '#src/money/index.ts';
import { type Approver, type Price, sumOf, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Line } from '../../ui/card.ts';
import { either } from '../format.ts';
import { MAX_NAMED } from './requests.ts';

/** Reports an earlier decision on a request: `Ada already approved this 2 minutes ago.` */
export function decidedLine({ approval, declined }: Task, nowMs: number): Line {
  const ago = (atMs: number): string => `${agoWords(nowMs - atMs)}.`;
  const approved = approval?.approved;
  if (approved !== undefined) return [{ person: approved.by }, ` already approved this ${ago(approved.atMs)}`];
  if (declined === undefined) return ['This request no longer waits for approval.'];
  const { how, by, atMs } = declined;
  if (how === 'expired' || by === undefined) return ['This request has expired. Nothing was charged.'];
  if (how === 'repriced') return ['This request has ended: its price has risen.'];
  const word = how === 'denied' ? 'denied this' : 'withdrew this request';
  return [{ person: by }, ` already ${word} ${ago(atMs)}`];
}

/** Formats the time since an event: `just now`, `2 minutes ago`. */
function agoWords(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  for (const [unit, length] of units) {
    const number = Math.floor(ms / length);
    if (number > 0) return `${number} ${unit}${number === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}

/** Names the users who may approve, as {@link approverNames} does, in plain text. */
export function anyOf(approvers: readonly Approver[]): string {
  const names = approvers.slice(0, MAX_NAMED).map(({ name }) => name);
  const others = approvers.length - names.length;
  if (names.length === 0) return 'an administrator';
  return either(others === 0 ? names : [...names, others === 1 ? '1 other' : `${others} others`]);
}

export function requestPrice(tasks: ApprovalTasks): Price {
  return sumOf(tasks.map(({ price }) => price)) ?? tasks[0].price;
}

/** Returns the id by which buttons refer to a request: of a set, that of its card. */
export function requestId([task]: ApprovalTasks): TaskId {
  return task.set === undefined ? task.id : setCardId(task.set.id);
}
