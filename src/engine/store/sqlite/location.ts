import { readdirSync, readFileSync, statSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DailiesError } from '../../../errors.ts';

/** Folder beside the database that holds the clips of its tasks. */
const CLIPS = 'clips';
/**
 * Mount points of this process, one per line; Linux only.
 * @see {@link https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html}
 */
const MOUNTS = '/proc/self/mountinfo';
const MOUNT_POINT_FIELD = 4;

/**
 * Resolves the path of a database to the canonical path of its file, so that all symbolic links share one lock and one
 * write-ahead log. Creates the file if needed.
 *
 * @throws `store_unavailable`, not retryable, when the file has a second path that cannot be detected from here (a hard
 * link, a mount of the file alone), or is empty although clips of an earlier store are next to it.
 */
export async function resolveDatabase(path: string): Promise<string> {
  const isNew = statSync(path, { throwIfNoEntry: false }) === undefined;
  // The target of a dangling link has no real path until it exists.
  if (isNew) await (await open(path, 'a')).close();
  const resolved = await realpath(path);
  const { nlink, size } = statSync(resolved);
  if (nlink > 1) {
    throw refused(path, `the file has ${nlink} hard links, and another Dailies may use one of them; remove the others`);
  }
  if (isMountPoint(resolved)) {
    throw refused(
      path,
      'the file is mounted by itself, without its write-ahead log; mount the folder it is in instead',
    );
  }
  if (size === 0 && !isNew && hasClips(dirname(resolved))) {
    const clips = join(dirname(path), CLIPS);
    throw refused(
      path,
      `the file is empty, but ${clips} holds clips of an earlier store; restore the file from a backup, or delete it ` +
        'to start without the history of those clips',
    );
  }
  return resolved;
}

function refused(path: string, reason: string): DailiesError {
  return new DailiesError(`opening the store at ${path}: ${reason}`, { code: 'store_unavailable', retryable: false });
}

function hasClips(folder: string): boolean {
  try {
    return readdirSync(join(folder, CLIPS)).some((name) => name.endsWith('.mp4'));
  } catch {
    return false;
  }
}

function isMountPoint(path: string): boolean {
  try {
    return readFileSync(MOUNTS, 'utf8')
      .split('\n')
      .some((line) => unescaped(line.split(' ')[MOUNT_POINT_FIELD] ?? '') === path);
  } catch {
    return false;
  }
}

/** Decodes the octal escapes of mountinfo: space, tab, newline and backslash. */
function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Device and inode of a file, which identify it independently of its path. */
export interface FileIdentity {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** Identifies the file at `path`. @throws what the file system throws. */
export function identify(path: string): FileIdentity {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, device: dev, inode: ino };
}

/**
 * Asserts that each path still refers to the file that was opened.
 * @throws Error when one was moved, replaced or deleted.
 */
export function assertInPlace(files: readonly FileIdentity[]): void {
  for (const { path, device, inode } of files) {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found?.dev === device && found.ino === inode) continue;
    throw new Error(`${path} was moved, replaced or deleted while Dailies uses it; put it back, or restart Dailies`);
  }
}
