import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DailiesError } from '../errors.ts';

/** Errors that can clear up at runtime and do not prevent startup: a download is retried until the disk has space. */
const TRANSIENT: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const NOT_ALLOWED = 'this user may not write there; give it the right to';
const IN_THE_WAY = 'there is a file in its place; move it away';
/** @see https://nodejs.org/api/errors.html#common-system-errors */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: 'that disk is read-only; mount it for writing',
  EEXIST: IN_THE_WAY,
  ENOTDIR: IN_THE_WAY,
  ENOENT: 'the folder around it was moved or deleted; put it back',
};

/**
 * Checks that files can be written to a folder. Creates only the folder itself: a missing parent folder means that a
 * volume is gone. @throws `disk_full`, retryable; `internal` where files cannot be written for another reason.
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

function failed(operation: string, thrown: unknown): DailiesError {
  const code = codeOf(thrown);
  if (TRANSIENT.has(code)) {
    return new DailiesError(`${operation}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
  }
  const reason = REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new DailiesError(`${operation}: ${reason}`, { code: 'internal', retryable: false, cause: thrown });
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? '';
}

/**
 * Creates the clips folder if it is missing and checks, before any clip is paid for, that files can be written to it. A
 * full disk is accepted. @throws `internal` where files cannot be written.
 */
export async function prepareClipsFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await rmdir(await mkdtemp(join(path, '.trying-')));
  } catch (thrown) {
    if (TRANSIENT.has(codeOf(thrown))) return;
    throw failed(`preparing ${path}, where clips are kept`, thrown);
  }
}
