import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClipStorage } from '#src/storage/clip-storage.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { Clip } from '#src/videos/service.ts';

/** What the suite needs of one implementation. */
export interface StorageHouse {
  /** Opens the storage of a machine, whose folder exists. Machines share what is kept. */
  open(folder: string): ClipStorage;
  /** `true`: machines share one folder. */
  readonly sharesFolder: boolean;
}

const ID = 'task-1' as TaskId;
const BYTES = Buffer.from('the bytes of a clip, from first to last');

/** Runs the contract of {@link ClipStorage}. @param house read in each test. */
export function clipStorageContract(house: () => StorageHouse): void {
  let root: string;
  let here: ClipStorage;
  let elsewhere: ClipStorage;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'dailies-storage-'));
    const folders = ['here', house().sharesFolder ? 'here' : 'elsewhere'].map((name) => join(root, name));
    await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true })));
    [here, elsewhere] = folders.map((folder) => house().open(folder)) as [ClipStorage, ClipStorage];
  });

  afterEach(() => rm(root, { recursive: true }));

  /** Keeps a clip as the pipeline does, after its download. */
  const keep = async (id = ID, bytes = BYTES, contentType = 'video/mp4'): Promise<Clip> => {
    const path = here.pathOf(id);
    await writeFile(path, bytes);
    return here.keep(id, { path, bytes: bytes.length, contentType });
  };

  it('finds a clip that is kept, here and on another machine', async () => {
    const clip = await keep();
    expect(clip).toEqual({ path: here.pathOf(ID), bytes: BYTES.length, contentType: 'video/mp4' });
    for (const storage of [here, elsewhere]) {
      const found = await storage.find(ID, clip);
      expect(found).toMatchObject({ bytes: BYTES.length, contentType: 'video/mp4' });
      expect(await readFile(found?.path ?? '')).toEqual(BYTES);
    }
  });

  it('finds it for several callers at once', async () => {
    const clip = await keep();
    const found = await Promise.all([1, 2, 3].map(() => elsewhere.find(ID, clip)));
    for (const one of found) expect(await readFile(one?.path ?? '')).toEqual(BYTES);
  });

  it('may keep it again', async () => {
    const clip = await keep();
    expect(await here.keep(ID, clip)).toEqual(clip);
    expect(await elsewhere.find(ID, clip)).toMatchObject({ bytes: BYTES.length });
  });

  it('finds no clip that was never kept, or one of another length', async () => {
    const clip = await keep();
    const other = 'task-2' as TaskId;
    expect(await here.find(other, { ...clip, path: here.pathOf(other) })).toBeNull();
    expect(await here.find(ID, { ...clip, bytes: BYTES.length + 1 })).toBeNull();
    expect(await elsewhere.find(ID, { ...clip, bytes: BYTES.length + 1 })).toBeNull();
  });

  it('names no other file of the machine, whatever the record says', async () => {
    const clip = await keep();
    const outside = join(root, 'secret');
    await writeFile(outside, BYTES);
    expect(await here.find('task-2' as TaskId, { ...clip, path: outside })).toBeNull();
    expect(() => here.pathOf('../task-2' as TaskId)).toThrow(TypeError);
  });

  it('returns what is no video as a type that no browser renders', async () => {
    const clip = await keep(ID, BYTES, 'text/html');
    expect(await here.find(ID, clip)).toMatchObject({ contentType: 'application/octet-stream' });
  });

  it('removes a clip with everything made from it, and no other one', async () => {
    const clip = await keep();
    const other = await keep('task-10' as TaskId);
    const copy = clip.path.replace('.mp4', '.fitted-9.mp4');
    await writeFile(copy, 'smaller');
    await here.remove(ID);
    await expect(readFile(copy)).rejects.toThrow('ENOENT');
    expect(await here.find(ID, clip)).toBeNull();
    expect(await elsewhere.find(ID, clip)).toBeNull();
    expect(await elsewhere.find('task-10' as TaskId, other)).toMatchObject({ bytes: BYTES.length });
  });

  it('may remove it again, or one that was never kept', async () => {
    await keep();
    await here.remove(ID);
    await here.remove(ID);
    await elsewhere.remove('task-2' as TaskId);
  });

  it('links straight to a clip that is kept, if at all', async () => {
    const file = { name: 'clip “1”.mp4', contentType: 'video/mp4' };
    const link = await here.link(ID, file, 60_000);
    expect(await here.isLinked(ID)).toBe(false);
    await keep();
    expect(await here.isLinked(ID)).toBe(link !== null);
    if (link === null) return;
    const response = await fetch(link.url, { headers: { range: 'bytes=4-8' } });
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 206, text: 'bytes' });
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('content-disposition')).toBe("inline; filename*=UTF-8''clip%20%E2%80%9C1%E2%80%9D.mp4");
    await here.remove(ID);
    expect(await here.isLinked(ID)).toBe(false);
    expect((await fetch(link.url)).status).toBe(404);
  });
}
