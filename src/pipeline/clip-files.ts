import { type Clock, sleep } from '../clock.ts';
import { type Leases, withLease } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { SingleFlight } from '../single-flight.ts';
import type { ClipStorage, FilesOfClips } from '../storage/index.ts';
import { isFetching, type Task, type TaskId } from '../tasks/index.ts';
import type { Clip, UpstreamId, VideoRequest, VideoService } from '../videos/index.ts';

/** Task whose clip the service has. */
type MadeTask = Pick<Task, 'id' | 'request'> & { readonly upstreamId: UpstreamId };

/** What says where the clip of a task is. */
type FoundTask = Pick<Task, 'id' | 'request' | 'clip' | 'upstreamId'>;

/** Options of {@link Clips}. */
export interface ClipsOptions {
  readonly videos: { readonly of: (request: VideoRequest) => Pick<VideoService, 'download'> };
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storage: ClipStorage;
  /** Notes, durably, that the storage of a clip failed: it is to be stored later. */
  readonly deferStorage: (id: TaskId) => Promise<void>;
  readonly isRemoved: (id: TaskId) => Promise<boolean>;
}

/** TTL of the lease on a download: two processes downloading one clip at once would write into one file. */
const LEASE_MS = 15_000;
const RECHECK_MS = 250;
/** Timeout for the download of another process. */
const WAIT_TIMEOUT_MS = 60_000;

/**
 * The clip files on this machine. Replicas should share one folder, or a bucket. Where they do not, or the folder was
 * lost, a clip is downloaded again from the service, which does not bill downloads and keeps its results for some hours.
 */
export class Clips {
  readonly #options: ClipsOptions;
  readonly #downloads = new SingleFlight<TaskId, Clip>();

  constructor(options: ClipsOptions) {
    this.#options = options;
  }

  /**
   * Downloads the clip of a task that has none yet. @returns `null` while another process downloads it.
   * @throws the errors of {@link VideoService.download}
   */
  async fetch({ id, request, upstreamId }: MadeTask, signal?: AbortSignal): Promise<Clip | null> {
    const { videos, storage, isRemoved } = this.#options;
    const path = storage.pathOf(id);
    return withLease(this.#leaseOf(id), async (lease) => {
      // A removal deletes the file under the same lease, after it was recorded: none is left behind it.
      if (await isRemoved(id)) throw new DailiesError(`fetching the clip of task ${id}: it was removed`, REMOVED);
      const signals = signal === undefined ? lease.signal : AbortSignal.any([lease.signal, signal]);
      return this.#keep(id, await videos.of(request).download(upstreamId, path, signals));
    });
  }

  /**
   * Returns the clip of a task, downloading it again where its file is missing; `undefined` when the task has no clip,
   * or its file is missing and it has no upstream id.
   * @throws the errors of {@link VideoService.download} when it cannot be downloaded again.
   */
  async find({ id, request, clip, upstreamId }: FoundTask): Promise<Clip | undefined> {
    const { storage, logger } = this.#options;
    if (clip === undefined) return undefined;
    const found = await storage.find(id, clip).catch(storageFailure);
    if (upstreamId === undefined && found instanceof DailiesError) throw found;
    if (found !== null && !(found instanceof DailiesError)) return found;
    if (upstreamId === undefined) return undefined;
    logger.info({ event: 'clip_file_missing', task: id }, 'clip file missing on this machine, downloading it');
    const again = this.#downloads.run(id, () => this.#fetchAgain({ id, request, upstreamId }, clip));
    // That the service does not have it any more says nothing about the storage, where it is.
    return found === null ? again : again.catch(() => Promise.reject(found));
  }

  /** Lists the files of all clips on this machine, for {@link remove}. */
  list(): Promise<FilesOfClips> {
    return this.#options.storage.list();
  }

  /**
   * Deletes the clip of a removed task with everything made from it, such as fitted copies. Idempotent.
   * @param files listed after the removal was recorded. Default: listed for this call.
   * @throws `timed_out`, retryable, while another process downloads it; the errors of the file system.
   */
  async remove(id: TaskId, files?: FilesOfClips): Promise<void> {
    const waiting = { ...this.#leaseOf(id), retryMs: RECHECK_MS, timeoutMs: WAIT_TIMEOUT_MS };
    const removed = await withLease(waiting, async () => {
      await this.#options.storage.remove(id, files);
      return true;
    });
    if (removed === null) throw busy(`removing the clip of task ${id}`);
  }

  /**
   * Stores a clip whose storage failed before, downloading it again where it is not on this machine.
   * @param current reads the task, which may have changed.
   * @returns `false`, where another process is at it, or the clip is still to be fetched.
   * @throws `storage_unavailable`; the errors of {@link VideoService.download}
   */
  async store(id: TaskId, current: () => Promise<Task | undefined>): Promise<boolean> {
    const { videos, storage } = this.#options;
    const stored = await withLease(this.#leaseOf(id), async ({ signal }) => {
      const task = await current();
      if (task?.clip === undefined) return task === undefined || !isFetching(task);
      const { clip, request, upstreamId } = task;
      const local = await storage.find(id, clip);
      if (local === null && upstreamId === undefined) return true;
      const again = () => videos.of(request).download(upstreamId as UpstreamId, storage.pathOf(id), signal);
      await storage.keep(id, local ?? (await again()));
      return true;
    });
    return stored ?? false;
  }

  /** Keeps a downloaded clip. Where its storage fails, it stays on this machine until that works: it is paid for. */
  async #keep(id: TaskId, clip: Clip): Promise<Clip> {
    const { storage, deferStorage, logger } = this.#options;
    const kept = await storage.keep(id, clip).catch(storageFailure);
    if (!(kept instanceof DailiesError)) return kept;
    await deferStorage(id);
    const event = 'clip_upload_failed';
    logger.error({ event, task: id, err: kept }, 'failed to upload a clip, keeping it on this machine meanwhile');
    return clip;
  }

  async #fetchAgain(task: MadeTask, clip: Clip): Promise<Clip> {
    const { id } = task;
    const { storage, clock } = this.#options;
    const findKept = async (): Promise<Clip | null> => {
      const found = await storage.find(id, clip).catch(storageFailure);
      return found instanceof DailiesError ? null : found;
    };
    for (const startedAtMs = clock.monotonic(); ; await sleep(clock, RECHECK_MS)) {
      const found = (await findKept()) ?? (await this.fetch(task));
      if (found !== null) return found;
      if (clock.monotonic() - startedAtMs < WAIT_TIMEOUT_MS) continue;
      throw busy(`bringing the clip of task ${id} here`);
    }
  }

  #leaseOf(id: TaskId) {
    const { leases, clock } = this.#options;
    return { leases, clock, name: `clip:${id}`, ttlMs: LEASE_MS };
  }
}

/** Returns the error of a bucket that is away. @throws any other error */
function storageFailure(thrown: unknown): DailiesError {
  if (thrown instanceof DailiesError && thrown.code === 'storage_unavailable') return thrown;
  throw thrown;
}

const REMOVED = { code: 'gone', retryable: false } as const;

function busy(doing: string): DailiesError {
  const code = { code: 'timed_out', retryable: true } as const;
  return new DailiesError(`${doing}: another process is still at it`, code);
}
