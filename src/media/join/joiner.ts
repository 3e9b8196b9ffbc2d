import { createHash, randomUUID } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { asDailiesError, DailiesError, overloaded } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { syncFolder } from '../../sync-folder.ts';
import type { Clip } from '../../videos/index.ts';
import { deleteAbandonedParts } from '../partial-files.ts';
import { runCopyProcess } from './copy-process.ts';
import type { CopyOutcome } from './copy-worker.ts';
import { encodeShot, FRAMES_PER_SECOND, framesOf } from './encode.ts';
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
  #last: Promise<unknown> = Promise.resolve();
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
    const turn = this.#last.then(() => this.#make(inputs, path, signal));
    this.#last = turn
      .catch(() => undefined)
      .finally(() => {
        this.#waiting -= 1;
      });
    return turn;
  }

  /** Deletes partial files of processes that died hours ago. */
  async sweep(): Promise<void> {
    await deleteAbandonedParts(this.#options.folder, this.#options.clock.now());
  }

  async #make(inputs: readonly JoinInput[], path: string, signal: AbortSignal): Promise<JoinedClip> {
    const { clock, logger, folder } = this.#options;
    // Unique, since another replica may make the same cut.
    const part = `${path}.${randomUUID()}.part`;
    const startedAtMs = clock.monotonic();
    try {
      const { seconds, differences } = await this.#write(inputs, part, signal);
      signal.throwIfAborted();
      await rename(part, path);
      await syncFolder(folder);
      const { size: bytes } = await stat(path);
      const ms = Math.round(clock.monotonic() - startedAtMs);
      logger.info({ event: 'clips_joined', clips: inputs.length, bytes, ms, differences }, 'joined clips');
      await this.sweep();
      return { path, bytes, contentType: 'video/mp4', seconds };
    } catch (thrown) {
      signal.throwIfAborted();
      throw asJoinError(thrown);
    } finally {
      await rm(part, { force: true });
    }
  }

  /** Writes a cut. @returns its length, and the differences because of which it was encoded; empty if it was copied. */
  async #write(inputs: readonly JoinInput[], part: string, signal: AbortSignal): Promise<Written> {
    const { ffmpeg } = this.#options;
    const copied = checked(await runCopyProcess({ shots: inputs.map(({ path }) => ({ path })), output: part }, signal));
    if (copied.kind === 'copied') return { seconds: copied.seconds, differences: [] };
    if (ffmpeg === null) throw new ShotsDifferError(copied.differences);
    const seconds = await encodeAll({ ffmpeg, inputs, shots: copied.shots, part, signal });
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
  readonly signal: AbortSignal;
}

/**
 * Encodes each shot in the format of the cut, so that one is open at a time, and copies these into one file.
 * @returns its length in seconds
 */
async function encodeAll({ ffmpeg, inputs, shots, part, signal }: EncodingOfAll): Promise<number> {
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
    const joined = checked(await runCopyProcess({ shots: encoded, output: part }, signal));
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

function asJoinError(thrown: unknown): DailiesError {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return asDailiesError(thrown, 'joining clips');
  return new DailiesError('joining clips: the disk is full', { code: 'disk_full', retryable: true, cause: thrown });
}
