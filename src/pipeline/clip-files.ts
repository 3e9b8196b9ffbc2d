import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Clock, sleep } from '../clock.ts';
import type { Leases } from '../cluster/leases.ts';
import { withLease } from '../cluster/with-lease.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { SingleFlight } from '../single-flight.ts';
import type { Task, TaskId } from '../tasks/task.ts';
import { VIDEO_TYPES } from '../videos/content/container.ts';
import type { Clip, UpstreamId, VideoService } from '../videos/service.ts';

/**
 * The clip files on this machine. Replicas should share one folder. Where they do not, or the folder was lost, a clip
 * is downloaded again from the service, which does not bill downloads and keeps its results for some hours.
 */
export interface Clips {
  /**
   * Downloads the clip of a task that has none yet. @returns `null` while another process downloads it.
   * @throws the errors of {@link VideoService.download}
   */
  fetch(id: TaskId, upstreamId: UpstreamId, signal?: AbortSignal): Promise<Clip | null>;
  /**
   * Returns the clip of a task, downloading it again where its file is missing; `undefined` when the task has no clip,
   * or its file is missing and it has no upstream id.
   * @throws the errors of {@link VideoService.download} when it cannot be downloaded again.
   */
  find(task: Pick<Task, 'id' | 'clip' | 'upstreamId'>): Promise<Clip | undefined>;
  /**
   * Deletes the clip of a removed task with everything made from it, such as fitted copies. Idempotent.
   * @throws `timed_out`, retryable, while another process downloads it; the errors of the file system.
   */
  remove(id: TaskId): Promise<void>;
}

/** Options of {@link createClips}. */
export interface ClipsOptions {
  readonly videos: Pick<VideoService, 'download'>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folder of the clip files: an absolute path that exists. */
  readonly clipsDir: string;
}

/** TTL of the lease on a download: two processes downloading one clip at once would write into one file. */
const LEASE_MS = 15_000;
const RECHECK_MS = 250;
/** Timeout for the download of another process. */
const WAIT_TIMEOUT_MS = 60_000;

/** Content type that no browser renders. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Creates the {@link Clips} of a folder. */
export function createClips({ videos, leases, clock, logger, clipsDir }: ClipsOptions): Clips {
  const downloads = new SingleFlight<TaskId, Clip>();
  const folder = new SharedListing(clipsDir);
  const pathOf = (id: TaskId): string => join(clipsDir, `${id}.mp4`);
  /** Returns whether a path is in the folder: a forged record must not be able to name other files of this machine. */
  const isInside = (path: string): boolean => path === join(clipsDir, basename(path));

  const fetch = async (id: TaskId, upstreamId: UpstreamId, signal?: AbortSignal): Promise<Clip | null> => {
    if (!isInside(pathOf(id))) throw new TypeError(`fetching the clip of task ${id}: its id is no file name`);
    return withLease({ leases, clock, name: `clip:${id}`, ttlMs: LEASE_MS }, (lease) => {
      const signals = signal === undefined ? lease.signal : AbortSignal.any([lease.signal, signal]);
      return videos.download(upstreamId, pathOf(id), signals);
    });
  };

  /** Returns the recorded file if it exists: at its recorded path, or where this process would have stored it. */
  const findLocal = async ({ id, clip }: { readonly id: TaskId; readonly clip: Clip }): Promise<Clip | null> => {
    for (const path of new Set([clip.path, pathOf(id)].filter(isInside))) {
      const bytes = await stat(path).then(
        ({ size }) => size,
        () => null,
      );
      // HTML in its place would be rendered by browsers under our origin.
      const contentType = VIDEO_TYPES.has(clip.contentType) ? clip.contentType : UNKNOWN_TYPE;
      if (bytes === clip.bytes) return { path, bytes, contentType };
    }
    return null;
  };

  const fetchAgain = async (id: TaskId, clip: Clip, upstreamId: UpstreamId): Promise<Clip> => {
    for (const startedAtMs = clock.monotonic(); ; await sleep(clock, RECHECK_MS)) {
      const found = (await findLocal({ id, clip })) ?? (await fetch(id, upstreamId));
      if (found !== null) return found;
      if (clock.monotonic() - startedAtMs < WAIT_TIMEOUT_MS) continue;
      throw busy(`bringing the clip of task ${id} here`);
    }
  };

  return {
    fetch,
    async find({ id, clip, upstreamId }) {
      if (clip === undefined) return undefined;
      const found = await findLocal({ id, clip });
      if (found !== null || upstreamId === undefined) return found ?? undefined;
      logger.info({ event: 'clip_file_missing', task: id }, 'clip file missing on this machine, downloading it');
      return downloads.run(id, () => fetchAgain(id, clip, upstreamId));
    },
    async remove(id) {
      const waiting = { leases, clock, name: `clip:${id}`, ttlMs: LEASE_MS, retryMs: RECHECK_MS };
      const removed = await withLease({ ...waiting, timeoutMs: WAIT_TIMEOUT_MS }, async () => {
        // Whatever is made from a clip has its id before the first dot of its name.
        const names = (await folder.read()).filter((name) => name.startsWith(`${id}.`));
        await Promise.all(names.map((name) => rm(join(clipsDir, name), { force: true })));
        return true;
      });
      if (removed === null) throw busy(`removing the clip of task ${id}`);
    },
  };
}

function busy(doing: string): DailiesError {
  const code = { code: 'timed_out', retryable: true } as const;
  return new DailiesError(`${doing}: another process is still at it`, code);
}

/** Names in a folder, read once for all callers that come before the reading starts: a sweep removes many clips. */
class SharedListing {
  readonly #folder: string;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<readonly string[]> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(): Promise<readonly string[]> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const names = readdir(this.#folder);
      this.#running = names.catch(() => undefined);
      return names;
    });
    return this.#next;
  }
}
