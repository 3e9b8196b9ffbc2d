import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { sleep } from '../clock.ts';
import type { DailiesError, ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { AddressGuard } from './addresses.ts';
import { SIGNATURE_BYTES, videoTypeOf } from './container.ts';
import { failure } from './failures.ts';
import { type ClipStream, locate, NoSuchRangeError } from './locate.ts';
import type { Clip, UpstreamId } from './service.ts';
import { noAnswer, type Wire } from './wire.ts';

const DOING = 'fetching a clip';

/**
 * A resumed transfer asks for this many bytes again and compares them: proof that the rest belongs to the same file,
 * also from services without ETag and after a restart that forgot it.
 */
const OVERLAP_BYTES = 4096;

/** Failures in a row before the caller is told; a transfer that got ahead by {@link PROGRESS_BYTES} is not one. */
const MAX_TRIES = 5;
const PROGRESS_BYTES = 64 * 1024;

const FIRST_WAIT_MS = 500;
/** A service that wants to be left alone for longer gets its wish from the caller, who can do something else meanwhile. */
const LONGEST_WAIT_MS = 20_000;

/** What is tried again here; the rest needs somebody, or a longer wait. */
const TRIED_AGAIN: ReadonlySet<ErrorCode> = new Set(['not_ready', 'not_a_video', 'unavailable', 'timed_out']);

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
}

/** Fetches a clip to disk, as `VideoService.download` says. */
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

/** Tries until the clip is there, or until trying again is not for here to decide. */
async function persist(wire: Wire, job: Download): Promise<Clip> {
  const memory: Memory = { validator: null };
  for (let tries = 1; ; tries += 1) {
    const before = await sizeOf(partOf(job));
    try {
      return await attempt(wire, job, memory);
    } catch (thrown) {
      const error = translate(wire, thrown);
      if ((await sizeOf(partOf(job))) >= before + PROGRESS_BYTES) tries = 0;
      const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs(tries, job.random));
      const isFinal = !error.retryable || !TRIED_AGAIN.has(error.code) || tries >= MAX_TRIES;
      if (isFinal || waitMs > LONGEST_WAIT_MS || job.signal?.aborted === true) throw error;
      job.logger.info({ upstreamId: job.id, code: error.code, waitMs }, 'a clip is fetched again');
      await sleep(wire.clock, waitMs, job.signal);
    }
  }
}

/** What one call of {@link download} knows from its earlier tries. */
interface Memory {
  validator: string | null;
}

async function attempt(wire: Wire, job: Download, memory: Memory): Promise<Clip> {
  const part = partOf(job);
  const known = await tailOf(part);
  let totalBytes: number | null;
  try {
    const stream = await locate(wire, { ...job, from: known.start, validator: memory.validator });
    memory.validator = stream.validator;
    totalBytes = stream.totalBytes;
    await append(wire, job, { stream, known });
  } catch (error) {
    if (!(error instanceof NoSuchRangeError)) throw error;
    await rm(part, { force: true });
    const doing = `${DOING}: what was there belongs to another file, beginning anew`;
    throw failure(wire.scrub, doing, { code: 'unavailable', retryable: true });
  }
  return finish(wire, job, totalBytes);
}

/** Checks what arrived, and gives it its name. */
async function finish(wire: Wire, job: Download, totalBytes: number | null): Promise<Clip> {
  const part = partOf(job);
  const bytes = await sizeOf(part);
  if (totalBytes !== null && bytes !== totalBytes) {
    if (bytes > totalBytes) await rm(part, { force: true });
    const doing = `${DOING}: ${bytes} of ${totalBytes} bytes arrived`;
    throw failure(wire.scrub, doing, { code: 'unavailable', retryable: true });
  }
  const clip = await clipAt(part);
  if (clip === null) {
    await rm(part, { force: true });
    throw failure(wire.scrub, `${DOING}: ${bytes} bytes that are no video`, { code: 'not_a_video', retryable: false });
  }
  await rename(part, job.path);
  await syncFolder(dirname(job.path));
  return { ...clip, path: job.path };
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
  { stream, known }: { stream: ClipStream; known: Tail },
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
  if (broken !== undefined) throw broken;
}

function tooLarge({ scrub }: Wire, maxClipBytes: number): DailiesError {
  return failure(scrub, `${DOING}: more than ${maxClipBytes} bytes`, { code: 'bad_answer', retryable: false });
}

/** The clip at `path`, where there is a video. */
async function clipAt(path: string): Promise<Clip | null> {
  const bytes = await sizeOf(path);
  if (bytes === 0) return null;
  const contentType = videoTypeOf(await readAt(path, 0, SIGNATURE_BYTES));
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

function backoffMs(tries: number, random: () => number): number {
  return FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1) * (0.5 + random() / 2);
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
