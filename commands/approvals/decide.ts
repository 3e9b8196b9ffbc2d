import { setCardId, setOfCard } from '#src/chat/index.ts';
import type { ApprovalOutcome, ApprovalTasks } from '#src/money/index.ts';
import type { OverBudget } from '#src/pipeline/index.ts';
import {
  type Approver,
  asOf,
  formatPrice,
  isSamePrice,
  type Person,
  type Price,
  priceOf,
  sumOf,
  type Task,
  type TaskId,
} from '#src/tasks/index.ts';
import { approversFor, whoDecides } from '#src/teams/index.ts';
import { checkAgain, titled } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { membershipIn } from '../input/membership.ts';
import { type BotPorts, privately, refused, teamOf } from '../input/subcommand.ts';
import { formatMicros } from '../sentences/amounts.ts';
import { anyOf, approvalButtons, decidedLine } from '../sentences/cards/approval.ts';
import { monthName } from '../sentences/dates.ts';
import { capitalised, fullStop } from '../sentences/format.ts';
import { FORM_WORDS } from '../sentences/forms.ts';
import { type Ordered, setSize } from '../sentences/ordered.ts';
import { refusalSentences, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { button, type Press } from '../ui/buttons.ts';
import { type Card, type Line, type Part, textCard } from '../ui/card.ts';
import { field, formReply } from '../ui/form-ids.ts';

/** Longest reason of a denial, in UTF-16 units. */
const REASON_LENGTH = 300;

type ApprovePress = Extract<Press, { readonly action: 'approve' }>;

/** Handles a press on **Approve**: buys the clip if the caller may approve it, and if the platform accepts the press in time. */
export async function pressApprove(ports: BotPorts, caller: Caller, press: ApprovePress): Promise<Reply> {
  const found = await decidable(ports, caller, press.request);
  if ('reply' in found) return found.reply;
  const { tasks } = found;
  // Such a press names the price of one clip alone.
  if (press.request !== requestId(tasks)) return privately(wholeSetCard(tasks));
  // No button of ours has another price than its request.
  if (!isSamePrice(press.price, requestPrice(tasks))) return refused(UNKNOWN_BUTTON);
  if (caller.acknowledged !== undefined && !(await caller.acknowledged()))
    return { kind: 'offer', id: `approve:${requestId(tasks)}`, card: lateApprovalCard(tasks, press) };
  const outcome = await ports.approvals.approve(tasks, {
    by: caller.user,
    offered: press.price,
    current: currentPrices(ports, tasks),
    grant: press.grant,
  });
  return replyTo(ports, caller, outcome);
}

/** Asks whether to approve late: the platform had reported the press as failed. */
function lateApprovalCard(
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
  const approve = { action: 'approve', request: requestId(tasks), price: offered, grant } as const;
  return {
    ...textCard(line),
    buttons: [button(approve, `Approve · ${formatPrice(requestPrice(tasks))}`, 'primary')],
  };
}

/** Names what an order makes: `the clip`, `the 4 takes`. */
function theClips(ordered: Ordered): string {
  return ordered === null ? 'the clip' : `the ${setSize(ordered)}`;
}

/** Returns what tasks are: those of a set, or a single one. */
function orderedOf({ set }: Pick<Task, 'set'>): Ordered {
  return set ?? null;
}

/** Answers an approval of one task of a set with the button that approves all of them. */
function wholeSetCard(tasks: ApprovalTasks): Card {
  const price = requestPrice(tasks);
  const line: Line = [
    `${capitalised(theClips(orderedOf(tasks[0])))} are approved together. Nothing has been bought yet.`,
  ];
  return { ...textCard(line), buttons: approvalButtons(requestId(tasks), price) };
}

/** Opens the form for the reason of a denial. */
export async function pressDeny(
  ports: BotPorts,
  caller: Caller,
  { request }: { readonly request: TaskId },
): Promise<Reply> {
  const found = await decidable(ports, caller, request);
  if ('reply' in found) return found.reply;
  const reason = field('reason', FORM_WORDS.deny.field, { maxLength: REASON_LENGTH });
  return formReply({ form: 'deny', task: request }, FORM_WORDS.deny, [reason]);
}

export async function submitDeny(
  ports: BotPorts,
  caller: Caller,
  request: TaskId,
  values: Readonly<Record<string, string>>,
): Promise<Reply> {
  const found = await decidable(ports, caller, request);
  if ('reply' in found) return found.reply;
  const reason = (values['reason'] ?? '').trim().replace(/\s+/gu, ' ').slice(0, REASON_LENGTH).toWellFormed();
  return replyTo(ports, caller, await ports.approvals.deny(found.tasks, caller.user, reason));
}

function replyTo({ catalog, clock }: BotPorts, { user, fields }: Caller, outcome: ApprovalOutcome): Reply {
  const { tasks } = outcome;
  switch (outcome.kind) {
    case 'approved':
    case 'denied':
      return privately(approvedCard(outcome.kind, tasks));
    case 'decided':
      return privately(decidedCard(tasks, user, clock.now()));
    case 'repriced':
      return privately(repricedCard(tasks));
    case 'unavailable':
      return refused(outOfCatalog(titled(catalog(), tasks[0])));
    case 'over':
      return privately(overBudgetCard(tasks, outcome.over, outcome.missing));
    case 'paused':
      return refused(pausedApproval(outcome.pause));
    case 'forbidden':
      return refused(...refusalSentences(outcome.refusals, fields), 'Nothing was bought. The request keeps waiting.');
  }
}

function outOfCatalog({ request, origin }: Task): string {
  return `${request.model} no longer takes this request, so it can’t be bought. ${origin.user.name} can ask again with another model.`;
}

function pausedApproval({ by, reason }: { readonly by: Person; readonly reason: string }): string {
  const why = reason === '' ? '.' : `: ${reason}${fullStop(reason)}`;
  return `${by.name} paused all purchases${why} The request keeps waiting.`;
}

/** Reports an earlier decision to someone who presses later. A repeated press gets the outcome of the first. */
function decidedCard(tasks: ApprovalTasks, user: Person, nowMs: number): Card {
  const [task] = tasks;
  const approved = task.approval?.approved;
  if (approved?.by.id === user.id) return approvedCard('approved', tasks);
  return textCard(decidedLine(task, nowMs));
}

function approvedCard(kind: 'approved' | 'denied', tasks: ApprovalTasks): Card {
  const [{ origin }] = tasks;
  const ordered = orderedOf(tasks[0]);
  const who: Part = { person: origin.user };
  if (kind === 'denied')
    return textCard(['Denied. ', who, ` sees that under ${theClips(ordered)}. Nothing was charged.`]);
  const are = ordered === null ? 'is on its way' : 'are on their way';
  const what = capitalised(theClips(ordered));
  return textCard([`Approved for ${formatPrice(requestPrice(tasks))}. ${what} for `, who, ` ${are}.`]);
}

/** Reports that the price has risen, so that the request had to end. */
function repricedCard(tasks: ApprovalTasks): Card {
  const [{ origin }] = tasks;
  const now = sumOf(tasks.flatMap(({ declined }) => declined?.price ?? []));
  const before = formatPrice(requestPrice(tasks));
  const rise = now === undefined ? 'The price has risen' : `The price is now ${formatPrice(now)}, not ${before}`;
  return textCard([`${rise}, so nothing was bought. `, { person: origin.user }, ' has to ask again.']);
}

/**
 * Reports that the approval would exceed a budget, with a button that grants what is missing.
 * @param missing in millionths; `null` where an approver cannot grant it.
 */
function overBudgetCard(
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
  const extra = formatMicros(missing, currency);
  const approve = { action: 'approve', request: requestId(tasks), price, grant: missing } as const;
  return {
    ...textCard(
      ['This would exceed ', ...owner, ` ${month} budget by ${extra}.`],
      [`You can grant ${extra} once. The budget itself stays at ${formatPrice({ amount: over.limit, currency })}.`],
    ),
    buttons: [button(approve, `Approve · ${formatPrice(price)}, ${extra} over budget`, 'danger')],
  };
}

/** Returns the request if it still waits and the caller may decide on it now; otherwise the reply. */
async function decidable(
  ports: BotPorts,
  caller: Caller,
  id: TaskId,
): Promise<{ readonly tasks: ApprovalTasks } | { readonly reply: Reply }> {
  const tasks = await requestOf(ports, id);
  const [stored] = tasks ?? [];
  if (tasks === null || stored?.approval === undefined || stored.origin.platform !== caller.platform)
    return { reply: refused(UNKNOWN_BUTTON) };
  if (stored.origin.user.id === caller.user.id)
    return { reply: refused('You requested this, so someone else has to approve it.') };
  const team = { platform: stored.origin.platform, team: stored.origin.team };
  const approvers = approversFor(await ports.approvers.list(team), stored.origin.user.id);
  const { mayApprove, unread } = await rightOf(ports, caller, stored, approvers);
  if (!mayApprove) return { reply: refused(unread ?? `Only ${anyOf(approvers)} can approve this.`) };
  const now = ports.clock.now();
  const [first, ...others] = tasks;
  const current: ApprovalTasks = [asOf(first, now), ...others.map((task) => asOf(task, now))];
  if (current[0].state === 'requested') return { tasks };
  return { reply: privately(decidedCard(current, caller.user, now)) };
}

/** Returns the tasks of a request by the id of its button: of a task, or of a set's card. */
async function requestOf({ tasks, chat }: BotPorts, id: TaskId): Promise<ApprovalTasks | null> {
  const task = await tasks.get(setOfCard(id) ?? id);
  if (task === undefined) return null;
  return task.set === undefined && setOfCard(id) !== null ? null : requestWith(chat, task);
}

/** Returns the tasks of the request that a task belongs to. */
export async function requestWith(chat: BotPorts['chat'], task: Task): Promise<ApprovalTasks> {
  const [first = task, ...others] = task.set === undefined ? [task] : await chat.setOf(task.set);
  return [first, ...others];
}

/** Returns whether the caller is one of the approvers, or may administer the team if none of them is left. */
async function rightOf(
  ports: BotPorts,
  caller: Caller,
  { origin }: Task,
  approvers: readonly Approver[],
): Promise<{ readonly mayApprove: boolean; readonly unread?: string }> {
  const { platform, user } = caller;
  const { team, channel, address } = origin;
  const isNamed = approvers.some(({ kind, id }) => kind === 'person' && id === user.id);
  const isMember = (id: string) => ports.chat.platform(platform).channels.isMember({ team, channel, address }, id);
  // Roles and administrative rights are those in the team of the interaction; a person may have left that of the task.
  if (team !== caller.team) return { mayApprove: isNamed && (await isMember(user.id)) };
  const { isAmong, unread } = await membershipIn(ports, caller, approvers);
  const mayApprove = isAmong || (caller.mayAdminister && (await whoDecides(approvers, isMember)).length === 0);
  return { mayApprove, ...(unread === null ? {} : { unread: unreadGroup(unread.name, unread.reason) }) };
}

/**
 * Refuses a decision by a person who may belong to a group of approvers that cannot be looked up.
 * @param reason continues a sentence; `null` for a failure that passes.
 */
function unreadGroup(name: string, reason: string | null): string {
  const end = 'so I can’t tell whether you may decide on this. Nothing was changed.';
  if (reason !== null) return `I can’t read who belongs to ${name}, ${end} The reason: ${reason}.`;
  return `I couldn’t find out who belongs to ${name} just now, ${end} Try again in a moment.`;
}

/** Returns the price of each task by the current catalog; `null` where it no longer accepts one of the requests. */
function currentPrices({ catalog }: BotPorts, tasks: ApprovalTasks): readonly Price[] | null {
  const prices = tasks.flatMap(({ request }) => {
    const checked = checkAgain(catalog(), request);
    return checked.ok ? [priceOf(checked.model, checked.request.seconds)] : [];
  });
  return prices.length === tasks.length ? prices : null;
}

/** Returns the requests of the caller's team that the caller may approve now. */
export async function approvableBy(
  ports: BotPorts,
  caller: Caller,
  requests: readonly ApprovalTasks[],
): Promise<readonly ApprovalTasks[]> {
  const all = await ports.approvers.list(teamOf(caller));
  const rights = new Map<string, boolean>();
  for (const [task] of requests) {
    const { id } = task.origin.user;
    const known =
      rights.get(id) ??
      (id !== caller.user.id && (await rightOf(ports, caller, task, approversFor(all, id))).mayApprove);
    rights.set(id, known);
  }
  return requests.filter(([{ origin }]) => rights.get(origin.user.id) === true);
}

export function requestPrice(tasks: ApprovalTasks): Price {
  return sumOf(tasks.map(({ price }) => price)) ?? tasks[0].price;
}

/** Returns the id by which buttons refer to a request: of a set, that of its card. */
export function requestId([task]: ApprovalTasks): TaskId {
  return task.set === undefined ? task.id : setCardId(task.set.id);
}
