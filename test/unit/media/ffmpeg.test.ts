import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFfmpegFitter, findFfmpeg } from '#src/media/ffmpeg.ts';
import type { Clip } from '#src/videos/service.ts';

const run = promisify(execFile);
const logger = pino({ level: 'silent' });
const ffmpeg = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-ffmpeg-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** Makes a clip with faint noise, which compresses badly, and a tone. */
async function noisyClip(name: string, { size, seconds }: { size: string; seconds: number }): Promise<Clip> {
  const path = join(directory, name);
  const picture = ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=24:duration=${seconds}`];
  const tone = ['-f', 'lavfi', '-i', `sine=duration=${seconds}`];
  const video = ['-vf', 'noise=alls=10:allf=t', '-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '20'];
  await run(ffmpeg, ['-y', '-loglevel', 'error', ...picture, ...tone, ...video, '-c:a', 'aac', '-f', 'mp4', path]);
  return { path, bytes: (await stat(path)).size, contentType: 'video/mp4' };
}

/** Returns the properties that ffmpeg reports after decoding all of a file. */
async function decoded(path: string): Promise<{ seconds: number; width: number; height: number; frames: number }> {
  const { stderr } = await run(ffmpeg, ['-hide_banner', '-i', path, '-f', 'null', '-']);
  const [, minutes = '', seconds = ''] = /Duration: 00:(\d+):([\d.]+)/.exec(stderr) ?? [];
  const [, width, height] = /Video: h264.*? (\d{2,5})x(\d{2,5})/.exec(stderr) ?? [];
  const frames = [...stderr.matchAll(/frame= *(\d+)/g)].at(-1)?.[1];
  expect(stderr).toContain('Audio: aac');
  return {
    seconds: Number(minutes) * 60 + Number(seconds),
    width: Number(width),
    height: Number(height),
    frames: Number(frames),
  };
}

describe('finding ffmpeg', () => {
  it('uses the configured program, or none', async () => {
    expect(await findFfmpeg(ffmpeg, '')).toBe(ffmpeg);
    expect(await findFfmpeg(join(directory, 'none'), join(ffmpeg, '..'))).toBeNull();
    expect(await findFfmpeg(directory, '')).toBeNull();
  });

  it('uses the first executable on the search path', async () => {
    const [empty, dead, alive] = await Promise.all(['a', 'b', 'c'].map((name) => mkdtemp(join(directory, name))));
    await writeFile(join(`${dead}`, 'ffmpeg'), 'not to be run');
    await chmod(join(`${dead}`, 'ffmpeg'), 0o644);
    await copyFile('/bin/true', join(`${alive}`, 'ffmpeg'));
    const path = [empty, dead, alive, join(ffmpeg, '..')].join(delimiter);
    expect(await findFfmpeg(undefined, path)).toBe(join(`${alive}`, 'ffmpeg'));
    expect(await findFfmpeg(undefined, '')).toBeNull();
  });
});

describe('fitting a clip', () => {
  const fitter = createFfmpegFitter({ ffmpeg, logger });

  it('makes a copy below the limit with the same duration and aspect ratio, and keeps the original', async () => {
    const clip = await noisyClip('wide.mp4', { size: '960x540', seconds: 1 });
    const limitBytes = 100_000;
    expect(clip.bytes).toBeGreaterThan(limitBytes * 2);
    const copy = await fitter.fit(clip, 1, limitBytes);
    expect(copy).toMatchObject({ contentType: 'video/mp4', bytes: (await stat(`${copy?.path}`)).size });
    expect(copy?.bytes).toBeLessThanOrEqual(limitBytes);
    const { seconds, width, height, frames } = await decoded(`${copy?.path}`);
    expect(seconds).toBeCloseTo(1, 0);
    expect(frames).toBe(24);
    expect(width / height).toBeCloseTo(16 / 9, 1);
    expect(height).toBe(480);
    expect((await stat(clip.path)).size).toBe(clip.bytes);
  });

  it('reuses a cached copy, and makes another one for another limit', async () => {
    const clip = await noisyClip('again.mp4', { size: '320x240', seconds: 1 });
    const copy = await fitter.fit(clip, 1, 60_000);
    const madeAt = (await stat(`${copy?.path}`)).mtimeMs;
    const without = createFfmpegFitter({ ffmpeg: '/bin/false', logger });
    expect(await without.fit(clip, 1, 60_000)).toEqual(copy);
    expect((await stat(`${copy?.path}`)).mtimeMs).toBe(madeAt);
    expect((await fitter.fit(clip, 1, 50_000))?.path).not.toBe(copy?.path);
  });

  it.each([
    ['tall', '240x426', 240],
    ['square', '240x240', 240],
    ['of odd sizes', '241x427', 240],
  ])('fits a clip that is %s', async (name, size, width) => {
    const clip = await noisyClip(`${name}.mp4`, { size, seconds: 1 });
    const copy = await fitter.fit(clip, 1, 60_000);
    expect(copy?.bytes).toBeLessThanOrEqual(60_000);
    const picture = await decoded(`${copy?.path}`);
    expect(picture).toMatchObject({ width, frames: 24 });
    expect(picture.height % 2).toBe(0);
  });

  it('makes no copy without ffmpeg, or if the limit is too small for the duration', async () => {
    const clip = await noisyClip('small.mp4', { size: '160x120', seconds: 1 });
    expect(await createFfmpegFitter({ ffmpeg: null, logger }).fit(clip, 1, 60_000)).toBeNull();
    expect(await fitter.fit(clip, 60, 60_000)).toBeNull();
    expect((await readdir(directory)).filter((name) => name.startsWith('small.'))).toEqual(['small.mp4']);
  });

  it('makes no copy of a file that isn’t a video, and leaves nothing behind', async () => {
    const path = join(directory, 'broken.mp4');
    await writeFile(path, 'not a video');
    const clip = { path, bytes: 100_000, contentType: 'video/mp4' };
    expect(await fitter.fit(clip, 1, 60_000)).toBeNull();
    expect((await readdir(directory)).filter((name) => name.startsWith('broken'))).toEqual(['broken.mp4']);
  });

  it.each<[string, (other: string) => string]>([
    ['a playlist', (other) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${other}\n#EXT-X-ENDLIST\n`],
    ['a list of files', (other) => `ffconcat version 1.0\nfile ${other}\n`],
  ])('reads no other file that is named in %s', async (name, manifestOf) => {
    const secret = await noisyClip('secret.mp4', { size: '160x120', seconds: 1 });
    const path = join(directory, `${name.replaceAll(' ', '-')}.mp4`);
    await writeFile(path, manifestOf(basename(secret.path)));
    expect(await fitter.fit({ path, bytes: 100_000, contentType: 'video/mp4' }, 1, 60_000)).toBeNull();
  });

  it('runs ffmpeg under limits: formats, threads, allocations, memory', async () => {
    const clip = await noisyClip('limits.mp4', { size: '160x120', seconds: 1 });
    const telling = join(directory, 'limited-ffmpeg');
    const told = join(directory, 'limits');
    await writeFile(telling, `#!/bin/sh\nfor to; do :; done\n{ ulimit -v; echo "$@"; } > ${told}\nprintf x > "$to"\n`);
    await chmod(telling, 0o755);
    await createFfmpegFitter({ ffmpeg: telling, logger }).fit(clip, 1, 60_000);
    const [memoryKib, command = ''] = (await readFile(told, 'utf8')).split('\n');
    expect(Number(memoryKib)).toBe(3 * 1024 ** 2);
    const beforeInput = command.slice(0, command.indexOf(' -i '));
    for (const guard of ['-protocol_whitelist file', '-format_whitelist mov,', '-max_alloc', '-threads 2']) {
      expect(beforeInput).toContain(guard);
    }
  });

  it('uses a partial file of its own, shared with no other process, alive or dead', async () => {
    const clip = await noisyClip('shared.mp4', { size: '320x240', seconds: 1 });
    // Records the file that it has to write.
    const telling = join(directory, 'telling-ffmpeg');
    const told = join(directory, 'told');
    await writeFile(telling, `#!/bin/sh\nfor to; do :; done\necho "$to" >> ${told}\nprintf '%s' "$to" > "$to"\n`);
    await chmod(telling, 0o755);
    const fitters = [1, 2].map(() => createFfmpegFitter({ ffmpeg: telling, logger }));
    await Promise.all(fitters.map((each) => each.fit(clip, 1, 60_000)));
    expect(new Set((await readFile(told, 'utf8')).trim().split('\n')).size).toBe(2);
  });

  it('does not cache a copy that does not fit', async () => {
    const clip = await noisyClip('over.mp4', { size: '160x120', seconds: 1 });
    const greedy = join(directory, 'greedy-ffmpeg');
    await writeFile(greedy, `#!/bin/sh\nfor to; do :; done\ncp ${clip.path} "$to"\n`);
    await chmod(greedy, 0o755);
    expect(await createFfmpegFitter({ ffmpeg: greedy, logger }).fit(clip, 1, clip.bytes - 1)).toBeNull();
    expect((await readdir(directory)).filter((name) => name.startsWith('over.'))).toEqual(['over.mp4']);
  });
});
