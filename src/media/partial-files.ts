import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Age at which a partial file counts as left by a process that died: a cut may be encoded for two hours. */
const ABANDONED_AFTER_MS = 3 * 60 * 60_000;

/**
 * Deletes partial files of processes that died hours ago. Those of downloads (`.mp4.part`) stay, since they are
 * resumed. The age is that of the last change of the file or its links: a hard link to a clip has the clip's `mtime`.
 */
export async function deleteAbandonedParts(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.part') || name.endsWith('.mp4.part')) continue;
    const path = join(folder, name);
    // Another process may delete it meanwhile.
    const found = await stat(path).catch(() => null);
    if (found !== null && nowMs - found.ctimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}
