import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LibraryFolder } from '#src/media/library-files.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-library-'));
  await mkdir(join(directory, 'relay'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

it('keeps a copy of a file after the relay has evicted its own, until it is removed', async () => {
  const folder = new LibraryFolder(join(directory, 'library'), new MemoryStore().keyv('adapters'));
  const path = join(directory, 'relay', 'relay-1');
  await writeFile(path, 'picture');
  expect(await folder.find('relay-1')).toBeUndefined();
  const file = { path, bytes: 7, contentType: 'image/png', name: 'mug.png' };
  expect(await folder.keep('relay-1', file)).toBe('kept');
  await rm(path);
  expect(await folder.find('relay-1')).toMatchObject({ bytes: 7, contentType: 'image/png' });
  await folder.remove('relay-1');
  await folder.remove('relay-1');
  expect(await folder.find('relay-1')).toBeUndefined();
  expect(await readdir(join(directory, 'library'))).toEqual([]);
  expect(await folder.keep('relay-1', { ...file, bytes: 33 * 1024 ** 2 })).toBe('too_large');
});
