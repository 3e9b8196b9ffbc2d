import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, constants, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Fitter } from '../chat/attachment-plan.ts';
import type { Logger } from '../logger.ts';

const run = promisify(execFile);

/** Shares of the limit that a copy aims at, one try after the other: encoders overshoot. */
const AIMS = [0.9, 0.7, 0.5] as const;
const AUDIO_BITS_PER_SECOND = 96_000;
/** Below this a picture is not worth sending. */
const LEAST_VIDEO_BITS_PER_SECOND = 80_000;
/** Above this the full size is worth its bits; below it the picture is made smaller. */
const FULL_SIZE_BITS_PER_SECOND = 1_000_000;
const ENCODE_TIMEOUT_MS = 10 * 60_000;
/** A part this old was left by a process that died. */
const ABANDONED_AFTER_MS = 6 * ENCODE_TIMEOUT_MS;
const PART = /\.fitted-\d+\.mp4\.[^/]+\.part$/;

/** Threads for reading, and as many for writing: the machine has other work. */
const THREADS = 2;
/** Largest single allocation in bytes: a decoded 4K picture has 12 MB. */
const MAX_ALLOCATION_BYTES = 256 * 1024 ** 2;
/** Address space of the process: encoding 4K to 1080p takes about 1 GB. */
const MAX_MEMORY_KIB = 3 * 1024 ** 2;

/**
 * A clip comes from outside: ffmpeg reads it as a video file and as nothing else. Left alone, it would take one for a manifest
 * or a playlist, which name other files to read.
 * @see https://ffmpeg.org/ffmpeg-formats.html#Format-Options `format_whitelist`, `protocol_whitelist`
 */
const GUARDS = [
  ['-protocol_whitelist', 'file'],
  ['-format_whitelist', 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,ogg'],
  ['-max_alloc', `${MAX_ALLOCATION_BYTES}`],
  ['-threads', `${THREADS}`],
].flat();

/** Puts a command line under a memory limit, where the system has one (`ulimit -v` of a POSIX shell; macOS ignores it). */
function limited(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.platform === 'win32') return command;
  return ['/bin/sh', '-c', `ulimit -v ${MAX_MEMORY_KIB} 2>/dev/null; exec "$0" "$@"`, ...command];
}

/** Finds the ffmpeg to use: the path that is configured, else the first of that name on the search path; `null` where there is none. */
export async function findFfmpeg(configured: string | undefined, searchPath: string): Promise<string | null> {
  const name = configured ?? 'ffmpeg';
  const candidates = name.includes(sep) ? [name] : searchPath.split(delimiter).map((dir) => join(dir, name));
  for (const candidate of candidates) {
    if (await isProgram(candidate)) return candidate;
  }
  return null;
}

/** A folder may be entered, and passes for a program where the right to execute is asked for alone. */
async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Fits clips by encoding them again at the bit rate that the limit allows. Copies stay beside the clip and are used again. */
export function createFfmpegFitter({ ffmpeg, logger }: { ffmpeg: string | null; logger: Logger }): Fitter {
  return {
    isThere: ffmpeg !== null,
    async fit(clip, seconds, limitBytes) {
      if (ffmpeg === null) return null;
      const path = clip.path.replace(/(\.\w+)?$/, `.fitted-${limitBytes}.mp4`);
      const ready = await sizeOf(path);
      if (ready !== null) return { path, bytes: ready, contentType: 'video/mp4' };
      for (const aim of AIMS) {
        const bitsPerSecond = Math.floor((limitBytes * 8 * aim) / Math.max(1, seconds)) - AUDIO_BITS_PER_SECOND;
        if (bitsPerSecond < LEAST_VIDEO_BITS_PER_SECOND) return null;
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
  /** A copy above this gets no name: who comes next would take it for one that fits. */
  readonly limitBytes: number;
  readonly bitsPerSecond: number;
  readonly logger: Logger;
}

/** @returns the size of the copy, or `null` when ffmpeg could not make one. */
async function encode({ ffmpeg, from, to, limitBytes, bitsPerSecond, logger }: Encoding): Promise<number | null> {
  // The ffmpeg of a process that was killed goes on writing, and other replicas may fit the same clip.
  const part = `${to}.${randomUUID()}.part`;
  const shorter = bitsPerSecond < FULL_SIZE_BITS_PER_SECOND ? 480 : 1080;
  // The shorter side, which has to be even for H.264; -2 is what keeps the shape and is even too.
  const even = (side: string): string => `trunc(min(${side},${shorter})/2)*2`;
  const size = `scale='if(gt(iw,ih),-2,${even('iw')})':'if(gt(iw,ih),${even('ih')},-2)'`;
  const rate = ['-b:v', `${bitsPerSecond}`, '-maxrate', `${bitsPerSecond}`, '-bufsize', `${bitsPerSecond * 2}`];
  const video = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', ...rate, '-vf', size];
  const audio = ['-c:a', 'aac', '-b:a', `${AUDIO_BITS_PER_SECOND}`];
  const input = ['-y', '-nostdin', '-loglevel', 'error', ...GUARDS, '-i', from];
  const output = ['-threads', `${THREADS}`, '-movflags', '+faststart', '-f', 'mp4', part];
  try {
    const [program, ...given] = limited([ffmpeg, ...input, ...video, ...audio, ...output]);
    await run(program, given, { timeout: ENCODE_TIMEOUT_MS });
    const { size: bytes, mtimeMs } = await stat(part);
    if (bytes <= limitBytes) await rename(part, to);
    await tidy(dirname(to), mtimeMs);
    return bytes;
  } catch (thrown) {
    logger.warn({ err: thrown, ffmpeg }, 'a smaller copy of a clip could not be made');
    return null;
  } finally {
    await rm(part, { force: true });
  }
}

/** Takes away the parts that dead processes left. @param nowMs by the clock of the disk. */
async function tidy(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!PART.test(name)) continue;
    const path = join(folder, name);
    // Another process may tidy as well.
    const there = await stat(path).catch(() => null);
    if (there !== null && nowMs - there.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}

function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}
