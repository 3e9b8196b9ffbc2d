import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const disk = vi.hoisted(() => ({ isFull: false, refusals: 0 }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    mkdtemp(prefix: string) {
      if (!disk.isFull) return real.mkdtemp(prefix);
      disk.refusals += 1;
      return Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    },
  };
});
// Another file of the same process may have loaded it, with the disk as it is.
vi.resetModules();
const { prepareClipsFolder } = await import('#src/media/folder-check.ts');

/** User id without any permissions. */
const NOBODY = 65_534;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-clips-'));
});

afterEach(async () => {
  disk.isFull = false;
  await chmod(folder, 0o700);
  await rm(folder, { recursive: true });
});

it('is created, and left empty', async () => {
  const path = join(folder, 'data/clips');
  await prepareClipsFolder(path);
  await prepareClipsFolder(path);
  expect(await readdir(path)).toEqual([]);
});

it('is rejected where clips cannot be stored, before any is paid for', async () => {
  await writeFile(join(folder, 'clips'), '');
  const inTheWay = prepareClipsFolder(join(folder, 'clips'));
  await expect(inTheWay).rejects.toThrow(`${folder}/clips, where clips are kept: there is a file in its place`);
  await chmod(folder, 0o500);
  const [was] = [process.geteuid?.() ?? NOBODY];
  // Permissions do not apply to root.
  if (was === 0) process.seteuid?.(NOBODY);
  try {
    await expect(prepareClipsFolder(folder)).rejects.toThrow('this user may not write there');
  } finally {
    if (was === 0) process.seteuid?.(was);
  }
});

it('may be on a full disk', async () => {
  disk.isFull = true;
  await expect(prepareClipsFolder(folder)).resolves.toBeUndefined();
  expect(disk.refusals).toBe(1);
});
