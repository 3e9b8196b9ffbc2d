import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';
import { DailiesError, overloaded } from '../errors.ts';
import { filesIn, sizeOf, writeWhole } from '../files.ts';
import { POSTER } from './old-files.ts';
import type { RelayedFile } from './relay.ts';

/** Limits on stored files and on concurrent fetches. */
export interface RelayBounds {
  readonly maxFileBytes: number;
  /** Of all files together; beyond it, the files fetched longest ago are evicted. */
  readonly maxKeptBytes: number;
  readonly maxFetches: number;
  /** Maximum length of the queue of fetches. */
  readonly maxWaiting: number;
}

const FETCH_TIMEOUT_MS = 5 * 60_000;
/** Age at which a partial file counts as left by a process that died. */
const ABANDONED_AFTER_MS = 3_600_000;
/** Share of the size after whose fetch the folder is read again, since other processes fetch files into it as well. */
const CHECK_SHARE = 0.1;
/** Share of the size down to which files are evicted, so that not every fetch has to. */
const EVICTED_TO = 0.95;

/** A file to fetch, with its request headers. */
interface RelayFetch {
  readonly id: string;
  readonly file: RelayedFile;
  readonly headers: Readonly<Record<string, string>>;
}

/** The folder of relayed files: files appear atomically, and their total size is limited. */
export class RelayFolder {
  readonly #path: string;
  readonly #bounds: RelayBounds;
  readonly #waiting: (() => void)[] = [];
  #fetching = 0;
  /** Bytes of the folder when it was last read; `null` before that. */
  #keptBytes: number | null = null;
  /** Bytes fetched by this process since then. */
  #addedBytes = 0;

  constructor(path: string, bounds: RelayBounds) {
    this.#path = path;
    this.#bounds = bounds;
  }

  /** Returns the path of a file, whether it exists or not. */
  pathOf(id: string): string {
    return join(this.#path, id);
  }

  /** Returns the size of a file in bytes; `null` where it does not exist. */
  sizeOf(id: string): Promise<number | null> {
    return sizeOf(this.pathOf(id));
  }

  /** Deletes a file, if it exists, with its picture. */
  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
    await rm(`${this.pathOf(id)}${POSTER}`, { force: true });
  }

  /**
   * Streams a file to disk, unless it exists.
   * @throws `too_large`; `overloaded` where the queue is full; `unavailable` where the response is not the file.
   */
  async fetch(job: RelayFetch): Promise<void> {
    if ((await this.sizeOf(job.id)) !== null) return;
    await this.#acquireSlot();
    try {
      await mkdir(this.#path, { recursive: true });
      await this.#fetchNow(job);
    } finally {
      this.#fetching -= 1;
      this.#waiting.shift()?.();
    }
    await this.#evictIfFull();
  }

  #acquireSlot(): Promise<void> {
    if (this.#fetching < this.#bounds.maxFetches) {
      this.#fetching += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.#bounds.maxWaiting) return Promise.reject(overloaded('fetching a reference file'));
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.#fetching += 1;
        resolve();
      });
    });
  }

  async #fetchNow({ id, file, headers }: RelayFetch): Promise<void> {
    const response = await request(file.url, { headers, signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    const { statusCode, body } = response;
    const isPage = String(response.headers['content-type']).startsWith('text/html') && !/html/.test(file.contentType);
    if (statusCode !== 200 || isPage) {
      await body.dump();
      const reason = isPage ? 'a page came instead of the file' : `HTTP ${statusCode}`;
      throw new DailiesError(`fetching a reference file: ${reason}`, { code: 'unavailable', retryable: true });
    }
    await writeWhole(this.pathOf(id), async (part) => {
      const output = createWriteStream(part);
      // Also if it fails: only then, the file that it was about to open is there to be deleted.
      const closed = new Promise<void>((resolve) => output.once('close', resolve));
      try {
        await pipeline(body, (chunks: AsyncIterable<Buffer>) => this.#bounded(chunks), output);
      } finally {
        await closed;
      }
      this.#addedBytes += (await stat(part)).size;
    });
  }

  async *#bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { maxFileBytes: limitBytes } = this.#bounds;
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        const message = `fetching a reference file: more than ${limitBytes} bytes`;
        throw new DailiesError(message, { code: 'too_large', retryable: false, limitBytes });
      }
      yield chunk;
    }
  }

  /** Reads the folder only if it may be full: it has thousands of files. */
  async #evictIfFull(): Promise<void> {
    const { maxKeptBytes } = this.#bounds;
    const mayBeFull = this.#keptBytes === null || this.#keptBytes + this.#addedBytes > maxKeptBytes;
    if (mayBeFull || this.#addedBytes >= CHECK_SHARE * maxKeptBytes) await this.#evict();
  }

  /** Evicts the files fetched longest ago beyond the size limit, and partial files left by dead processes. */
  async #evict(): Promise<void> {
    this.#addedBytes = 0;
    const newestFirst = (await filesIn(this.#path)).toReversed();
    // The current time by the clock of the file system.
    const nowMs = newestFirst[0]?.atMs ?? 0;
    const { maxKeptBytes } = this.#bounds;
    const isFull = newestFirst.reduce((sum, { bytes }) => sum + bytes, 0) > maxKeptBytes;
    const targetBytes = isFull ? EVICTED_TO * maxKeptBytes : maxKeptBytes;
    let [seen, kept] = [0, 0];
    for (const { path, bytes, atMs } of newestFirst) {
      const isPart = path.endsWith('.part');
      const isAbandoned = isPart && nowMs - atMs > ABANDONED_AFTER_MS;
      if (!isAbandoned) seen += bytes;
      const isOver = !isPart && seen > targetBytes;
      if (isAbandoned || isOver) await rm(path, { force: true });
      else kept += bytes;
    }
    this.#keptBytes = kept;
  }
}
