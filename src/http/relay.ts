import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Clip } from '../videos/service.ts';
import type { SignedLinks } from './signed-links.ts';

/** A file at an address of a chat platform, which may stop working. */
export interface RelayedFile {
  readonly url: string;
  readonly name: string;
  readonly contentType: string;
}

/** Keeps reference files that people gave in a chat, and hands them out under addresses of our own. */
export interface Relay {
  /**
   * Begins to fetch a file. @returns its address here, which waits for the file; `null` where links are off. The same
   * file has one address, whatever signature the platform puts on its own.
   */
  offer(file: RelayedFile): string | null;
  /**
   * Fetches a file that only a token opens; the token is not kept. @returns its address here, once it is there;
   * `null` where links are off.
   * @throws `unavailable` where what came is not the file, such as a page to sign in at.
   */
  keep(file: RelayedFile, headers: Readonly<Record<string, string>>): Promise<string | null>;
  /** The kept file behind an id; fetched once more where it is missing. `undefined`: there is none. */
  find(id: string): Promise<(Clip & { readonly name: string }) | undefined>;
  /** An address of ours with a fresh signature; any other as it is. */
  renew(url: string): string;
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
}

const PREFIX = 'relay-';
const FETCH_TIMEOUT_MS = 5 * 60_000;

/** Whether an id under `/media/` is a relayed file's. */
export function isRelayed(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** A relay on a folder and a store. */
export function createRelay({ links, publicUrl, store, dataDir, logger }: RelayOptions): Relay {
  const records = store.keyv('adapters');
  const folder = join(dataDir, 'relay');
  const fetching = new Map<string, Promise<void>>();

  const fetchOnce = (id: string, file: RelayedFile, headers: Headers = {}): Promise<void> => {
    const running = fetching.get(id) ?? fetchFile({ file, headers, folder, id }).finally(() => fetching.delete(id));
    fetching.set(id, running);
    return running;
  };

  return {
    offer(file) {
      if (links === null) return null;
      const id = idOf(file.url);
      const kept = records.set(`relay:${id}`, file);
      Promise.all([kept, fetchOnce(id, file)]).catch((thrown: unknown) =>
        logger.warn({ err: thrown, name: file.name }, 'a reference file could not be kept'),
      );
      return links.sign(id).url;
    },
    async keep(file, headers) {
      if (links === null) return null;
      const id = idOf(file.url);
      await fetchOnce(id, file, headers);
      await records.set(`relay:${id}`, file);
      return links.sign(id).url;
    },
    async find(id) {
      await fetching.get(id)?.catch(() => undefined);
      const file = await records.get<RelayedFile>(`relay:${id}`);
      if (file === undefined) return undefined;
      const path = join(folder, id);
      const there = await sizeOf(path);
      if (there === null) await fetchOnce(id, file).catch(() => undefined);
      const bytes = there ?? (await sizeOf(path));
      return bytes === null ? undefined : { path, bytes, contentType: file.contentType, name: file.name };
    },
    renew(url) {
      if (links === null || publicUrl === undefined || !url.startsWith(`${publicUrl}/media/${PREFIX}`)) return url;
      const [id = ''] = url.slice(`${publicUrl}/media/`.length).split('?');
      return links.sign(id).url;
    },
  };
}

/** Platforms sign their addresses in the query; the path names the file. */
function idOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${PREFIX}${createHash('sha256').update(`${origin}${pathname}`).digest('hex').slice(0, 40)}`;
}

type Headers = Readonly<Record<string, string>>;

/** A file on its way to the folder. */
interface Fetching {
  readonly file: RelayedFile;
  readonly headers: Headers;
  readonly folder: string;
  readonly id: string;
}

/** Streams a file to disk; it is there whole or not at all. */
async function fetchFile({ file, headers, folder, id }: Fetching): Promise<void> {
  const path = join(folder, id);
  if ((await sizeOf(path)) !== null) return;
  await mkdir(folder, { recursive: true });
  const answer = await request(file.url, { headers, signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  const { statusCode, body } = answer;
  const isPage = String(answer.headers['content-type']).startsWith('text/html') && !/html/.test(file.contentType);
  if (statusCode !== 200 || isPage) {
    await body.dump();
    const came = isPage ? 'a page came instead of the file' : `HTTP ${statusCode}`;
    throw new DailiesError(`fetching a reference file: ${came}`, { code: 'unavailable', retryable: true });
  }
  const part = `${path}.part`;
  try {
    await pipeline(body, createWriteStream(part));
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}

function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}
