import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import type { BoundedMap } from '../../bounded-map.ts';
import { sleep } from '../../clock.ts';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { AddressGuard } from '../addresses.ts';
import { failure } from '../failures.ts';
import type { Clip, UpstreamId } from '../service.ts';
import { noAnswer, type Wire } from '../wire.ts';
import { isWholeFile, SIGNATURE_BYTES, videoTypeOf } from './container.ts';
import { type ClipStream, locate, NoSuchRangeError } from './locate.ts';

const DOING = 'fetching a clip';

/**
 * A resumed transfer asks for this many bytes again and compares them: proof that the rest belongs to the same file,
 * also from services without ETag and after a restart that forgot it.
 */
const OVERLAP_BYTES = 4096;

/** A transfer that broke and got ahead by at least this much goes on at once; any other is for the caller to repeat. */
const PROGRESS_BYTES = 64 * 1024;
const PAUSE_MS = 500;

/** The least a transfer may bring, over {@link SPEED_WINDOW_MS}; a slower one gives its place to others. */
const LEAST_BYTES_PER_SECOND = 8 * 1024;
const SPEED_WINDOW_MS = 60_000;
/** Each slow try doubles the window of the next one, so many times: a clip that only comes slowly comes in the end. */
const MOST_DOUBLINGS = 4;

/** One clip to fetch. */
export interface Download {
  readonly id: UpstreamId;
  /** Where the clip shall be. */
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  readonly dispatcher: Dispatcher;
  readonly guard: AddressGuard;
  readonly random: () => number;
  readonly logger: Logger;
  /** A clip above this is given up: the store lives on the same disk. */
  readonly maxClipBytes: number;
  /** What is known from earlier tries; tells tries of one clip from each other. */
  readonly memories: BoundedMap<UpstreamId, DownloadMemory>;
}

/** What the tries of one clip leave for the next. */
export interface DownloadMemory {
  /** ETag of the bytes on disk. */
  validator: string | null;
  /** SHA-256 of a download that could not be proven whole: a second one of the same is all there is. */
  doubtful: string | null;
  slowTries: number;
}

/** Fetches a clip to disk, in one try, as `VideoService.download` says. */
export async function download(wire: Wire, order: Download): Promise<Clip> {
  const job: Download = { ...order, path: resolve(order.path) };
  try {
    // A process may have died between the renaming and telling anybody.
    const earlier = await clipAt(job.path);
    if (earlier !== null) return earlier;
    await mkdir(dirname(job.path), { recursive: true });
    return await persist(wire, job);
  } catch (error) {
    throw translate(wire, error);
  }
}

/** Transfers for as long as broken transfers get ahead. */
async function persist(wire: Wire, job: Download): Promise<Clip> {
  const memory = job.memories.get(job.id) ?? { validator: null, doubtful: null, slowTries: 0 };
  job.memories.set(job.id, memory);
  const speed = new Speedometer(wire, SPEED_WINDOW_MS * 2 ** Math.min(memory.slowTries, MOST_DOUBLINGS));
  for (;;) {
    const before = await sizeOf(partOf(job));
    try {
      const clip = await attempt(wire, job, { memory, speed });
      job.memories.delete(job.id);
      return clip;
    } catch (thrown) {
      const error = translate(wire, thrown);
      const gotAhead = (await sizeOf(partOf(job))) >= before + PROGRESS_BYTES;
      if (speed.isTooSlow) memory.slowTries += 1;
      const goesOn = gotAhead && error.code === 'unavailable' && error.retryAfterMs === undefined && !speed.isTooSlow;
      if (!goesOn || job.signal?.aborted === true) throw error;
      job.logger.info({ upstreamId: job.id, code: error.code }, 'a broken transfer of a clip goes on');
      await sleep(wire.clock, PAUSE_MS * (0.5 + job.random() / 2), job.signal);
    }
  }
}

/** Measures a transfer against {@link LEAST_BYTES_PER_SECOND}, in windows that begin with its first bytes. */
class Speedometer {
  readonly #wire: Wire;
  readonly #windowMs: number;
  #since: { readonly ms: number; bytes: number } | null = null;
  isTooSlow = false;

  constructor(wire: Wire, windowMs: number) {
    this.#wire = wire;
    this.#windowMs = windowMs;
  }

  /** Counts what arrived. @throws DailiesError `timed_out` at the end of a window with too little in it. */
  count(bytes: number): void {
    const nowMs = this.#wire.clock.monotonic();
    this.#since ??= { ms: nowMs, bytes: 0 };
    this.#since.bytes += bytes;
    const passedMs = nowMs - this.#since.ms;
    if (passedMs < this.#windowMs) return;
    if (this.#since.bytes >= (LEAST_BYTES_PER_SECOND * passedMs) / 1000) {
      this.#since = null;
      return;
    }
    this.isTooSlow = true;
    const doing = `${DOING}: ${this.#since.bytes} bytes in ${Math.round(passedMs / 1000)} s`;
    throw failure(this.#wire.scrub, doing, { code: 'timed_out', retryable: true });
  }
}

/** What is shared by the transfers of one try. */
interface Try {
  readonly memory: DownloadMemory;
  readonly speed: Speedometer;
}

async function attempt(wire: Wire, job: Download, { memory, speed }: Try): Promise<Clip> {
  const part = partOf(job);
  const known = await tailOf(part);
  let totalBytes: number | null;
  try {
    const stream = await locate(wire, { ...job, from: known.start, validator: memory.validator });
    memory.validator = stream.validator;
    totalBytes = stream.totalBytes;
    await append(wire, job, { stream, known, speed });
  } catch (error) {
    if (!(error instanceof NoSuchRangeError)) throw error;
    await rm(part, { force: true });
    // Once: without a file there is no range to ask for.
    if (known.start > 0) return attempt(wire, job, { memory, speed });
    const doing = `${DOING}: the service sends a part that was not asked for`;
    throw failure(wire.scrub, doing, { code: 'unavailable', retryable: true });
  }
  return finish(wire, job, { totalBytes, memory });
}

/** Checks what arrived, and gives it its name. */
async function finish(
  wire: Wire,
  job: Download,
  { totalBytes, memory }: { readonly totalBytes: number | null; readonly memory: DownloadMemory },
): Promise<Clip> {
  const part = partOf(job);
  const bytes = await sizeOf(part);
  if (totalBytes !== null && bytes !== totalBytes) {
    if (bytes > totalBytes) await rm(part, { force: true });
    const doing = `${DOING}: ${bytes} of ${totalBytes} bytes arrived`;
    throw failure(wire.scrub, doing, { code: 'unavailable', retryable: true });
  }
  const clip = await clipAt(part);
  if (clip === null) throw await noVideo(wire, part, { bytes, memory });
  if (totalBytes === null && !(await isProvenWhole(part)) && !(await isSeenAgain(part, memory))) {
    await rm(part, { force: true });
    const doing = `${DOING}: ${bytes} bytes arrived, which may not be all`;
    throw failure(wire.scrub, doing, { code: 'unavailable', retryable: true });
  }
  await rename(part, job.path);
  await syncFolder(dirname(job.path));
  return { ...clip, path: job.path };
}

/** A placeholder may pass; the same file again will stay. */
async function noVideo(
  { scrub }: Wire,
  part: string,
  { bytes, memory }: { readonly bytes: number; readonly memory: DownloadMemory },
): Promise<DailiesError> {
  const isFinal = bytes > 0 && (await isSeenAgain(part, memory));
  await rm(part, { force: true });
  return failure(scrub, `${DOING}: ${bytes} bytes that are no video`, { code: 'not_a_video', retryable: !isFinal });
}

async function isProvenWhole(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    return await isWholeFile(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** Whether the last download that was doubted brought exactly this; remembers this one. */
async function isSeenAgain(path: string, memory: DownloadMemory): Promise<boolean> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const digest = hash.digest('hex');
  const isAgain = memory.doubtful === digest;
  memory.doubtful = digest;
  return isAgain;
}

/** The end of what is already there: from `start`, which is 0 where there is too little to compare. */
interface Tail {
  readonly start: number;
  readonly bytes: Buffer;
}

async function tailOf(part: string): Promise<Tail> {
  const size = await sizeOf(part);
  if (size <= OVERLAP_BYTES) return { start: 0, bytes: Buffer.alloc(0) };
  const start = size - OVERLAP_BYTES;
  return { start, bytes: await readAt(part, start, OVERLAP_BYTES) };
}

/** Writes a stream at its place; what came before it broke off is on disk when this throws. @throws NoSuchRangeError */
async function append(
  wire: Wire,
  job: Download,
  { stream, known, speed }: { stream: ClipStream; known: Tail; speed: Speedometer },
): Promise<void> {
  const { offset } = stream;
  const expected = offset === 0 ? Buffer.alloc(0) : known.bytes;
  let position = 0;
  let broken: Error | undefined;
  const arriving = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of stream.chunks) {
        const overlap = expected.subarray(position, position + chunk.length);
        if (!overlap.equals(chunk.subarray(0, overlap.length))) throw new NoSuchRangeError();
        position += chunk.length;
        if (offset + position > job.maxClipBytes) throw tooLarge(wire, job.maxClipBytes);
        yield chunk;
        speed.count(chunk.length);
      }
    } catch (error) {
      // Ending here instead of throwing lets the file take what arrived.
      broken = error instanceof Error ? error : new Error(String(error));
    }
  };
  try {
    await pipeline(
      arriving,
      createWriteStream(partOf(job), { flags: offset === 0 ? 'w' : 'r+', start: offset, flush: true }),
    );
  } finally {
    stream.close();
  }
  if (broken === undefined) return;
  // What is too large will not become smaller, and fills the disk that the store is on.
  if (broken instanceof DailiesError && broken.code === 'bad_answer') await rm(partOf(job), { force: true });
  throw broken;
}

function tooLarge({ scrub }: Wire, maxClipBytes: number): DailiesError {
  return failure(scrub, `${DOING}: more than ${maxClipBytes} bytes`, { code: 'bad_answer', retryable: false });
}

/** The clip at `path`, where there is a video. */
async function clipAt(path: string): Promise<Clip | null> {
  const bytes = await sizeOf(path);
  if (bytes === 0) return null;
  const contentType = videoTypeOf(await readAt(path, 0, SIGNATURE_BYTES), bytes);
  return contentType === null ? null : { path, bytes, contentType };
}

async function readAt(path: string, start: number, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** A renaming survives a power cut only once its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function partOf({ path }: Download): string {
  return `${path}.part`;
}

function translate(wire: Wire, thrown: unknown): DailiesError {
  const code = codeOf(thrown);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return failure(wire.scrub, `${DOING}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
  }
  // What the file system refuses will not be different the next time.
  if (thrown instanceof Error && 'syscall' in thrown && 'path' in thrown) {
    return failure(wire.scrub, `${DOING}: ${thrown.message}`, { code: 'internal', retryable: false, cause: thrown });
  }
  return noAnswer(wire, DOING, thrown);
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
