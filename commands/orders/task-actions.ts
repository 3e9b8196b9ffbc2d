import type { MessageRef } from '#src/chat/index.ts';
import type { Decision } from '#src/pipeline/index.ts';
import { isBlind, isContentRemoved, type Price, type Task } from '#src/tasks/index.ts';
import { checkAgain } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { orderBlindRetry } from '../comparisons/remake.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { forbiddenReply, mayNotDecideOn } from '../policy/rules-here.ts';
import { pausedSentence } from '../sentences/administration/pause.ts';
import { BLIND_UNTIL_REVEAL } from '../sentences/comparisons/words.ts';
import { type DecisionKind, decisionCard, retriedAlready } from '../sentences/decisions.ts';
import { retryYourself, UNDECIDED } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';
import { shortId } from '../ui/buttons.ts';
import { askBeforeShowing } from './offers.ts';
import { overBudgetWords } from './over-budget.ts';
import { placedReply, placeOrder } from './place-order.ts';
import { nextTake } from './takes.ts';

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
  if (decision.over === undefined) return privately(decisionCard(kind, decision, ports.clock.now()));
  const { origin, request } = task;
  return refused(
    await overBudgetWords(ports, caller, decision.over, { origin, model: request.model, ordered: null, fit: null }),
  );
}

/** Cancels a task and reports the actual outcome, including a possible charge. */
export function cancelTask(ports: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  return decide(ports, caller, task, 'cancel', () => ports.tasks.cancel(task.id, caller.user));
}

/** Orders a task's request again, checked and priced by the current catalog; a new task for each use of the command. */
export async function retryByCommand(ports: BotPorts, caller: Caller, original: Task): Promise<Reply> {
  if (isUndecided(original)) return refused(UNDECIDED);
  if (isContentRemoved(original)) return refused(PROMPT_REMOVED);
  if (isBlind(original)) return refused(BLIND_UNTIL_REVEAL);
  const question = await askBeforeShowing(ports, caller, original);
  if (question !== null) return question;
  const checked = checkAgain(ports.catalog(), original.request);
  return placedReply(await placeOrder(ports, caller, checked, { retryOf: original.id }));
}

/**
 * Orders a task's request again by button, as {@link retryOnce} does. Asks once if the button shows another price than
 * the catalog has now, or none (`null`).
 */
export function retryByPress(ports: BotPorts, caller: Caller, original: Task, offered: Price | null): Promise<Reply> {
  return retryOnce(ports, { ...caller, shown: { price: offered } }, original);
}

/**
 * Orders a task's request again by button or reaction, for its requester and managers of its channel. One retry at a time:
 * presses and reactions lead to the one in progress, and once it has ended to the next take ({@link nextTake}).
 * @param reaction the message that the caller reacted to. Default: a button was pressed.
 */
export async function retryOnce(
  ports: BotPorts,
  caller: Caller,
  original: Task,
  reaction?: MessageRef,
): Promise<Reply> {
  const refusal = await mayNotDecideOn(ports, caller, original.origin, retryYourself(shortId(original.id)));
  if (refusal !== null) return refused(refusal);
  if (isUndecided(original)) return refused(UNDECIDED);
  if (isContentRemoved(original)) return refused(PROMPT_REMOVED);
  if (isBlind(original)) return orderBlindRetry(ports, caller, original, null);
  const question = await askBeforeShowing(ports, caller, original);
  if (question !== null) return question;
  const checked = checkAgain(ports.catalog(), original.request);
  const message = await ports.chat.messageOf(original.id);
  const isHere = message !== undefined && message.channel === caller.channel;
  const take = await nextTake(ports, caller, `retry:${original.id}`, reaction);
  const identity = {
    ...take,
    retryOf: original.id,
    ...(isHere ? { replyTo: message.message } : {}),
  };
  const placed = await placeOrder(ports, caller, checked, identity);
  // The same press may arrive twice: at another replica, or at one that takes over from a crashed replica.
  const isOurs = (task: Task): boolean => task.press === take.press || task.origin.interaction === caller.interaction;
  if (!placed.ok || placed.isNew || isOurs(placed.task)) return placedReply(placed);
  await ports.drafts.ledTo(take.press, take.key);
  // The retry may have been made in a private channel.
  const isSeen = visibleAmong(caller, [placed.task]).length > 0;
  const where = isSeen ? await ports.chat.messageOf(placed.task.id) : undefined;
  // Its prompt may have been corrected there in a form.
  const shown = isSeen ? placed.task : { ...placed.task, request: original.request };
  return privately(retriedAlready(original, shown, where));
}

/** Returns true for an uncertain task: the service may have accepted it and bill it, so it needs a decision first. */
export function isUndecided({ state, leftBy }: Task): boolean {
  return state === 'uncertain' && leftBy === undefined;
}
