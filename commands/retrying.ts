import type { Task } from '#src/tasks/task.ts';
import { checkAgain } from '#src/videos/check.ts';
import { mayDecide, shortId } from './buttons.ts';
import type { Caller, Reply } from './command.ts';
import { placedReply, placeOrder } from './ordering.ts';
import { retriedAlready } from './sentences/decisions.ts';
import { mayNot, retryYourself, UNDECIDED } from './sentences/refusals.ts';
import { type BotPorts, privately, refused } from './subcommand.ts';

/** Makes a task's request again, checked and priced by the catalog of now; each time the command is given. */
export async function retryByCommand(ports: BotPorts, caller: Caller, original: Task): Promise<Reply> {
  if (isUndecided(original)) return refused(UNDECIDED);
  const checked = checkAgain(ports.catalog(), original.request);
  return placedReply(await placeOrder(ports, caller, checked, { retryOf: original.id }));
}

/**
 * The same by a button or a reaction: for the requester and who manages the channel, and once per task, however often
 * and by whichever of the two it is asked for.
 */
export async function retryByPress(ports: BotPorts, caller: Caller, original: Task): Promise<Reply> {
  if (!mayDecide(caller, original.origin)) {
    return refused(mayNot(original.origin.user, retryYourself(shortId(original.id))));
  }
  if (isUndecided(original)) return refused(UNDECIDED);
  const message = await ports.chat.messageOf(original.id);
  const isHere = message !== undefined && message.channel === caller.channel;
  const placed = await placeOrder(ports, caller, checkAgain(ports.catalog(), original.request), {
    key: `retry:${original.id}`,
    retryOf: original.id,
    ...(isHere ? { replyTo: message.message } : {}),
  });
  // The same press may come twice: by another replica, or by one that goes on where a dead one was.
  if (!placed.ok || placed.isNew || placed.task.origin.interaction === caller.interaction) return placedReply(placed);
  return privately(retriedAlready(original, placed.task, await ports.chat.messageOf(placed.task.id)));
}

/** The service may have it and may bill it; whoever wants it again decides on this one first. */
function isUndecided({ state, leftBy }: Task): boolean {
  return state === 'uncertain' && leftBy === undefined;
}
