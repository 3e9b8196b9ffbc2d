import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, constants, rename, rm, stat } from 'node:fs/promises';
import { delimiter, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Fitter } from '../chat/index.ts';
import { sizeOf, writeWhole } from '../files.ts';
import type { Logger } from '../logger.ts';
import { markCopy, readMarks } from './ai-marks.ts';
import { deleteAbandonedParts } from './old-files.ts';

const run = promisify(execFile);

/** Target sizes as shares of the limit, one per attempt: encoders overshoot. */
const TARGET_SHARES = [0.9, 0.7, 0.5] as const;
const AUDIO_BITS_PER_SECOND = 96_000;
/** Below this the picture is too poor to send. */
const MIN_VIDEO_BITS_PER_SECOND = 80_000;
/** At this bit rate and above, the shorter side has up to 1080 pixels; below it, 480. */
const FULL_SIZE_BITS_PER_SECOND = 1_000_000;
const ENCODE_TIMEOUT_MS = 10 * 60_000;

/** Threads of a decoder, and of an encoder: the machine has other work. */
const THREADS = 2;
/** Largest single allocation in bytes: a decoded 4K picture has 12 MB. */
const MAX_ALLOCATION_BYTES = 256 * 1024 ** 2;
/** Address space of the process: encoding 4K to 1080p takes about 1 GB. */
const MAX_MEMORY_KIB = 3 * 1024 ** 2;

const CLIP_FORMATS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,ogg';

/**
 * Input options for untrusted clips: ffmpeg may read them only as video files. By default it would also accept a
 * manifest or a playlist, which names other files to read.
 * @see https://ffmpeg.org/ffmpeg-formats.html#Format-Options `format_whitelist`, `protocol_whitelist`
 */
const GUARDS = [
  ['-protocol_whitelist', 'file'],
  ['-format_whitelist', CLIP_FORMATS],
  ['-max_alloc', `${MAX_ALLOCATION_BYTES}`],
  ['-threads', `${THREADS}`],
].flat();

/** Returns the arguments that open an untrusted clip. @param seek options that skip a part of it. Default: none. */
export function inputArguments(clip: string, seek: readonly string[] = []): readonly string[] {
  return ['-y', '-nostdin', '-loglevel', 'error', ...GUARDS, ...seek, '-i', clip];
}

/** Arguments that limit the threads of an encoder. */
export const ENCODER_THREADS: readonly string[] = ['-threads', `${THREADS}`];

/**
 * Runs ffmpeg with a memory limit. It is killed after `timeoutMs`, and when `signal` is aborted.
 * @throws Error of `execFile` with the output of ffmpeg
 */
export async function runFfmpeg(
  ffmpeg: string,
  options: readonly string[],
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<void> {
  const [program, ...given] = limited([ffmpeg, ...options]);
  await run(program, given, { timeout: timeoutMs, killSignal: 'SIGKILL', ...(signal === undefined ? {} : { signal }) });
}

/**
 * Wraps a command line in a memory limit, where the system has one (`ulimit -v` of a POSIX shell; macOS ignores it).
 */
function limited(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.platform === 'win32') return command;
  return ['/bin/sh', '-c', `ulimit -v ${MAX_MEMORY_KIB} 2>/dev/null; exec "$0" "$@"`, ...command];
}

/** Finds the ffmpeg to use: the configured program, or `ffmpeg` on the search path; `null` where there is none. */
export async function findFfmpeg(configured: string | undefined, searchPath: string): Promise<string | null> {
  const name = configured ?? 'ffmpeg';
  const candidates = name.includes(sep) ? [name] : searchPath.split(delimiter).map((dir) => join(dir, name));
  for (const candidate of candidates) {
    if (await isProgram(candidate)) return candidate;
  }
  return null;
}

/** Returns whether `path` is an executable file; a folder passes X_OK as well. */
async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/**
 * Creates the fitter, which re-encodes clips at the bit rate that the limit allows. Copies are cached next to the clip.
 */
export function createFfmpegFitter({ ffmpeg, logger }: { ffmpeg: string | null; logger: Logger }): Fitter {
  return {
    isThere: ffmpeg !== null,
    async fit(clip, seconds, limitBytes) {
      if (ffmpeg === null) return null;
      const path = clip.path.replace(/(\.\w+)?$/, `.fitted-${limitBytes}.mp4`);
      const cachedBytes = await sizeOf(path);
      if (cachedBytes !== null) return { path, bytes: cachedBytes, contentType: 'video/mp4' };
      for (const share of TARGET_SHARES) {
        const bitsPerSecond = Math.floor((limitBytes * 8 * share) / Math.max(1, seconds)) - AUDIO_BITS_PER_SECOND;
        if (bitsPerSecond < MIN_VIDEO_BITS_PER_SECOND) return null;
        const bytes = await encode({ ffmpeg, from: clip.path, to: path, limitBytes, bitsPerSecond, logger });
        if (bytes === null) return null;
        if (bytes <= limitBytes) return { path, bytes, contentType: 'video/mp4' };
      }
      return null;
    },
  };
}

interface Encoding {
  readonly ffmpeg: string;
  readonly from: string;
  readonly to: string;
  /** A copy above this size is not renamed into place: the next call would use it as a cached copy that fits. */
  readonly limitBytes: number;
  readonly bitsPerSecond: number;
  readonly logger: Logger;
}

/** @returns the size of the copy, or `null` when ffmpeg could not make one. */
async function encode({ ffmpeg, from, to, limitBytes, bitsPerSecond, logger }: Encoding): Promise<number | null> {
  // A unique name: the ffmpeg of a killed process keeps writing, and other replicas may fit the same clip.
  const part = `${to}.${randomUUID()}.part`;
  const shorter = bitsPerSecond < FULL_SIZE_BITS_PER_SECOND ? 480 : 1080;
  // Both sides have to be even for H.264: the shorter one is rounded, and -2 keeps the aspect ratio with an even
  // number.
  const even = (side: string): string => `trunc(min(${side},${shorter})/2)*2`;
  const size = `scale='if(gt(iw,ih),-2,${even('iw')})':'if(gt(iw,ih),${even('ih')},-2)'`;
  const rate = ['-b:v', `${bitsPerSecond}`, '-maxrate', `${bitsPerSecond}`, '-bufsize', `${bitsPerSecond * 2}`];
  const video = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', ...rate, '-vf', size];
  const audio = ['-c:a', 'aac', '-b:a', `${AUDIO_BITS_PER_SECOND}`];
  try {
    const marks = await readMarks(from);
    const texts = marks?.texts ?? [];
    // ffmpeg keeps texts with the usual names alone.
    const metadata = texts.length === 0 ? [] : ['-metadata', `comment=${texts.join('\n')}`];
    const output = [...metadata, ...ENCODER_THREADS, '-movflags', '+faststart', '-f', 'mp4', part];
    const options = [...inputArguments(from), ...video, ...audio, ...output];
    await runFfmpeg(ffmpeg, options, { timeoutMs: ENCODE_TIMEOUT_MS });
    await markCopy(part, 'encoded', [marks]);
    const { size: bytes, mtimeMs } = await stat(part);
    if (bytes <= limitBytes) await rename(part, to);
    await deleteAbandonedParts(dirname(to), mtimeMs);
    return bytes;
  } catch (thrown) {
    logger.warn({ event: 'clip_encode_failed', err: thrown, ffmpeg }, 'failed to encode a smaller copy of a clip');
    return null;
  } finally {
    await rm(part, { force: true });
  }
}

/**
 * Takes a small picture (JPEG) of an image, or of the beginning of a clip.
 * @param stripSeconds length of the clip: the picture has four frames of it side by side
 * @returns whether that worked. Never rejects.
 */
export type TakePicture = (file: string, picture: string, stripSeconds?: number) => Promise<boolean>;

const PICTURE_TIMEOUT_MS = 20_000;
/** Longer side of a picture, or of a frame in a strip, in pixels. */
const PICTURE_SIDE = 320;
const STRIP_FRAMES = 4;
/** Formats of what pictures are taken of: those of clips, and images. None names other files to read. */
const PICTURE_FORMATS = `${CLIP_FORMATS},png_pipe,jpeg_pipe,webp_pipe,gif`;

/** Creates the function that takes pictures of clips; `null` without ffmpeg. */
export function createTakePicture({ ffmpeg, logger }: { ffmpeg: string | null; logger: Logger }): TakePicture | null {
  if (ffmpeg === null) return null;
  return async (file, picture, stripSeconds) => {
    const even = `'if(gt(iw,ih),min(iw,${PICTURE_SIDE}),-2)':'if(gt(iw,ih),-2,min(ih,${PICTURE_SIDE}))'`;
    const frames = stripSeconds === undefined ? [] : [`fps=${STRIP_FRAMES / stripSeconds}`];
    const tile = stripSeconds === undefined ? [] : [`tile=${STRIP_FRAMES}x1`];
    const filter = [...frames, `scale=${even}`, ...tile].join(',');
    const output = ['-frames:v', '1', '-an', '-vf', filter, '-q:v', '6', '-f', 'mjpeg'];
    const input = inputArguments(file, ['-format_whitelist', PICTURE_FORMATS]);
    try {
      await writeWhole(picture, (part) =>
        runFfmpeg(ffmpeg, [...input, ...output, part], { timeoutMs: PICTURE_TIMEOUT_MS }),
      );
      return true;
    } catch (thrown) {
      logger.warn({ event: 'clip_picture_failed', err: thrown, ffmpeg }, 'failed to take a picture of a clip');
      return false;
    }
  };
}

/** Takes the last picture of a clip as a PNG file, in its full size. @throws the reason of `signal`; Error of ffmpeg */
export type TakeLastFrame = (clip: string, picture: string, signal?: AbortSignal) => Promise<void>;

const LAST_FRAME_TIMEOUT_MS = 60_000;
/** Parts of a clip that are decoded, in seconds before its end: its sound may be longer than its pictures. */
const LAST_SECONDS = ['1', '10', null] as const;

/** Creates the function that takes the last frames of clips; `null` without ffmpeg. */
export function createTakeLastFrame(ffmpeg: string | null): TakeLastFrame | null {
  if (ffmpeg === null) return null;
  return (clip, picture, signal) => {
    // Each picture replaces the one before. Evenly spaced, none is dropped or repeated for a constant rate.
    const even = ['-vf', 'settb=1/25,setpts=N', '-r', '25'];
    const output = ['-an', ...even, '-update', '1', '-c:v', 'png', '-f', 'image2'];
    const limits = { timeoutMs: LAST_FRAME_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
    return writeWhole(picture, async (part) => {
      for (const seconds of LAST_SECONDS) {
        const seek = seconds === null ? [] : ['-sseof', `-${seconds}`];
        await runFfmpeg(ffmpeg, [...inputArguments(clip, seek), ...output, part], limits);
        if (((await sizeOf(part)) ?? 0) > 0) return;
      }
      throw new Error(`ffmpeg found no picture in ${clip}`);
    });
  };
}
