import { link, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttachmentFolder } from '#adapters/playground/files.ts';

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

it('removes an attachment with what a killed process left of it', async () => {
  const fox = { name: 'fox.mp4', path: clip.path };
  await files.keep('m1', fox);
  await files.keep('m2', fox);
  // Killed between the link and its renaming.
  await link(clip.path, join(files.path, `${files.fileName('m1', fox.name)}.b1d2.part`));
  await files.remove('m1', fox.name);
  expect(await readdir(files.path)).toEqual([files.fileName('m2', fox.name)]);
});
