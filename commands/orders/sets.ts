import { setCardId, setOfCard } from '#src/chat/index.ts';
import { clipsOf, outdatedIn, type Shot } from '#src/orders/index.ts';
import {
  formatPrice,
  isContentRemoved,
  isSamePrice,
  type Price,
  type SetKind,
  type SetPlace,
  type Task,
  type TaskId,
  total,
} from '#src/tasks/index.ts';
import {
  asTyped,
  checkRetry,
  draftOfComparison,
  draftOfRequest,
  isChained,
  type RequestDraft,
} from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { setDetailsCard } from '../sentences/cards/task-card.ts';
import { CHAINED_ELSEWHERE } from '../sentences/chain.ts';
import { CANNOT_CANCEL } from '../sentences/errors.ts';
import { all, count } from '../sentences/format.ts';
import { memberWords } from '../sentences/ordered.ts';
import { refusalSentences, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';
import { joinShots } from '../studio/join.ts';
import { type Card, seeItHere, textCard } from '../ui/card.ts';
import { askBeforeShowing, offerSet } from './offers.ts';
import { placedReply, placeOrder } from './place-order.ts';
import { nextTake, replyToHere, takeReply } from './takes.ts';
import { callerAt, decide } from './task-actions.ts';
import { orderPrice } from './what-fits.ts';

/** Returns the tasks of a set by the id of its card, if the caller may see them; empty for any other id. */
async function setHere(ports: BotPorts, caller: Caller, card: TaskId): Promise<readonly Task[]> {
  const set = setOfCard(card);
  const first = set === null ? undefined : await taskHere(ports, caller, set);
  return first?.set === undefined ? [] : ports.chat.setOf(first.set);
}

export async function pressOnSet(
  ports: BotPorts,
  caller: Caller,
  press: { readonly action: string; readonly task: TaskId; readonly price?: Price | null },
): Promise<Reply> {
  const tasks = await setHere(ports, caller, press.task);
  if (tasks.length > 0 && press.action === 'cancel') return cancelSet(ports, caller, tasks);
  if (tasks.length > 0 && press.action === 'withdraw') return withdrawSet(ports, caller, tasks);
  const [first] = tasks;
  const { price = null } = press;
  // A board has one with a price for its outdated shots, or where it was not approved.
  if (first?.set?.kind === 'storyboard' && press.action === 'retry' && price !== null && first.state !== 'declined')
    return remakeOutdated(ports, caller, first.set, price);
  if (tasks.length > 0 && press.action === 'retry') return repeatSet(ports, caller, tasks, price);
  if (first?.set?.kind === 'storyboard' && press.action === 'join') return joinBoard(ports, caller, first.set);
  if (first?.set !== undefined && press.action === 'show') return showSet(ports, caller, { ...first, set: first.set });
  return first?.set !== undefined && press.action === 'details'
    ? showSetDetails(ports, first.set)
    : refused(UNKNOWN_BUTTON);
}

const OUTDATED_CHANGED = 'The board has changed. Nothing was bought; its button shows the shots and the price now.';

/**
 * Makes the shots of a storyboard again that start with an earlier take, each as its **Retry** would, for the price on the
 * button. Each waits for the take of the shot before that the same press ordered.
 */
async function remakeOutdated(ports: BotPorts, caller: Caller, place: SetPlace, offered: Price): Promise<Reply> {
  const shots = outdatedIn(await ports.boards.get(place));
  const originals = shots.map(({ chosen, takes }) => takes.find((task) => !isContentRemoved(task)) ?? chosen);
  const orders = originals.flatMap((task) => {
    const checked = checkRetry(ports.catalog(), task.request);
    return checked.ok ? [{ task, checked, price: orderPrice(checked) }] : [];
  });
  const [{ task: first } = {}] = orders;
  if (first === undefined || orders.length < shots.length) return refused(OUTDATED_CHANGED);
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return refused(refusal);
  if (caller.channel !== first.origin.channel) return refused(CHAINED_ELSEWHERE);
  const [sum] = total(orders.map(({ price }) => price));
  if (sum === undefined || !isSamePrice(sum, offered)) return refused(OUTDATED_CHANGED);
  const { acknowledged, ...later } = {
    ...caller,
    address: ports.chat.platform(caller.platform).channels.lastingAddress(caller.address),
  };
  for (const order of orders) {
    const { task, checked, price } = order;
    const buyer = { ...later, shown: { price }, ...(task === first && acknowledged ? { acknowledged } : {}) };
    const take = await nextTake(ports, caller, `retry:${task.id}`);
    const placed = await placeOrder(ports, buyer, checked, { ...take, retryOf: task.id });
    if (!placed.ok) return refusedAmong(shots, orders.indexOf(order), placedReply(placed));
  }
  return privately(textCard([madeAgain(shots)]));
}

/** Returns the reply to a shot that was refused, with those that were ordered before it. */
function refusedAmong(shots: readonly Pick<Shot, 'at'>[], index: number, reply: Reply): Reply {
  if (reply.kind !== 'refused' || index === 0) return reply;
  const made = madeAgain(shots.slice(0, index));
  return { ...reply, sentence: `${made} Shot ${shots[index]?.at} isn’t:\n${reply.sentence}` };
}

function madeAgain(shots: readonly Pick<Shot, 'at'>[]): string {
  const numbers = shots.map(({ at }) => String(at));
  return `${shots.length === 1 ? 'Shot' : 'Shots'} ${all(numbers)} ${shots.length === 1 ? 'is' : 'are'} being made again.`;
}

/** Joins the chosen clips of a storyboard, below its card; buys nothing. */
async function joinBoard(ports: BotPorts, caller: Caller, place: SetPlace): Promise<Reply> {
  const tasks = clipsOf(await ports.boards.get(place)).map(({ id }) => id);
  return joinShots(ports, caller, { tasks, ...(await replyToHere(ports, caller, setCardId(place.id))) });
}

/** Shows the details of a set to the caller: of all its tasks together. */
async function showSetDetails({ chat }: BotPorts, place: SetPlace): Promise<Reply> {
  const [view, message] = await Promise.all([chat.setView(place), chat.messageOf(setCardId(place.id))]);
  return privately(setDetailsCard(view, message));
}

/** Posts the card of a set anew if its message was deleted. */
async function showSet(
  ports: BotPorts,
  caller: Caller,
  { origin, set }: Pick<Task, 'origin'> & { readonly set: SetPlace },
): Promise<Reply> {
  const refusal = await mayNotDecideOn(ports, caller, origin);
  if (refusal !== null) return refused(refusal);
  const isNew = await ports.chat.showSet(set);
  const where = isNew ? 'Its message was deleted, so I posted it again.' : 'Its message is there.';
  return privately(textCard([where, ...seeItHere(await ports.chat.messageOf(setCardId(set.id)))]));
}

/**
 * Handles a reaction to the card of a set. ❌ cancels like the button; 🔁 buys nothing: it answers with the price of the
 * same again and a button.
 */
export async function reactToSet(
  ports: BotPorts,
  caller: Caller,
  card: TaskId,
  action: 'retry' | 'cancel',
): Promise<Reply | null> {
  const tasks = await setHere(ports, caller, card);
  if (tasks.length === 0) return null;
  return action === 'cancel' ? cancelSet(ports, caller, tasks) : repeatSet(ports, caller, tasks, null);
}

/** Returns the further takes of the shots of a storyboard, and those of shots that were inserted; none for other sets. */
async function addedTakes({ boards }: BotPorts, tasks: readonly Task[]): Promise<readonly Task[]> {
  const place = tasks[0]?.set;
  if (place?.kind !== 'storyboard') return [];
  const own = new Set(tasks.map(({ id }) => id));
  const { shots } = await boards.get(place);
  return shots.flatMap(({ takes }) => takes).filter(({ id }) => !own.has(id));
}

/** Returns why the caller may not cancel a task, here or from elsewhere; `null` if they may. */
async function mayNotCancel(ports: BotPorts, caller: Caller, { origin }: Task): Promise<string | null> {
  return mayNotDecideOn(ports, await callerAt(ports, caller, origin), origin);
}

/**
 * Cancels the tasks of a set that have not ended, and reports what became of each. Of the takes that were added to a
 * storyboard, which others may have bought, only those that the caller may decide on.
 */
async function cancelSet(ports: BotPorts, caller: Caller, tasks: readonly Task[]): Promise<Reply> {
  const [first] = tasks;
  if (first === undefined) return refused(UNKNOWN_BUTTON);
  const refusal = await mayNotCancel(ports, caller, first);
  if (refusal !== null) return refused(refusal);
  if (first.state === 'requested') return withdrawSet(ports, caller, tasks);
  const added = await Promise.all(
    (await addedTakes(ports, tasks)).map(async (one) =>
      (await mayNotCancel(ports, caller, one)) === null ? [one] : [],
    ),
  );
  const done = await Promise.all([...tasks, ...added.flat()].map(({ id }) => ports.tasks.cancel(id, caller.user)));
  return privately(setCancelledCard(first.set?.kind ?? 'takes', done));
}

/** Reports what became of the tasks of a set that was cancelled, including possible charges. */
function setCancelledCard(
  kind: SetKind,
  decisions: readonly { readonly done: boolean; readonly task: Pick<Task, 'sends' | 'price'> }[],
): Card {
  const done = decisions.filter((one) => one.done).map(({ task }) => task);
  const { one } = memberWords(kind);
  if (done.length === 0) return textCard(['There is nothing to cancel: all of it has ended.']);
  const sent = done.filter(({ sends }) => sends > 0);
  const [price] = total(sent.map((task) => task.price));
  const cost =
    price === undefined
      ? 'You were not charged for that.'
      : `${CANNOT_CANCEL}: it may still finish ${count(sent.length, one)} and charge ${formatPrice(price)}.`;
  return textCard([`Cancelled ${count(done.length, one)}. ${cost}`]);
}

/** Withdraws the request for the approval of a set: of all its tasks, in one commit. */
async function withdrawSet(ports: BotPorts, caller: Caller, [first]: readonly Task[]): Promise<Reply> {
  if (first === undefined) return refused(UNKNOWN_BUTTON);
  return decide(ports, caller, first, 'withdraw', () => ports.tasks.withdraw(first.id, caller.user));
}

/** Orders the clips of a set again, as a new set, for the price on the button; offers it for another or none (`null`). */
async function repeatSet(
  ports: BotPorts,
  caller: Caller,
  tasks: readonly Task[],
  offered: Price | null,
): Promise<Reply> {
  const original = tasks.find((task) => !isContentRemoved(task));
  if (original?.set === undefined) return refused(PROMPT_REMOVED);
  const refusal = await mayNotDecideOn(ports, caller, original.origin);
  if (refusal !== null) return refused(refusal);
  const whole = draftOfSet(original, tasks);
  const question = await askBeforeShowing(ports, caller, original, whole);
  if (question !== null) return question;
  if (whole.shots !== undefined || whole.models !== undefined) {
    const next = await nextTake(ports, caller, `retry:set-${original.set.id}`);
    return offerSet(ports, caller, { ...next, request: whole });
  }
  const again = checkRetry(ports.catalog(), original.request);
  if (!again.ok) return refused(...refusalSentences(again.refusals, caller.fields));
  const checked = { ...again, takes: original.set.of };
  const take = await nextTake(ports, caller, `retry:set-${original.set.id}`);
  const identity = { ...take, ...(await replyToHere(ports, caller, original.set.id)) };
  if (offered === null)
    return offerSet(ports, caller, { ...identity, request: draftOfRequest(checked.request, checked.takes) });
  const placed = await placeOrder(ports, { ...caller, shown: { price: offered } }, checked, identity);
  return takeReply(ports, caller, { original, take, placed });
}

/** Returns the options that would order the tasks of a set again; a shot without content is left out. */
function draftOfSet({ request, set }: Task, tasks: readonly Task[]): RequestDraft {
  const whole = tasks.filter((task) => !isContentRemoved(task));
  if (set?.kind === 'comparison') return draftOfComparison(whole.map((task) => task.request));
  if (set?.kind !== 'storyboard') return draftOfRequest(request, tasks.length);
  const shots = whole.map((task) => draftOfRequest(task.request));
  const lines = shots.map(asTyped).map(({ prompt = '', style }) => {
    const line = prompt.replace(/\s+/gu, ' ');
    return style === undefined ? line : `${line} --style ${style}`;
  });
  return { shots, script: lines.join('\n'), ...(shots.some(isChained) ? { chain: true } : {}) };
}
