import { privately, refused, type Subcommand } from '../input/subcommand.ts';
import { layOut, small } from '../ui/card.ts';

/** `/video gallery`: a link to a page with the clips that the caller may see, good once. */
export const gallery: Subcommand = {
  declaration: {
    name: 'gallery',
    description: 'Opens a page with the clips that you may see',
    example: '/video gallery',
    options: [],
    visibility: 'private',
  },
  run: async ({ gallery: { linkFor } }, caller) => {
    const { platform, team, channel, address, user, isExternal = false } = caller;
    const link = await linkFor({ platform, team, channel, address, user, isExternal });
    if (link === null)
      return refused(
        'The gallery needs an address at which browsers reach me, and I have none. Ask the operator to set PUBLIC_URL.',
      );
    const { url, expiresAtMs } = link;
    const card = layOut([
      [{ link: url, label: 'Open your gallery' }],
      small(
        'The link works once and expires ',
        { timeMs: expiresAtMs },
        '. It shows what you may see, so keep it to yourself.',
      ),
    ]);
    return privately(card);
  },
};
