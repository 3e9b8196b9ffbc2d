import type { APIAttachment, APIMessage, APIMessageApplicationCommandInteraction } from 'discord.js';
import type { Form } from '#commands/bot-port.ts';
import { ANIMATE_TITLE } from '#commands/sentences/forms/animate.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Logger } from '#src/logger.ts';
import { readableMedia } from '#src/videos/media-kind.ts';
import type { MessageStore } from '../messages/message-store.ts';

const PREFIX = 'animate:';
/** What its form asks for, of all that `/video create` takes. */
const FIELDS: ReadonlySet<string> = new Set(['prompt', 'model', 'seconds', 'aspect']);
const MOST_REMEMBERED = 1_000;

/** The image of a message, as far as it is known: an attachment says more than an address. */
export type FoundImage = { readonly attachment: APIAttachment } | { readonly url: string };

/** The images that forms were opened for. A form carries too little to hold an address. */
export class AnimateForms {
  readonly #memory: MessageStore;
  readonly #logger: Logger;
  readonly #images = new BoundedMap<string, string>(MOST_REMEMBERED);

  constructor(memory: MessageStore, logger: Logger) {
    this.#memory = memory;
    this.#logger = logger;
  }

  /** The form for an image, made of that of a new clip. Does not wait for the store. */
  open(interaction: string, image: string, create: Form): Form {
    this.#images.set(interaction, image);
    this.#memory.remember(`image:${interaction}`, { image }).catch((thrown: unknown) => {
      this.#logger.warn({ err: thrown }, 'the image of a form could not be remembered');
    });
    const fields = create.fields.filter(({ name }) => FIELDS.has(name));
    return { ...create, id: `${PREFIX}${interaction}`, title: ANIMATE_TITLE, fields };
  }

  /** The image a sent form is about; `null` for another form, `undefined` where it is forgotten. */
  async imageOf(form: string): Promise<string | null | undefined> {
    if (!form.startsWith(PREFIX)) return null;
    const interaction = form.slice(PREFIX.length);
    const kept = await this.#memory.recall<{ image: string }>(`image:${interaction}`);
    return this.#images.get(interaction) ?? kept?.image;
  }
}

/** The first image of a message: attached, embedded, or in what it forwards. */
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
