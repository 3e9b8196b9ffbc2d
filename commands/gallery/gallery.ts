import type { GalleryLink } from '#src/gallery/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand } from '../input/subcommand.ts';
import { type Card, layOut, small } from '../ui/card.ts';

/** `/video gallery`: a link to a page with the clips that the caller may see, good once. */
export const gallery: Subcommand = {
  declaration: {
    name: 'gallery',
    description: 'Opens a page with the clips that you may see',
    example: '/video gallery',
    options: [],
    visibility: 'private',
  },
  run: (ports, caller) => linkReply(ports, caller),
};

const NO_GALLERY =
  'The gallery needs an address at which browsers reach me, and I have none. Ask the operator to set PUBLIC_URL.';

async function linkReply({ gallery: { linkFor } }: BotPorts, caller: Caller): Promise<Reply> {
  const { platform, team, channel, address, user, isExternal = false } = caller;
  const link = await linkFor({ platform, team, channel, address, user, isExternal });
  return link === null ? refused(NO_GALLERY) : privately(galleryCard(link));
}

function galleryCard({ url, expiresAtMs }: GalleryLink): Card {
  return layOut([
    [{ link: url, label: 'Open your gallery' }],
    small(
      'The link works once and expires ',
      { timeMs: expiresAtMs },
      '. It shows what you may see, so keep it to yourself.',
    ),
  ]);
}
