import { cardOf } from '#commands/sentences/cards/task-card.ts';
import type { MessageRef, RemovedView, TaskView } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { MessageRecord, MessageStore } from './message-store.ts';
import type { TaskPosts } from './posts.ts';
import { type Body, renderCard } from './render.ts';

/** Options of {@link retractMessage}. */
interface RetractionOptions {
  readonly messages: Pick<TaskPosts, 'replace'>;
  readonly records: Pick<MessageStore, 'message' | 'change'>;
}

/** Fields that have to be empty in a message which gets components. @see https://docs.discord.com/developers/resources/message#edit-message */
const NO_TEXT = { content: null, embeds: null } as const;

/** Returns a body that takes the place of a message with text or attachments. */
export function replacing(body: Body): Body {
  return { ...body, ...NO_TEXT, attachments: [] };
}

/**
 * Replaces a message by the text of a removal, without its attachments, and removes what is stored of its content.
 * @throws `missing_permission` where the message stays as it is
 */
export async function retractMessage(
  { messages, records }: RetractionOptions,
  message: MessageRef,
  view: RemovedView,
): Promise<void> {
  const record = await records.message(message.message);
  if (record?.isRetracted === true) return;
  const body = replacing(renderCard(cardOf(view), { guild: null }));
  const failure = await messages.replace(message, body).then(
    () => null,
    (thrown: unknown) => asDailiesError(thrown, `retracting message ${message.message}`),
  );
  if (failure?.retryable === true) throw failure;
  const isDone = failure === null || failure.code === 'message_gone';
  await withoutContent(records, message.message, isDone ? { isRetracted: true } : {});
  if (!isDone) throw failure;
}

/** Removes the prompt from the record of an expired message, which needed it for edits alone: none follows. */
export async function expireRecord(
  records: RetractionOptions['records'],
  { message }: MessageRef,
  { kind }: Pick<TaskView | RemovedView, 'kind'>,
): Promise<void> {
  if (kind === 'removed') await withoutContent(records, message);
}

/** Removes what is stored of the content of a message. */
async function withoutContent(
  records: RetractionOptions['records'],
  message: string,
  changes: Pick<MessageRecord, 'isRetracted'> = {},
): Promise<void> {
  const record = await records.message(message);
  // The record goes on telling whether only a token can edit the message.
  const shown = (record?.shown ?? null) === null ? null : [];
  await records.change(message, { clip: null, shown, ...changes }, () => null);
}
