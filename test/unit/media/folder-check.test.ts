import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderCheck } from '#src/media/folder-check.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

let root: string;
let clips: string;
let clock: ManualClock;
let check: FolderCheck;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dailies-folders-'));
  clips = join(root, 'data', 'clips');
  await mkdir(clips, { recursive: true });
  clock = new ManualClock();
  check = new FolderCheck({ clips, files: join(root, 'data', 'files') }, clock);
});

afterEach(() => rm(root, { recursive: true }));

it('reports no problem for folders that are writable or can be created', async () => {
  expect(await check.problems()).toEqual({});
  await check.assertWritable();
  await rm(clips, { recursive: true });
  expect(await check.problems()).toEqual({});
  expect(await readdir(clips)).toEqual([]);
});

it('reports a file in place of the folder, until it is removed', async () => {
  await rm(clips, { recursive: true });
  await writeFile(clips, '');
  const problem = { clips: expect.stringContaining('there is a file in its place; move it away') };
  expect(await check.problems()).toEqual(problem);
  await expect(check.assertWritable()).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
  await rm(clips);
  await check.assertWritable();
});

it('creates nothing if the parent folder was moved away', async () => {
  await rename(join(root, 'data'), join(root, 'moved'));
  expect(Object.keys(await check.problems())).toEqual(['clips', 'files']);
  await expect(check.assertWritable()).rejects.toThrow('the folder around it was moved or deleted; put it back');
  expect(await readdir(root)).toEqual(['moved']);
});

it('caches a success for 5 seconds', async () => {
  await check.assertWritable();
  await rename(join(root, 'data'), join(root, 'moved'));
  await check.assertWritable();
  clock.advance(5_000);
  await expect(check.assertWritable()).rejects.toThrow('put it back');
});
