import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Clip } from '../videos/service.ts';
import { RELAY_BOUNDS, type RelayBounds, RelayFolder } from './relay-folder.ts';
import type { SignedLinks } from './signed-links.ts';

/** A file at an address of a chat platform, which may stop working. */
export interface RelayedFile {
  readonly url: string;
  readonly name: string;
  readonly contentType: string;
  /** Where it is known. */
  readonly bytes?: number;
  /** Its page on the platform, which asks for the platform's own login; absent where it has none. */
  readonly permalink?: string;
  /** Whose token opens it; absent: it is open to everybody who has its address. */
  readonly opener?: { readonly platform: string; readonly key: Readonly<Record<string, string>> };
}

/** Gives the headers that open files of one platform, by {@link RelayedFile.opener}. */
export type Opener = (key: Readonly<Record<string, string>>) => Promise<Readonly<Record<string, string>>>;

/** Keeps reference files that people gave in a chat, and hands them out under addresses of our own. */
export interface Relay {
  /**
   * Begins to fetch a file. @returns its address here, which waits for the file; `null` where links are off, or the file
   * is larger than what is kept. The same file has one address, whatever signature the platform puts on its own.
   */
  offer(file: RelayedFile): string | null;
  /**
   * Fetches a file, also one that only a token opens; the token is not kept. @returns its address here, once it is
   * there; `null` where links are off.
   * @throws `unavailable` where what came is not the file, such as a page to sign in at; `too_large`; `overloaded`.
   */
  keep(file: RelayedFile): Promise<string | null>;
  /** From now on `opener` opens the files of `platform`, also those that another replica kept on its own disk. */
  openBy(platform: string, opener: Opener): void;
  /** The kept file behind an id; fetched once more where it is missing. `undefined`: there is none. */
  find(id: string): Promise<(Clip & { readonly name: string }) | undefined>;
  /** The kept file behind an address of ours, without asking the network; `undefined` for any other address. */
  fileOf(url: string): Promise<(Clip & { readonly name: string }) | undefined>;
  /** An address of ours with a fresh signature; any other as it is. */
  renew(url: string): string;
  /** The file behind an address of ours, whatever its signature; `null` for any other address. */
  describe(url: string): Promise<FileDescription | null>;
}

/** What people may read of a relayed file: never its address here, which opens without a login. */
export interface FileDescription {
  /** `null` where nothing is known of it any more. */
  readonly name: string | null;
  /** As {@link RelayedFile.permalink}. */
  readonly permalink: string | null;
}

/** Collaborators of {@link createRelay}. */
export interface RelayOptions {
  /** `null`: links are off. */
  readonly links: SignedLinks | null;
  /** How the HTTP server is reached from outside; absent where links are off. */
  readonly publicUrl?: string | undefined;
  readonly store: Store;
  /** Absolute; files go to `relay/` in it. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Default: {@link RELAY_BOUNDS}. */
  readonly bounds?: RelayBounds;
}

const PREFIX = 'relay-';
const ADDRESS = /\/media\/(relay-[0-9a-f]+)(?:[?#]|$)/;

/** Whether an id under `/media/` is a relayed file's. */
export function isRelayed(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** A relay on a folder and a store. */
export function createRelay(options: RelayOptions): Relay {
  const { links, publicUrl, store, dataDir, logger, bounds = RELAY_BOUNDS } = options;
  const records = store.keyv('adapters');
  const folder = new RelayFolder(join(dataDir, 'relay'), bounds);
  const fetching = new Map<string, Promise<void>>();

  const openers = new Map<string, Opener>();

  const fetch = async (id: string, file: RelayedFile): Promise<void> => {
    const { opener } = file;
    const headers = opener === undefined ? undefined : await openers.get(opener.platform)?.(opener.key);
    return folder.fetch({ id, file, headers: headers ?? {} });
  };

  const fetchOnce = (id: string, file: RelayedFile): Promise<void> => {
    const running = fetching.get(id) ?? fetch(id, file).finally(() => fetching.delete(id));
    fetching.set(id, running);
    return running;
  };

  /** The id in an address that was signed here, however long ago: whoever makes one up gets neither file nor signature. */
  const ownId = (url: string): string | null => {
    if (links === null || publicUrl === undefined || !url.startsWith(`${publicUrl}/media/${PREFIX}`)) return null;
    const { pathname, searchParams } = new URL(url);
    const id = pathname.slice(pathname.lastIndexOf('/') + 1);
    const verdict = links.verify(id, searchParams.get('expires') ?? '', searchParams.get('signature') ?? '');
    return verdict === 'forged' ? null : id;
  };

  const find: Relay['find'] = async (id) => {
    await fetching.get(id)?.catch(() => undefined);
    const file = await records.get<RelayedFile>(`relay:${id}`);
    if (file === undefined) return undefined;
    const there = await folder.sizeOf(id);
    if (there === null) await fetchOnce(id, file).catch(() => undefined);
    const bytes = there ?? (await folder.sizeOf(id));
    const { contentType, name } = file;
    return bytes === null ? undefined : { path: folder.pathOf(id), bytes, contentType, name };
  };

  return {
    offer(file) {
      if (links === null || (file.bytes ?? 0) > bounds.maxFileBytes) return null;
      const id = idOf(file.url);
      const kept = records.set(`relay:${id}`, file);
      Promise.all([kept, fetchOnce(id, file)]).catch((thrown: unknown) =>
        logger.warn({ err: thrown, name: file.name }, 'a reference file could not be kept'),
      );
      return links.sign(id).url;
    },
    openBy: (platform, opener) => void openers.set(platform, opener),
    async keep(file) {
      if (links === null) return null;
      const id = idOf(file.url);
      await fetchOnce(id, file);
      await records.set(`relay:${id}`, file);
      return links.sign(id).url;
    },
    find,
    async fileOf(url) {
      const id = ownId(url);
      return id === null ? undefined : find(id);
    },
    renew(url) {
      const id = ownId(url);
      return links === null || id === null ? url : links.sign(id).url;
    },
    async describe(url) {
      // Also one from before PUBLIC_URL changed: its signature may be valid still.
      const id = ADDRESS.exec(url)?.[1];
      if (id === undefined) return null;
      const file = await records.get<RelayedFile>(`relay:${id}`);
      return { name: file?.name ?? null, permalink: file?.permalink ?? null };
    },
  };
}

/** Platforms sign their addresses in the query; the path names the file. */
function idOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${PREFIX}${createHash('sha256').update(`${origin}${pathname}`).digest('hex').slice(0, 40)}`;
}
