import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DailiesError } from '../errors.ts';

/** What passes while it runs is no reason not to start: a clip is fetched again until there is room for it. */
const PASSING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const NOT_ALLOWED = 'this user may not write there; give it the right to';
const IN_THE_WAY = 'there is a file in its place; move it away';
/** @see https://nodejs.org/api/errors.html#common-system-errors */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: 'that disk is read-only; mount it for writing',
  EEXIST: IN_THE_WAY,
  ENOTDIR: IN_THE_WAY,
};

/**
 * Makes the folder for clips where there is none, and tries whether clips can be kept there: once they are paid for, it is
 * late to find out. @throws `internal` where they cannot.
 */
export async function prepareClipsFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await rmdir(await mkdtemp(join(path, '.trying-')));
  } catch (thrown) {
    const { code = '', message } = thrown as NodeJS.ErrnoException;
    if (PASSING.has(code)) return;
    throw new DailiesError(`preparing ${path}, where clips are kept: ${WORDS[code] ?? message}`, {
      code: 'internal',
      retryable: false,
      cause: thrown,
    });
  }
}
