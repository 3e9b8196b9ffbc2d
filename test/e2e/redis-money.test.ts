import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { SumParts } from '#src/engine/store/store.ts';
import { REDIS_OUTAGES } from '../fakes/redis-house.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import {
  administer,
  answered,
  buttonOf,
  makeDir,
  noticeBelow,
  type RunningDailies,
  runCommand,
  type ShownMessage,
  startDailies,
} from './dailies.ts';

// A budget and a request for approval, on a Redis that is full, read-only, or comes back older than it was.

const TIMEOUT = { timeout: 600_000 };
const TEAM = 'team:playground:playground';
const AWAY = 'I can’t reach my database right now';

let redis: RedisServer;
let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;
/** Cleo's request for $0.40, and its notice to Ben. */
let request: string;
let notice: ShownMessage;

beforeEach(async () => {
  redis = await RedisServer.start();
  upstream = await startVideoService({ pollsUntilDone: 1 });
  dir = await makeDir();
  dailies = await start();
  await administer(dailies, '/video budget team 10 USD');
  await administer(dailies, '/video settings --approve_above 0.20');
  await administer(dailies, '/video approvers add @ben');
  request = answered(await dailies.interact('/video create a red fox --seconds 8', { user: 'cleo' }));
  await dailies.reaches(request, 'requested');
  notice = await noticeBelow(dailies, request);
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await redis.remove();
  await dir.remove();
});

const start = () => startDailies({ dir: dir.path, upstream, env: { STORE_URL: redis.url } });

/** Orders a clip for $0.20, which needs no approval. */
const order = (id: string) => dailies.interact('/video create a wolf --seconds 4', { id });
const approve = (id: string) => dailies.press(notice.id, buttonOf(notice, 'approve'), { id, user: 'ben' });
const isReady = async (): Promise<boolean> => (await fetch(`${dailies.url}/readyz`)).ok;
const checkBooks = () => runCommand('money/books/main.ts', { dir: dir.path, env: { STORE_URL: redis.url } });

/** Returns what counts of the team's budget, in millionths of a dollar. */
async function teamSum(): Promise<Omit<SumParts, 'extra'>> {
  const store = await openStore(redis.url, { logger: pino({ level: 'silent' }) });
  const sums = (await Array.fromAsync(store.contents.sums())).flat();
  await store.close();
  const parts = sums.filter(({ sum }) => sum.startsWith(TEAM)).map((each) => each.parts);
  expect(parts.length).toBeLessThanOrEqual(1);
  const { held = 0n, settled = 0n, doubted = 0n } = parts[0] ?? {};
  return { held, settled, doubted };
}

/** Expects that an order and an approval fail with a sentence, and that the request waits as before. */
async function expectNothingBought(): Promise<void> {
  const [ordered, approved] = [await order('wolf'), await approve('approval')];
  for (const { status, body } of [ordered, approved]) {
    expect(status).toBeGreaterThanOrEqual(500);
    expect(body.error).toContain(AWAY);
  }
}

/** Expects that the same press and the same order work, and are bought once each. */
async function expectBoughtOnce(): Promise<void> {
  expect((await dailies.message(request)).state).toBe('requested');
  expect((await dailies.message(notice.id)).buttons).toEqual(notice.buttons);
  expect(await teamSum()).toEqual({ held: 0n, settled: 0n, doubted: 0n });
  expect(upstream.posts).toBe(0);
  answered(await approve('approval'));
  const wolf = answered(await order('wolf'));
  expect((await dailies.reaches(request, 'completed')).text).toContain('Approved by ben.');
  await dailies.reaches(wolf, 'completed');
  await Promise.all([approve('approval'), order('wolf')]);
  expect(await teamSum()).toEqual({ held: 0n, settled: 600_000n, doubted: 0n });
  expect(upstream.posts).toBe(2);
  expect(await checkBooks()).toMatchObject({ code: 0, said: expect.stringContaining('The books are right.') });
}

test.each(REDIS_OUTAGES)(
  'on a Redis that is $what nothing is ordered or approved; the same press works afterwards',
  async ({ begin, end }) => {
    await redis.command(...begin);
    await expectNothingBought();
    // What can be read is shown as before, once the bot has looked whether its Redis is another one by now.
    await expect.poll(async () => (await dailies.message(request)).state, TIMEOUT).toBe('requested');
    await redis.command(...end);
    await expect.poll(isReady, TIMEOUT).toBe(true);
    await expectBoughtOnce();
  },
);

/** Copies the data of Redis, as `docs/operations.md` says. */
const backUp = () => cp(join(redis.directory, 'appendonlydir'), join(dir.path, 'backup'), { recursive: true });

/** Restores the copy; `meanwhile` runs while Redis is away. */
async function restore(meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
  await redis.kill();
  await meanwhile();
  await rm(join(redis.directory, 'appendonlydir'), { recursive: true });
  await cp(join(dir.path, 'backup'), join(redis.directory, 'appendonlydir'), { recursive: true });
  await redis.restart();
}

test('a Redis that comes back older: nothing is ordered meanwhile, and nothing is bought a second time', async () => {
  await backUp();
  answered(await approve('approval'));
  const wolf = answered(await order('wolf'));
  for (const message of [request, wolf]) await dailies.reaches(message, 'completed');
  expect(await teamSum()).toEqual({ held: 0n, settled: 600_000n, doubted: 0n });
  await restore(async () => {
    const [ordered, approved] = [await order('another'), await approve('another approval')];
    for (const { status } of [ordered, approved]) expect(status).toBeGreaterThanOrEqual(500);
  });
  await expect.poll(isReady, TIMEOUT).toBe(true);
  // Sums, limits and tasks are older together.
  expect((await dailies.message(request)).state).toBe('requested');
  expect(await teamSum()).toEqual({ held: 0n, settled: 0n, doubted: 0n });
  expect(await administer(dailies, '/video usage')).toContain('of $10.00');
  expect(await checkBooks()).toMatchObject({ code: 0, said: expect.stringContaining('The books are right.') });
  // The process remembers its creates.
  answered(await approve('approval'));
  expect(answered(await order('wolf'))).toBe(wolf);
  for (const message of [request, wolf]) await dailies.reaches(message, 'completed');
  await expect.poll(teamSum, TIMEOUT).toEqual({ held: 0n, settled: 600_000n, doubted: 0n });
  expect(upstream.posts).toBe(2);
});

test('after half a restore, the check of the books names the sums that are wrong, and corrects none', async () => {
  await dailies.reaches(answered(await order('first')), 'completed');
  const sums = (await redis.command('KEYS', 'dailies:sum:*')) as readonly string[];
  const older = await Promise.all(sums.map(async (key) => [key, await redis.command('HGET', key, 'settled')] as const));
  answered(await approve('approval'));
  await dailies.reaches(request, 'completed');
  await dailies.stop();
  expect(await checkBooks()).toMatchObject({ code: 0 });
  for (const [key, settled] of older) await redis.command('HSET', key, 'settled', String(settled));

  const { code, said } = await checkBooks();
  expect(code).toBe(1);
  expect(said).toMatch(/^2 tasks, \d sums\.$/m);
  expect(said).toMatch(/^team:playground:playground:\d{4}-\d\d:USD +settled +0\.2 +0\.6$/m);
  expect(said).toContain('The books disagree.');
  dailies = await start();
  await dailies.reaches(answered(await order('second')), 'completed');
  expect(await teamSum()).toEqual({ held: 0n, settled: 400_000n, doubted: 0n });
  expect((await checkBooks()).said).toMatch(/^team:playground:playground:\d{4}-\d\d:USD +settled +0\.4 +0\.8$/m);
});
