import type { APIAttachment, APIMessage, APIMessageApplicationCommandInteraction } from 'discord.js';
import type { Form } from '#commands/bot-port.ts';
import { ANIMATE_TITLE } from '#commands/sentences/forms.ts';
import { readableMedia } from '#src/videos/index.ts';
import type { MessageStore } from '../messages/message-store.ts';

const PREFIX = 'animate:';

/** Image of a message: an attachment if there is one (it has more metadata), else a URL. */
type FoundImage = { readonly attachment: APIAttachment } | { readonly url: string };

interface OpenedForm {
  readonly interaction: string;
  readonly image: string;
  readonly create: Form;
}

/** Builds the form for an image, and stores the image: a form's custom id is too short for a URL. */
export async function openAnimateForm(
  records: MessageStore,
  { interaction, image, create }: OpenedForm,
): Promise<Form> {
  await records.remember(`image:${interaction}`, { image });
  return { ...create, id: `${PREFIX}${interaction}`, title: ANIMATE_TITLE };
}

/** Returns the image of a submitted form; `null` for another form, `undefined` if it is no longer stored. */
export async function imageOfForm(records: MessageStore, form: string): Promise<string | null | undefined> {
  if (!form.startsWith(PREFIX)) return null;
  return (await records.recall<{ image: string }>(`image:${form.slice(PREFIX.length)}`))?.image;
}

/** Returns the first image of a message: attached, embedded, or in a forwarded message. */
export function imageIn(data: APIMessageApplicationCommandInteraction['data']): FoundImage | null {
  const message = data.resolved.messages[data.target_id];
  if (message === undefined) return null;
  const forwarded = (message.message_snapshots ?? []).map((snapshot) => snapshot.message);
  for (const one of [message, ...forwarded]) {
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
