import { setCardId } from '#src/chat/index.ts';
import type { ApprovalTasks } from '#src/money/index.ts';
import type { OverBudget } from '#src/pipeline/index.ts';
import {
  type Approver,
  amountOf,
  formatPrice,
  type Person,
  type Price,
  sumOf,
  type Task,
  type TaskId,
} from '#src/tasks/index.ts';
import { approveButtonId } from '../../ui/buttons.ts';
import { type Card, type CardButton, type Line, type Part, textCard } from '../../ui/card.ts';
import { capitalised, either, fullStop } from '../format.ts';
import { monthName } from '../money/months.ts';
import { type Ordered, setSize } from '../ordered.ts';
import { approvalButtons, MAX_NAMED } from './requests.ts';

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

/** Refuses a decision on one's own request. */
export const OWN_REQUEST = 'You requested this, so someone else has to approve it.';

/** Refuses a decision by a person who is no approver: `Only Ada or Ben can approve this.` Plain text with user input. */
export function onlyApprovers(approvers: readonly Approver[]): string {
  return `Only ${anyOf(approvers)} can approve this.`;
}

/** Refuses **Send again** above the threshold of approvals to a person who may not approve it. Plain text with user input. */
export function resendNeedsApproval(price: Price, above: Price, approvers: readonly Approver[]): string {
  const why = `Sending it again costs ${formatPrice(price)}, and clips above ${formatPrice(above)} need an approval`;
  return `${why}: only ${anyOf(approvers)} can press Send again. Nothing was bought.`;
}

/** Names the users who may approve, as {@link approverNames} does, in plain text. */
function anyOf(approvers: readonly Approver[]): string {
  const names = approvers.slice(0, MAX_NAMED).map(({ name }) => name);
  const others = approvers.length - names.length;
  if (names.length === 0) return 'an administrator';
  return either(others === 0 ? names : [...names, others === 1 ? '1 other' : `${others} others`]);
}

/**
 * Refuses a decision by a person who may belong to a group of approvers that cannot be looked up.
 * @param reason continues a sentence; `null` for a failure that passes.
 */
export function unreadGroup(name: string, reason: string | null): string {
  const end = 'so I can’t tell whether you may decide on this. Nothing was changed.';
  if (reason !== null) return `I can’t read who belongs to ${name}, ${end} The reason: ${reason}.`;
  return `I couldn’t find out who belongs to ${name} just now, ${end} Try again in a moment.`;
}

/** Refuses to approve a clip of a model that is no longer offered. */
export function outOfCatalog({ request, origin }: Task): string {
  return `${request.model} no longer takes this request, so it can’t be bought. ${origin.user.name} can ask again with another model.`;
}

/** Refuses to approve while the team's purchases are paused. */
export function pausedApproval({ by, reason }: { readonly by: Person; readonly reason: string }): string {
  const why = reason === '' ? '.' : `: ${reason}${fullStop(reason)}`;
  return `${by.name} paused all purchases${why} The request keeps waiting.`;
}

/** Refuses to approve what the team's policy does not allow any more. @param reasons name the rules. */
export function forbiddenApproval(reasons: readonly string[]): string {
  return [...reasons, 'Nothing was bought. The request keeps waiting.'].join('\n');
}

/** Confirms a decision to the approver. */
export function approvedCard(kind: 'approved' | 'denied', tasks: ApprovalTasks): Card {
  const [{ origin }] = tasks;
  const ordered = orderedOf(tasks[0]);
  const who: Part = { person: origin.user };
  if (kind === 'denied')
    return textCard(['Denied. ', who, ` sees that under ${theClips(ordered)}. Nothing was charged.`]);
  const are = ordered === null ? 'is on its way' : 'are on their way';
  const what = capitalised(theClips(ordered));
  return textCard([`Approved for ${formatPrice(requestPrice(tasks))}. ${what} for `, who, ` ${are}.`]);
}

/** Returns what tasks are: those of a set, or a single one. */
function orderedOf({ set }: Pick<Task, 'set'>): Ordered {
  return set ?? null;
}

/** Names what an order makes: `the clip`, `the 4 takes`. */
function theClips(ordered: Ordered): string {
  return ordered === null ? 'the clip' : `the ${setSize(ordered)}`;
}

export function requestPrice(tasks: ApprovalTasks): Price {
  return sumOf(tasks.map(({ price }) => price)) ?? tasks[0].price;
}

/** Returns the id by which buttons refer to a request: of a set, that of its card. */
export function requestId([task]: ApprovalTasks): TaskId {
  return task.set === undefined ? task.id : setCardId(task.set.id);
}

/** Reports an earlier decision to someone who presses later. A repeated press gets the outcome of the first. */
export function decidedCard(tasks: ApprovalTasks, user: Person, nowMs: number): Card {
  const [task] = tasks;
  const approved = task.approval?.approved;
  if (approved?.by.id === user.id) return approvedCard('approved', tasks);
  return textCard(decidedLine(task, nowMs));
}

/** Reports that the price has risen, so that the request had to end. */
export function repricedCard(tasks: ApprovalTasks): Card {
  const [{ origin }] = tasks;
  const now = sumOf(tasks.flatMap(({ declined }) => declined?.price ?? []));
  const before = formatPrice(requestPrice(tasks));
  const rise = now === undefined ? 'The price has risen' : `The price is now ${formatPrice(now)}, not ${before}`;
  return textCard([`${rise}, so nothing was bought. `, { person: origin.user }, ' has to ask again.']);
}

/** Asks whether to approve late: the platform had reported the press as failed. */
export function lateApprovalCard(
  tasks: ApprovalTasks,
  { price: offered, grant }: { readonly price: Price; readonly grant: bigint },
): Card {
  const [task] = tasks;
  const ordered = orderedOf(task);
  const line: Line = [
    `You approved this while I was unavailable. ${capitalised(theClips(ordered))} for `,
    { person: task.origin.user },
    ordered === null ? ' still waits.' : ' still wait.',
  ];
  const id = approveButtonId(requestId(tasks), offered, grant);
  const button: CardButton = { id, label: `Approve · ${formatPrice(requestPrice(tasks))}`, style: 'primary' };
  return { lines: [line], progress: null, buttons: [button] };
}

/** Answers an approval of one task of a set with the button that approves all of them. */
export function wholeSetCard(tasks: ApprovalTasks): Card {
  const price = requestPrice(tasks);
  const line: Line = [
    `${capitalised(theClips(orderedOf(tasks[0])))} are approved together. Nothing has been bought yet.`,
  ];
  return { lines: [line], progress: null, buttons: approvalButtons(requestId(tasks), price) };
}

/**
 * Reports that the approval would exceed a budget, with a button that grants what is missing.
 * @param missing in millionths; `null` where an approver cannot grant it.
 */
export function overBudgetCard(
  tasks: ApprovalTasks,
  over: Pick<OverBudget, 'scope' | 'period' | 'currency' | 'limit' | 'room'>,
  missing: bigint | null,
): Card {
  const [{ origin }] = tasks;
  const price = requestPrice(tasks);
  const { scope, period, currency } = over;
  const whose = { deployment: 'the installation’s', team: 'the team’s', channel: 'the channel’s', person: null }[scope];
  const owner: Line = whose === null ? [{ person: origin.user }, '’s'] : [whose];
  const month = monthName(period);
  if (missing === null)
    return textCard([
      'This would exceed ',
      ...owner,
      ` ${month} budget, which an approver can’t exceed. ${orderedOf(tasks[0]) === null ? 'It keeps' : 'They keep'} waiting.`,
    ]);
  const extra = formatPrice({ amount: amountOf(missing), currency });
  return {
    lines: [
      ['This would exceed ', ...owner, ` ${month} budget by ${extra}.`],
      [`You can grant ${extra} once. The budget itself stays at ${formatPrice({ amount: over.limit, currency })}.`],
    ],
    progress: null,
    buttons: [
      {
        id: approveButtonId(requestId(tasks), price, missing),
        label: `Approve · ${formatPrice(price)}, ${extra} over budget`,
        style: 'danger',
      },
    ],
  };
}
