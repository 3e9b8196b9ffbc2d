import type { GalleryLink } from '#src/gallery/index.ts';
import { type Card, layOut } from '../../ui/card.ts';

export function galleryCard({ url, expiresAtMs }: GalleryLink): Card {
  return layOut([
    { kind: 'text', line: [{ link: url, label: 'Open your gallery' }] },
    {
      kind: 'small',
      line: [
        'The link works once and expires ',
        { timeMs: expiresAtMs },
        '. It shows what you may see, so keep it to yourself.',
      ],
    },
  ]);
}

/** Refuses a gallery whose pages could not be reached. */
export const NO_GALLERY =
  'The gallery needs an address at which browsers reach me, and I have none. Ask the operator to set PUBLIC_URL.';

/** Refuses an order from the gallery into a channel where the person may not post. */
export const NOT_IN_CHANNEL = 'You can’t post in the channel of this clip, so nothing was ordered.';

/** Refuses a deletion by someone who may not see the clip's channel any more. */
export const NOT_DELETED = 'You can’t see the channel of this clip any more, so nothing was deleted.';

/** Reply to what only the chat offers. */
export const IN_THE_CHAT = 'This is only possible in the chat. Nothing was ordered.';

/** Follows a refusal whose remedies are only in the chat. */
export const ORDERED_ELSEWHERE = 'To change it, order it again in the chat.';
