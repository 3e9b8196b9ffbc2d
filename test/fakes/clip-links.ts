import type { ClipLinks } from '#src/media/clip-links.ts';

/** Links where no clip is in a bucket: all are served by the bot. */
export const SERVED_HERE: Pick<ClipLinks, 'origin' | 'redirectFor'> = { origin: null, redirectFor: async () => null };
