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
  ENOENT: 'the folder around it was moved or deleted; put it back',
};

/**
 * Tries whether files can be kept in a folder, made where only it is missing: without the folder around it, a volume is
 * gone. @throws `disk_full`, retryable; `internal` where files cannot be kept.
 */
export async function tryFolder(path: string): Promise<void> {
  try {
    await mkdir(path).catch((thrown: unknown) => {
      if (codeOf(thrown) !== 'EEXIST') throw thrown;
    });
    await rmdir(await mkdtemp(join(path, '.trying-')));
  } catch (thrown) {
    throw failed(`writing to ${path}`, thrown);
  }
}

function failed(doing: string, thrown: unknown): DailiesError {
  const code = codeOf(thrown);
  if (PASSING.has(code)) {
    return new DailiesError(`${doing}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
  }
  const reason = WORDS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new DailiesError(`${doing}: ${reason}`, { code: 'internal', retryable: false, cause: thrown });
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? '';
}

/**
 * Makes the folder for clips where there is none, and tries whether clips can be kept there: once they are paid for, it is
 * late to find out. @throws `internal` where they cannot.
 */
export async function prepareClipsFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await rmdir(await mkdtemp(join(path, '.trying-')));
  } catch (thrown) {
    if (PASSING.has(codeOf(thrown))) return;
    throw failed(`preparing ${path}, where clips are kept`, thrown);
  }
}
