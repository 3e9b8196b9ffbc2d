import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LibraryFolder } from '#src/media/library-files.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1');

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-library-'));
  await mkdir(join(directory, 'relay'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

it('keeps a copy of a file after the relay has evicted its own, until it is removed', async () => {
  const folder = new LibraryFolder(join(directory, 'library'), new MemoryStore());
  const path = join(directory, 'relay', 'relay-1');
  await writeFile(path, PNG);
  expect(await folder.find('relay-1')).toBeUndefined();
  const file = { path, bytes: PNG.length, contentType: 'image/png', name: 'mug.png' };
  expect(await folder.keep('relay-1', file)).toBe('kept');
  await rm(path);
  expect(await folder.find('relay-1')).toMatchObject({ bytes: PNG.length, contentType: 'image/png' });
  await writeFile(join(directory, 'library', 'relay-1.jpg'), 'picture');
  await folder.remove('relay-1');
  await folder.remove('relay-1');
  expect(await folder.find('relay-1')).toBeUndefined();
  expect(await readdir(join(directory, 'library'))).toEqual([]);
  expect(await folder.keep('relay-1', { ...file, bytes: 33 * 1024 ** 2 })).toBe('too_large');
});

it.each([
  ['a JPEG', '\xff\xd8\xff\xe0..JFIF', 'image/jpeg'],
  ['a WebP', 'RIFF\x01\x02\x03\nWEBPVP8 ', 'image/webp'],
  ['a GIF', 'GIF89a....', 'image/gif'],
  ['an SVG', '<svg onload=1>', null],
  ['text', 'PNG', null],
  ['another RIFF', 'RIFF....WAVE', null],
  ['nothing', '', null],
])('goes by the first bytes of a file, not by its name: %s', async (_what, content, contentType) => {
  const folder = new LibraryFolder(join(directory, 'library'), new MemoryStore());
  const path = join(directory, 'relay', 'relay-1');
  await writeFile(path, content, 'latin1');
  const kept = await folder.keep('relay-1', { path, bytes: 20, contentType: 'image/png', name: 'mug.png' });
  expect(kept).toBe(contentType === null ? 'no_image' : 'kept');
  const found = await folder.find('relay-1');
  expect(found?.contentType ?? null).toBe(contentType);
});
