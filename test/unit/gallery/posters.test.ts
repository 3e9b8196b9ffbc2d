import { execFile } from 'node:child_process';
import { access, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Posters } from '#src/gallery/posters.ts';
import { createLogger } from '#src/logger.ts';
import { createTakePicture, type TakePicture } from '#src/media/ffmpeg.ts';
import type { TaskId } from '#src/tasks/task.ts';

const ffmpeg = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');
const ID = 't1' as TaskId;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-posters-'));
});

afterEach(() => {
  removed.clear();
  return rm(folder, { recursive: true });
});

const clipOf = async (id = 't1') => {
  const path = join(folder, `${id}.mp4`);
  await writeFile(path, 'clip');
  return { path, bytes: 4, contentType: 'video/mp4' };
};

/** Tasks whose removal has begun. */
const removed = new Set<string>();

function posters(takes: string[], take?: TakePicture, maxFiles?: number) {
  const isRemoved = async (id: string) => removed.has(id);
  const takePicture: TakePicture =
    take ??
    (async (_clip, picture) => {
      takes.push(picture);
      await writeFile(picture, 'picture');
      return true;
    });
  return new Posters({ folder, takePicture, isRemoved, ...(maxFiles === undefined ? {} : { maxFiles }) });
}

it('takes the picture of a clip once, beside it', async () => {
  const takes: string[] = [];
  const [one] = [posters(takes)];
  const found = await Promise.all([one.of(ID, clipOf), one.of(ID, clipOf)]);
  expect(found).toEqual([join(folder, 't1.poster.jpg'), join(folder, 't1.poster.jpg')]);
  expect(await one.of(ID, async () => undefined)).toBe(found[0]);
  expect(takes).toHaveLength(1);
});

it('leaves no picture of a clip whose removal began meanwhile, while its file is still there', async () => {
  const clip = await clipOf();
  const one = posters([], async (_clip, picture) => {
    await writeFile(picture, 'picture');
    removed.add(ID);
    return true;
  });
  expect(await one.of(ID, async () => clip)).toBeNull();
  await expect(access(join(folder, 't1.poster.jpg'))).rejects.toThrow();
});

it('takes none without ffmpeg, of no clip, and for no id that is a path', async () => {
  const takes: string[] = [];
  expect(await new Posters({ folder, takePicture: null, isRemoved: async () => false }).of(ID, clipOf)).toBeNull();
  expect(await posters(takes).of(ID, async () => undefined)).toBeNull();
  expect(await posters(takes).of('../t1' as TaskId, clipOf)).toBeNull();
  expect(await posters(takes, async () => false).of(ID, clipOf)).toBeNull();
  expect(takes).toEqual([]);
});

it('deletes the oldest pictures beyond the limit', async () => {
  for (let at = 0; at < 5; at += 1) await writeFile(join(folder, `old${at}.poster.jpg`), 'picture');
  const one = posters([], undefined, 3);
  await one.of(ID, clipOf);
  const left = await Promise.all(
    [0, 1, 2, 3, 4].map((at) =>
      access(join(folder, `old${at}.poster.jpg`)).then(
        () => 1,
        () => 0,
      ),
    ),
  );
  expect(left.reduce<number>((sum, one_) => sum + one_, 0)).toBeLessThanOrEqual(3);
});

it('takes a small JPEG by ffmpeg, and none of what is no video', async () => {
  const clip = join(folder, 'real.mp4');
  const source = 'testsrc=size=1280x720:rate=5:duration=1';
  await promisify(execFile)(ffmpeg, ['-f', 'lavfi', '-i', source, '-pix_fmt', 'yuv420p', clip]);
  const take = createTakePicture({ ffmpeg, logger: createLogger('silent') });
  const picture = join(folder, 'real.poster.jpg');
  expect(await take?.(clip, picture)).toBe(true);
  expect((await readFile(picture)).subarray(0, 3).toString('hex')).toBe('ffd8ff');
  expect((await stat(picture)).size).toBeLessThan(40_000);
  expect(await take?.((await clipOf()).path, join(folder, 't1.poster.jpg'))).toBe(false);
});
