import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { asDailiesError, DailiesError, diskFull, overloaded } from '../../errors.ts';
import { syncFolder, writeWhole } from '../../files.ts';
import type { Logger } from '../../logger.ts';
import { Serial } from '../../serial.ts';
import type { Clip } from '../../videos/index.ts';
import { markCopy, readMarks } from '../ai-marks.ts';
import { ENCODER_THREADS, inputArguments, runFfmpeg } from '../ffmpeg.ts';
import { deleteAbandonedParts } from '../old-files.ts';
import type { CopyJob, CopyOutcome } from './copy-worker.ts';
import type { Shot, ShotDifference } from './shot.ts';

/** Clip of a cut. */
export interface JoinInput {
  /** Id of the clip: its task’s. The file of a cut is named after the ids of its clips. */
  readonly id: string;
  readonly path: string;
}

/** Options of {@link Joiner}. */
interface JoinerOptions {
  /** Folder of the cuts, which exists. They can be made again, so anyone may delete them. */
  readonly folder: string;
  /** Path of the ffmpeg program; `null` where there is none. */
  readonly ffmpeg: string | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shots cannot be joined without ffmpeg, since they differ. */
export class ShotsDifferError extends DailiesError {
  /** Which shots differ, and in what; not empty. */
  readonly differences: readonly ShotDifference[];

  constructor(differences: readonly ShotDifference[]) {
    const list = differences.map(({ shot, property, value }) => `shot ${shot}: ${property} ${value}`.trim());
    super(`joining clips without ffmpeg: ${list.join(', ')}`, { code: 'shots_differ', retryable: false });
    this.differences = differences;
  }
}

/** A shot is no video or damaged, or ffmpeg failed to convert it; `hdr`: since it cannot map HDR. */
export class ShotError extends DailiesError {
  /** Its number in the cut, from 1. */
  readonly shot: number;
  readonly failure: 'not_a_video' | 'hdr' | 'not_converted';

  constructor(shot: number, failure: ShotError['failure'], cause: unknown) {
    const code = failure === 'not_a_video' ? failure : 'internal';
    super(`joining clips: shot ${shot}: ${failure}: ${String(cause)}`, { code, retryable: false });
    this.shot = shot;
    this.failure = failure;
  }
}

export interface JoinedClip extends Clip {
  readonly seconds: number;
}

/** Part of the names of cuts; another one, once cuts of an earlier version are no longer good. */
const VERSION = 1;
/** Joins that may wait for the one in progress. */
const MAX_WAITING = 20;

/**
 * Joins clips into one file, one cut at a time and in processes of their own, since reading, copying and encoding compete
 * with the jobs of the bot. A cut has its name only once it is complete and synced.
 */
export class Joiner {
  readonly #options: JoinerOptions;
  readonly #turns = new Serial<'join'>();
  #waiting = 0;

  constructor(options: JoinerOptions) {
    this.#options = options;
  }

  /**
   * Makes the cut of clips in this order, in place of one that was made before. The packets are copied where all clips
   * agree; otherwise ffmpeg encodes them in the size of the first at 30 frames per second.
   * @param signal ends the join, with its reason, and leaves no file.
   * @throws ShotsDifferError where they differ and there is no ffmpeg; `not_a_video`, `disk_full`, `timed_out`,
   *   `overloaded` (retryable), `internal`.
   */
  async join(inputs: readonly JoinInput[], signal: AbortSignal): Promise<JoinedClip> {
    const path = join(this.#options.folder, `${cutIdOf(inputs.map(({ id }) => id))}.mp4`);
    if (this.#waiting >= MAX_WAITING) throw overloaded('joining clips');
    this.#waiting += 1;
    return this.#turns
      .run('join', () => this.#make(inputs, path, signal))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Deletes partial files of processes that died hours ago. */
  async sweep(): Promise<void> {
    await deleteAbandonedParts(this.#options.folder, this.#options.clock.now());
  }

  async #make(inputs: readonly JoinInput[], path: string, signal: AbortSignal): Promise<JoinedClip> {
    const { clock, logger, folder } = this.#options;
    const startedAtMs = clock.monotonic();
    try {
      const { seconds, differences } = await writeWhole(path, async (part) => {
        const written = await this.#write(inputs, part, signal);
        signal.throwIfAborted();
        return written;
      });
      await syncFolder(folder);
      const { size: bytes } = await stat(path);
      const ms = Math.round(clock.monotonic() - startedAtMs);
      logger.info({ event: 'clips_joined', clips: inputs.length, bytes, ms, differences }, 'joined clips');
      await this.sweep();
      return { path, bytes, contentType: 'video/mp4', seconds };
    } catch (thrown) {
      signal.throwIfAborted();
      throw diskFull(thrown, 'joining clips') ?? asDailiesError(thrown, 'joining clips');
    }
  }

  /** Writes a cut. @returns its length, and the differences because of which it was encoded; empty if it was copied. */
  async #write(inputs: readonly JoinInput[], part: string, signal: AbortSignal): Promise<Written> {
    const { ffmpeg } = this.#options;
    // A missing file is for the process to tell.
    const marks = await Promise.all(inputs.map(({ path }) => readMarks(path).catch(() => null)));
    const comment = [...new Set(marks.flatMap((one) => one?.texts ?? []))].join('\n');
    const shots = inputs.map(({ path }) => ({ path }));
    const copied = checked(await runCopyProcess({ shots, output: part, comment }, signal));
    if (copied.kind === 'copied') {
      await markCopy(part, 'joined', marks);
      return { seconds: copied.seconds, differences: [] };
    }
    if (ffmpeg === null) throw new ShotsDifferError(copied.differences);
    const seconds = await encodeAll({ ffmpeg, inputs, shots: copied.shots, part, comment, signal });
    await markCopy(part, 'encoded', marks);
    return { seconds, differences: copied.differences };
  }
}

interface Written {
  readonly seconds: number;
  readonly differences: readonly ShotDifference[];
}

/** Returns the id of the cut of these clips: the beginning of the names of its files. */
export function cutIdOf(ids: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([VERSION, ids]));
  return `cut-${hash.digest('hex').slice(0, 32)}`;
}

interface EncodingOfAll {
  readonly ffmpeg: string;
  readonly inputs: readonly JoinInput[];
  readonly shots: readonly Shot[];
  readonly part: string;
  readonly comment: string;
  readonly signal: AbortSignal;
}

/**
 * Encodes each shot in the format of the cut, so that one is open at a time, and copies these into one file.
 * @returns its length in seconds
 */
async function encodeAll({ ffmpeg, inputs, shots, part, comment, signal }: EncodingOfAll): Promise<number> {
  const [first] = shots;
  if (first === undefined) throw new TypeError('there are no shots');
  const encoded: { readonly path: string; readonly seconds: number }[] = [];
  try {
    const frames = framesOf(shots);
    for (const [at, { path }] of inputs.entries()) {
      const [shot = first, count = 1] = [shots[at], frames[at]];
      const output = part.replace(/part$/, `${at + 1}.part`);
      encoded.push({ path: output, seconds: count / FRAMES_PER_SECOND });
      await encodeShot({ ffmpeg, path, shot, frames: count, first, output, signal }).catch((thrown: unknown) => {
        const isHdr = shot.picture.hdr !== null && isWithoutToneMapping(thrown);
        throw new ShotError(at + 1, isHdr ? 'hdr' : 'not_converted', thrown);
      });
    }
    const joined = checked(await runCopyProcess({ shots: encoded, output: part, comment }, signal));
    if (joined.kind === 'differing') throw new TypeError(new ShotsDifferError(joined.differences).message);
    return joined.seconds;
  } finally {
    await Promise.all(encoded.map(({ path }) => rm(path, { force: true })));
  }
}

/** Returns whether ffmpeg failed for want of a filter that maps HDR. Its command line names them, too. */
function isWithoutToneMapping(thrown: unknown): boolean {
  const said = thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr) : '';
  return /No such filter: '(?:zscale|tonemap)'/u.test(said);
}

type Readable = Extract<CopyOutcome, { readonly kind: 'copied' | 'differing' }>;

/** @throws what went wrong in the process. */
function checked(outcome: CopyOutcome | null): Readable {
  if (outcome === null) throw new DailiesError('joining clips: the timeout', { code: 'timed_out', retryable: true });
  if (outcome.kind === 'copied' || outcome.kind === 'differing') return outcome;
  if (outcome.kind === 'unreadable') throw new ShotError(outcome.shot, 'not_a_video', outcome.reason);
  throw Object.assign(new Error(outcome.reason), { code: outcome.code });
}

const WORKER = new URL('./copy-worker.ts', import.meta.url);
const MAX_TIMEOUT_MS = 10 * 60_000;
const MIN_TIMEOUT_MS = 30_000;
/** Far below what any disk copies. */
const BYTES_PER_MS = 1_000;
/**
 * Most of what the process reads is outside of its heap, and collected the sooner the smaller the heap may become. The
 * heap itself is so small that collecting it at once takes less than doing so in steps or threads. Measured in decision
 * record 52.
 */
const NODE_FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=1',
  '--max-old-space-size=64',
  '--no-incremental-marking',
  '--single-threaded-gc',
];

/**
 * Runs a join in a process of its own, which is killed at a deadline by the size of the clips, and when `signal` is
 * aborted. It gets no environment, and with it no token.
 * @returns its outcome; `null` when it was killed by the timeout.
 * @throws the reason of `signal`; Error when the process ended without an outcome.
 */
async function runCopyProcess(job: CopyJob, signal: AbortSignal): Promise<CopyOutcome | null> {
  // A missing file is for the process to tell.
  const sizes = job.shots.map(({ path }) => stat(path).catch(() => ({ size: 0 })));
  const timeout = timeoutMsFor((await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0));
  signal.throwIfAborted();
  const child = fork(WORKER, {
    execArgv: NODE_FLAGS,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout,
    killSignal: 'SIGKILL',
    signal,
  });
  const ended = Promise.withResolvers<CopyOutcome | null>();
  let outcome: CopyOutcome | null = null;
  let failure: Error | null = null;
  child.once('message', (message: CopyOutcome) => {
    outcome = message;
  });
  // Also for an aborted signal; `close` follows in every case, once the process no longer writes.
  child.once('error', (error) => {
    failure = error;
  });
  child.once('close', (code, killedBy) => {
    if (outcome !== null) ended.resolve(outcome);
    else if (signal.aborted) ended.reject(signal.reason as Error);
    else if (failure === null && child.killed) ended.resolve(null);
    else ended.reject(failure ?? new Error(`the process ended with ${killedBy ?? `code ${code}`}`));
  });
  // A failure to send is a process that has ended.
  child.send(job, () => undefined);
  return ended.promise;
}

/** Returns the deadline of a join in milliseconds. */
export function timeoutMsFor(bytes: number): number {
  return Math.min(MAX_TIMEOUT_MS, MIN_TIMEOUT_MS + Math.ceil(bytes / BYTES_PER_MS));
}

/** Frame rate of an encoded cut. */
const FRAMES_PER_SECOND = 30;
const AUDIO_BITS_PER_SECOND = 160_000;
const SAMPLE_RATE = 48_000;
/** Constant quality of x264; 18 is hardly told from the original. */
const QUALITY = 18;
const KEY_FRAME_EVERY = 2 * FRAMES_PER_SECOND;
/** Lines from which on players take pictures that do not say their colours for BT.709; below, for BT.601. */
const HD_LINES = 720;
/** Timeout of one shot: minutes of 4K on two threads. */
const ENCODE_TIMEOUT_MS = 10 * 60_000;

interface Encoding {
  readonly ffmpeg: string;
  readonly path: string;
  readonly shot: Shot;
  /** Pictures that the shot takes in the cut, at {@link FRAMES_PER_SECOND}. */
  readonly frames: number;
  /** The first shot, whose size the cut has. */
  readonly first: Shot;
  /** Path of the file to write. */
  readonly output: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the pictures of each shot at {@link FRAMES_PER_SECOND}. Each shot ends at the picture nearest to its end in the
 * cut, so that rounding does not add up.
 */
function framesOf(shots: readonly Pick<Shot, 'seconds'>[]): readonly number[] {
  let [seconds, before] = [0, 0];
  return shots.map((shot) => {
    seconds += shot.seconds;
    const frames = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND) - before);
    before += frames;
    return frames;
  });
}

/**
 * Encodes one shot in the format of the cut: H.264 in the size of the first shot, with bars where the aspect differs, and
 * AAC in stereo where it has sound. All shots encoded for one first shot agree.
 * @throws Error with the output of ffmpeg
 */
function encodeShot({ ffmpeg, path, shot, frames, first, output, signal }: Encoding): Promise<void> {
  const seconds = frames / FRAMES_PER_SECOND;
  const [width, height] = [evenOf(first.picture.width), evenOf(first.picture.height)];
  const { matrix, codedHeight, hdr } = shot.picture;
  // What players assume where the file does not say.
  const assumed = matrix === null ? `:in_color_matrix=${codedHeight < HD_LINES ? 'bt601' : 'bt709'}` : '';
  const pictures = [
    // Stretched by less than half a picture, so that their number is as calculated.
    `setpts=(PTS-STARTPTS)*${seconds / shot.seconds}`,
    `fps=${FRAMES_PER_SECOND}`,
    // An edit list may show the last picture for longer.
    `tpad=stop_mode=clone:stop=${frames}`,
    `trim=end_frame=${frames}`,
    // Square pixels first: the next step compares sizes only.
    `scale='trunc(iw*sar/2)*2':'trunc(ih/2)*2'`,
    ...(hdr === null ? [] : [toneMapping(hdr)]),
    `scale=${width}:${height}:force_original_aspect_ratio=decrease${assumed}:out_color_matrix=bt709:out_range=tv`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    'setsar=1',
    'format=yuv420p',
  ];
  const x264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', `${QUALITY}`, '-profile:v', 'high'];
  const stream = ['-g', `${KEY_FRAME_EVERY}`, '-bsf:v', `h264_metadata=${COLOUR}`];
  const video = ['-map', '0:v:0', '-vf', pictures.join(','), ...x264, ...stream];
  const sounds = [
    `asetpts=PTS-${shot.startSeconds}/TB`,
    // Silence before a late beginning, and in gaps.
    `aresample=${SAMPLE_RATE}:async=1:first_pts=0`,
    `atrim=0:${seconds}`,
  ];
  const aac = ['-c:a', 'aac', '-b:a', `${AUDIO_BITS_PER_SECOND}`, '-ar', `${SAMPLE_RATE}`, '-ac', '2'];
  const audio = ['-map', '0:a:0', '-af', sounds.join(','), ...aac];
  const sound = shot.sound === null ? ['-an'] : audio;
  // Without -copyts, ffmpeg moves the clip to 0, sound and pictures alike, and its start would be unknown.
  const options = [...inputArguments(path), '-copyts', ...video, ...sound, ...ENCODER_THREADS, '-f', 'mp4', output];
  return runFfmpeg(ffmpeg, options, { timeoutMs: ENCODE_TIMEOUT_MS, signal });
}

/** Maps HDR to the colours of the cut, 100 nits to white. Needs `zscale`, which is optional in ffmpeg. */
function toneMapping(hdr: 'pq' | 'hlg'): string {
  const input = `tin=${hdr === 'pq' ? 'smpte2084' : 'arib-std-b67'}:min=bt2020nc:pin=bt2020:rin=tv`;
  const linear = `zscale=${input}:t=linear:p=bt709:npl=100,format=gbrpf32le`;
  return `${linear},tonemap=mobius,zscale=tin=linear:pin=bt709:t=bt709:p=bt709:m=bt709:r=tv,format=yuv420p`;
}

/** The same colour description in every shot: otherwise ffmpeg copies that of its source into the parameter sets. */
const COLOUR = [
  'colour_primaries=1',
  'transfer_characteristics=1',
  'matrix_coefficients=1',
  'video_full_range_flag=0',
  'chroma_sample_loc_type=0',
].join(':');

function evenOf(pixels: number): number {
  return Math.max(2, Math.floor(pixels / 2) * 2);
}
