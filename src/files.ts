import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the size of a file in bytes; `null` where there is none. */
export function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}

/** File of a folder. */
interface FolderFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** Time of the last change of its contents, in ms since the epoch. */
  readonly atMs: number;
  /** Time of the last change of the file or its links: a hard link to an old file has that one's `atMs`. */
  readonly linkedAtMs: number;
}

/**
 * Lists the files of a folder, oldest first, without those that another process deletes meanwhile.
 * @param isMeant returns whether a file of that name is listed. Default: all are.
 */
export async function filesIn(
  folder: string,
  isMeant: (name: string) => boolean = () => true,
): Promise<readonly FolderFile[]> {
  const found = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name);
      const there = isMeant(name) ? await stat(path).catch(() => null) : null;
      if (there?.isFile() !== true) return [];
      return [{ name, path, bytes: there.size, atMs: there.mtimeMs, linkedAtMs: there.ctimeMs }];
    }),
  );
  return found.flat().toSorted((one, other) => one.atMs - other.atMs);
}

/**
 * Makes a file that appears under its name whole, or not at all. The name of its part is unique: other processes may make
 * the same file, and one that was started by a killed process keeps writing.
 * @param write writes the file to the path that it is given
 */
export async function writeWhole<Result>(path: string, write: (part: string) => Promise<Result>): Promise<Result> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    const result = await write(part);
    await rename(part, path);
    return result;
  } finally {
    await rm(part, { force: true });
  }
}

/** Syncs a folder: only then does a renaming in it survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
