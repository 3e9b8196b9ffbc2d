import type { CancelTimer, Clock } from '../clock.ts';
import { pagesOf, type Store } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Clips } from '../pipeline/index.ts';
import { readTasks, type Task, type TaskId, UPLOADS } from '../tasks/index.ts';
import type { BucketStorage } from './bucket-storage.ts';

/** Options of {@link Uploads}. */
export interface UploadsOptions {
  readonly store: Store;
  readonly storage: BucketStorage;
  readonly clips: Pick<Clips, 'store'>;
  readonly repository: { readonly get: (id: TaskId) => Promise<Task | undefined> };
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_EVERY_MS = 30_000;
/** Delay between two looks at all local files. */
const SWEEP_EVERY_MS = 10 * 60_000;
/** Age of a failed upload from which a replica without the file downloads it again: the one that has it may be dead. */
const TAKEOVER_MS = 10 * 60_000;
/** Tasks read at once. */
const BATCH = 200;

/** Notes that the clip of a task is to be uploaded later. @throws `store_unavailable` */
export async function deferUpload(
  { store, clock }: Pick<UploadsOptions, 'store' | 'clock'>,
  id: TaskId,
): Promise<void> {
  await store.commit({ records: [], index: [{ index: UPLOADS, member: id, score: clock.now() }] });
}

/**
 * Uploads the clips whose upload failed, those of a time before the bucket, and deletes local copies: of clips that
 * were removed through another replica, and above their size. Every replica does this for its own files.
 */
export class Uploads {
  readonly #options: UploadsOptions;
  #running: Promise<void> = Promise.resolve();
  #sweepsAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: CancelTimer = () => undefined;
  #isStopped = false;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.#options.clock.after(RETRY_EVERY_MS, () => void this.runNow().then(() => this.start()));
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    return this.#running;
  }

  /** Runs after a run in flight. Never rejects. */
  runNow(): Promise<void> {
    this.#running = this.#running
      .then(() => this.#run())
      .catch((thrown: unknown) => {
        const event = 'uploads_failed';
        this.#options.logger.warn({ event, err: thrown }, 'failed to upload clips that are left, retrying');
      });
    return this.#running;
  }

  async #run(): Promise<void> {
    const { clock, storage } = this.#options;
    if (clock.monotonic() >= this.#sweepsAtMs) {
      await this.#sweep();
      await storage.copies.evict();
      this.#sweepsAtMs = clock.monotonic() + SWEEP_EVERY_MS;
    }
    await this.#upload();
  }

  /** Uploads what is left, until the bucket fails: then it would fail for all. */
  async #upload(): Promise<void> {
    const { store, storage, clips, repository, clock, logger } = this.#options;
    const local = await storage.copies.tasks();
    const since = clock.now() - TAKEOVER_MS;
    for await (const page of pagesOf(store, UPLOADS)) {
      for (const { member, score } of page) {
        const id = member as TaskId;
        if (this.#isStopped) return;
        if ((local.get(id) ?? null) === null && score > since) continue;
        try {
          if (!(await clips.store(id, () => repository.get(id)))) continue;
          logger.info({ event: 'clip_uploaded', task: id }, 'uploaded a clip that was left');
        } catch (thrown) {
          const error = asDailiesError(thrown, `uploading the clip of task ${id}`);
          if (error.code === 'storage_unavailable' || error.retryable) throw error;
          logger.error({ event: 'clip_lost', task: id, err: error }, 'a clip is in no bucket and on no disk');
        }
        await store.commit({ records: [], index: [{ index: UPLOADS, member: id, score: null }] });
      }
    }
  }

  /** Compares the local files with the tasks and the bucket. */
  async #sweep(): Promise<void> {
    const { store, storage } = this.#options;
    const local = await storage.copies.tasks();
    const ids = [...local.keys()];
    for (let at = 0; at < ids.length && !this.#isStopped; at += BATCH) {
      for (const task of await readTasks(store, ids.slice(at, at + BATCH))) {
        if (task.removal !== undefined && task.clip === undefined) await storage.copies.remove(task.id);
        else if (await this.#isToBeUploaded(task, local)) await deferUpload(this.#options, task.id);
      }
    }
  }

  async #isToBeUploaded({ id, clip }: Task, local: ReadonlyMap<TaskId, number | null>): Promise<boolean> {
    if (clip === undefined || local.get(id) !== clip.bytes) return false;
    return !(await this.#options.storage.isStored(id));
  }
}
