import type { APIAttachment, APIMessage, APIMessageApplicationCommandInteraction } from 'discord.js';
import type { Form } from '#commands/bot-port.ts';
import { ANIMATE_TITLE } from '#commands/sentences/forms.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Logger } from '#src/logger.ts';
import { readableMedia } from '#src/videos/media-kind.ts';
import type { MessageStore } from '../messages/message-store.ts';

const PREFIX = 'animate:';
const MAX_IMAGES = 1_000;

/** Image of a message: an attachment if there is one (it has more metadata), else a URL. */
export type FoundImage = { readonly attachment: APIAttachment } | { readonly url: string };

/** Remembers the image that each form was opened for, since a form's custom id is too short for a URL. */
export class AnimateForms {
  readonly #records: MessageStore;
  readonly #logger: Logger;
  readonly #images = new BoundedMap<string, string>(MAX_IMAGES);

  constructor(records: MessageStore, logger: Logger) {
    this.#records = records;
    this.#logger = logger;
  }

  /** Builds the form for an image from the form of a new clip. Does not wait for the store. */
  open(interaction: string, image: string, create: Form): Form {
    this.#images.set(interaction, image);
    this.#records.remember(`image:${interaction}`, { image }).catch((thrown: unknown) => {
      this.#logger.warn({ event: 'discord_form_image_not_stored', err: thrown }, 'failed to store the image of a form');
    });
    return { ...create, id: `${PREFIX}${interaction}`, title: ANIMATE_TITLE };
  }

  /** Returns the image of a submitted form; `null` for another form, `undefined` if it is no longer stored. */
  async imageOf(form: string): Promise<string | null | undefined> {
    if (!form.startsWith(PREFIX)) return null;
    const interaction = form.slice(PREFIX.length);
    const kept = await this.#records.recall<{ image: string }>(`image:${interaction}`);
    return this.#images.get(interaction) ?? kept?.image;
  }
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
