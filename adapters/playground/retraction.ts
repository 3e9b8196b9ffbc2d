import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { beginning } from '#commands/sentences/format.ts';
import { shortId } from '#commands/ui/buttons.ts';
import { type Card, linesOf, withoutDirection } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import type { MessageRef, RemovedView, SetView } from '#src/chat/index.ts';
import { isContentRemoved, type Person, withoutPerson } from '#src/tasks/index.ts';
import { type Message, type MessageStore, maySee, NO_TASK } from './message-store.ts';

/** Characters at the beginning of a prompt that every message which quotes it has; the rest may be cut off. */
const QUOTED_LENGTH = 32;

/**
 * Replaces a message by the text of a removal, and deletes its files. With a task's message also its copies: private
 * replies that quote it, such as lists and **Details**, are removed, and replies to it replaced.
 */
export async function retractMessage(
  messages: MessageStore,
  { message: id }: MessageRef,
  view: RemovedView,
): Promise<void> {
  const message = await messages.get(id);
  if (message === undefined) return;
  const card = cardOf(view);
  // Before the message itself, whose record a repeated attempt compares them with.
  await retractCopies(messages, { id, shown: [message, ...(message.tasks ?? [])] }, card);
  await replaceContent(messages, id, { card, ...NOTHING });
}

const NOTHING = { ...NO_TASK, tasks: [], asked: null };

/**
 * Removes the files that the card of a set no longer names, and the private replies that show tasks that were removed with
 * them. What quotes their prompt alone stays, since that is the prompt of the others as well.
 */
export async function removeFromCard(
  messages: MessageStore,
  { message: id }: MessageRef,
  { members }: SetView,
): Promise<void> {
  const message = await messages.get(id);
  if (message === undefined) return;
  const removed = new Set(members.filter(({ view }) => isContentRemoved(view.task)).map(({ view }) => view.task.id));
  const shown = (message.tasks ?? []).flatMap(({ task, file }) =>
    task !== null && removed.has(task) && typeof file === 'string' ? [{ task }] : [],
  );
  await retractCopies(messages, { id, shown }, message.card);
  await replaceContent(messages, id, {}, members.map(fileIn));
}

/** Returns the name of the file of a clip on the card of its set; `null` for none. An expired one, which is named still, was ours. */
export function fileIn({ view, file }: SetView['members'][number]): string | null {
  return view.task.removal === undefined ? (file?.name ?? null) : null;
}

/**
 * Changes the content of a message unless it is as wanted already, and deletes its files. Does nothing where there is none.
 * @param kept names of the files that stay; default: none
 */
export async function replaceContent(
  messages: MessageStore,
  id: string,
  fields: Partial<Message>,
  kept: readonly (string | null)[] = [],
): Promise<void> {
  const message = await messages.get(id);
  if (message === undefined) return;
  await messages.removeFiles(message, ({ name }) => !kept.includes(name));
  await messages.changeIfThere(id, (current) => {
    const attachments = current.attachments.filter(({ name }) => kept.includes(name));
    const wanted = { ...current, ...fields, attachments };
    const isSame = JSON.stringify(wanted) === JSON.stringify(current);
    return isSame ? current : { ...wanted, edits: current.edits + 1 };
  });
}

/** Task that a message shows. Without facts about its clip, only what names the task itself counts as a copy. */
type Shown = Pick<Message, 'task'> & Partial<Pick<Message, 'clip'>>;

async function retractCopies(
  messages: MessageStore,
  { id, shown }: { readonly id: string; readonly shown: readonly Shown[] },
  card: Card,
): Promise<void> {
  if (shown.every(({ task }) => task === null)) return;
  const isAnyCopy = (message: Message): boolean => shown.some((one) => isCopy(message, id, one));
  for await (const page of messages.all()) {
    for (const message of page.filter((one) => unlessDamaged(() => isAnyCopy(one)) === true)) {
      if (message.visibleTo === null) await replaceContent(messages, message.id, { card, ...NOTHING });
      else await messages.remove(message.id);
    }
  }
}

/** Returns whether a message shows the task of another one, of that `id`, besides messages of tasks themselves. */
function isCopy(message: Message, id: string, { task, clip = null }: Shown): boolean {
  if (task === null || message.task !== null) return false;
  const text = `${plainText(linesOf(message.card))}\n${message.asked?.what ?? ''}`;
  const isQuoted = clip !== null && quotes(text, clip.prompt);
  if (message.visibleTo === null) return message.replyTo?.message === id && isQuoted;
  if (JSON.stringify(message.card).includes(task) || text.includes(shortId(task))) return true;
  if (clip === null) return false;
  // The options of a board name the other shots by their words alone, to everyone who opened it.
  const options = (message.card.selects ?? []).flatMap((select) => select.options);
  const isOffered = options.some(({ label }) => quotes(withoutDirection(label), clip.prompt));
  return isOffered || (isQuoted && maySee(message, clip.by));
}

/** Returns whether a text has at least the beginning of a prompt. */
function quotes(text: string, prompt: string): boolean {
  const line = withoutDirection(prompt).replace(/\s+/gu, ' ').trim();
  return line !== '' && text.replace(/\s+/gu, ' ').includes(beginning(line, QUOTED_LENGTH).trim());
}

/** Files that name the people of the team; a new one can be requested at any time. */
const NAMES_PEOPLE = /\.csv(?:\.gz)?$/u;

/**
 * Forgets a user: removes the messages that only they see, with their files, and replaces them in the messages that others
 * see, in what these answer, and among the reactions. Removes the CSV files of the others, which may name them.
 */
export async function forgetPerson(messages: MessageStore, person: Person, pseudonym: Person): Promise<void> {
  for await (const page of messages.all()) {
    for (const message of page) {
      const other = unlessDamaged(() => withoutUser(message, person, pseudonym));
      if (other === undefined) continue;
      if (message.visibleTo === person.id) {
        await messages.remove(message.id);
        continue;
      }
      await messages.removeFiles(message, ({ name }) => NAMES_PEOPLE.test(name));
      if (other !== message)
        await messages.changeIfThere(message.id, (current) => withoutUser(current, person, pseudonym));
    }
  }
}

/** Returns a message without a user; the same one if it does not name them. */
function withoutUser(message: Message, person: Person, pseudonym: Person): Message {
  const { asked, reactions, tasks = [], board } = message;
  const card = withoutPerson(message.card, person.id, pseudonym);
  const isAsked = asked !== null && (asked.user === person.id || asked.what.includes(person.name));
  const hasReacted = Object.values(reactions).some((users) => users.includes(person.id));
  const isRequester = board?.by === person.name || [message, ...tasks].some(({ clip }) => clip?.by === person.name);
  const withoutRequester = <One extends Partial<Pick<Message, 'clip'>>>(one: One): One =>
    one.clip?.by === person.name ? { ...one, clip: { ...one.clip, by: pseudonym.name } } : one;
  const attachments = message.attachments.filter(({ name }) => !NAMES_PEOPLE.test(name));
  const hasFiles = attachments.length < message.attachments.length;
  if (card === message.card && !isAsked && !hasReacted && !isRequester && !hasFiles) return message;
  const others = Object.entries(reactions)
    .map(([emoji, users]) => [emoji, users.filter((user) => user !== person.id)] as const)
    .filter(([, users]) => users.length > 0);
  return {
    ...withoutRequester(message),
    ...(message.tasks === undefined ? {} : { tasks: tasks.map(withoutRequester) }),
    ...(board?.by === person.name ? { board: { ...board, by: pseudonym.name } } : {}),
    card,
    attachments,
    asked: isAsked ? null : asked,
    reactions: Object.fromEntries(others),
  };
}

/** Returns what is read of a message; `undefined` where its record is damaged, which is shown to nobody. */
function unlessDamaged<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
