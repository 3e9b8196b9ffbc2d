import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadImage } from '@napi-rs/canvas';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Posters } from '#src/gallery/posters.ts';
import { createLogger } from '#src/logger.ts';
import { createTakePicture, type TakePicture } from '#src/media/ffmpeg.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { decodePicture } from '#test/fakes/decoded.ts';

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

it('takes the picture of an image beside it, and leaves none once the image is removed meanwhile', async () => {
  const images = join(folder, 'library');
  await mkdir(images);
  const image = { path: join(images, 'relay-1'), bytes: 3, contentType: 'image/png' };
  const path = `${image.path}.jpg`;
  await writeFile(image.path, 'png');
  const takes: string[] = [];
  expect(await posters(takes).of('relay-1', async () => image, { path })).toBe(path);
  await rm(path);
  const slow = posters([], async (from, picture) => {
    await writeFile(picture, 'picture');
    await rm(from);
    return true;
  });
  expect(await slow.of('relay-1', async () => image, { path })).toBeNull();
  expect(await readdir(images)).toEqual([]);
});

it('keeps a strip apart from the picture, in files that go with the clip', async () => {
  const lengths: unknown[] = [];
  const one = posters([], async (_clip, picture, stripSeconds) => {
    lengths.push(stripSeconds);
    await writeFile(picture, 'picture');
    return true;
  });
  await Promise.all([one.of(ID, clipOf), one.of(ID, clipOf, { stripSeconds: 6 })]);
  expect(lengths).toEqual([undefined, 6]);
  expect((await new FolderStorage(folder).list()).get(ID)).toEqual(
    expect.arrayContaining(['t1.mp4', 't1.poster.jpg', 't1.strip.poster.jpg']),
  );
});

it('takes none without ffmpeg, of no clip, and for no id that is a path', async () => {
  const takes: string[] = [];
  expect(await new Posters({ folder, takePicture: null, isRemoved: async () => false }).of(ID, clipOf)).toBeNull();
  expect(await posters(takes).of(ID, async () => undefined)).toBeNull();
  expect(await posters(takes).of('../t1', clipOf)).toBeNull();
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

describe('ffmpeg', () => {
  const made = async (name: string, ...options: readonly string[]) => {
    const path = join(folder, name);
    await promisify(execFile)(ffmpeg, ['-f', 'lavfi', ...options, path]);
    return path;
  };
  const take = createTakePicture({ ffmpeg, logger: createLogger('silent') });

  it('tiles four frames of a clip, from its beginning to its end', async () => {
    // Red, then blue.
    const source = "color=red:size=640x360:rate=10:duration=4,geq=r='if(lt(T,2),255,0)':g=0:b='if(lt(T,2),0,255)'";
    const clip = await made('long.mp4', '-i', source, '-pix_fmt', 'yuv420p');
    const strip = join(folder, 'long.strip.poster.jpg');
    expect(await take?.(clip, strip, 4)).toBe(true);
    const { width, height, pixels } = await decodePicture(strip, 0);
    expect([width, height]).toEqual([1280, 180]);
    const reds = [160, 480, 800, 1120].map((x) => (pixels[(90 * width + x) * 4] ?? 0) > 128);
    expect(reds).toEqual([true, true, false, false]);
    expect((await stat(strip)).size).toBeLessThan(100_000);
  });

  it.each(['png', 'jpg', 'webp', 'gif'])('makes a small JPEG of a large %s without an ending', async (ending) => {
    const image = await made(`large.${ending}`, '-i', 'testsrc=size=2000x1000:duration=1', '-frames:v', '1');
    await rename(image, join(folder, 'relay-1'));
    const picture = join(folder, 'relay-1.poster.jpg');
    expect(await take?.(join(folder, 'relay-1'), picture)).toBe(true);
    const { width, height } = await loadImage(picture);
    expect([width, height]).toEqual([320, 160]);
  });

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
    ['a playlist', 'ffconcat version 1.0\nfile long.mp4\n'],
  ])('takes none of %s', async (_, text) => {
    await made('long.mp4', '-i', 'testsrc=duration=1', '-pix_fmt', 'yuv420p');
    await writeFile(join(folder, 'relay-2'), text);
    expect(await take?.(join(folder, 'relay-2'), join(folder, 'relay-2.poster.jpg'))).toBe(false);
  });
});
