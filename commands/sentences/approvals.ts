import type { ApprovalNotice, TaskView } from '#src/chat/view.ts';
import type { OverBudget } from '#src/money/over-budget.ts';
import { amountOf } from '#src/tasks/amount.ts';
import type { Approver, Declined } from '#src/tasks/approval.ts';
import { formatPrice } from '#src/tasks/price.ts';
import type { Person, Price, Task, TaskId } from '#src/tasks/task.ts';
import { approveButtonId, denyButtonId, shortId } from '../ui/buttons.ts';
import { type Block, type Card, type CardButton, type Line, layOut, type Part } from '../ui/card.ts';
import { either, fullStop, shorten } from './format.ts';
import { monthName } from './money/months.ts';

/** Largest number of approvers that a sentence names. */
const MAX_NAMED = 3;
/** Largest length of a reason in a sentence, in UTF-16 units. */
const REASON_LENGTH = 300;
/** Largest length of a prompt in a notice, in UTF-16 units. */
const PROMPT_LENGTH = 200;

/** Names the users who may approve: `Ada or Ben`, `Ada, Ben, Cleo or 2 others`; without any, administrators. */
function approverNames(approvers: readonly Approver[]): Line {
  if (approvers.length === 0) return ['an administrator'];
  const named = approvers.slice(0, MAX_NAMED).map(approverPart);
  const others = approvers.length - named.length;
  const all: readonly Part[] = others === 0 ? named : [...named, others === 1 ? '1 other' : `${others} others`];
  return all.flatMap((part, index) => (index === 0 ? [part] : [index === all.length - 1 ? ' or ' : ', ', part]));
}

function approverPart({ kind, id, name }: Approver): Part {
  return kind === 'person' ? { person: { id, name } } : { untrusted: name };
}

/** Explains what a task waits for, why, and until when. */
export function requestedLines({ approval, price }: TaskView): readonly Line[] {
  if (approval === null) return [['Waiting for approval.']];
  const { askedOf, above, expiresAtMs } = approval;
  const why =
    above === null
      ? `${formatPrice(price)} would exceed the budget.`
      : `${formatPrice(price)} is above the team’s limit of ${formatPrice(above)} for a clip.`;
  return [['Waiting for approval by ', ...approverNames(askedOf), `: ${why} Expires `, { timeMs: expiresAtMs }, '.']];
}

/** Explains why a requested task was not approved. */
export function declinedLines({
  declined,
  task,
  by,
  createdAtMs,
  approval,
  price,
}: Pick<TaskView, 'declined' | 'task' | 'by' | 'createdAtMs' | 'approval' | 'price'>): readonly Line[] {
  if (declined === null || declined.how === 'expired') {
    const hours = Math.round(((approval?.expiresAtMs ?? createdAtMs) - createdAtMs) / 3_600_000);
    const again = { code: `/video retry ${shortId(task)}` };
    return [[`Expired: no one answered within ${hours} h. Nothing was charged. Request again: `, again]];
  }
  if (declined.how === 'denied') return [['Denied', ...deniedBy(declined)]];
  if (declined.how === 'repriced') return [[repricedSentence(declined, price)]];
  return [
    declined.by === undefined || declined.by.id === by.id ? ['Withdrawn.'] : ['Withdrawn', ...deniedBy(declined)],
  ];
}

function repricedSentence({ price: now }: Declined, before: Price): string {
  const rise =
    now === undefined ? 'The price has risen.' : `The price is now ${formatPrice(now)}, not ${formatPrice(before)}.`;
  return `${rise} Nothing was charged; Retry asks again.`;
}

/** Continues `Denied`: ` by Ben: too long for a test.` */
function deniedBy({ by, reason }: Declined): Line {
  const whose: Line = by === undefined ? [] : [' by ', { person: by }];
  return reason === undefined ? [...whose, '.'] : [...whose, ': ', ...reasonLine(reason)];
}

/** Shows a reason as a sentence: with a full stop unless it ends with punctuation. */
function reasonLine(reason: string): Line {
  const text = shorten(reason, REASON_LENGTH);
  return [{ untrusted: text }, fullStop(text)];
}

/** Names the person who approved a task, below its message. */
export function approvedBlocks({ approval }: Pick<TaskView, 'approval'>): readonly Block[] {
  const by = approval?.approved?.by;
  return by === undefined ? [] : [{ kind: 'small', line: ['Approved by ', { person: by }, '.'] }];
}

/** Renders the notice to approvers: who requests what for how much, what is left, and the buttons of the decision. */
export function approvalCard(view: ApprovalNotice): Card {
  const { task, by, price, model, seconds, prompt, message, left, pings, isReminder, decided, expiresAtMs } = view;
  const to = pings.flatMap((approver, at): Line => [pingOf(approver), at === pings.length - 1 ? ': ' : ' ']);
  const still = isReminder ? ' still waits for the approval of a clip for ' : ' requests a clip for ';
  const room = left === null ? '' : ` The team has ${formatPrice(left)} left.`;
  const ask: Line = [...(decided === null ? to : []), { person: by }, `${still}${formatPrice(price)}.${room}`];
  const facts: Line = [{ untrusted: model }, ` · ${seconds} s · `, { code: shortId(task) }];
  const link: Line = message === null ? [] : [' · ', { message, label: 'its message' }];
  const title: Line = prompt === null ? ['From a private channel'] : [{ untrusted: shorten(prompt, PROMPT_LENGTH) }];
  const end: readonly Line[] =
    decided === null ? [['Expires ', { timeMs: expiresAtMs }, '.']] : decisionLines(decided, view);
  return layOut(
    [
      { kind: 'text', line: ask },
      { kind: 'item', title, small: [...facts, ...link] },
      ...end.map((line): Block => ({ kind: 'text', line })),
    ],
    { buttons: decided === null ? approvalButtons(task, price) : [] },
  );
}

/** Buttons of a decision on a request. */
export function approvalButtons(task: TaskId, price: Price): readonly CardButton[] {
  return [
    { id: approveButtonId(task, price), label: `Approve · ${formatPrice(price)}`, style: 'primary' },
    { id: denyButtonId(task), label: 'Deny', style: 'plain' },
  ];
}

function pingOf({ kind, id, name }: Approver): Part {
  return kind === 'person' ? { mention: { id, name } } : { group: { id, name } };
}

function decisionLines(
  { approval, declined }: NonNullable<ApprovalNotice['decided']>,
  { task, by, price }: ApprovalNotice,
): readonly Line[] {
  const approver = approval?.approved?.by;
  if (approver !== undefined) return [['Approved by ', { person: approver }, '.']];
  if (declined?.how === 'expired') return [['Expired. Nothing was charged.']];
  return declinedLines({ declined, task, by, createdAtMs: 0, approval, price });
}

/** Continues a notice, `your clip “a red fox”`, with the end of its request for approval. */
export function declinedOutcome(declined: Declined | undefined): Line {
  if (declined?.how === 'denied') return [' was denied', ...deniedBy(declined)];
  if (declined?.how === 'repriced') return [' was not bought: its price has risen. Retry asks again.'];
  return [' was not approved in time. Nothing was charged.'];
}

/** Confirms a withdrawal, or reports that the request had expired. */
export function withdrawnLine({ declined }: Task): Line {
  return [`${declined?.how === 'expired' ? 'This request has expired' : 'Withdrawn'}. Nothing was charged.`];
}

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

/** Asks the requester in a private channel whether approvers outside of it may see the prompt. */
export function askCard(
  {
    price,
    above,
    askedOf,
  }: { readonly price: Price; readonly above: Price | null; readonly askedOf: readonly Approver[] },
  ids: { readonly shown: string; readonly hidden: string; readonly discard: string },
): Card {
  const cost = formatPrice(price);
  const why = above === null ? 'That is over a budget' : `Clips above ${formatPrice(above)} need an approval`;
  return {
    lines: [
      [`This clip costs ${cost}. ${why}, so `, ...approverNames(askedOf), ' would have to approve it.'],
      ['This channel is private. May approvers who aren’t in it see the prompt?'],
    ],
    progress: null,
    buttons: [
      { id: ids.shown, label: `Ask, with the prompt · ${cost}`, style: 'primary' },
      { id: ids.hidden, label: `Ask without the prompt · ${cost}`, style: 'plain' },
      { id: ids.discard, label: 'Discard', style: 'plain' },
    ],
  };
}

/** Returns the button of a refusal that asks for an approval instead. */
export function askButton(id: string, price: Price): CardButton {
  return { id, label: `Ask for approval · ${formatPrice(price)}`, style: 'plain' };
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
export function approvedCard(kind: 'approved' | 'denied', { price, origin }: Task): Card {
  const who: Part = { person: origin.user };
  if (kind === 'denied') return oneLine(['Denied. ', who, ' sees that under the clip. Nothing was charged.']);
  return oneLine([`Approved for ${formatPrice(price)}. The clip for `, who, ' is on its way.']);
}

/** Reports an earlier decision to someone who presses later. A repeated press gets the outcome of the first. */
export function decidedCard(task: Task, user: Person, nowMs: number): Card {
  const approved = task.approval?.approved;
  if (approved?.by.id === user.id) return approvedCard('approved', task);
  return oneLine(decidedLine(task, nowMs));
}

/** Reports that the price has risen, so that the request had to end. */
export function repricedCard({ price: before, declined, origin }: Task): Card {
  const now = declined?.price;
  const rise =
    now === undefined ? 'The price has risen' : `The price is now ${formatPrice(now)}, not ${formatPrice(before)}`;
  return oneLine([`${rise}, so nothing was bought. `, { person: origin.user }, ' has to ask again.']);
}

/** Asks whether to approve late: the platform had reported the press as failed. */
export function lateApprovalCard(
  { price, origin }: Task,
  { request, price: offered, grant }: { readonly request: TaskId; readonly price: Price; readonly grant: bigint },
): Card {
  const line: Line = [
    'You approved this while I was unavailable. The clip for ',
    { person: origin.user },
    ' still waits.',
  ];
  const id = approveButtonId(request, offered, grant);
  const button: CardButton = { id, label: `Approve · ${formatPrice(price)}`, style: 'primary' };
  return { lines: [line], progress: null, buttons: [button] };
}

/**
 * Reports that the approval would exceed a budget, with a button that grants what is missing.
 * @param missing in millionths; `null` where an approver cannot grant it.
 */
export function overBudgetCard(
  { id, price, origin }: Task,
  over: Pick<OverBudget, 'scope' | 'period' | 'currency' | 'limit' | 'room'>,
  missing: bigint | null,
): Card {
  const { scope, period, currency } = over;
  const whose = { deployment: 'the installation’s', team: 'the team’s', channel: 'the channel’s', person: null }[scope];
  const owner: Line = whose === null ? [{ person: origin.user }, '’s'] : [whose];
  const month = monthName(period);
  if (missing === null)
    return oneLine([
      'This would exceed ',
      ...owner,
      ` ${month} budget, which an approver can’t exceed. It keeps waiting.`,
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
        id: approveButtonId(id, price, missing),
        label: `Approve · ${formatPrice(price)}, ${extra} over budget`,
        style: 'danger',
      },
    ],
  };
}

function oneLine(line: Line): Card {
  return { lines: [line], progress: null, buttons: [] };
}
