import { rm } from 'node:fs/promises';
import { filesIn } from '../files.ts';
import type { Logger } from '../logger.ts';
import type { TaskId } from '../tasks/index.ts';
import { FolderStorage } from './folder-storage.ts';

/** Options of {@link LocalCopies}. */
interface LocalCopiesOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly logger: Logger;
  /** Returns the length in the bucket; `null` where it has none. */
  readonly sizeInBucket: (id: TaskId) => Promise<number | null>;
}

/** Age of its last use below which a file is not deleted: a chat or ffmpeg may be about to read it. */
const IN_USE_MS = 10 * 60_000;
/** Age at which a partial file counts as left by a process that died. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;
/** Share of the size after which new copies are looked at between two sweeps. */
const CHECK_SHARE = 0.1;
const CLIP = /^([^.]+)\.mp4$/;
const FITTED = /^([^.]+)\.fitted-\d+\.mp4$/;
const PART = /\.part$/;

/** Clips on this machine of which the bucket has the originals. Nothing is deleted that the bucket does not have. */
export class LocalCopies {
  readonly #options: LocalCopiesOptions;
  #addedBytes = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: LocalCopiesOptions) {
    this.#options = options;
  }

  /** Counts a new copy, and deletes old ones if there may be too many. */
  added(bytes: number): void {
    this.#addedBytes += bytes;
    if (this.#addedBytes >= this.#options.maxBytes * CHECK_SHARE) void this.evict();
  }

  /** Returns the tasks with files here, and the length of their clip; `null` where only what was made from it is here. */
  async tasks(): Promise<ReadonlyMap<TaskId, number | null>> {
    const found = new Map<TaskId, number | null>();
    for (const { name, bytes } of await filesIn(this.#options.folder)) {
      const id = name.slice(0, Math.max(0, name.indexOf('.'))) as TaskId;
      if (CLIP.test(name)) found.set(id, bytes);
      else if (id !== '' && !found.has(id)) found.set(id, null);
    }
    return found;
  }

  /** Deletes the clip of a task here, with everything made from it. */
  async remove(id: TaskId): Promise<void> {
    await new FolderStorage(this.#options.folder).remove(id);
  }

  /** Deletes copies above the size, the one used longest ago first. Never rejects. */
  async evict(): Promise<void> {
    this.#addedBytes = 0;
    await this.#next((total) => total - this.#options.maxBytes, [CLIP, FITTED]);
  }

  /** Deletes the copies used longest ago, for the space of other files. Never rejects. @returns the bytes of them. */
  free(bytes: number): Promise<number> {
    return this.#next(() => bytes, [CLIP]);
  }

  /** Deletes files of some kinds, once those of an earlier call are deleted. @param excess returns the bytes to delete. */
  #next(excess: (totalBytes: number) => number, kinds: readonly RegExp[]): Promise<number> {
    const freed = this.#running
      .then(() => this.#evict(excess, kinds))
      .catch((thrown: unknown) => {
        const event = 'local_copies_failed';
        this.#options.logger.warn({ event, err: thrown }, 'failed to delete local copies of clips');
        return 0;
      });
    this.#running = freed;
    return freed;
  }

  async #evict(excess: (totalBytes: number) => number, kinds: readonly RegExp[]): Promise<number> {
    const { folder, sizeInBucket } = this.#options;
    const files = await filesIn(folder);
    // The current time by the clock of the file system, or near it.
    const nowMs = files.at(-1)?.atMs ?? 0;
    const toFree = excess(files.reduce((sum, { bytes }) => sum + bytes, 0));
    let freed = 0;
    for (const { name, path, bytes, atMs: usedAtMs } of files) {
      const ageMs = nowMs - usedAtMs;
      const id = CLIP.exec(name)?.[1];
      const isAbandoned = PART.test(name) && ageMs > ABANDONED_AFTER_MS;
      const isOld = freed < toFree && ageMs > IN_USE_MS && kinds.some((kind) => kind.test(name));
      if (!isAbandoned && !isOld) continue;
      if (id !== undefined && (await sizeInBucket(id as TaskId)) !== bytes) continue;
      await rm(path, { force: true });
      freed += bytes;
    }
    return freed;
  }
}
