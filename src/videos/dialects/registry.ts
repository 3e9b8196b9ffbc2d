import type { Dialect } from './dialect.ts';
import { V1_VIDEOS } from './v1-videos.ts';

/** The dialects of the service. All that are seen in the field so far are read by the first, without being configured. */
export const DIALECTS = { 'v1-videos': V1_VIDEOS } as const satisfies Readonly<Record<string, Dialect>>;
