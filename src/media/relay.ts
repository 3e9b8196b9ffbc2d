import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { collection, type Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { SingleFlight } from '../single-flight.ts';
import type { TaskId } from '../tasks/index.ts';
import type { Clip, VideoRequest } from '../videos/index.ts';
import type { FileLinks } from './clip-links.ts';
import { type LibraryFiles, LibraryFolder } from './library-files.ts';
import { type RelayBounds, RelayFolder } from './relay-folder.ts';

/** A file at a URL of a chat platform, which may expire. */
export interface RelayedFile {
  readonly url: string;
  readonly name: string;
  readonly contentType: string;
  /** Absent where the size is unknown. */
  readonly bytes?: number;
  /** Its page on the platform, which requires the platform's own login; absent where it has none. */
  readonly permalink?: string;
  /** Identifies the token needed to download it; absent: the URL alone is enough. */
  readonly opener?: { readonly platform: string; readonly key: Readonly<Record<string, string>> };
}

/** Returns the request headers to download files of one platform, for the key of {@link RelayedFile.opener}. */
type Opener = (key: Readonly<Record<string, string>>) => Promise<Readonly<Record<string, string>>>;

/** Properties of a relayed file that users may read: never its relay URL, which works without a login. */
export interface FileDescription {
  /** `null` where there is no record of it any more. */
  readonly name: string | null;
  /** As {@link RelayedFile.permalink}. */
  readonly permalink: string | null;
}

/** Options of {@link Relay}. */
interface RelayOptions {
  readonly links: FileLinks;
  /**
   * Returns the largest image, in bytes, that can be given without a public address to each service, or to that of a request.
   * Default: none can.
   */
  readonly keptImageBytes?: (of?: Pick<VideoRequest, 'service'>) => readonly number[];
  readonly store: Store;
  /** Absolute path; files are stored in its sub-folder `relay`. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Default: {@link RELAY_BOUNDS}. */
  readonly bounds?: RelayBounds;
}

/** Time for which the record of a file is kept after it was last offered. */
const RECORD_MS = 365 * 24 * 3_600_000;
/** Codes of errors at the limit of the data folder, and of the disk. */
const FULL: ReadonlySet<string> = new Set(['data_full', 'disk_full', 'ENOSPC']);
const PREFIX = 'relay-';
/** Prefix of the id of a clip's last frame, before that of its task. */
const FRAME_PREFIX = 'frame-';
const FRAME_ADDRESS = /\/media\/frame-([\w-]+)(?:[?#]|$)/;
/** Name of the file of a clip's last frame. */
export const FRAME_NAME = 'last-frame.png';
const ADDRESS = /\/media\/(relay-[0-9a-f]+)(?:[?#]|$)/;

/** Returns whether an id under `/media/` belongs to a reference file: a relayed one, or the last frame of a clip. */
export function isRelayed(id: string): boolean {
  return id.startsWith(PREFIX) || id.startsWith(FRAME_PREFIX);
}

/** Returns the id under `/media/` of a clip's last frame. */
export function frameIdOf(task: TaskId): string {
  return `${FRAME_PREFIX}${task}`;
}

/** Returns the clip behind the URL of a last frame, with any signature; `null` for any other URL. */
export function frameIn(url: string): TaskId | null {
  return (FRAME_ADDRESS.exec(url)?.[1] as TaskId | undefined) ?? null;
}

/** Returns the id of the relayed file behind a URL, with any signature; `null` for any other URL. */
export function relayIdIn(url: string): string | null {
  // Includes URLs from before PUBLIC_URL changed, whose signatures may still be valid.
  return ADDRESS.exec(url)?.[1] ?? null;
}

/** By their ids under `/media/`. */
const relayedFiles = collection<string, RelayedFile>({
  name: 'relayed_files',
  holds: 'name and address of reference files that were passed on, with their Slack page',
  kept: 'a year, or until the task’s content is removed, or the requester of a draft is forgotten',
  personal: 'with its task',
});

/** Default limits; video services accept references of some dozens of megabytes. */
export const RELAY_BOUNDS: RelayBounds = {
  maxFileBytes: 256 * 1024 ** 2,
  maxKeptBytes: 8 * 1024 ** 3,
  maxFetches: 8,
  maxWaiting: 500,
};

/** Stores reference files that users posted in a chat, and serves them at signed URLs of our own. */
export class Relay {
  readonly links: FileLinks;
  readonly #options: RelayOptions;
  readonly #maxFileBytes: number;
  readonly #folder: RelayFolder;
  readonly #fetching = new SingleFlight<string, void>();
  readonly #library: LibraryFolder;
  readonly #openers = new Map<string, Opener>();
  #frameOf: (task: TaskId) => ReturnType<Relay['find']> = async () => undefined;

  constructor(options: RelayOptions) {
    const { store, dataDir, bounds = RELAY_BOUNDS } = options;
    this.#options = options;
    this.links = options.links;
    this.#maxFileBytes = bounds.maxFileBytes;
    this.#folder = new RelayFolder(join(dataDir, 'relay'), bounds);
    this.#library = new LibraryFolder(join(dataDir, 'library'), store);
  }

  /** Returns whether files kept here reach any service, or that of a request. */
  reaches(of?: Pick<VideoRequest, 'service'>): boolean {
    return this.#options.links.isPublic || this.#keptImageBytes(of).some((most) => most > 0);
  }

  #keptImageBytes(of?: Pick<VideoRequest, 'service'>): readonly number[] {
    return this.#options.keptImageBytes?.(of) ?? [];
  }

  /**
   * Starts to fetch a file. @returns its relay URL, which waits for the file; `null` where it is better given by the
   * platform's: there is a service that the relay URL does not reach, or the file is too large. The relay URL of a file is
   * independent of the signature in the platform's URL.
   */
  offer(file: RelayedFile): string | null {
    const { links, logger } = this.#options;
    const most = this.#keptImageBytes();
    const fits =
      most.length > 0 && file.contentType.startsWith('image/') && (file.bytes ?? Infinity) <= Math.min(...most);
    if (!(links.isPublic || fits) || (file.bytes ?? 0) > this.#maxFileBytes) return null;
    const id = idOf(file.url);
    const stored = relayedFiles.set(this.#options.store, id, file, RECORD_MS);
    Promise.all([stored, this.#fetch(id, file)]).catch((thrown: unknown) =>
      logger.warn({ event: 'relay_failed', err: thrown }, 'failed to store a reference file'),
    );
    return links.sign(id);
  }

  /**
   * Fetches a file, even one that requires a token; the token is not stored. @returns its relay URL, once the file is
   * stored; `null` where that reaches no service.
   * @throws `unavailable` where the response is not the file, such as a sign-in page; `too_large`; `overloaded`.
   */
  async keep(file: RelayedFile): Promise<string | null> {
    const { links } = this.#options;
    if (!this.reaches()) return null;
    const id = idOf(file.url);
    await this.#fetch(id, file);
    await relayedFiles.set(this.#options.store, id, file, RECORD_MS);
    return links.sign(id);
  }

  /** Registers the `opener` for files of `platform`, including those that another replica stored on its own disk. */
  openBy(platform: string, opener: Opener): void {
    this.#openers.set(platform, opener);
  }

  /** Registers the lookup of the last frame of a clip, which is served like a relayed file, but not stored here. */
  serveFrames(frameOf: (task: TaskId) => ReturnType<Relay['find']>): void {
    this.#frameOf = frameOf;
  }

  /**
   * Returns the port that keeps relayed files for the library, beyond the limits of the relay.
   * @param assertWritable throws `data_full` or `disk_full` where nothing more may be stored
   */
  libraryFiles(assertWritable: () => Promise<void>): LibraryFiles {
    return {
      keep: async (url) => {
        const id = this.#ownId(url);
        if (id === null) return expires(url) ? 'expires' : 'elsewhere';
        const file = await this.find(id);
        if (file === undefined) return 'failed';
        try {
          await assertWritable();
          return await this.#library.keep(id, file);
        } catch (thrown) {
          if (FULL.has((thrown as NodeJS.ErrnoException).code ?? '')) return 'full';
          throw thrown;
        }
      },
      remove: async (url) => {
        const id = this.#ownId(url);
        if (id !== null) await this.#library.remove(id);
      },
    };
  }

  /** Returns the stored file of an id, fetching it again if it is missing; `undefined` where there is none. */
  async find(id: string): Promise<(Clip & { readonly name: string }) | undefined> {
    await this.#fetching.get(id)?.catch(() => undefined);
    const kept = await this.#library.find(id);
    if (kept !== undefined) return kept;
    if (id.startsWith(FRAME_PREFIX)) return this.#frameOf(id.slice(FRAME_PREFIX.length) as TaskId);
    const file = await relayedFiles.get(this.#options.store, id);
    if (file === undefined) return undefined;
    const storedBytes = await this.#folder.sizeOf(id);
    if (storedBytes === null) await this.#fetch(id, file).catch(() => undefined);
    const bytes = storedBytes ?? (await this.#folder.sizeOf(id));
    const { contentType, name } = file;
    return bytes === null ? undefined : { path: this.#folder.pathOf(id), bytes, contentType, name };
  }

  /** Returns the stored file of a relay URL, without a request to it; `undefined` for any other URL. */
  async fileOf(url: string): ReturnType<Relay['find']> {
    const id = this.#ownId(url);
    return id === null ? undefined : this.find(id);
  }

  /** Returns a relay URL with a fresh signature; any other URL unchanged. */
  renew(url: string): string {
    const { links } = this.#options;
    const id = this.#ownId(url);
    return id === null ? url : links.sign(id);
  }

  /** Deletes the file of a relay URL and what is known about it; any other URL is left alone. Idempotent. */
  async remove(url: string): Promise<void> {
    const id = this.#ownId(url);
    // A frame goes with its clip.
    if (id === null || id.startsWith(FRAME_PREFIX)) return;
    await this.#fetching.get(id)?.catch(() => undefined);
    await this.#folder.remove(id);
    await relayedFiles.delete(this.#options.store, id);
  }

  /** Describes the file of a relay URL, even if its signature is invalid; `null` for any other URL. */
  async describe(url: string): Promise<FileDescription | null> {
    if (frameIn(url) !== null) return { name: FRAME_NAME, permalink: null };
    const id = relayIdIn(url);
    if (id === null) return null;
    const file = await relayedFiles.get(this.#options.store, id);
    return { name: file?.name ?? null, permalink: file?.permalink ?? null };
  }

  #fetch(id: string, file: RelayedFile): Promise<void> {
    return this.#fetching.run(id, async () => {
      const { opener } = file;
      const headers = opener === undefined ? undefined : await this.#openers.get(opener.platform)?.(opener.key);
      return this.#folder.fetch({ id, file, headers: headers ?? {} });
    });
  }

  /**
   * Returns the id in a relay URL, even an expired one; `null` for a forged one, which must yield no file or signature.
   */
  #ownId(url: string): string | null {
    const id = this.#options.links.idIn(url)?.id ?? null;
    return id !== null && isRelayed(id) ? id : null;
  }
}

/** Returns whether an address of a chat platform expires. @see https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
function expires(url: string): boolean {
  return ['cdn.discordapp.com', 'media.discordapp.net'].includes(new URL(url).hostname);
}

/** Derives the id from origin and path, which identify the file; platforms put their signature in the query. */
function idOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${PREFIX}${createHash('sha256').update(`${origin}${pathname}`).digest('hex').slice(0, 40)}`;
}
