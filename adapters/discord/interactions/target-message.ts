import type { APIAttachment, APIMessage, APIMessageApplicationCommandInteraction } from 'discord.js';
import { isTextFile } from '#src/media/index.ts';
import { readableMedia } from '#src/videos/index.ts';
import { TEXT_OPTION } from '../registration/commands.ts';
import type { GivenAttachment } from './options.ts';

type Target = APIMessageApplicationCommandInteraction['data'];

/** Image of a message: an attachment if there is one (it has more metadata), else a URL. */
type FoundImage = { readonly attachment: APIAttachment } | { readonly url: string };

/** Returns the message of an action, and those that it forwards. */
function messagesIn({ resolved, target_id: id }: Target) {
  const message = resolved.messages[id];
  if (message === undefined) return [];
  return [message, ...(message.message_snapshots ?? []).map((snapshot) => snapshot.message)];
}

/** Returns the words of a message, attached text files apart. */
export function scriptIn(data: Target): {
  readonly words: readonly string[];
  readonly files: readonly GivenAttachment[];
} {
  const messages = messagesIn(data);
  const isText = ({ filename: name, content_type: contentType }: APIAttachment): boolean =>
    isTextFile({ name, contentType });
  const files = messages.flatMap(({ attachments }) => attachments.filter(isText));
  return {
    words: messages.map(({ content }) => content),
    files: files.map((attachment) => ({ option: TEXT_OPTION, attachment })),
  };
}

/** Returns the first image of a message: attached, embedded, or in a forwarded message. */
export function imageIn(data: Target): FoundImage | null {
  for (const one of messagesIn(data)) {
    const found = imageOf(one);
    if (found !== null) return found;
  }
  return null;
}

function imageOf({ attachments, embeds }: Pick<APIMessage, 'attachments' | 'embeds'>): FoundImage | null {
  const attachment = attachments.find(
    ({ filename: name, content_type: contentType }) => readableMedia({ name, contentType })?.kind === 'image',
  );
  if (attachment !== undefined) return { attachment };
  const url = embeds.map(({ image, thumbnail }) => image?.url ?? thumbnail?.url).find((one) => one !== undefined);
  return url === undefined || !/^https?:/.test(url) ? null : { url };
}
