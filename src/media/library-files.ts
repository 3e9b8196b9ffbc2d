import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { collection, type Store } from '../engine/index.ts';
import type { Clip } from '../videos/index.ts';
import { POSTER } from './old-files.ts';

/** Keeps the files of a team's reference images until they are removed. */
export interface LibraryFiles {
  /**
   * Keeps the file of an address of the bot's own. `elsewhere`: any other address, of which nothing is kept; `no_image`: its
   * bytes are not those of an image, whatever its name; `full`: the data folder is at its limit.
   */
  keep(url: string): Promise<'kept' | 'elsewhere' | 'expires' | 'failed' | 'too_large' | 'no_image' | 'full'>;
  /** Deletes the kept file. Idempotent. */
  remove(url: string): Promise<void>;
}

/** Largest image in bytes. */
const MAX_BYTES = 32 * 1024 ** 2;

/**
 * Media types of images by the bytes that they begin with.
 * @see https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern
 */
const IMAGES: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^GIF8[79]a/, 'image/gif'],
];
const HEAD_BYTES = 12;

type NamedFile = Clip & { readonly name: string };

const libraryFiles = collection<string, { readonly contentType: string }>({
  name: 'library_files',
  holds: 'the types of the attached files of reference images',
  kept: 'until `/video library remove`',
  personal: 'nobody',
});

/** The folder of kept files, with their media types in records. Nothing in it is evicted. */
export class LibraryFolder {
  readonly #path: string;
  readonly #store: Pick<Store, 'keyv'>;

  constructor(path: string, store: Pick<Store, 'keyv'>) {
    this.#path = path;
    this.#store = store;
  }

  /** Copies a file here, whole or not at all. */
  async keep(id: string, { path, bytes }: NamedFile): Promise<'kept' | 'too_large' | 'no_image'> {
    if (bytes > MAX_BYTES) return 'too_large';
    const contentType = await imageTypeOf(path);
    if (contentType === undefined) return 'no_image';
    await mkdir(this.#path, { recursive: true });
    const part = `${this.#pathOf(id)}.part`;
    try {
      await copyFile(path, part);
      await rename(part, this.#pathOf(id));
    } finally {
      await rm(part, { force: true });
    }
    await libraryFiles.set(this.#store, id, { contentType });
    return 'kept';
  }

  /** Returns a kept file; `undefined` where there is none. */
  async find(id: string): Promise<NamedFile | undefined> {
    const found = await stat(this.#pathOf(id)).catch(() => null);
    if (found === null) return undefined;
    const kept = await libraryFiles.get(this.#store, id);
    if (kept === undefined) return undefined;
    return { path: this.#pathOf(id), bytes: found.size, contentType: kept.contentType, name: 'reference' };
  }

  /** Deletes a kept file. Idempotent. */
  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
    await rm(`${this.#pathOf(id)}${POSTER}`, { force: true });
    await libraryFiles.delete(this.#store, id);
  }

  #pathOf(id: string): string {
    return join(this.#path, id);
  }
}

async function imageTypeOf(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const head = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const text = head.buffer.toString('latin1');
    return IMAGES.find(([pattern]) => pattern.test(text))?.[1];
  } finally {
    await file.close();
  }
}
