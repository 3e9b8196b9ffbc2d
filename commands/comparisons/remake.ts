import { memberIdOf, retryKey, taskIdOf } from '#src/pipeline/index.ts';
import {
  comparisonOf,
  formatPrice,
  isAbove,
  isContentRemoved,
  isSamePrice,
  labelAt,
  type Price,
  phaseAtEnd,
  priceOf,
  type Task,
  type TaskId,
} from '#src/tasks/index.ts';
import { checkRetry, draftOfRequest } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, teamOf } from '../input/subcommand.ts';
import { draftOf } from '../orders/offers.ts';
import { placedReply, placeOrder } from '../orders/place-order.ts';
import { decideSpending } from '../orders/spending.ts';
import { nextTake, replyToHere, takeReply } from '../orders/takes.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { BLIND_UNTIL_REVEAL } from '../sentences/cards/comparison.ts';
import { pausedSentence } from '../sentences/pause.ts';
import { SETTINGS_CHANGED } from '../sentences/refusals.ts';
import { button } from '../ui/buttons.ts';
import { type Card, textCard } from '../ui/card.ts';

/** Reports that a clip could not be ordered again, without the amounts that would betray its model. */
const REMAKE_REFUSED =
  'I couldn’t order this clip again: a limit, a budget or a missing permission is in the way. Nothing was bought. Retry it after the reveal to see which.';

/**
 * Orders a clip of a comparison again that could not be made, under its label. It costs at most the highest price of the
 * comparison: its own would tell its model. So it is always asked about, with that price.
 * @param confirmed highest price on the button of the question; `null`: none was asked
 */
export async function orderBlindRetry(
  ports: BotPorts,
  caller: Caller,
  task: Task,
  confirmed: Price | null,
): Promise<Reply> {
  const place = comparisonOf(task);
  if (place?.upTo === undefined) return refused(BLIND_UNTIL_REVEAL);
  const refusal = await mayNotDecideOn(ports, caller, task.origin);
  if (refusal !== null) return refused(refusal);
  const entry = (await ports.chat.comparisons.entries(place))[place.at - 1] ?? task;
  if (!isOver(entry) && entry.id === task.id) return refused(BLIND_UNTIL_REVEAL);
  const checked = checkRetry(ports.catalog(), task.request);
  const { upTo } = place;
  // The catalog has changed: what it costs now would have to be told.
  if (!checked.ok || isAbove(priceOf(checked.model, checked.request.seconds), upTo)) return refused(BLIND_UNTIL_REVEAL);
  const settings = await ports.settings.get(teamOf(caller));
  const { paused, ...rules } = await ports.spendingRules(caller, upTo.currency, settings);
  if (paused !== undefined) return refused(pausedSentence(paused));
  const decision = decideSpending(upTo, rules, true);
  if (decision.kind === 'request_approval')
    return refused('Ordering this clip again may need an approval. Retry it after the reveal.');
  const question = remakeQuestion(task.id, place.at, upTo);
  if (confirmed === null || !isSamePrice(confirmed, upTo)) return privately(question);
  if (caller.acknowledged !== undefined && !(await caller.acknowledged()))
    return { kind: 'offer', id: taskIdOf(`remake:${place.id}:${place.at}`), card: question };
  const first = memberIdOf(place.id, place.at);
  const take = await nextTake(ports, caller, retryKey(first, 1));
  const { acknowledged: _acknowledged, shown: _shown, ...buyer } = caller;
  const draft = {
    ...draftOf(caller, { ...take, request: draftOfRequest(task.request) }),
    createdAtMs: ports.clock.now(),
  };
  const replyTo = await replyToHere(ports, caller, place.id);
  const placed = await placeOrder(ports, buyer, checked, {
    ...take,
    retryOf: task.id,
    takeOf: place,
    draft,
    ...replyTo,
  });
  if (!placed.ok) {
    // Its reasons and buttons name the price, and its request the model, which an export would show.
    await ports.drafts.discard({ ...draft, request: { prompt: task.request.prompt } });
    return refused(placed.code === 'outdated' ? SETTINGS_CHANGED : REMAKE_REFUSED);
  }
  if (isContentRemoved(placed.task)) return placedReply(placed);
  return takeReply(ports, caller, { original: task, take, placed });
}

/** Asks whether to make a blind clip again, with the most that it may cost. */
function remakeQuestion(task: TaskId, at: number, upTo: Price): Card {
  const most = formatPrice(upTo);
  const cost = `Making clip ${labelAt(at)} again costs at most ${most}. What it costs shows its model, so that is told after the reveal.`;
  return {
    ...textCard([cost]),
    buttons: [
      button({ action: 'remake', clip: task, upTo, isConfirmed: true }, `Make it for up to ${most}`, 'primary'),
    ],
  };
}

/** Returns whether a task has ended without a clip, so that it may be made again. */
function isOver(task: Task): boolean {
  const phase = phaseAtEnd(task);
  return phase === 'failed' || phase === 'refused' || phase === 'lost';
}
