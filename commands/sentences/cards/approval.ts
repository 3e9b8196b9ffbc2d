import { type ApprovalNotice, setOfCard } from '#src/chat/index.ts';
import {
  type Approval,
  type Approver,
  type Declined,
  formatPrice,
  type Person,
  type Price,
  type Task,
  type TaskId,
} from '#src/tasks/index.ts';
import { button, shortId } from '../../ui/buttons.ts';
import {
  type Card,
  type CardButton,
  facts,
  item,
  joinLines,
  type Line,
  layOut,
  lineOf,
  type Part,
  small,
} from '../../ui/card.ts';
import { capitalised, count, either, formatAgo, fullStop, shorten } from '../format.ts';
import { memberWords, type Ordered, setSize, someClips } from '../ordered.ts';

/** Largest number of approvers that a sentence names. */
const MAX_NAMED = 3;
/** Largest length of a reason in a sentence, in UTF-16 units. */
const REASON_LENGTH = 300;
/** Largest length of a prompt in a notice, in UTF-16 units. */
const PROMPT_LENGTH = 200;
/** Largest length of a prompt in the list of a set, of up to 12 lines. */
const MEMBER_PROMPT_LENGTH = 80;

/** Names the users who may approve: `Ada or Ben`, `Ada, Ben, Cleo or 2 others`; without any, administrators. */
export function approverNames(approvers: readonly Approver[]): Line {
  if (approvers.length === 0) return ['an administrator'];
  const named = approvers.slice(0, MAX_NAMED).map((one): Line => [approverPart(one)]);
  const others = approvers.length - named.length;
  return joinLines(others === 0 ? named : [...named, [count(others, 'other')]], ', ', ' or ');
}

function approverPart({ kind, id, name }: Approver): Part {
  return kind === 'person' ? { person: { id, name } } : { untrusted: name };
}

const NOBODY_ELSE: Line = [' Nobody else is an approver, so an administrator has to look, here or in '];

/** Request for approval of a task, or of a set by the id of its card. */
interface ApprovalRequest {
  readonly task: TaskId;
  readonly by: Person;
  readonly price: Price;
  readonly createdAtMs: number;
  readonly approval: Approval | null;
  readonly declined: Declined | null;
}

/**
 * Explains what a task waits for, why, and until when.
 * @param cost in words: a task of a set costs a part of what the approval is about
 */
export function requestedLines({
  approval,
  cost,
  ordered,
}: Pick<ApprovalRequest, 'approval'> & { readonly cost: string; readonly ordered: Ordered }): readonly Line[] {
  if (approval === null) return [['Waiting for approval.']];
  const { askedOf, above, expiresAtMs } = approval;
  const why =
    above === null
      ? `${cost} would exceed the budget.`
      : `${cost} is above the team’s limit of ${formatPrice(above)}${ordered === null ? ' for a clip' : ''}.`;
  const line = lineOf(
    ['Waiting for approval by ', ...approverNames(askedOf), `: ${why} Expires `, { timeMs: expiresAtMs }, '.'],
    askedOf.length === 0 && [...NOBODY_ELSE, { code: '/video approvals' }, '.'],
  );
  return [line];
}

/** Explains why a requested task was not approved. */
export function declinedLines({ declined, task, by, createdAtMs, approval, price }: ApprovalRequest): readonly Line[] {
  if (declined === null || declined.how === 'expired') {
    const hours = Math.round(((approval?.expiresAtMs ?? createdAtMs) - createdAtMs) / 3_600_000);
    const expired = `Expired: no one answered within ${hours} h. Nothing was charged.`;
    if (setOfCard(task) !== null) return [[`${expired} Retry requests them again.`]];
    return [[`${expired} Request again: `, { code: `/video retry ${shortId(task)}` }]];
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
  return lineOf(by && [' by ', { person: by }], reason === undefined ? '.' : [': ', ...reasonLine(reason)]);
}

/** Shows a reason as a sentence: with a full stop unless it ends with punctuation. */
function reasonLine(reason: string): Line {
  const text = shorten(reason, REASON_LENGTH);
  return [{ untrusted: text }, fullStop(text)];
}

/** Renders the notice to approvers: who requests what for how much, what is left, and the buttons of the decision. */
export function approvalCard(view: ApprovalNotice): Card {
  const { task, by, price, prompt, picture = null, left, pings, isReminder, decided, expiresAtMs } = view;
  const clips = someClips(view.set ?? null);
  const to = pings.map((approver): Line => [pingOf(approver)]);
  const still = isReminder ? ` still waits for the approval of ${clips} for ` : ` requests ${clips} for `;
  const room = left === null ? '' : ` The team has ${formatPrice(left)} left.`;
  const isAsked = decided === null && to.length > 0;
  const ask = lineOf(isAsked && [...joinLines(to, ' '), ': '], { person: by }, `${still}${formatPrice(price)}.${room}`);
  const title: Line = prompt === null ? ['From a private channel'] : [{ untrusted: shorten(prompt, PROMPT_LENGTH) }];
  const end: readonly Line[] =
    decided === null ? [['Expires ', { timeMs: expiresAtMs }, '.']] : decisionLines(decided, view);
  const shown = prompt === null ? null : picture && { ...picture, alt: `Picture for “${prompt}”` };
  const request = item(title, noticeFacts(view), undefined, shown);
  return layOut([ask, request, ...setLines(view).map((line) => small(...line)), ...end], {
    buttons: decided === null ? approvalButtons(task, price) : [],
  });
}

function noticeFacts({ task, model, seconds, message, set }: ApprovalNotice): Line {
  const isSame = set === undefined || set.tasks.length === 0;
  return facts(
    isSame && [{ untrusted: model }],
    isSame && `${seconds} s`,
    set && setSize(set),
    [{ code: shownId(task) }],
    message && [{ message, label: set === undefined ? 'its message' : 'their message' }],
  );
}

/** Returns the displayed id of a task, or of a set by the id of its card: that of its first task. */
function shownId(id: TaskId): string {
  return shortId(setOfCard(id) ?? id);
}

/** Lists the tasks of a set with different requests, one line each. */
function setLines({ set, prompt: first }: ApprovalNotice): readonly Line[] {
  if (set === undefined) return [];
  const { one } = memberWords(set.kind);
  const isSamePrompt = set.tasks.every(({ prompt }) => prompt === first);
  return set.tasks.map(({ model, seconds, prompt, price }, index): Line => {
    const name = set.kind === 'comparison' ? '• ' : `${capitalised(one)} ${index + 1} · `;
    return facts(
      [name, { untrusted: model }],
      `${seconds} s`,
      formatPrice(price),
      prompt !== null && !isSamePrompt && [{ untrusted: shorten(prompt, MEMBER_PROMPT_LENGTH) }],
    );
  });
}

export function approvalButtons(request: TaskId, price: Price): readonly CardButton[] {
  return [
    button({ action: 'approve', request, price, grant: 0n }, `Approve · ${formatPrice(price)}`, 'primary'),
    button({ action: 'deny', request }, 'Deny'),
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
export function declinedOutcome(declined: Declined | undefined, ordered: Ordered = null): Line {
  const was = ordered === null ? 'was' : 'were';
  if (declined?.how === 'denied') return [` ${was} denied`, ...deniedBy(declined)];
  const whose = ordered === null ? 'its' : 'their';
  if (declined?.how === 'repriced') return [` ${was} not bought: ${whose} price has risen. Retry asks again.`];
  return [` ${was} not approved in time. Nothing was charged.`];
}

/** Reports an earlier decision on a request: `Ada already approved this 2 minutes ago.` */
export function decidedLine({ approval, declined }: Task, nowMs: number): Line {
  const ago = (atMs: number): string => `${formatAgo(nowMs - atMs)}.`;
  const approved = approval?.approved;
  if (approved !== undefined) return [{ person: approved.by }, ` already approved this ${ago(approved.atMs)}`];
  if (declined === undefined) return ['This request no longer waits for approval.'];
  const { how, by, atMs } = declined;
  if (how === 'expired' || by === undefined) return ['This request has expired. Nothing was charged.'];
  if (how === 'repriced') return ['This request has ended: its price has risen.'];
  const word = how === 'denied' ? 'denied this' : 'withdrew this request';
  return [{ person: by }, ` already ${word} ${ago(atMs)}`];
}

/** Names the users who may approve, as {@link approverNames} does, in plain text. */
export function anyOf(approvers: readonly Approver[]): string {
  const names = approvers.slice(0, MAX_NAMED).map(({ name }) => name);
  const others = approvers.length - names.length;
  if (names.length === 0) return 'an administrator';
  return either(others === 0 ? names : [...names, count(others, 'other')]);
}
