import type { Dialect } from './dialect.ts';
import { V1_VIDEOS } from './v1-videos.ts';

/** The dialects, by the name that an entry of `SERVICES` gives. @see docs/services.md */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  'v1-videos': V1_VIDEOS,
};
