import { type Clock, sleep } from '../clock.ts';
import type { Leases } from '../cluster/leases.ts';
import { withLease } from '../cluster/with-lease.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { SingleFlight } from '../single-flight.ts';
import type { ClipStorage } from '../storage/clip-storage.ts';
import type { Task, TaskId } from '../tasks/task.ts';
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
  readonly storage: ClipStorage;
}

/** TTL of the lease on a download: two processes downloading one clip at once would write into one file. */
const LEASE_MS = 15_000;
const RECHECK_MS = 250;
/** Timeout for the download of another process. */
const WAIT_TIMEOUT_MS = 60_000;

/** Creates the {@link Clips} of a storage. */
export function createClips({ videos, leases, clock, logger, storage }: ClipsOptions): Clips {
  const downloads = new SingleFlight<TaskId, Clip>();

  const fetch = async (id: TaskId, upstreamId: UpstreamId, signal?: AbortSignal): Promise<Clip | null> => {
    const path = storage.pathOf(id);
    return withLease({ leases, clock, name: `clip:${id}`, ttlMs: LEASE_MS }, async (lease) => {
      const signals = signal === undefined ? lease.signal : AbortSignal.any([lease.signal, signal]);
      return storage.keep(id, await videos.download(upstreamId, path, signals));
    });
  };

  const fetchAgain = async (id: TaskId, clip: Clip, upstreamId: UpstreamId): Promise<Clip> => {
    for (const startedAtMs = clock.monotonic(); ; await sleep(clock, RECHECK_MS)) {
      const found = (await storage.find(id, clip)) ?? (await fetch(id, upstreamId));
      if (found !== null) return found;
      if (clock.monotonic() - startedAtMs < WAIT_TIMEOUT_MS) continue;
      throw busy(`bringing the clip of task ${id} here`);
    }
  };

  return {
    fetch,
    async find({ id, clip, upstreamId }) {
      if (clip === undefined) return undefined;
      const found = await storage.find(id, clip);
      if (found !== null || upstreamId === undefined) return found ?? undefined;
      logger.info({ event: 'clip_file_missing', task: id }, 'clip file missing on this machine, downloading it');
      return downloads.run(id, () => fetchAgain(id, clip, upstreamId));
    },
    async remove(id) {
      const waiting = { leases, clock, name: `clip:${id}`, ttlMs: LEASE_MS, retryMs: RECHECK_MS };
      const removed = await withLease({ ...waiting, timeoutMs: WAIT_TIMEOUT_MS }, async () => {
        await storage.remove(id);
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
