import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLeases } from '#src/engine/cluster/leases.ts';
import { Clips } from '#src/pipeline/clip-files.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { Clip, UpstreamId } from '#src/videos/service.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { deferred, pass } from '#test/fakes/settle.ts';
import { newTask } from '#test/fakes/tasks.ts';

const ID = 'task' as TaskId;
const UPSTREAM = 'up' as UpstreamId;
const BYTES = Buffer.alloc(1_000, 1);

let root: string;
let clock: ManualClock;
let table: LeaseTable;
let downloads: string[];
/** Completes the downloads when it resolves. */
let onItsWay: Promise<void>;
let isGone: boolean;
let isTaskRemoved: boolean;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dailies-clips-'));
  clock = new ManualClock();
  table = new LeaseTable(clock);
  downloads = [];
  onItsWay = Promise.resolve();
  isGone = false;
  isTaskRemoved = false;
});

afterEach(() => rm(root, { recursive: true }));

/** The clip files of a process, in a folder of its own or a shared one. */
function clipsOf(owner: string, clipsDir = root): Clips {
  const download = async (_id: UpstreamId, path: string, signal?: AbortSignal): Promise<Clip> => {
    downloads.push(owner);
    await onItsWay;
    signal?.throwIfAborted();
    if (isGone) throw new TypeError('gone');
    await writeFile(path, BYTES);
    return { path, bytes: BYTES.length, contentType: 'video/mp4' };
  };
  const leases = createLeases({ backend: table, clock, owner });
  const storage = new FolderStorage(clipsDir);
  const deferStorage = () => Promise.reject(new TypeError('a folder keeps what it has'));
  const isRemoved = async () => isTaskRemoved;
  const logger = pino({ level: 'silent' });
  return new Clips({ videos: { of: () => ({ download }) }, leases, clock, logger, storage, deferStorage, isRemoved });
}

const { request } = newTask();
const TASK = { id: ID, request, upstreamId: UPSTREAM };

const recorded = (path: string) => ({
  ...TASK,
  clip: { path, bytes: BYTES.length, contentType: 'video/mp4' },
});

it('is found at its path without a download', async () => {
  const path = join(root, 'task.mp4');
  await writeFile(path, BYTES);
  expect(await clipsOf('us').find(recorded(path))).toMatchObject({ path });
  expect(await clipsOf('us').find(recorded('/a/folder/of/another/machine/task.mp4'))).toMatchObject({ path });
  expect(downloads).toEqual([]);
});

it('is downloaded again, once for concurrent callers, where its file is missing or incomplete', async () => {
  await writeFile(join(root, 'elsewhere.mp4'), 'half of it');
  const clips = clipsOf('us');
  const task = recorded(join(root, 'elsewhere.mp4'));
  const found = await Promise.all([clips.find(task), clips.find(task), clips.find(task)]);
  expect(found.map((clip) => clip?.path)).toEqual(Array.from({ length: 3 }, () => join(root, 'task.mp4')));
  expect(downloads).toEqual(['us']);
});

it('rejects where the service no longer has it', async () => {
  isGone = true;
  await expect(clipsOf('us').find(recorded('/nowhere.mp4'))).rejects.toThrow('gone');
});

it('is undefined for a task without a clip', async () => {
  expect(await clipsOf('us').find(TASK)).toBeUndefined();
});

it('is downloaded by one process at a time, while others wait for the file', async () => {
  const held = deferred();
  onItsWay = held.promise;
  const first = clipsOf('us').fetch(TASK);
  await pass(clock, 0);
  expect(await clipsOf('them').fetch(TASK)).toBeNull();
  const theirs = clipsOf('them').find(recorded('/nowhere.mp4'));
  await pass(clock, 1_000);
  expect(downloads).toEqual(['us']);
  held.resolve();
  await first;
  let found: unknown;
  void theirs.then((clip) => {
    found = clip;
  });
  await expect.poll(() => pass(clock, 250).then(() => found)).toMatchObject({ bytes: 1_000 });
  expect(downloads).toEqual(['us']);
  expect(await clipsOf('them').fetch(TASK)).not.toBeNull();
});

it('is not written by a process whose lease expired', async () => {
  const held = deferred();
  onItsWay = held.promise;
  const ours = clipsOf('us').fetch(TASK);
  const ended = expect(ours).rejects.toThrow('the lease was lost or released');
  await pass(clock, 0);
  table.forgetAll();
  await pass(clock, 5_000);
  held.resolve();
  await ended;
  expect(await readdir(root)).toEqual([]);
});

it('times out after a minute of waiting', async () => {
  onItsWay = deferred().promise;
  void clipsOf('us').fetch(TASK);
  await pass(clock, 0);
  let outcome: unknown;
  clipsOf('them')
    .find(recorded('/nowhere.mp4'))
    .catch((thrown: unknown) => {
      outcome = thrown;
    });
  // Each check reads the disk.
  const looking = { timeout: 300_000, interval: 1 };
  await expect.poll(() => pass(clock, 250).then(() => outcome), looking).toMatchObject({ code: 'timed_out' });
  expect(clock.monotonic()).toBeGreaterThanOrEqual(60_000);
});

it('is never another file of this machine, even for a forged record', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'dailies-outside-'));
  const secret = join(outside, 'passwd');
  await writeFile(secret, BYTES);
  try {
    for (const path of [secret, `${root}/../${basename(outside)}/passwd`]) {
      const { path: found } = (await clipsOf('us').find(recorded(path))) ?? {};
      expect(found).toBe(join(root, 'task.mp4'));
      await rm(join(root, 'task.mp4'));
    }
    const astray = { ...recorded(secret), id: `../${basename(outside)}/passwd` as TaskId };
    await expect(clipsOf('us').find(astray)).rejects.toThrow('no file name');
  } finally {
    await rm(outside, { recursive: true });
  }
});

it('is served with a video type or one that browsers do not render', async () => {
  const path = join(root, 'task.mp4');
  await writeFile(path, BYTES);
  const page = { ...recorded(path), clip: { path, bytes: BYTES.length, contentType: 'text/html' } };
  expect(await clipsOf('us').find(page)).toEqual({
    path,
    bytes: BYTES.length,
    contentType: 'application/octet-stream',
  });
});

it('is removed with everything made from it, repeatedly, and nothing of others', async () => {
  const names = ['task.mp4', 'task.fitted-8000000.mp4', 'task.mp4.part', 'task2.mp4', 'other.mp4'];
  for (const name of names) await writeFile(join(root, name), BYTES);
  const clips = clipsOf('us');
  await Promise.all([clips.remove(ID), clips.remove('other' as TaskId)]);
  expect(await readdir(root)).toEqual(['task2.mp4']);
  await clips.remove(ID);
  expect(await clips.find(TASK)).toBeUndefined();
  expect(downloads).toEqual([]);
});

it('is removed once a download of it has ended', async () => {
  const download = deferred();
  onItsWay = download.promise;
  const fetched = clipsOf('us').fetch(TASK);
  const removed = clipsOf('them').remove(ID);
  await pass(clock, 1_000, 250);
  expect(downloads).toEqual(['us']);
  download.resolve();
  await fetched;
  await pass(clock, 1_000, 250);
  await removed;
  expect(await readdir(root)).toEqual([]);
});

it('removes nothing while another process downloads it, and says so: it has to be removed later', async () => {
  await writeFile(join(root, `${ID}.mp4`), BYTES);
  const lease = await createLeases({ backend: table, clock, owner: 'another' }).take(`clip:${ID}`, 600_000);
  const removed = expect(clipsOf('us').remove(ID)).rejects.toMatchObject({ code: 'timed_out', retryable: true });
  await pass(clock, 61_000, 5_000);
  await removed;
  await lease?.release();
  await clipsOf('us').remove(ID);
  expect(await readdir(root)).toEqual([]);
});

it('leaves no file behind a removal that meets a download, whichever is first', async () => {
  const clips = clipsOf('us');
  const task = recorded(join(root, 'lost.mp4'));
  const arrived = deferred();
  onItsWay = arrived.promise;
  const found = clips.find(task);
  await expect.poll(() => downloads).toEqual(['us']);
  isTaskRemoved = true;
  const removed = clips.remove(ID);
  arrived.resolve();
  await found;
  await pass(clock, 1_000, 250);
  await removed;
  expect(await readdir(root)).toEqual([]);
  await expect(clips.find(task)).rejects.toMatchObject({ code: 'gone', retryable: false });
  expect(await readdir(root)).toEqual([]);
});
