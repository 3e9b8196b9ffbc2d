import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TaskId } from '../tasks/task.ts';
import { VIDEO_TYPES } from '../videos/content/container.ts';
import type { Clip } from '../videos/service.ts';
import type { ClipStorage } from './clip-storage.ts';

/** Content type that no browser renders. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Clips in a folder of this machine, perhaps one that replicas share. A downloaded clip is where it belongs. */
export class FolderStorage implements ClipStorage {
  readonly origin = null;
  readonly #folder: string;
  readonly #listing: SharedListing;

  /** @param folder an absolute path that exists. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#listing = new SharedListing(folder);
  }

  pathOf(id: TaskId): string {
    const path = join(this.#folder, `${id}.mp4`);
    if (!this.#isInside(path)) throw new TypeError(`fetching the clip of task ${id}: its id is no file name`);
    return path;
  }

  async keep(_id: TaskId, clip: Clip): Promise<Clip> {
    return clip;
  }

  /** Returns the recorded file if it exists: at its recorded path, or where this process would have stored it. */
  async find(id: TaskId, clip: Clip): Promise<Clip | null> {
    const candidates = [clip.path, join(this.#folder, `${id}.mp4`)];
    for (const path of new Set(candidates.filter((candidate) => this.#isInside(candidate)))) {
      const bytes = await stat(path).then(
        ({ size }) => size,
        () => null,
      );
      if (bytes === clip.bytes) return { path, bytes, contentType: safeTypeOf(clip) };
    }
    return null;
  }

  async remove(id: TaskId): Promise<void> {
    // Whatever is made from a clip has its id before the first dot of its name.
    const names = (await this.#listing.read()).filter((name) => name.startsWith(`${id}.`));
    await Promise.all(names.map((name) => rm(join(this.#folder, name), { force: true })));
  }

  async link(): Promise<null> {
    return null;
  }

  async isLinked(): Promise<boolean> {
    return false;
  }

  /** Returns whether a path is in the folder: a forged record must not be able to name other files of this machine. */
  #isInside(path: string): boolean {
    return path === join(this.#folder, basename(path));
  }
}

/** Returns the media type of a clip to serve it with: HTML in its place would be rendered by browsers. */
export function safeTypeOf({ contentType }: Pick<Clip, 'contentType'>): string {
  return VIDEO_TYPES.has(contentType) ? contentType : UNKNOWN_TYPE;
}

/** Names in a folder, read once for all callers that come before the reading starts: a sweep removes many clips. */
class SharedListing {
  readonly #folder: string;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<readonly string[]> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(): Promise<readonly string[]> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const names = readdir(this.#folder);
      this.#running = names.catch(() => undefined);
      return names;
    });
    return this.#next;
  }
}
