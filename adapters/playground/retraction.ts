import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { beginning } from '#commands/sentences/format.ts';
import { shortId } from '#commands/ui/buttons.ts';
import { type Card, linesOf, withoutDirection } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import type { MessageRef, RemovedView } from '#src/chat/index.ts';
import { type Person, withoutPerson } from '#src/tasks/index.ts';
import type { AttachmentFolder } from './files.ts';
import { type Message, type MessageStore, maySee } from './message-store.ts';

/** Options of {@link retractMessage}. */
interface RetractionOptions {
  readonly messages: MessageStore;
  readonly files: AttachmentFolder;
}

/** Characters at the beginning of a prompt that every message which quotes it has; the rest may be cut off. */
const QUOTED_LENGTH = 32;

/**
 * Replaces a message by the text of a removal, and deletes its files. With a task's message also its copies: private
 * replies that quote it, such as lists and **Details**, are removed, and replies to it replaced.
 */
export async function retractMessage(
  { messages, files }: RetractionOptions,
  { message: id }: MessageRef,
  view: RemovedView,
): Promise<void> {
  const message = await messages.get(id);
  if (message === undefined) return;
  const card = cardOf(view);
  // Before the message itself, whose record a repeated attempt compares them with.
  await retractCopies(messages, message, card);
  for (const { name } of message.attachments) await files.remove(id, name);
  await replace(messages, id, card);
}

/** Deletes the files of a message whose clip has expired, and changes its content. */
export async function expireMessage(
  { messages, files }: RetractionOptions,
  id: string,
  fields: Partial<Message>,
): Promise<void> {
  const message = await messages.get(id);
  for (const { name } of message?.attachments ?? []) await files.remove(id, name);
  await changeOnce(messages, id, { ...fields, attachments: [] });
}

async function retractCopies(messages: MessageStore, original: Message, card: Card): Promise<void> {
  if (original.task === null) return;
  for await (const page of messages.all()) {
    for (const message of page.filter((one) => unlessDamaged(() => isCopy(one, original)) === true)) {
      if (message.visibleTo === null) await replace(messages, message.id, card);
      else await messages.remove(message.id);
    }
  }
}

/** Returns whether a message shows the task of another one, besides messages of tasks themselves. */
function isCopy(message: Message, { id, task, clip }: Message): boolean {
  if (task === null || message.task !== null) return false;
  const text = `${plainText(linesOf(message.card))}\n${message.asked?.what ?? ''}`;
  const isQuoted = clip !== null && quotes(text, clip.prompt);
  if (message.visibleTo === null) return message.replyTo?.message === id && isQuoted;
  if (JSON.stringify(message.card).includes(task) || text.includes(shortId(task))) return true;
  return clip !== null && maySee(message, clip.by) && isQuoted;
}

/** Returns whether a text has at least the beginning of a prompt. */
function quotes(text: string, prompt: string): boolean {
  const line = withoutDirection(prompt).replace(/\s+/gu, ' ').trim();
  return line !== '' && text.replace(/\s+/gu, ' ').includes(beginning(line, QUOTED_LENGTH).trim());
}

function replace(messages: MessageStore, id: string, card: Card): Promise<void> {
  const empty = { asked: null, task: null, state: null, progress: null, clip: null, attachments: [] };
  return changeOnce(messages, id, { card, ...empty });
}

/** Changes a message unless it is as wanted already; does nothing if it was removed meanwhile. */
async function changeOnce(messages: MessageStore, id: string, wanted: Partial<Message>): Promise<void> {
  const isSame = (current: Message): boolean => JSON.stringify({ ...current, ...wanted }) === JSON.stringify(current);
  const change = (current: Message): Message =>
    isSame(current) ? current : { ...current, ...wanted, edits: current.edits + 1 };
  await messages.changeIfThere(id, change);
}

/** Files that name the people of the team; a new one can be requested at any time. */
const NAMES_PEOPLE = /\.csv(?:\.gz)?$/u;

/**
 * Forgets a user: removes the messages that only they see, with their files, and replaces them in the messages that others
 * see, in what these answer, and among the reactions. Removes the CSV files of the others, which may name them.
 */
export async function forgetPerson(
  { messages, files }: RetractionOptions,
  person: Person,
  pseudonym: Person,
): Promise<void> {
  for await (const page of messages.all()) {
    for (const message of page) {
      const other = unlessDamaged(() => withoutUser(message, person, pseudonym));
      if (other === undefined) continue;
      if (message.visibleTo === person.id) {
        for (const { name } of message.attachments) await files.remove(message.id, name);
        await messages.remove(message.id);
        continue;
      }
      const named = message.attachments.filter(({ name }) => NAMES_PEOPLE.test(name));
      for (const { name } of named) await files.remove(message.id, name);
      if (other !== message)
        await messages.changeIfThere(message.id, (current) => withoutUser(current, person, pseudonym));
    }
  }
}

/** Returns a message without a user; the same one if it does not name them. */
function withoutUser(message: Message, person: Person, pseudonym: Person): Message {
  const { asked, reactions, clip } = message;
  const card = withoutPerson(message.card, person.id, pseudonym);
  const isAsked = asked !== null && (asked.user === person.id || asked.what.includes(person.name));
  const hasReacted = Object.values(reactions).some((users) => users.includes(person.id));
  const isRequester = clip?.by === person.name;
  const attachments = message.attachments.filter(({ name }) => !NAMES_PEOPLE.test(name));
  const hasFiles = attachments.length < message.attachments.length;
  if (card === message.card && !isAsked && !hasReacted && !isRequester && !hasFiles) return message;
  const others = Object.entries(reactions)
    .map(([emoji, users]) => [emoji, users.filter((user) => user !== person.id)] as const)
    .filter(([, users]) => users.length > 0);
  return {
    ...message,
    card,
    attachments,
    asked: isAsked ? null : asked,
    reactions: Object.fromEntries(others),
    clip: isRequester ? { ...clip, by: pseudonym.name } : clip,
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
