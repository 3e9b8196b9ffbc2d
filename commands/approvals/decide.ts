import type { ApprovalOutcome } from '#src/money/approvals.ts';
import { approversFor } from '#src/money/approvers.ts';
import type { Approver } from '#src/tasks/approval.ts';
import { asOf } from '#src/tasks/approval.ts';
import { priceOf } from '#src/tasks/price.ts';
import type { Price, Task, TaskId } from '#src/tasks/task.ts';
import { checkAgain } from '#src/videos/check.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import {
  approvedCard,
  decidedCard,
  lateApprovalCard,
  OWN_REQUEST,
  onlyApprovers,
  outOfCatalog,
  overBudgetCard,
  pausedApproval,
  repricedCard,
} from '../sentences/approvals.ts';
import { FORM_WORDS } from '../sentences/forms.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { formId, type Press } from '../ui/buttons.ts';

type ApprovePress = Extract<Press, { readonly action: 'approve' }>;

/** Handles a press on **Approve**: buys the clip if the caller may approve it, and if the platform accepts the press in time. */
export async function pressApprove(ports: BotPorts, caller: Caller, press: ApprovePress): Promise<Reply> {
  const found = await decidable(ports, caller, press.request);
  if ('reply' in found) return found.reply;
  const { task } = found;
  if (caller.acknowledged !== undefined && !(await caller.acknowledged(false)))
    return { kind: 'offer', id: `approve:${task.id}`, card: lateApprovalCard(task, press) };
  const current = currentPrice(ports, task);
  const outcome = await ports.approvals.approve(task, {
    by: caller.user,
    offered: press.price,
    current,
    grant: press.grant,
  });
  return replyTo(ports, caller, outcome);
}

/** Opens the form for the reason of a denial. */
export async function pressDeny(ports: BotPorts, caller: Caller, request: TaskId): Promise<Reply> {
  const found = await decidable(ports, caller, request);
  if ('reply' in found) return found.reply;
  const { title, submit, field: label } = FORM_WORDS.deny;
  const field = { name: 'reason', label, value: '', required: false, long: false };
  return { kind: 'form', form: { id: formId({ form: 'deny', task: request }), title, submit, fields: [field] } };
}

/** Longest reason of a denial, in UTF-16 units. */
const REASON_LENGTH = 300;

/** Denies a request with the reason from the form. */
export async function submitDeny(
  ports: BotPorts,
  caller: Caller,
  request: TaskId,
  values: Readonly<Record<string, string>>,
): Promise<Reply> {
  const found = await decidable(ports, caller, request);
  if ('reply' in found) return found.reply;
  const reason = (values['reason'] ?? '').trim().replace(/\s+/gu, ' ').slice(0, REASON_LENGTH).toWellFormed();
  return replyTo(ports, caller, await ports.approvals.deny(found.task, caller.user, reason));
}

function replyTo({ clock }: BotPorts, { user }: Caller, outcome: ApprovalOutcome): Reply {
  const { task } = outcome;
  switch (outcome.kind) {
    case 'approved':
    case 'denied':
      return privately(approvedCard(outcome.kind, task));
    case 'decided':
      return privately(decidedCard(task, user, clock.now()));
    case 'repriced':
      return privately(repricedCard(task));
    case 'unavailable':
      return refused(outOfCatalog(task));
    case 'over':
      return privately(overBudgetCard(task, outcome.over, outcome.missing));
    case 'paused':
      return refused(pausedApproval(outcome.pause));
  }
}

/** Returns the request if it still waits and the caller may decide on it now; otherwise the reply. */
async function decidable(
  ports: BotPorts,
  caller: Caller,
  id: TaskId,
): Promise<{ readonly task: Task } | { readonly reply: Reply }> {
  const stored = await ports.tasks.get(id);
  if (stored?.approval === undefined || stored.origin.platform !== caller.platform)
    return { reply: refused(UNKNOWN_BUTTON) };
  if (stored.origin.user.id === caller.user.id) return { reply: refused(OWN_REQUEST) };
  const team = { platform: stored.origin.platform, team: stored.origin.team };
  const approvers = approversFor(await ports.approvers.list(team), stored.origin.user.id);
  if (!(await mayApprove(ports, caller, stored, approvers))) return { reply: refused(onlyApprovers(approvers)) };
  const now = ports.clock.now();
  const task = asOf(stored, now);
  return task.state === 'requested' ? { task: stored } : { reply: privately(decidedCard(task, caller.user, now)) };
}

/** Returns whether the caller is one of the approvers, or may administer the team if there are none. */
async function mayApprove(
  ports: BotPorts,
  caller: Caller,
  { origin }: Task,
  approvers: readonly Approver[],
): Promise<boolean> {
  if (approvers.some(({ kind, id }) => kind === 'person' && id === caller.user.id)) return true;
  // Roles and administrative rights are those in the team of the interaction.
  if (origin.team !== caller.team) return false;
  if (approvers.length === 0) return caller.mayAdminister;
  const groups = approvers.filter(({ kind }) => kind !== 'person');
  const place = { team: origin.team, channel: caller.channel, address: caller.address };
  for (const { id } of groups) {
    if (caller.roles?.includes(id) === true) return true;
    const isIn = ports.chat.isInGroup(caller.platform, place, { group: id, user: caller.user.id });
    const isMember = await isIn.catch((thrown: unknown) => {
      ports.logger.warn({ event: 'group_lookup_failed', err: thrown }, 'failed to look up the members of a group');
      return false;
    });
    if (isMember) return true;
  }
  return false;
}

/** Returns the price of a task by the current catalog; `null` where it no longer accepts the request. */
function currentPrice({ catalog }: BotPorts, { request }: Task): Price | null {
  const checked = checkAgain(catalog(), request);
  return checked.ok ? priceOf(checked.model, checked.request.seconds) : null;
}

/** Returns whether the caller may approve a request now. */
export async function isApproverOf(ports: BotPorts, caller: Caller, task: Task): Promise<boolean> {
  if (task.origin.user.id === caller.user.id) return false;
  const approvers = approversFor(await ports.approvers.list(task.origin), task.origin.user.id);
  return mayApprove(ports, caller, task, approvers);
}
