import { ARK } from './ark/index.ts';
import type { Dialect } from './dialect.ts';
import { FAL } from './fal/index.ts';
import { GOOGLE } from './google/index.ts';
import { OPENAI } from './openai/index.ts';
import { OPENROUTER } from './openrouter/index.ts';
import { V1_VIDEOS } from './v1-videos.ts';
import { XAI } from './xai/index.ts';

/** The dialects, by the name that an entry of `SERVICES` gives. @see docs/services.md */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  'v1-videos': V1_VIDEOS,
  openai: OPENAI,
  openrouter: OPENROUTER,
  fal: FAL,
  ark: ARK,
  xai: XAI,
  google: GOOGLE,
};
