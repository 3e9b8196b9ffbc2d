import { hash } from 'node:crypto';
import type { MessageRef } from '#src/chat/index.ts';
import { memberIds, taskIdOf } from '#src/pipeline/index.ts';
import { isEnded, type Task, type TaskId, typedPrompt } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { promptPart } from '../sentences/removal.ts';
import { stateWord } from '../sentences/state-words.ts';
import { shortId } from '../ui/buttons.ts';
import { type Card, seeItHere, textCard } from '../ui/card.ts';
import type { OrderIdentity } from './offers.ts';
import { type Placed, placedReply } from './place-order.ts';

/** Idempotency key of a take, and the press to store with it. */
interface NextTake {
  readonly key: string;
  /** Identifies the press in `Task.press`. */
  readonly press: string;
}

/**
 * Returns the take that a press on **Retry** leads to: the one that this press made or led to before, else one that is in progress,
 * else the next one. The first has the key `retry:<task>`, later ones `retry:<task>:<n>`.
 * @param reaction the message that the caller reacted to; absent for a button. A reaction counts once per person and
 * message, since platforms give a repeated one an id of its own.
 */
export async function nextTake(
  { tasks, drafts }: Pick<BotPorts, 'tasks' | 'drafts'>,
  caller: Caller,
  base: string,
  reaction?: MessageRef,
): Promise<NextTake> {
  const press = pressOf(caller, reaction);
  const before = await drafts.takeOf(press);
  if (before !== undefined) return { key: before, press };
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? base : `${base}:${number}`;
    const task = await tasks.get(taskIdOf(key));
    if (task === undefined || isBy(task, caller, press) || !(await haveEnded(tasks, task))) return { key, press };
  }
}

/** Returns whether a retry is over for its requester, with all clips of its set: then Retry makes the next take. */
async function haveEnded(tasks: BotPorts['tasks'], first: Task): Promise<boolean> {
  if (first.set === undefined) return hasEnded(first);
  const all = await Promise.all(memberIds(first.set).map((id) => tasks.get(id)));
  return all.every((task) => task === undefined || hasEnded(task));
}

function hasEnded(task: Task): boolean {
  // A cancelled task is polled on, for the books.
  return task.state === 'cancelled' || (isEnded(task) && task.presented);
}

function isBy({ press: made, origin }: Task, { platform, interaction }: Caller, press: string): boolean {
  return made === undefined ? origin.platform === platform && origin.interaction === interaction : made === press;
}

/** Returns a hash of a press, which stays after the task's content is removed, without naming the person. */
export function pressOf({ platform, user, interaction }: Caller, reaction?: MessageRef): string {
  const of = reaction === undefined ? [interaction] : [reaction.channel, reaction.message, user.id];
  return hash('sha256', JSON.stringify([platform, ...of]), 'hex').slice(0, 16);
}

/** Returns the message of a task, or of a set's card, as the one that a new order replies to, where it is in the channel. */
export async function replyToHere(
  { chat }: Pick<BotPorts, 'chat'>,
  { channel }: Caller,
  id: TaskId,
): Promise<Pick<OrderIdentity, 'replyTo'>> {
  const message = await chat.messageOf(id);
  return message?.channel === channel ? { replyTo: message.message } : {};
}

/** Outcome of the order of a take. */
interface PlacedTake {
  /** Task, or one of the set, that is repeated. */
  readonly original: Task;
  readonly take: NextTake;
  readonly placed: Placed;
}

/** Returns the reply to a press on **Retry**: to one that came second, where the take is that the first one ordered. */
export async function takeReply(
  ports: BotPorts,
  caller: Caller,
  { original, take, placed }: PlacedTake,
): Promise<Reply> {
  // The same press may arrive twice: at another replica, or at one that takes over from a crashed replica.
  const isOurs = ({ press, origin }: Task) => press === take.press || origin.interaction === caller.interaction;
  if (!placed.ok || placed.isNew || isOurs(placed.task)) return placedReply(placed);
  await ports.drafts.ledTo(take.press, take.key);
  // The retry may have been made in a private channel.
  const isSeen = visibleAmong(caller, [placed.task]).length > 0;
  const where = isSeen ? await ports.chat.messageOf(placed.task.id) : undefined;
  // Its prompt may have been corrected there in a form.
  const shown = isSeen ? placed.task : { ...placed.task, request: original.request };
  return privately(retriedAlready(original, shown, where));
}

function retriedAlready(original: Task, retry: Task, message: MessageRef | undefined): Card {
  return textCard([
    `${already(retry)}: `,
    promptPart(typedPrompt(retry.request), 80),
    ' (',
    { code: shortId(retry.id) },
    ').',
    ...seeItHere(message),
    ' For another take: ',
    { code: `/video retry ${shortId(original.id)}` },
  ]);
}

function already(retry: Task): string {
  if (retry.state === 'completed') return 'Already retried';
  if (retry.state === 'uncertain') return 'Already sent again, still unconfirmed';
  const word = stateWord(retry);
  return word === 'queued' || word === 'in progress' ? 'Already on its way' : `Already retried, and ${word}`;
}
