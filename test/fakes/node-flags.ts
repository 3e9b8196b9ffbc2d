import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const ROOT = new URL('../../', import.meta.url);
const PACKAGE = z.object({ scripts: z.object({ start: z.string() }) });
const { scripts } = PACKAGE.parse(JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8')));

/** Node flags of `npm start`, with paths that are valid in every working directory. */
export const NODE_FLAGS: readonly string[] = scripts.start
  .split(' ')
  .slice(2, -1)
  .map((word) => (word.startsWith('./') ? new URL(word, ROOT).href : word));
