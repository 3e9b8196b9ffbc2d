import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { sleep } from '../../clock.ts';
import { DailiesError, diskFull } from '../../errors.ts';
import { syncFolder } from '../../files.ts';
import { type DownloadMemory, noAnswer, type Wire } from '../exchange.ts';
import { failure } from '../failures.ts';
import type { Clip, UpstreamId } from '../service.ts';
import { isWholeFile, SIGNATURE_BYTES, videoTypeOf } from './container.ts';
import { type ClipStream, locate, NoSuchRangeError } from './locate.ts';

const DOING = 'fetching a clip';

/**
 * Bytes that a resumed transfer requests again and compares: proof that the rest belongs to the same file, even from
 * services without ETag and after a restart that lost it.
 */
const OVERLAP_BYTES = 4096;

/** Minimum progress of a broken transfer that resumes at once; with less, the retry is left to the caller. */
const PROGRESS_BYTES = 64 * 1024;
const RESUME_DELAY_MS = 500;

/** Minimum speed of a transfer, over {@link SPEED_WINDOW_MS}; a slower one frees its slot for others. */
const MIN_BYTES_PER_SECOND = 8 * 1024;
const SPEED_WINDOW_MS = 60_000;
/**
 * Each slow attempt doubles the window of the next one, up to this many times, so that a slow clip completes in the
 * end.
 */
const MAX_DOUBLINGS = 4;

interface Download {
  readonly id: UpstreamId;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
}

/** Downloads a clip to disk, in one attempt, as documented at `VideoService.download`. */
export async function download(wire: Wire, order: Download): Promise<Clip> {
  const job: Download = { ...order, path: resolve(order.path) };
  try {
    // A process may have died between the renaming and recording the clip.
    const earlier = await clipAt(job.path);
    if (earlier !== null) return earlier;
    await mkdir(dirname(job.path), { recursive: true });
    return await persist(wire, job);
  } catch (error) {
    throw translate(wire, error);
  }
}

/** Repeats broken transfers at once while they make progress. */
async function persist(wire: Wire, job: Download): Promise<Clip> {
  const memory = wire.memories.get(job.id) ?? { validator: null, doubtful: null, slowTries: 0 };
  wire.memories.set(job.id, memory);
  const speed = new Speedometer(wire, SPEED_WINDOW_MS * 2 ** Math.min(memory.slowTries, MAX_DOUBLINGS));
  for (;;) {
    const before = await sizeOf(partOf(job));
    try {
      const clip = await attempt(wire, job, { memory, speed });
      wire.memories.delete(job.id);
      return clip;
    } catch (thrown) {
      const error = translate(wire, thrown);
      const hasProgressed = (await sizeOf(partOf(job))) >= before + PROGRESS_BYTES;
      if (speed.isTooSlow) memory.slowTries += 1;
      const goesOn =
        hasProgressed && error.code === 'unavailable' && error.retryAfterMs === undefined && !speed.isTooSlow;
      if (!goesOn || job.signal?.aborted === true) throw error;
      wire.logger.info(
        { event: 'download_resumed', upstreamId: job.id, code: error.code },
        'resuming the broken transfer of a clip',
      );
      await sleep(wire.clock, RESUME_DELAY_MS * (0.5 + wire.random() / 2), job.signal);
    }
  }
}

/** Measures a transfer against {@link MIN_BYTES_PER_SECOND}, in windows that start with the first bytes received. */
class Speedometer {
  readonly #wire: Wire;
  readonly #windowMs: number;
  #since: { readonly ms: number; bytes: number } | null = null;
  isTooSlow = false;

  constructor(wire: Wire, windowMs: number) {
    this.#wire = wire;
    this.#windowMs = windowMs;
  }

  /** Counts received bytes. @throws DailiesError `timed_out` at the end of a window with too few of them. */
  count(bytes: number): void {
    const nowMs = this.#wire.clock.monotonic();
    this.#since ??= { ms: nowMs, bytes: 0 };
    this.#since.bytes += bytes;
    const passedMs = nowMs - this.#since.ms;
    if (passedMs < this.#windowMs) return;
    if (this.#since.bytes >= (MIN_BYTES_PER_SECOND * passedMs) / 1000) {
      this.#since = null;
      return;
    }
    this.isTooSlow = true;
    const doing = `${DOING}: ${this.#since.bytes} bytes in ${Math.round(passedMs / 1000)} s`;
    throw failure(this.#wire, doing, { code: 'timed_out', retryable: true });
  }
}

/** State shared by the transfers of one attempt. */
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
    // At most once: without a partial file, no range is requested.
    if (known.start > 0) return attempt(wire, job, { memory, speed });
    throw broken(wire, 'the service sends a part that was not asked for');
  }
  return finish(wire, job, { totalBytes, memory });
}

/** Verifies the download and renames it to its final path. */
async function finish(
  wire: Wire,
  job: Download,
  { totalBytes, memory }: { readonly totalBytes: number | null; readonly memory: DownloadMemory },
): Promise<Clip> {
  const part = partOf(job);
  const bytes = await sizeOf(part);
  if (totalBytes !== null && bytes !== totalBytes) {
    if (bytes > totalBytes) await rm(part, { force: true });
    throw broken(wire, `${bytes} of ${totalBytes} bytes arrived`);
  }
  const clip = await clipAt(part);
  if (clip === null) throw await noVideo(wire, part, { bytes, memory });
  const isUnproven = totalBytes === null && !(await isProvenWhole(part));
  if (isUnproven && !(await isIdenticalAgain(part, memory))) {
    await rm(part, { force: true });
    throw broken(wire, `${bytes} bytes arrived, which may not be all`);
  }
  await rename(part, job.path);
  await syncFolder(dirname(job.path));
  return { ...clip, path: job.path, ...(isUnproven ? { isUnproven } : {}) };
}

/**
 * Returns the error of a file that is not a video: retryable, as it may be a placeholder, until it is received twice.
 */
async function noVideo(
  wire: Wire,
  part: string,
  { bytes, memory }: { readonly bytes: number; readonly memory: DownloadMemory },
): Promise<DailiesError> {
  const isFinal = bytes > 0 && (await isIdenticalAgain(part, memory));
  await rm(part, { force: true });
  return failure(wire, `${DOING}: ${bytes} bytes that are no video`, { code: 'not_a_video', retryable: !isFinal });
}

async function isProvenWhole(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    return await isWholeFile(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** Returns whether the previous unproven download was identical; records the hash of this one. */
async function isIdenticalAgain(path: string, memory: DownloadMemory): Promise<boolean> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const digest = hash.digest('hex');
  const isAgain = memory.doubtful === digest;
  memory.doubtful = digest;
  return isAgain;
}

/** End of the partial file from `start` on, which is 0 where the file is too short to compare. */
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

/**
 * Writes a stream at its offset; bytes received before a failure are on disk when this throws.
 * @throws NoSuchRangeError
 */
async function append(
  wire: Wire,
  job: Download,
  { stream, known, speed }: { stream: ClipStream; known: Tail; speed: Speedometer },
): Promise<void> {
  const { offset } = stream;
  const expected = offset === 0 ? Buffer.alloc(0) : known.bytes;
  let position = 0;
  let failed: Error | undefined;
  const arriving = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of stream.chunks) {
        const overlap = expected.subarray(position, position + chunk.length);
        if (!overlap.equals(chunk.subarray(0, overlap.length))) throw new NoSuchRangeError();
        position += chunk.length;
        if (offset + position > wire.maxClipBytes) throw tooLarge(wire);
        yield chunk;
        speed.count(chunk.length);
      }
    } catch (error) {
      // Ending the stream instead of throwing writes the received bytes to the file.
      failed = error instanceof Error ? error : new Error(String(error));
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
  if (failed === undefined) return;
  // A clip that is too large stays too large, and fills the disk that the store is on.
  if (failed instanceof DailiesError && failed.code === 'bad_answer') await rm(partOf(job), { force: true });
  throw failed;
}

function broken(wire: Wire, what: string): DailiesError {
  return failure(wire, `${DOING}: ${what}`, { code: 'unavailable', retryable: true });
}

function tooLarge(wire: Wire): DailiesError {
  return failure(wire, `${DOING}: more than ${wire.maxClipBytes} bytes`, { code: 'bad_answer', retryable: false });
}

/** Returns the clip at `path`, or null where there is no video. */
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

/** Returns the size of a file; 0 where there is none. */
async function sizeOf(path: string): Promise<number> {
  try {
    // Before a download there is none: an error would take a stack trace. An older Node ignores the option.
    return (await stat(path, { throwIfNoEntry: false }))?.size ?? 0;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

function partOf({ path }: Download): string {
  return `${path}.part`;
}

function translate(wire: Wire, thrown: unknown): DailiesError {
  const full = diskFull(thrown, DOING);
  if (full !== null) return full;
  // A file system error is permanent: a retry would fail again.
  if (thrown instanceof Error && 'syscall' in thrown && 'path' in thrown) {
    return failure(wire, `${DOING}: ${thrown.message}`, { code: 'internal', retryable: false, cause: thrown });
  }
  return noAnswer(wire, DOING, thrown);
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
