import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ClipLinks, createClipLinks, LINK_LIFETIME_MS, SignedLinks } from '#src/media/clip-links.ts';
import type { Relay } from '#src/media/relay.ts';
import { createFileFinder } from '#src/media/routes.ts';
import type { ClipStorage, LinkedFile } from '#src/storage/clip-storage.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { newTask } from '#test/fakes/tasks.ts';

const clip = { path: '/clips/task.mp4', bytes: 4, contentType: 'video/webm' };
const task = newTask({ state: 'completed', clip });
const set = { id: 'blind' as TaskId, kind: 'comparison', at: 1, of: 2 } as const;
const blind = newTask({ id: 'blind' as TaskId, state: 'completed', clip, set });
const clock = new ManualClock();
const own = new SignedLinks({ publicUrl: 'https://bot.example', secret: 'a secret of this test', clock });

/** State of the bucket. */
let isStored: boolean;
let longestMs: number;
let isAway: boolean;
let linked: LinkedFile[];

beforeEach(() => {
  [isStored, longestMs, isAway, linked] = [true, Number.POSITIVE_INFINITY, false, []];
});

function linksOf(origin: string | null, links: SignedLinks | null, hasFfmpeg = true): ClipLinks {
  const storage: Pick<ClipStorage, 'origin' | 'link' | 'isLinked'> = {
    origin,
    isLinked: async () => isStored,
    async link(_id, file, lifetimeMs) {
      if (origin === null) return null;
      if (isAway) throw new TypeError('no credentials');
      linked.push(file);
      return { url: `${origin}/task.mp4`, expiresAtMs: clock.now() + Math.min(lifetimeMs, longestMs) };
    },
  };
  const tasks = [task, blind, removed];
  const repository = { get: async (id: string) => tasks.find((one) => one.id === id) };
  return createClipLinks({
    storage: storage as ClipStorage,
    links,
    repository,
    relay: { links: fileLinks(clock, own) },
    ffmpeg: hasFfmpeg ? '/usr/bin/ffmpeg' : null,
    logger: pino({ level: 'silent' }),
  });
}

const BUCKET = 'https://bucket.example';
const forClip = async (links: ClipLinks) => new URL((await links.forClip(task))?.url ?? 'none:').host;

it('lead to the bot where clips are in a folder, and nowhere without PUBLIC_URL', async () => {
  expect(await forClip(linksOf(null, own))).toBe('bot.example');
  expect(await linksOf(null, null).forClip(task)).toBeNull();
  expect(await linksOf(null, own).redirectFor(task.id)).toBeNull();
});

it('lead to the bot or nowhere for a clip of a blind comparison, since a bucket tells when it was stored', async () => {
  const links = linksOf(BUCKET, own);
  expect(new URL((await links.forClip(blind))?.url ?? 'none:').host).toBe('bot.example');
  expect(await links.redirectFor(blind.id)).toBeNull();
  expect(await linksOf(BUCKET, null).forClip(blind)).toBeNull();
});

it('lead straight to the bucket, for a week, also without PUBLIC_URL', async () => {
  for (const links of [own, null]) {
    const link = await linksOf(BUCKET, links).forClip(task);
    expect(link?.url).toBe(`${BUCKET}/task.mp4`);
    expect((link?.expiresAtMs ?? 0) - clock.now()).toBe(LINK_LIFETIME_MS);
  }
});

it('lead to the bot while the bucket does not have a clip, if they can', async () => {
  isStored = false;
  expect(await forClip(linksOf(BUCKET, own))).toBe('bot.example');
  expect(await forClip(linksOf(BUCKET, null))).toBe('bucket.example');
  expect(await linksOf(BUCKET, own).redirectFor(task.id)).toBeNull();
});

it('lead to the bot where the credentials end before a week', async () => {
  longestMs = 3_600_000;
  expect(await forClip(linksOf(BUCKET, own))).toBe('bot.example');
  expect(await linksOf(BUCKET, own).redirectFor(task.id)).toBe(`${BUCKET}/task.mp4`);
});

it('lead to the bot where no link can be signed', async () => {
  isAway = true;
  expect(await forClip(linksOf(BUCKET, own))).toBe('bot.example');
  expect(await linksOf(BUCKET, null).forClip(task)).toBeNull();
  expect(await linksOf(BUCKET, own).redirectFor(task.id)).toBeNull();
});

it('name the file and its type', async () => {
  const links = linksOf(BUCKET, null);
  await links.redirectFor(task.id, true);
  expect(linked).toEqual([{ name: expect.stringMatching(/\.mp4$/), contentType: 'video/webm', isDownload: true }]);
  expect(await links.redirectFor('other' as typeof task.id)).toBeNull();
});

const removed = { ...task, id: 'removed', removal: { atMs: 1 } } as unknown as typeof task;

describe('a link to a picture', () => {
  it('is signed for the picture alone, for an hour, and without PUBLIC_URL there is none', () => {
    const poster = linksOf(null, own).forPoster(task);
    expect(poster?.id).toBe(task.id);
    const { searchParams: of } = new URL(poster?.url ?? 'none:');
    const [expires, signature] = [of.get('expires') ?? '', of.get('signature') ?? ''];
    expect(own.verify(`${task.id}.jpg`, expires, signature)).toBe('valid');
    expect(own.verify(task.id, expires, signature)).toBe('forged');
    expect(Number(expires) * 1_000 - clock.now()).toBeLessThanOrEqual(3_600_000);
    expect(linksOf(BUCKET, null).forPoster(task)).toEqual({ id: task.id, url: null });
    expect(linksOf(BUCKET, null).forPoster(task, true)).toEqual({ id: `${task.id}.strip`, url: null });
    expect(linksOf(null, own, false).forPoster(task)).toBeNull();
  });

  it('is not given before the reveal of a comparison, without a clip, or once that is removed', () => {
    const of = [blind, newTask({ state: 'failed' }), removed];
    const given = of.flatMap((one) => [linksOf(null, own).forPoster(one), linksOf(null, own).forPoster(one, true)]);
    expect(given).toEqual(Array.from(given, () => null));
  });

  it('of an image is given for a file of the bot’s own alone, and for no forged address', () => {
    const links = linksOf(null, own);
    const { url } = own.sign('relay-1a');
    const found = links.forImage(url);
    expect(found).toEqual({ id: 'relay-1a', url: own.sign('relay-1a.jpg', 3_600_000).url });
    const others = [url.replace('relay-1a', 'relay-2b'), `${url}x`, 'https://a.test/mug.png', own.sign(task.id).url];
    expect(others.map((one) => links.forImage(one))).toEqual(Array.from(others, () => null));
    expect(linksOf(null, own, false).forImage(url)).toBeNull();
  });

  it('leads to nothing once the right to see it has ended, or without a picture', async () => {
    let current: Task | undefined = task;
    let taken: string | null = import.meta.filename;
    const find = createFileFinder({
      relay: {} as Relay,
      repository: { get: async () => current },
      clips: { find: async () => undefined },
      findCut: async () => undefined,
      posterOf: async () => taken,
      logger: pino({ level: 'silent' }),
    });
    const ids = [`${task.id}.jpg`, `${task.id}.strip.jpg`];
    const [id = ''] = ids;
    for (const one of ids)
      expect(await find(one)).toMatchObject({ path: import.meta.filename, contentType: 'image/jpeg' });
    for (const one of [blind, removed, undefined]) {
      current = one;
      expect(await Promise.all(ids.map(find))).toEqual([undefined, undefined]);
    }
    [current, taken] = [task, null];
    expect(await find(id)).toBeUndefined();
  });
});

describe('the picture of a request', () => {
  const requested = (changes: Partial<Task> = {}, ...image: readonly string[]): Task => {
    const { request } = newTask();
    return newTask({ id: 'asked' as TaskId, request: { ...request, media: { ...request.media, image } }, ...changes });
  };
  const retry = { retryOf: task.id };
  const of = (one: Task) => linksOf(null, own).forRequest(one);
  const relayed = own.sign('relay-1a').url;

  it('is that of the first image of the bot’s own, else of the clip that it repeats', async () => {
    const image = { id: 'relay-1a', url: own.sign('relay-1a.jpg').url };
    expect(await of(requested({}, 'https://a.test/mug.png', relayed))).toEqual(image);
    expect(await of(requested(retry, relayed))).toEqual(image);
    expect(await of(requested(retry))).toEqual({ id: task.id, url: own.sign(`${task.id}.jpg`).url });
    expect(await of(requested({}, 'https://a.test/mug.png'))).toBeNull();
  });

  it('is that of its own clip once there is one', async () => {
    expect(await of({ ...task, ...retry })).toMatchObject({ id: task.id });
  });

  it('is none of a blind comparison, a removed task, or without ffmpeg', async () => {
    expect(await of(requested({ set }, relayed))).toBeNull();
    expect(await of({ ...requested({}, relayed), removal: removed.removal } as Task)).toBeNull();
    expect(await linksOf(null, own, false).forRequest(requested(retry, relayed))).toBeNull();
  });

  it('is none of a repeated clip that is blind, removed, gone, or of another channel', async () => {
    for (const retryOf of [blind.id, removed.id, 'none' as TaskId]) expect(await of(requested({ retryOf }))).toBeNull();
    expect(await of(requested({ ...retry, origin: { ...task.origin, channel: 'elsewhere' } }))).toBeNull();
  });
});
