import { rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Clips, TaskRepository } from '../pipeline/index.ts';
import { Serial } from '../serial.ts';
import { SingleFlight } from '../single-flight.ts';
import type { ClipStorage } from '../storage/index.ts';
import type { Task, TaskId } from '../tasks/index.ts';
import type { Clip, VideoRequest } from '../videos/index.ts';
import type { TakeLastFrame } from './ffmpeg.ts';
import { deleteOldest } from './old-files.ts';
import { FRAME_NAME, frameIdOf, frameIn, type Relay } from './relay.ts';

/** Options of {@link LastFrames}. */
interface LastFramesOptions {
  /** `null` without ffmpeg. */
  readonly takeLastFrame: TakeLastFrame | null;
  /** Signs the addresses of frames, and knows whether they reach a service. */
  readonly relay: Pick<Relay, 'links' | 'reaches'>;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly clips: Pick<Clips, 'find'>;
  readonly storage: Pick<ClipStorage, 'pathOf'>;
  /** Most files in the folder; beyond it, the oldest are deleted. Default 500, about 1 GB. */
  readonly maxFiles?: number;
}

type FrameFile = Clip & { readonly name: string };

/** Name of a frame: as the clip's, which is deleted with all files that have its id before the first dot. */
const SUFFIX = '.last-frame.png';
const MAX_FILES = 500;

/**
 * The last frames of clips, for the shots that start with them, in files beside the clips. A frame goes with its clip, and
 * can be taken again from it at any time, by any replica. One is taken at a time, since ffmpeg competes with the jobs of the bot.
 */
export class LastFrames {
  readonly #options: LastFramesOptions;
  readonly #taking = new SingleFlight<TaskId, FrameFile | undefined>();
  readonly #serial = new Serial<'ffmpeg'>();

  constructor(options: LastFramesOptions) {
    this.#options = options;
  }

  /** Returns what is missing here to start a shot with the last frame of another, at any service or that of a request. */
  missing(of?: Pick<VideoRequest, 'service'>): readonly ('ffmpeg' | 'public_url')[] {
    const { takeLastFrame, relay } = this.#options;
    return [
      ...(takeLastFrame === null ? (['ffmpeg'] as const) : []),
      ...(relay.reaches(of) ? [] : (['public_url'] as const)),
    ];
  }

  /**
   * Takes the last frame of a take. @returns its signed URL
   * @throws DailiesError `gone` without a clip, the errors of {@link Clips.find}, Error of ffmpeg, the reason of `signal`
   */
  async take({ id }: Pick<Task, 'id'>, signal: AbortSignal): Promise<string> {
    const { links } = this.#options.relay;
    if ((await this.#find(id, signal)) !== undefined) return links.sign(frameIdOf(id));
    throw new DailiesError(`taking the last frame of clip ${id}: it was removed`, { code: 'gone', retryable: false });
  }

  /** Returns the last frame of a clip, taking it again where its file is missing; `undefined` without a clip. */
  find(id: TaskId): Promise<FrameFile | undefined> {
    return this.#find(id);
  }

  /**
   * Returns whether the service could fetch an image now: one of our frames only while its clip is there and its link valid.
   * @throws DailiesError retryable while that cannot be said
   */
  async isServed(url: string): Promise<boolean> {
    const id = frameIn(url);
    const ours = this.#options.relay.links.idIn(url);
    // Somebody else's address may look like ours.
    if (id === null || ours === null) return true;
    try {
      return !ours.isExpired && (await this.#find(id)) !== undefined;
    } catch (thrown) {
      const error = asDailiesError(thrown, `looking for the last frame of clip ${id}`);
      if (error.retryable) throw error;
      return false;
    }
  }

  async #find(id: TaskId, signal?: AbortSignal): Promise<FrameFile | undefined> {
    const task = await this.#options.repository.get(id);
    // The folder has names of tasks only.
    if (task?.clip === undefined || task.removal !== undefined) return undefined;
    const path = join(dirname(this.#options.storage.pathOf(id)), `${id}${SUFFIX}`);
    const found = await fileAt(path);
    if (found !== undefined) return found;
    return this.#taking.run(id, () => this.#serial.run('ffmpeg', () => this.#take(task, path, signal)));
  }

  async #take(task: Task, path: string, signal: AbortSignal | undefined): Promise<FrameFile | undefined> {
    const { takeLastFrame, repository, clips, maxFiles = MAX_FILES } = this.#options;
    if (takeLastFrame === null) throw new TypeError(`taking the last frame of clip ${task.id}: there is no ffmpeg`);
    const clip = await clips.find(task);
    if (clip === undefined) return undefined;
    await takeLastFrame(clip.path, path, signal);
    // Its clip may have been removed meanwhile. A removal that is recorded later deletes this file as well.
    if ((await repository.get(task.id))?.clip === undefined) await rm(path, { force: true });
    else await deleteOldest(dirname(path), SUFFIX, maxFiles);
    return fileAt(path);
  }
}

async function fileAt(path: string): Promise<FrameFile | undefined> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.size === 0) return undefined;
  return { path, bytes: found.size, contentType: 'image/png', name: FRAME_NAME };
}
