import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sizeOf } from '../files.ts';
import type { TaskId } from '../tasks/index.ts';
import { type Clip, VIDEO_TYPES } from '../videos/index.ts';
import type { ClipStorage, FilesOfClips } from './clip-storage.ts';

/** Content type that no browser renders. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Clips in a folder of this machine, perhaps one that replicas share. A downloaded clip is where it belongs. */
export class FolderStorage implements ClipStorage {
  readonly origin = null;
  readonly #folder: string;

  /** @param folder an absolute path that exists. */
  constructor(folder: string) {
    this.#folder = folder;
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
      const bytes = await sizeOf(path);
      if (bytes === clip.bytes) return { path, bytes, contentType: safeTypeOf(clip) };
    }
    return null;
  }

  async list(): Promise<FilesOfClips> {
    const files = new Map<string, string[]>();
    for (const name of await readdir(this.#folder)) {
      // Everything made from a clip has its id before the first dot of its name.
      const id = name.slice(0, Math.max(0, name.indexOf('.')));
      files.set(id, [...(files.get(id) ?? []), name]);
    }
    return files;
  }

  async remove(id: TaskId, files?: FilesOfClips): Promise<void> {
    const names = (files ?? (await this.list())).get(id) ?? [];
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
