import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LINK_LIFETIME_MS, SignedLinks } from '#src/media/clip-links.ts';
import { createTakeLastFrame } from '#src/media/ffmpeg.ts';
import { LastFrames } from '#src/media/last-frames.ts';
import type { Relay } from '#src/media/relay.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { FFMPEG, lastFrameHash, makeShot } from '#test/fakes/shots.ts';
import { NOON_MS, newTask } from '#test/fakes/tasks.ts';
import { errorOf } from '#test/fakes/videos.ts';

let dir: string;
const clock = new ManualClock(NOON_MS);
const links = new SignedLinks({ publicUrl: 'https://dailies.example', secret: 'secret', clock });
const RUNNING = new AbortController().signal;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frames-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** Frames of the clips of tasks, in {@link dir}. */
function framesOf(tasks: ReadonlyMap<TaskId, Task>, take = createTakeLastFrame(FFMPEG), maxFiles?: number): LastFrames {
  return new LastFrames({
    takeLastFrame: take,
    relay: { links: fileLinks(clock, links), reaches: () => true },
    repository: { get: async (id) => tasks.get(id) },
    clips: { find: async ({ clip }) => clip },
    storage: new FolderStorage(dir),
    ...(maxFiles === undefined ? {} : { maxFiles }),
  });
}

function taskWith(path: string, id: string): readonly [TaskId, Task] {
  return [id as TaskId, newTask({ id: id as TaskId, clip: { path, bytes: 1, contentType: 'video/mp4' } })];
}

it.each([
  ['short', { frames: 5 }],
  ['silent, with pictures that refer to later ones', { frames: 60, channels: null, video: '-bf 3 -g 250' }],
  ['of sound that is far longer than its pictures', { frames: 30, soundSeconds: 30 }],
] as const)('takes the very last picture of a clip that is %s', async (_what, options) => {
  const clip = await makeShot(join(dir, 'a.mp4'), options);
  const frames = framesOf(new Map([taskWith(clip, 'a')]));
  const url = await frames.take({ id: 'a' as TaskId }, RUNNING);
  expect(new URL(url).pathname).toBe('/media/frame-a');
  const file = await frames.find('a' as TaskId);
  expect(file).toMatchObject({ contentType: 'image/png', path: join(dir, 'a.last-frame.png') });
  expect(await lastFrameHash(file?.path ?? '')).toBe(await lastFrameHash(clip));
  expect((await readdir(dir)).toSorted()).toEqual(['a.last-frame.png', 'a.mp4']);
});

it('takes it again where its file is missing, once for all who ask, and not without a clip', async () => {
  let taken = 0;
  const take = async (_clip: string, picture: string) => {
    taken += 1;
    await writeFile(picture, 'png');
  };
  const clip = join(dir, 'a.mp4');
  await writeFile(clip, 'mp4');
  const tasks = new Map([taskWith(clip, 'a')]);
  const frames = framesOf(tasks, take);
  await Promise.all([frames.find('a' as TaskId), frames.find('a' as TaskId)]);
  expect(taken).toBe(1);
  await rm(join(dir, 'a.last-frame.png'));
  expect(await frames.find('a' as TaskId)).toBeDefined();
  expect(taken).toBe(2);
  tasks.set('a' as TaskId, newTask({ id: 'a' as TaskId }));
  expect(await frames.find('a' as TaskId)).toBeUndefined();
  expect(await frames.find('../secret' as TaskId)).toBeUndefined();
  await expect(frames.take({ id: 'a' as TaskId }, RUNNING)).rejects.toMatchObject({ code: 'gone' });
});

it('is there for the service as long as its clip is, and its link is valid', async () => {
  const clip = join(dir, 'a.mp4');
  await writeFile(clip, 'mp4');
  const tasks = new Map([taskWith(clip, 'a')]);
  const frames = framesOf(tasks, async (_clip, picture) => writeFile(picture, 'png'));
  const url = await frames.take({ id: 'a' as TaskId }, RUNNING);
  expect(await frames.isServed(url)).toBe(true);
  const later = new ManualClock(NOON_MS - LINK_LIFETIME_MS);
  const old = new SignedLinks({ publicUrl: 'https://dailies.example', secret: 'secret', clock: later });
  expect(await frames.isServed(old.sign('frame-a').url)).toBe(false);
  tasks.set('a' as TaskId, newTask({ id: 'a' as TaskId }));
  expect(await frames.isServed(url)).toBe(false);
  for (const other of ['https://files.example/mug.png', 'https://files.example/media/frame-a?expires=1&signature=x'])
    expect(await frames.isServed(other)).toBe(true);
});

it('counts one as gone that cannot be taken again, and decides nothing while its clip is out of reach', async () => {
  const failures = [new Error('ffmpeg ended with 1'), errorOf('storage_unavailable')];
  const tasks = new Map([taskWith(join(dir, 'a.mp4'), 'a')]);
  const frames = framesOf(tasks, () => Promise.reject(failures.shift()));
  const { url } = links.sign('frame-a');
  expect(await frames.isServed(url)).toBe(false);
  await expect(frames.isServed(url)).rejects.toMatchObject({ code: 'storage_unavailable' });
});

it('keeps at most so many', async () => {
  const clips = ['a', 'b', 'c'].map((id) => [id, join(dir, `${id}.mp4`)] as const);
  for (const [, path] of clips) await writeFile(path, 'mp4');
  const tasks = new Map(clips.map(([id, path]) => taskWith(path, id)));
  const write = async (_clip: string, picture: string) => writeFile(picture, 'png');
  const frames = framesOf(tasks, write, 2);
  for (const [id] of clips) await frames.find(id as TaskId);
  expect((await readdir(dir)).filter((name) => name.endsWith('.png'))).toHaveLength(2);
});

it('leaves none of a clip that was removed meanwhile, although its file is still there', async () => {
  const clip = join(dir, 'a.mp4');
  await writeFile(clip, 'mp4');
  const tasks = new Map([taskWith(clip, 'a')]);
  const frames = framesOf(tasks, async (_clip, picture) => {
    await writeFile(picture, 'png');
    const { clip: _gone, ...task } = tasks.get('a' as TaskId) as Task;
    const removal = { reason: 'deleted', atMs: NOON_MS, hasContent: false } as const;
    tasks.set('a' as TaskId, { ...task, removal });
  });
  expect(await frames.find('a' as TaskId)).toBeUndefined();
  expect(await readdir(dir)).toEqual(['a.mp4']);
});

it('names what is missing, at any service or at that of a request', () => {
  const of = { repository: { get: async () => undefined }, clips: { find: async () => undefined } };
  const shared = { ...of, storage: new FolderStorage(dir) };
  const own = fileLinks(clock, null);
  const lacking = new LastFrames({ ...shared, relay: { links: own, reaches: () => false }, takeLastFrame: null });
  expect(lacking.missing()).toEqual(['ffmpeg', 'public_url']);
  const takeLastFrame = createTakeLastFrame(FFMPEG);
  const reaches: Relay['reaches'] = (at) => at?.service !== 'plain';
  const frames = new LastFrames({ ...shared, relay: { links: own, reaches }, takeLastFrame });
  expect(frames.missing()).toEqual([]);
  expect(frames.missing({ service: 'fal' })).toEqual([]);
  expect(frames.missing({ service: 'plain' })).toEqual(['public_url']);
});
