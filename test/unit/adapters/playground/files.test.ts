import { link, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttachmentFolder } from '#adapters/playground/files.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { endNotice } from '#test/fakes/views.ts';

let root: string;
let files: AttachmentFolder;
let clip: { readonly path: string; readonly bytes: number; readonly contentType: string };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dailies-files-'));
  files = new AttachmentFolder(join(root, 'playground'));
  clip = { path: join(root, 'clip.mp4'), bytes: 4, contentType: 'video/mp4' };
  await writeFile(clip.path, 'clip');
  await files.prepare();
});

afterEach(() => rm(root, { recursive: true }));

it('recreates a deleted folder, for new clips and for those that were in it', async () => {
  await rm(files.path, { recursive: true });
  await files.keep('m1', { name: 'fox.mp4', path: clip.path });
  await rm(files.path, { recursive: true });
  expect(await files.bring('m1', 'fox.mp4', async () => clip)).toBe(true);
  expect(await readFile(join(files.path, files.fileName('m1', 'fox.mp4')), 'utf8')).toBe('clip');
});

it('fails with a retryable error, not a permission one, where the folder cannot be used', async () => {
  await rm(files.path, { recursive: true });
  await writeFile(files.path, '');
  const kept = files.keep('m1', { name: 'fox.mp4', path: clip.path });
  await expect(kept).rejects.toMatchObject({ code: 'platform_unavailable', retryable: true });
});

it('is swept at the start of what processes that died hours ago left, also as a link to a clip', async () => {
  await files.keep('m1', { name: 'fox.mp4', path: clip.path });
  const kept = files.fileName('m1', 'fox.mp4');
  const part = `${kept}.b1d2.part`;
  await link(clip.path, join(files.path, part));
  const { ctimeMs } = await stat(clip.path);
  const startedAfter = async (hours: number): Promise<readonly string[]> => {
    const clock = new ManualClock(ctimeMs + hours * 3_600_000);
    const house = await PlaygroundHouse.start({ dataDir: root, clock });
    await house.remove();
    return (await readdir(files.path)).toSorted();
  };
  expect(await startedAfter(2)).toEqual([kept, part]);
  expect(await startedAfter(4)).toEqual([kept]);
  expect(await readFile(clip.path, 'utf8')).toBe('clip');
});

it('goes with a private message that its user dismisses', async () => {
  const house = await PlaygroundHouse.start({ dataDir: root });
  const user = { id: 'ada', name: 'ada' };
  const place = { team: 'playground', channel: 'general', address: {} };
  const view = endNotice({ user, channel: 'general' });
  const file = { ...clip, name: 'fox.mp4', description: '' };
  const about = { key: 'end', place, replyTo: null, mention: null, view, files: [file], onlyFor: user };
  const { message } = await house.platform.notify(about);
  expect(await readdir(files.path)).toHaveLength(1);
  await house.post('dismissals', { user: 'ada', message });
  expect(await readdir(files.path)).toEqual([]);
  await house.remove();
});

it('removes an attachment with what a killed process left of it', async () => {
  const fox = { name: 'fox.mp4', path: clip.path };
  await files.keep('m1', fox);
  await files.keep('m2', fox);
  // Killed between the link and its renaming.
  await link(clip.path, join(files.path, `${files.fileName('m1', fox.name)}.b1d2.part`));
  await files.remove('m1', fox.name);
  expect(await readdir(files.path)).toEqual([files.fileName('m2', fox.name)]);
});
