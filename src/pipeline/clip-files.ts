import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Clock, sleep } from '../clock.ts';
import type { Leases } from '../cluster/leases.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Task, TaskId } from '../tasks/task.ts';
import { VIDEO_TYPES } from '../videos/content/container.ts';
import type { Clip, UpstreamId, VideoService } from '../videos/service.ts';

/**
 * The clips on this machine. Replicas best share one folder. Where they do not, or the folder was lost, a clip is
 * fetched once more from the service, which bills nothing for that and keeps what it made for some hours.
 */
export interface Clips {
  /**
   * Fetches the clip of a task that has none yet. @returns `null` while another process is at it.
   * @throws what {@link VideoService.download} throws
   */
  fetch(id: TaskId, upstreamId: UpstreamId, signal?: AbortSignal): Promise<Clip | null>;
  /**
   * The clip of a task, here: fetched again where it is missing. `undefined`: the task has none.
   * @throws what {@link VideoService.download} throws, where it cannot be had again.
   */
  find(task: Pick<Task, 'id' | 'clip' | 'upstreamId'>): Promise<Clip | undefined>;
}

/** Collaborators of {@link createClips}. */
export interface ClipsOptions {
  readonly videos: Pick<VideoService, 'download'>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where clips are kept, an absolute path that exists. */
  readonly clipsDir: string;
}

/** How long a fetch that does not answer keeps others from it: two at once would write into one file. */
const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = 250;
/** How long somebody waits for another process to bring a clip. */
const PATIENCE_MS = 60_000;

/** What no browser shows as anything. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Clips in a folder. */
export function createClips({ videos, leases, clock, logger, clipsDir }: ClipsOptions): Clips {
  const finding = new Map<TaskId, Promise<Clip>>();
  const pathOf = (id: TaskId): string => join(clipsDir, `${id}.mp4`);
  /** Whoever can write a record must not be able to name any file of this machine. */
  const isInside = (path: string): boolean => path === join(clipsDir, basename(path));

  const fetch = async (id: TaskId, upstreamId: UpstreamId, signal?: AbortSignal): Promise<Clip | null> => {
    if (!isInside(pathOf(id))) throw new TypeError(`fetching the clip of task ${id}: its id is no file name`);
    const lease = await leases.take(`clip:${id}`, LEASE_MS);
    if (lease === null) return null;
    try {
      const signals = signal === undefined ? lease.signal : AbortSignal.any([lease.signal, signal]);
      return await videos.download(upstreamId, pathOf(id), signals);
    } finally {
      await lease.release();
    }
  };

  /** The file that was recorded: where it was put, or where this process would have put it. */
  const here = async ({ id, clip }: { readonly id: TaskId; readonly clip: Clip }): Promise<Clip | null> => {
    for (const path of new Set([clip.path, pathOf(id)].filter(isInside))) {
      const bytes = await stat(path).then(
        ({ size }) => size,
        () => null,
      );
      // A page of HTML in its place would run in a browser as one of ours.
      const contentType = VIDEO_TYPES.has(clip.contentType) ? clip.contentType : UNKNOWN_TYPE;
      if (bytes === clip.bytes) return { path, bytes, contentType };
    }
    return null;
  };

  const bring = async (id: TaskId, clip: Clip, upstreamId: UpstreamId): Promise<Clip> => {
    for (const begunAtMs = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
      const found = (await here({ id, clip })) ?? (await fetch(id, upstreamId));
      if (found !== null) return found;
      if (clock.monotonic() - begunAtMs < PATIENCE_MS) continue;
      const code = { code: 'timed_out', retryable: true } as const;
      throw new DailiesError(`bringing the clip of task ${id} here: another process is still at it`, code);
    }
  };

  return {
    fetch,
    async find({ id, clip, upstreamId }) {
      if (clip === undefined) return undefined;
      const found = await here({ id, clip });
      if (found !== null || upstreamId === undefined) return found ?? undefined;
      logger.info({ task: id }, 'a clip is not on this machine; it is fetched once more');
      const underWay = finding.get(id) ?? bring(id, clip, upstreamId).finally(() => finding.delete(id));
      finding.set(id, underWay);
      return underWay;
    },
  };
}
