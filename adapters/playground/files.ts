import { createHash, randomUUID } from 'node:crypto';
import { access, copyFile, link, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Upload } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import type { Clip } from '#src/videos/service.ts';

/** Where the files of messages lie: one flat folder, under names of our own making. */
export class AttachmentFolder {
  /** Absolute path. */
  readonly path: string;
  /** What is being brought here, by file name. */
  readonly #bringing = new Map<string, Promise<boolean>>();

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
   * @throws DailiesError `disk_full`; `platform_unavailable`, retryable as well, when the file or the folder cannot be used.
   */
  async keep(message: string, file: Pick<Upload, 'name' | 'path'>): Promise<void> {
    const kept = join(this.path, this.fileName(message, file.name));
    // Several replicas may have one folder.
    const part = `${kept}.${randomUUID()}.part`;
    try {
      // People delete it when the disk is full.
      await this.prepare();
      await link(file.path, part).catch(() => copyFile(file.path, part));
      await rename(part, kept);
      // Renaming one name of a file onto another name of the same file leaves both.
      await rm(part, { force: true });
    } catch (thrown) {
      await rm(part, { force: true }).catch(() => undefined);
      const isFull = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC';
      const code = isFull ? 'disk_full' : 'platform_unavailable';
      throw new DailiesError(`keeping an attachment in ${this.path}`, { code, retryable: true, cause: thrown });
    }
  }

  /**
   * Has the file called `name` of a message in here: another replica may have put it on the message, in a folder of its
   * own, and then what `find` gives is kept here as well. @returns whether it is here.
   */
  async bring(message: string, name: string, find: () => Promise<Clip | null>): Promise<boolean> {
    const file = this.fileName(message, name);
    if (await isThere(join(this.path, file))) return true;
    const bringing = this.#bringing.get(file) ?? this.#bring(message, name, find);
    this.#bringing.set(file, bringing);
    return bringing.finally(() => this.#bringing.delete(file));
  }

  async #bring(message: string, name: string, find: () => Promise<Clip | null>): Promise<boolean> {
    const found = await find();
    if (found === null || !(await isThere(found.path))) return false;
    await this.keep(message, { name, path: found.path });
    return true;
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
