import { createHash } from 'node:crypto';
import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Upload } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';

/** Where the files of messages lie: one flat folder, under names of our own making. */
export class AttachmentFolder {
  /** Absolute path. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder, where it is missing. */
  async prepare(): Promise<void> {
    await mkdir(this.path, { recursive: true });
  }

  /** How the file called `name` of a message is called in here. */
  fileName(message: string, name: string): string {
    return createHash('sha256').update(`${message}\n${name}`).digest('hex').slice(0, 32);
  }

  /**
   * Puts a file of the clip store in here, whole or not at all; again, it replaces itself. Costs no space where
   * the disk can link, and never a clip's worth of memory.
   * @throws DailiesError `disk_full`; `internal` when the file cannot be read.
   */
  async keep(message: string, file: Upload): Promise<void> {
    const kept = join(this.path, this.fileName(message, file.name));
    const part = `${kept}.part`;
    try {
      await rm(part, { force: true });
      await link(file.path, part).catch(() => copyFile(file.path, part));
      await rename(part, kept);
      // Renaming one name of a file onto another name of the same file leaves both.
      await rm(part, { force: true });
    } catch (thrown) {
      const isFull = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC';
      const code = isFull ? 'disk_full' : 'internal';
      throw new DailiesError('keeping an attachment', { code, retryable: isFull, cause: thrown });
    }
  }
}
