import { setOfCard } from '#src/chat/index.ts';
import type { ApprovalOutcome, ApprovalTasks } from '#src/money/index.ts';
import { type Approver, asOf, isSamePrice, type Price, priceOf, type Task, type TaskId } from '#src/tasks/index.ts';
import { approversFor, whoDecides } from '#src/teams/index.ts';
import { checkAgain, titled } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { membershipIn } from '../input/membership.ts';
import { type BotPorts, privately, refused, teamOf } from '../input/subcommand.ts';
import {
  approvedCard,
  decidedCard,
  forbiddenApproval,
  lateApprovalCard,
  OWN_REQUEST,
  onlyApprovers,
  outOfCatalog,
  overBudgetCard,
  pausedApproval,
  repricedCard,
  requestId,
  requestPrice,
  unreadGroup,
  wholeSetCard,
} from '../sentences/approvals/answers.ts';
import { FORM_WORDS } from '../sentences/forms.ts';
import { refusalSentences, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import type { Press } from '../ui/buttons.ts';
import { formId } from '../ui/form-ids.ts';

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
  if (caller.acknowledged !== undefined && !(await caller.acknowledged(false)))
    return { kind: 'offer', id: `approve:${requestId(tasks)}`, card: lateApprovalCard(tasks, press) };
  const outcome = await ports.approvals.approve(tasks, {
    by: caller.user,
    offered: press.price,
    current: currentPrices(ports, tasks),
    grant: press.grant,
  });
  return replyTo(ports, caller, outcome);
}

/** Opens the form for the reason of a denial. */
export async function pressDeny(ports: BotPorts, caller: Caller, request: TaskId): Promise<Reply> {
  const found = await decidable(ports, caller, request);
  if ('reply' in found) return found.reply;
  const { title, submit, field: label } = FORM_WORDS.deny;
  const field = { name: 'reason', label, value: '', required: false, long: false, maxLength: REASON_LENGTH };
  return { kind: 'form', form: { id: formId({ form: 'deny', task: request }), title, submit, fields: [field] } };
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
      return refused(forbiddenApproval(refusalSentences(outcome.refusals, fields)));
  }
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
  if (stored.origin.user.id === caller.user.id) return { reply: refused(OWN_REQUEST) };
  const team = { platform: stored.origin.platform, team: stored.origin.team };
  const approvers = approversFor(await ports.approvers.list(team), stored.origin.user.id);
  const { mayApprove, unread } = await rightOf(ports, caller, stored, approvers);
  if (!mayApprove) return { reply: refused(unread ?? onlyApprovers(approvers)) };
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
  if (task.set === undefined) return setOfCard(id) === null ? [task] : null;
  const [first = task, ...others] = await chat.setOf(task.set);
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
  const isMember = (id: string) => ports.chat.isMember(platform, { team, channel, address }, id);
  // Roles and administrative rights are those in the team of the interaction; a person may have left that of the task.
  if (team !== caller.team) return { mayApprove: isNamed && (await isMember(user.id)) };
  const { isAmong, unread } = await membershipIn(ports, caller, approvers);
  const mayApprove = isAmong || (caller.mayAdminister && (await whoDecides(approvers, isMember)).length === 0);
  return { mayApprove, ...(unread === null ? {} : { unread: unreadGroup(unread.name, unread.reason) }) };
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
