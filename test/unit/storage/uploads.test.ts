import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLeases } from '#src/engine/cluster/leases.ts';
import { DailiesError } from '#src/errors.ts';
import { Clips } from '#src/pipeline/clip-files.ts';
import { type Bucket, openBucket } from '#src/storage/bucket.ts';
import { BucketStorage } from '#src/storage/bucket-storage.ts';
import { deferUpload, uploadJobs } from '#src/storage/uploads.ts';
import { UPLOADS } from '#src/tasks/indexes.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { Clip, UpstreamId } from '#src/videos/service.ts';
import { runJob } from '#test/fakes/jobs.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { type S3Server, startS3Server } from '#test/fakes/s3-server.ts';
import { newTask } from '#test/fakes/tasks.ts';

const UPSTREAM = 'up' as UpstreamId;
const TEXT = 'the clip that was paid for';
const MINUTE_MS = 60_000;

let server: S3Server;
let root: string;
let runs = 0;
let bucket: Bucket;
let clock: ManualClock;
let store: MemoryStore;
let table: LeaseTable;
/** The bucket fails. */
let isAway: boolean;
/** The service has dropped the clip. */
let isGone: boolean;
let downloads: number;
/** Events in the log. */
let logged: string[];

beforeAll(async () => {
  server = await startS3Server();
});

afterAll(() => server.close());

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dailies-uploads-'));
  runs += 1;
  bucket = await openBucket({ ...server.address, prefix: `run-${runs}/` }, Date.now);
  clock = new ManualClock();
  store = new MemoryStore();
  table = new LeaseTable(clock);
  [isAway, isGone, downloads, logged] = [false, false, 0, []];
});

afterEach(async () => {
  bucket.close();
  await rm(root, { recursive: true });
});

interface Replica {
  readonly storage: BucketStorage;
  readonly clips: Clips;
  /** Runs the jobs once. */
  readonly work: () => Promise<void>;
}

/** A replica with a disk of its own, on the shared store and bucket. */
async function replica(name: string): Promise<Replica> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  const logger = pino({}, { write: (line) => void logged.push((JSON.parse(line) as { event: string }).event) });
  const unlessAway = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (isAway) throw new DailiesError('away', { code: 'storage_unavailable', retryable: true });
    return call();
  };
  const shaky: Bucket = {
    ...bucket,
    sizeOf: (key) => unlessAway(() => bucket.sizeOf(key)),
    put: (key, file) => unlessAway(() => bucket.put(key, file)),
    get: (key, path) => unlessAway(() => bucket.get(key, path)),
    remove: (key) => unlessAway(() => bucket.remove(key)),
  };
  const storage = new BucketStorage({ bucket: shaky, folder, maxLocalBytes: 1e9, logger });
  const download = async (_id: UpstreamId, path: string): Promise<Clip> => {
    const isThere = await readFile(path).then(
      () => true,
      () => false,
    );
    if (!isThere && isGone) throw new DailiesError('gone', { code: 'gone', retryable: false });
    if (!isThere) {
      downloads += 1;
      await writeFile(path, TEXT);
    }
    return { path, bytes: TEXT.length, contentType: 'video/mp4' };
  };
  const leases = createLeases({ backend: table, clock, owner: name });
  const deferStorage = (id: TaskId) => deferUpload({ store, clock }, id);
  const isRemoved = async () => false;
  const clips = new Clips({
    videos: { of: () => ({ download }) },
    leases,
    clock,
    logger,
    storage,
    deferStorage,
    isRemoved,
  });
  const repository = { get: (id: TaskId) => store.keyv('tasks').get<Task>(id) };
  const jobs = uploadJobs({ store, storage, clips, repository, clock, logger });
  const work = async (): Promise<void> => {
    for (const job of jobs.toReversed()) await runJob(job, { store, clock, logger });
  };
  return { storage, clips, work };
}

/** Fetches and records a clip, as the pipeline does. */
async function fetched({ clips }: Replica, id = 'task' as TaskId): Promise<Task> {
  const clip = await clips.fetch(newTask({ id, upstreamId: UPSTREAM }) as Task & { readonly upstreamId: UpstreamId });
  if (clip === null) throw new TypeError('another process fetches it');
  const task = newTask({ id, state: 'completed', presented: true, upstreamId: UPSTREAM, clip });
  await store.keyv('tasks').set(id, task);
  return task;
}

const pending = () => store.count(UPLOADS);
const stored = (id = 'task') => bucket.sizeOf(`${id}.mp4`);

describe('a clip', () => {
  it('is in the bucket before its task has it', async () => {
    await fetched(await replica('one'));
    expect(await stored()).toBe(TEXT.length);
    expect(await pending()).toBe(0);
  });

  it('is uploaded after a kill between download and upload, without another download', async () => {
    const one = await replica('one');
    // What a killed process left: a whole download, no record.
    await writeFile(one.storage.pathOf('task' as TaskId), TEXT);
    await fetched(await replica('one'));
    expect({ stored: await stored(), downloads }).toEqual({ stored: TEXT.length, downloads: 0 });
  });

  it('is delivered from the disk while the bucket is away, and uploaded once it is back', async () => {
    isAway = true;
    const one = await replica('one');
    const task = await fetched(one);
    expect(await readFile((await one.clips.find(task))?.path ?? '', 'utf8')).toBe(TEXT);
    await one.work();
    expect({ stored: await stored(), pending: await pending() }).toEqual({ stored: null, pending: 1 });
    isAway = false;
    await one.work();
    expect({ stored: await stored(), pending: await pending(), downloads }).toEqual({
      stored: TEXT.length,
      pending: 0,
      downloads: 1,
    });
  });

  it('stays to be uploaded while another process is at it', async () => {
    isAway = true;
    const one = await replica('one');
    await fetched(one);
    isAway = false;
    const lease = await createLeases({ backend: table, clock, owner: 'other' }).take('clip:task', MINUTE_MS);
    await one.work();
    expect({ stored: await stored(), pending: await pending() }).toEqual({ stored: null, pending: 1 });
    expect(logged).not.toContain('clip_uploaded');
    await lease?.release();
    await one.work();
    expect({ stored: await stored(), pending: await pending() }).toEqual({ stored: TEXT.length, pending: 0 });
  });

  it('is uploaded by another replica after ten minutes, if the one that has it is dead', async () => {
    isAway = true;
    await fetched(await replica('one'));
    isAway = false;
    const other = await replica('other');
    await other.work();
    expect({ stored: await stored(), pending: await pending() }).toEqual({ stored: null, pending: 1 });
    clock.advance(11 * MINUTE_MS);
    await other.work();
    expect({ stored: await stored(), pending: await pending(), downloads }).toEqual({
      stored: TEXT.length,
      pending: 0,
      downloads: 2,
    });
  });

  it('is given up where no disk, no bucket and no service has it', async () => {
    isAway = true;
    await fetched(await replica('one'));
    [isAway, isGone] = [false, true];
    clock.advance(11 * MINUTE_MS);
    logged = [];
    await (await replica('other')).work();
    expect({ pending: await pending(), logged }).toEqual({ pending: 0, logged: ['clip_lost'] });
  });

  it('is not lost because the service dropped it while the bucket is away', async () => {
    const task = await fetched(await replica('one'));
    [isAway, isGone] = [true, true];
    const other = await replica('other');
    await expect(other.clips.find(task)).rejects.toMatchObject({ code: 'storage_unavailable' });
    isAway = false;
    expect(await other.clips.find(task)).toMatchObject({ bytes: TEXT.length });
  });

  it('of a time before the bucket is uploaded after the start', async () => {
    const one = await replica('one');
    const path = one.storage.pathOf('old' as TaskId);
    await writeFile(path, TEXT);
    const clip = { path, bytes: TEXT.length, contentType: 'video/mp4' };
    await store.keyv('tasks').set('old', newTask({ id: 'old' as TaskId, state: 'completed', presented: true, clip }));
    await one.work();
    expect({ stored: await stored('old'), pending: await pending() }).toEqual({ stored: TEXT.length, pending: 0 });
  });
});

describe('a removed clip', () => {
  const remove = async ({ clip: _clip, ...task }: Task): Promise<void> => {
    const removal = { reason: 'deleted', atMs: 0, hasContent: false } as const;
    await store.keyv('tasks').set(task.id, { ...task, removal });
  };

  it('leaves the disks of all replicas, and the bucket', async () => {
    const [one, other] = [await replica('one'), await replica('other')];
    const task = await fetched(one);
    await other.clips.find(task);
    await writeFile(join(root, 'other', 'task.poster.jpg'), 'a picture');
    await remove(task);
    await one.clips.remove(task.id);
    expect(await stored()).toBeNull();
    expect(await readdir(join(root, 'one'))).toEqual([]);
    await other.work();
    expect(await readdir(join(root, 'other'))).toEqual([]);
  });

  it('is not uploaded any more', async () => {
    isAway = true;
    const one = await replica('one');
    const task = await fetched(one);
    isAway = false;
    await remove(task);
    await one.clips.remove(task.id);
    clock.advance(11 * MINUTE_MS);
    await one.work();
    expect({ stored: await stored(), pending: await pending() }).toEqual({ stored: null, pending: 0 });
  });
});
