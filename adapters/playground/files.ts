import { createHash, randomUUID } from 'node:crypto';
import { access, copyFile, link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Upload } from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import { SingleFlight } from '#src/single-flight.ts';
import type { Clip } from '#src/videos/index.ts';

/** Attachments of messages, in one flat folder under hashed names. */
export class AttachmentFolder {
  /** Absolute path. */
  readonly path: string;
  /** Copies in flight, by file name. */
  readonly #inFlight = new SingleFlight<string, boolean>();

  constructor(path: string) {
    this.path = path;
  }

  /** Creates the folder if it is missing. */
  async prepare(): Promise<void> {
    await mkdir(this.path, { recursive: true });
  }

  /** Returns the name in this folder of the attachment `name` of a message. */
  fileName(message: string, name: string): string {
    return createHash('sha256').update(`${message}\n${name}`).digest('hex').slice(0, 32);
  }

  /**
   * Stores a file of the clip store atomically; idempotent. Uses a hard link where the file system has them, else a
   * copy, which is not loaded into memory.
   * @throws DailiesError `disk_full`; `platform_unavailable`, retryable as well, when the file or the folder cannot be used.
   */
  async keep(message: string, file: Pick<Upload, 'name' | 'path'>): Promise<void> {
    const target = join(this.path, this.fileName(message, file.name));
    // Several replicas may share the folder.
    const part = `${target}.${randomUUID()}.part`;
    try {
      // An operator may have deleted the folder to free disk space.
      await this.prepare();
      await link(file.path, part).catch(() => copyFile(file.path, part));
      await rename(part, target);
      // Renaming a hard link onto another link to the same file leaves both.
      await rm(part, { force: true });
    } catch (thrown) {
      await rm(part, { force: true }).catch(() => undefined);
      const isFull = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC';
      const code = isFull ? 'disk_full' : 'platform_unavailable';
      throw new DailiesError(`keeping an attachment in ${this.path}`, { code, retryable: true, cause: thrown });
    }
  }

  /** Deletes the attachment `name` of a message, and what a process that died while it stored it left of it. */
  async remove(message: string, name: string): Promise<void> {
    const file = this.fileName(message, name);
    const there = await readdir(this.path).catch(() => []);
    const parts = there.filter((one) => one.startsWith(`${file}.`));
    for (const one of [file, ...parts]) await rm(join(this.path, one), { force: true });
  }

  /**
   * Ensures that the attachment `name` of a message is in this folder. Where another replica attached it and stored it
   * in its own folder, stores the clip that `find` returns. @returns whether the file is here.
   */
  async bring(message: string, name: string, find: () => Promise<Clip | null>): Promise<boolean> {
    const file = this.fileName(message, name);
    if (await exists(join(this.path, file))) return true;
    return this.#inFlight.run(file, () => this.#fetch(message, name, find));
  }

  async #fetch(message: string, name: string, find: () => Promise<Clip | null>): Promise<boolean> {
    const found = await find();
    if (found === null || !(await exists(found.path))) return false;
    await this.keep(message, { name, path: found.path });
    return true;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
