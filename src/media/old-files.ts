import { rm } from 'node:fs/promises';
import { filesIn } from '../files.ts';

/** End of the id that a picture is served under, by a signature of its own, and of the file of an image's beside it. */
export const POSTER = '.jpg';

/** Deletes the oldest files with a suffix from a folder, down to `maxFiles`. */
export async function deleteOldest(folder: string, suffix: string, maxFiles: number): Promise<void> {
  const files = await filesIn(folder, (name) => name.endsWith(suffix));
  for (const { path } of files.slice(0, Math.max(0, files.length - maxFiles))) await rm(path, { force: true });
}

/** Age at which a partial file counts as left by a process that died: a cut may be encoded for two hours. */
const ABANDONED_AFTER_MS = 3 * 60 * 60_000;

/** Deletes partial files of processes that died hours ago. Those of downloads (`.mp4.part`) stay, since they are resumed. */
export async function deleteAbandonedParts(folder: string, nowMs: number): Promise<void> {
  const parts = await filesIn(folder, (name) => name.endsWith('.part') && !name.endsWith('.mp4.part'));
  for (const { path, linkedAtMs } of parts)
    if (nowMs - linkedAtMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
}
