import type { Clock } from '../clock.ts';
import { type Job, type JobRun, pagesOf, type Store } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Clips } from '../pipeline/index.ts';
import { readTasks, type Task, type TaskId, UPLOADS } from '../tasks/index.ts';
import type { BucketStorage } from './bucket-storage.ts';

/** Options of {@link uploadJobs}. */
export interface UploadsOptions {
  readonly store: Store;
  readonly storage: BucketStorage;
  readonly clips: Pick<Clips, 'store'>;
  readonly repository: { readonly get: (id: TaskId) => Promise<Task | undefined> };
  readonly clock: Clock;
  readonly logger: Logger;
}

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
 * Returns the jobs of a replica on its own files: one uploads the clips whose upload failed; the other one notes those of a
 * time before the bucket, and deletes local copies of clips that were removed through another replica, and above their size.
 */
export function uploadJobs(options: UploadsOptions): readonly Job[] {
  const everywhere = { firstInMs: 30_000, leaseMs: null };
  return [
    { name: 'uploads', everyMs: 30_000, ...everywhere, run: (run) => upload(options, run) },
    {
      name: 'local_clips',
      everyMs: 10 * 60_000,
      ...everywhere,
      async run(run) {
        await compare(options, run);
        await options.storage.copies.evict();
      },
    },
  ];
}

/** Uploads what is left, until the bucket fails: then it would fail for all. */
async function upload(options: UploadsOptions, { isActive }: JobRun): Promise<void> {
  const { store, storage, clips, repository, clock, logger } = options;
  const local = await storage.copies.tasks();
  const since = clock.now() - TAKEOVER_MS;
  for await (const page of pagesOf(store, UPLOADS)) {
    for (const { member, score } of page) {
      const id = member as TaskId;
      if (!isActive()) return;
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
async function compare(options: UploadsOptions, { isActive }: JobRun): Promise<void> {
  const { store, storage } = options;
  const local = await storage.copies.tasks();
  const ids = [...local.keys()];
  for (let at = 0; at < ids.length && isActive(); at += BATCH) {
    for (const task of await readTasks(store, ids.slice(at, at + BATCH))) {
      if (task.removal !== undefined && task.clip === undefined) await storage.copies.remove(task.id);
      else if (task.clip !== undefined && local.get(task.id) === task.clip.bytes && !(await storage.isStored(task.id)))
        await deferUpload(options, task.id);
    }
  }
}
