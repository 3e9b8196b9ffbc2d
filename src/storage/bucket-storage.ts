import { rm, stat, utimes } from 'node:fs/promises';
import { BoundedMap } from '../bounded-map.ts';
import { DailiesError } from '../errors.ts';
import { writeWhole } from '../files.ts';
import type { Logger } from '../logger.ts';
import { SingleFlight } from '../single-flight.ts';
import type { TaskId } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';
import type { Bucket } from './bucket.ts';
import type { ClipStorage, FilesOfClips, LinkedFile, StorageLink } from './clip-storage.ts';
import { FolderStorage, safeTypeOf } from './folder-storage.ts';
import { LocalCopies } from './local-copies.ts';

/** Options of {@link BucketStorage}. */
interface BucketStorageOptions {
  readonly bucket: Bucket;
  /** Folder of downloads and local copies: an absolute path that exists, on this machine alone or shared. */
  readonly folder: string;
  /** Size in bytes above which local copies are deleted. */
  readonly maxLocalBytes: number;
  readonly logger: Logger;
}

/** Clips that are remembered as stored, so that a sweep does not ask for each. */
const MAX_KNOWN = 50_000;

/**
 * Clips in a bucket, under `<task>.mp4` as in a folder, so that tools can copy one to the other. ffmpeg and uploads to
 * chats need a file, so there are local copies as well, which are deleted above a size once the bucket has them.
 */
export class BucketStorage implements ClipStorage {
  readonly #bucket: Bucket;
  readonly #files: FolderStorage;
  readonly #logger: Logger;
  readonly #bringing = new SingleFlight<string, Clip | null>();
  readonly #copies: LocalCopies;
  /** Tasks whose clip the bucket had. */
  readonly #known = new BoundedMap<TaskId, boolean>(MAX_KNOWN);

  constructor({ bucket, folder, maxLocalBytes, logger }: BucketStorageOptions) {
    this.#bucket = bucket;
    this.#files = new FolderStorage(folder);
    this.#logger = logger;
    this.#copies = new LocalCopies({ folder, maxBytes: maxLocalBytes, logger, sizeInBucket: (id) => this.#sizeOf(id) });
  }

  pathOf(id: TaskId): string {
    return this.#files.pathOf(id);
  }

  get origin(): string {
    return this.#bucket.origin;
  }

  /** @throws `storage_unavailable` also where the bucket has another length than was stored. */
  async keep(id: TaskId, clip: Clip): Promise<Clip> {
    const earlierBytes = await this.#sizeOf(id);
    // What another replica stored first stays: its task may have been recorded with it.
    if (earlierBytes !== null && earlierBytes !== clip.bytes) return this.#adopt(id, clip, earlierBytes);
    if (earlierBytes === null) await this.#store(id, clip);
    this.#copies.added(clip.bytes);
    return clip;
  }

  async find(id: TaskId, clip: Clip): Promise<Clip | null> {
    const local = await this.#files.find(id, clip);
    if (local === null) return this.#bringing.run(`${id} ${clip.bytes}`, () => this.#bring(id, clip));
    // The time of its last use; another process may delete it meanwhile.
    const now = new Date();
    await utimes(local.path, now, now).catch(() => undefined);
    return local;
  }

  list(): Promise<FilesOfClips> {
    return this.#files.list();
  }

  async remove(id: TaskId, files?: FilesOfClips): Promise<void> {
    await this.#bucket.remove(keyOf(id));
    await this.#files.remove(id, files);
  }

  link(id: TaskId, file: LinkedFile, lifetimeMs: number): Promise<StorageLink> {
    return this.#bucket.sign(keyOf(id), { ...file, contentType: safeTypeOf(file) }, lifetimeMs);
  }

  isLinked(id: TaskId): Promise<boolean> {
    return this.#sizeOf(id).then(
      (bytes) => bytes !== null,
      () => false,
    );
  }

  /** Returns whether the bucket has a clip; remembers those that it has. @throws `storage_unavailable` */
  async isStored(id: TaskId): Promise<boolean> {
    if (this.#known.get(id) === true) return true;
    if ((await this.#sizeOf(id)) === null) return false;
    this.#known.set(id, true);
    return true;
  }

  get copies(): LocalCopies {
    return this.#copies;
  }

  async #store(id: TaskId, clip: Clip): Promise<void> {
    await this.#bucket.put(keyOf(id), clip);
    const storedBytes = await this.#sizeOf(id);
    if (storedBytes === clip.bytes) return;
    await this.#bucket.remove(keyOf(id));
    const message = `storing the clip of task ${id}: the bucket has ${storedBytes ?? 'none'} of ${clip.bytes} bytes`;
    throw new DailiesError(message, { code: 'storage_unavailable', retryable: true });
  }

  async #adopt(id: TaskId, clip: Clip, bytes: number): Promise<Clip> {
    const event = 'clip_upload_conflict';
    this.#logger.warn(
      { event, task: id, bytes: clip.bytes, storedBytes: bytes },
      'the bucket has another clip, using it',
    );
    await rm(clip.path, { force: true });
    const kept = await this.find(id, { ...clip, bytes });
    if (kept !== null) return kept;
    const message = `storing the clip of task ${id}: the bucket had another one, which is gone`;
    throw new DailiesError(message, { code: 'storage_unavailable', retryable: true });
  }

  /** Brings a clip from the bucket, under its name only once it is whole. */
  async #bring(id: TaskId, clip: Clip): Promise<Clip | null> {
    if ((await this.#sizeOf(id)) !== clip.bytes) return null;
    const path = this.pathOf(id);
    await writeWhole(path, async (part) => {
      await this.#bucket.get(keyOf(id), part);
      const { size } = await stat(part);
      if (size === clip.bytes) return;
      const message = `reading the clip of task ${id}: ${size} of ${clip.bytes} bytes arrived`;
      throw new DailiesError(message, { code: 'storage_unavailable', retryable: true });
    });
    this.#copies.added(clip.bytes);
    return this.#files.find(id, { ...clip, path });
  }

  #sizeOf(id: TaskId): Promise<number | null> {
    return this.#bucket.sizeOf(keyOf(id));
  }
}

function keyOf(id: TaskId): string {
  return `${id}.mp4`;
}
