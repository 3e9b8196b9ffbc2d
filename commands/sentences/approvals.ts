import type { ApprovalNotice, TaskView } from '#src/chat/view.ts';
import type { Approver, Declined } from '#src/tasks/approval.ts';
import { formatPrice } from '#src/tasks/price.ts';
import type { Price, Task, TaskId } from '#src/tasks/task.ts';
import { approveButtonId, denyButtonId, shortId } from '../ui/buttons.ts';
import { type Block, type Card, type CardButton, type Line, layOut, type Part } from '../ui/card.ts';
import { shorten } from './format.ts';

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
      : `${formatPrice(price)} is above your limit of ${formatPrice(above)}.`;
  return [['Waiting for approval by ', ...approverNames(askedOf), `: ${why} Expires `, { timeMs: expiresAtMs }, '.']];
}

/** Explains why a requested task was not approved. */
export function declinedLines({
  declined,
  task,
  by,
  createdAtMs,
  approval,
}: Pick<TaskView, 'declined' | 'task' | 'by' | 'createdAtMs' | 'approval'>): readonly Line[] {
  if (declined === null || declined.how === 'expired') {
    const hours = Math.round(((approval?.expiresAtMs ?? createdAtMs) - createdAtMs) / 3_600_000);
    const again = { code: `/video retry ${shortId(task)}` };
    return [[`Expired: no one answered within ${hours} h. Nothing was charged. Request again: `, again]];
  }
  if (declined.how === 'denied') return [['Denied', ...deniedBy(declined)]];
  return [
    declined.by === undefined || declined.by.id === by.id ? ['Withdrawn.'] : ['Withdrawn', ...deniedBy(declined)],
  ];
}

/** Continues `Denied`: ` by Ben: too long for a test.` */
function deniedBy({ by, reason }: Declined): Line {
  const whose: Line = by === undefined ? [] : [' by ', { person: by }];
  return reason === undefined ? [...whose, '.'] : [...whose, ': ', ...reasonLine(reason)];
}

/** Shows a reason as a sentence: with a full stop unless it ends with punctuation. */
function reasonLine(reason: string): Line {
  const text = shorten(reason, REASON_LENGTH);
  return /[.!?…]$/u.test(text) ? [{ untrusted: text }] : [{ untrusted: text }, '.'];
}

/** Names the person who approved a task, below its message. */
export function approvedBlocks({ approval }: Pick<TaskView, 'approval'>): readonly Block[] {
  const by = approval?.approved?.by;
  return by === undefined ? [] : [{ kind: 'small', line: ['Approved by ', { person: by }, '.'] }];
}

/** Renders the notice to approvers: who requests what for how much, what is left, and the buttons of the decision. */
export function approvalCard(view: ApprovalNotice): Card {
  const { task, by, price, model, seconds, prompt, message, left, pings, isReminder, decided, expiresAtMs } = view;
  const to = pings.flatMap((approver): Line => [pingOf(approver), ' ']);
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
function approvalButtons(task: TaskId, price: Price): readonly CardButton[] {
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
  { task, by }: ApprovalNotice,
): readonly Line[] {
  const approver = approval?.approved?.by;
  if (approver !== undefined) return [['Approved by ', { person: approver }, '.']];
  if (declined?.how === 'expired') return [['Expired. Nothing was charged.']];
  return declinedLines({ declined, task, by, createdAtMs: 0, approval });
}

/** Continues a notice, `your clip “a red fox”`, with the end of its request for approval. */
export function declinedOutcome(declined: Declined | undefined): Line {
  if (declined?.how === 'denied') return [' was denied', ...deniedBy(declined)];
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
