import { open } from 'node:fs/promises';

/** Syncs a folder: only then does a renaming in it survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
