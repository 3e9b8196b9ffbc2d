import type { MessageRef } from '#src/chat/index.ts';
import type { Decision } from '#src/pipeline/index.ts';
import { isBlind, isContentRemoved, type Task } from '#src/tasks/index.ts';
import { checkRetry, draftOfRequest, modelFingerprint, requestAt } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { orderBlindRetry } from '../comparisons/remake.ts';
import { rightsIn } from '../input/member-rights.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { forbiddenReply, mayNotDecideOn } from '../policy/rules-here.ts';
import { decidedLine } from '../sentences/cards/approval.ts';
import { cannotCancel } from '../sentences/cards/task-card.ts';
import { pausedSentence } from '../sentences/pause.ts';
import { SETTINGS_CHANGED, UNDECIDED } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';
import { shortId } from '../ui/buttons.ts';
import { type Line, textCard } from '../ui/card.ts';
import { askBeforeShowing } from './offers.ts';
import { overBudgetWords } from './over-budget.ts';
import { placeOrder } from './place-order.ts';
import { nextTake, replyToHere, takeReply } from './takes.ts';

/** Decision that a user can take on a task by a button. */
type DecisionKind = 'cancel' | 'withdraw' | 'again' | 'leave' | 'identify' | 'show' | 'refetch';

/**
 * Takes a decision on a task for its requester or a manager of its channel. The task service decides if it still
 * applies; the reply reports the outcome.
 */
export async function decide(
  ports: BotPorts,
  caller: Caller,
  task: Task,
  kind: DecisionKind,
  take: () => Promise<Decision>,
): Promise<Reply> {
  const refusal = await mayNotDecideOn(ports, caller, task.origin);
  if (refusal !== null) return refused(refusal);
  return decisionReply(ports, caller, task, kind, await take());
}

/** Reports the outcome of a decision to the user who took it. */
export async function decisionReply(
  ports: BotPorts,
  caller: Caller,
  task: Task,
  kind: DecisionKind,
  decision: Decision,
): Promise<Reply> {
  if (decision.paused !== undefined) return refused(pausedSentence(decision.paused));
  if (decision.forbidden !== undefined) return forbiddenReply(caller, decision.forbidden);
  if (decision.outdated === true) return refused(SETTINGS_CHANGED);
  if (decision.over === undefined) {
    const { done, task: now } = decision;
    return privately(textCard(done ? doneLine(kind, now) : tooLateLine(kind, now, ports.clock.now())));
  }
  const { origin, request } = task;
  return refused(
    await overBudgetWords(ports, caller, decision.over, { origin, model: request.model, ordered: null, fit: null }),
  );
}

function doneLine(kind: DecisionKind, task: Task): Line {
  switch (kind) {
    case 'withdraw':
      return withdrawnLine(task);
    case 'cancel':
      if (task.state === 'declined') return withdrawnLine(task);
      if (isBlind(task)) return ['Cancelled. The video service may still finish what was sent, and charge for it.'];
      return [task.sends === 0 ? 'Cancelled. You were not charged.' : `Cancelled in Dailies. ${cannotCancel(task)}`];
    case 'again':
      return ['Sending it again. If the service accepted it the first time as well, it charges for both.'];
    case 'leave':
      return ['Left unresolved. If the service accepted it, you’ll find it in its console.'];
    case 'identify':
      return ['Thanks. I’ll track it from here.'];
    case 'show':
      return ['The clip is on its way to its message, or to a new one if that was deleted.'];
    case 'refetch':
      return ['Fetching it again. Its message shows the progress.'];
  }
}

/** Confirms a withdrawal, or reports that the request had expired. */
function withdrawnLine({ declined }: Task): Line {
  return [`${declined?.how === 'expired' ? 'This request has expired' : 'Withdrawn'}. Nothing was charged.`];
}

function tooLateLine(kind: DecisionKind, task: Task, nowMs: number): Line {
  if (kind === 'show' || kind === 'refetch')
    return ['There is nothing to fetch right now. Its message shows the current state.'];
  // How far one of its clips is would tell how fast its model is.
  if (kind === 'cancel') return [isBlind(task) ? 'There is nothing to cancel.' : tooLateToCancel(task)];
  if (kind === 'withdraw') return decidedLine(task, nowMs);
  return ['Someone already decided this. Its message shows the current state.'];
}

function tooLateToCancel({ state }: Task): string {
  switch (state) {
    case 'uncertain':
      return 'It’s unconfirmed whether the service accepted this one, so I can’t stop it. Its message says what you can do.';
    case 'sending':
    case 'cancelled':
      return 'Already cancelled.';
    case 'completed':
      return 'Too late to cancel: the clip is finished.';
    case 'requested':
    case 'waiting':
    case 'claimed':
    case 'polling':
    case 'failed':
    case 'rejected':
    case 'declined':
      return 'There is nothing to cancel: it has already ended.';
  }
}

/**
 * Returns the caller as they are in the channel of a task: someone who manages it may cancel its clips from elsewhere, such
 * as a home page or a direct message. Where there are none, on the chat page, any name has every right in any channel.
 */
export async function callerAt(ports: BotPorts, caller: Caller, { channel, user }: Task['origin']): Promise<Caller> {
  const { hasDirectMessages } = ports.chat.platform(caller.platform).limits;
  if (channel === caller.channel || user.id === caller.user.id || !hasDirectMessages) return caller;
  return { ...caller, channel, mayManage: (await rightsIn(ports, caller, channel)).manage };
}

/** Cancels a task and reports the actual outcome, including a possible charge. */
export async function cancelTask(ports: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  return decide(ports, await callerAt(ports, caller, task.origin), task, 'cancel', () =>
    ports.tasks.cancel(task.id, caller.user),
  );
}

/**
 * Orders a task's request again by button or reaction, for its requester and managers of its channel. One retry at a time:
 * presses and reactions lead to the one in progress, and once it has ended to the next take ({@link nextTake}).
 * @param reaction the message that the caller reacted to. Default: a button was pressed.
 * @param at the model of another video service that the button named, as `modelFingerprint` has it. Default: its own model.
 */
export async function retryOnce(
  ports: BotPorts,
  caller: Caller,
  original: Task,
  { reaction, at }: { readonly reaction?: MessageRef; readonly at?: string } = {},
): Promise<Reply> {
  const instead = `To make it again under your own name, use /video retry ${shortId(original.id)}`;
  const refusal = await mayNotDecideOn(ports, caller, original.origin, instead);
  if (refusal !== null) return refused(refusal);
  if (isUndecided(original)) return refused(UNDECIDED);
  if (isContentRemoved(original)) return refused(PROMPT_REMOVED);
  if (isBlind(original)) return orderBlindRetry(ports, caller, original, null);
  const catalog = ports.catalog();
  const model = at === undefined ? undefined : catalog.models.find((one) => modelFingerprint(one) === at);
  if (at !== undefined && model === undefined)
    return refused('That model isn’t offered any more. Nothing was bought. Retry orders the clip as it was.');
  const checked =
    model === undefined ? checkRetry(catalog, original.request) : requestAt(catalog, original.request, model.name);
  const shownRequest = model === undefined || !checked.ok ? undefined : draftOfRequest(checked.request);
  const question = await askBeforeShowing(ports, caller, original, shownRequest);
  if (question !== null) return question;
  const take = await nextTake(ports, caller, `retry:${original.id}`, reaction);
  const replyTo = await replyToHere(ports, caller, original.id);
  const placed = await placeOrder(ports, caller, checked, { ...take, retryOf: original.id, ...replyTo });
  return takeReply(ports, caller, { original, take, placed });
}

/** Returns true for an uncertain task: the service may have accepted it and bill it, so it needs a decision first. */
export function isUndecided({ state, leftBy }: Task): boolean {
  return state === 'uncertain' && leftBy === undefined;
}
