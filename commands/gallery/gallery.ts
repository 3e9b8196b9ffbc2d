import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand } from '../input/subcommand.ts';
import { galleryCard, NO_GALLERY } from '../sentences/cards/gallery.ts';

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

async function linkReply({ gallery: { linkFor } }: BotPorts, caller: Caller): Promise<Reply> {
  const { platform, team, channel, address, user, isExternal = false } = caller;
  const link = await linkFor({ platform, team, channel, address, user, isExternal });
  return link === null ? refused(NO_GALLERY) : privately(galleryCard(link));
}
