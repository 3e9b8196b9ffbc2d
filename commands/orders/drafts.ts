import { type Draft, taskIdOf } from '#src/pipeline/index.ts';
import { formatPrice, isContentRemoved, isSamePrice, type Price, type Task, type TaskId } from '#src/tasks/index.ts';
import { checkRequest } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { taskHere, visibleAmong } from '../input/task-lookup.ts';
import { setSize } from '../sentences/ordered.ts';
import { DISCARDED, mayNot, refusalProblems } from '../sentences/refusals.ts';
import { removedSentence } from '../sentences/removal.ts';
import { shortId } from '../ui/buttons.ts';
import { textCard } from '../ui/card.ts';
import { offerOf, refuseRequest } from './offers.ts';
import type { Asked } from './order-context.ts';
import { placedReply, placeOrder } from './place-order.ts';
import { orderedBy, orderPrice } from './what-fits.ts';

/** Returns the draft of a button if the caller may use it; otherwise the reply. */
export async function draftFor(
  ports: BotPorts,
  caller: Caller,
  id: TaskId,
): Promise<{ readonly draft: Draft } | { readonly reply: Reply }> {
  const draft = await ports.drafts.get(id);
  const task = await taskHere(ports, caller, draft === undefined ? id : taskIdOf(draft.key));
  if (task !== undefined) return { reply: await createdAlready(ports, caller, task) };
  if (draft === undefined || draft.platform !== caller.platform || draft.team !== caller.team)
    return { reply: refused('I no longer have this request. Send it again.') };
  if (draft.by.id !== caller.user.id) return { reply: refused(mayNot(draft.by, null)) };
  return draft.isDiscarded === true ? { reply: refused(DISCARDED) } : { draft };
}

/** Orders a draft for the price on its button; asks for confirmation if that is missing or not the current price. */
export async function confirmDraft(
  ports: BotPorts,
  caller: Caller,
  id: TaskId,
  offered: Price | null,
  ask?: Asked,
): Promise<Reply> {
  const found = await draftFor(ports, caller, id);
  if ('reply' in found) return found.reply;
  const { draft } = found;
  const checked = checkRequest(ports.catalog(), draft.request);
  if (!checked.ok) return refuseRequest(ports, caller, draft, refusalProblems(checked, caller.fields));
  const price = orderPrice(checked);
  if (offered === null || !isSamePrice(offered, price))
    return privately(await offerOf(ports, caller, draft, { reason: { kind: 'price', before: offered } }));
  const placed = await placeOrder(ports, caller, checked, { ...draft, draft, ...(ask === undefined ? {} : { ask }) });
  const isOurs = !placed.ok || placed.isNew || placed.task.origin.interaction === caller.interaction;
  if (!isOurs) return createdAlready(ports, caller, placed.task);
  const reply = placedReply(placed);
  if (!placed.ok || reply.kind !== 'task') return reply;
  const ordered = orderedBy(checked);
  const done = placed.task.state === 'requested' ? 'Sent for approval' : 'Ordered';
  return { ...reply, settled: `${done}: ${ordered === null ? '1 clip' : setSize(ordered)} · ${formatPrice(price)}.` };
}

/** Answers a second press. Links the task's message only if the caller may see it: a Retry may have been made in a private channel. */
async function createdAlready(ports: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  if (isContentRemoved(task)) return refused(removedSentence(task));
  const isSeen = visibleAmong(caller, [task]).length > 0;
  const message = isSeen ? await ports.chat.messageOf(task.id) : undefined;
  if (message === undefined)
    return privately(textCard(['This was already requested, as ', { code: shortId(task.id) }]));
  return privately(textCard(['This was already requested. ', { message, label: 'See it here' }]));
}
