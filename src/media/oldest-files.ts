import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Deletes the oldest files with a suffix from a folder, down to `maxFiles`. */
export async function deleteOldest(folder: string, suffix: string, maxFiles: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(suffix));
  if (names.length <= maxFiles) return;
  const files = await Promise.all(
    names.map(async (name) => ({ name, atMs: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
  );
  const oldest = files.sort((one, other) => one.atMs - other.atMs).slice(0, names.length - maxFiles);
  for (const { name } of oldest) await rm(join(folder, name), { force: true });
}
