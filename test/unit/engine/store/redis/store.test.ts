import KeyvRedis, { Keyv } from '@keyv/redis';
import { pino } from 'pino';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { openRedisStore } from '#src/engine/store/redis/store.ts';
import type { Change, Store } from '#src/engine/store/store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';
import { StoreChild } from '#test/fakes/store-child.ts';

const CLAIM: Change = {
  records: [{ namespace: 'tasks', key: 'a', value: { revision: 1, prompt: ':)' }, expected: 'absent' }],
  index: [{ index: 'open', member: 'a', score: 1 }],
};
const UNAVAILABLE = { code: 'store_unavailable', retryable: true };

const clock = new ManualClock();
const said: string[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void said.push(line) });

afterEach(() => {
  said.length = 0;
});

function open(url: string): Promise<Store> {
  return openRedis(url, { clock, logger });
}

it('lets exactly one of two processes claim each of 1,000 keys', async () => {
  const server = await serveRedis();
  const children = await Promise.all([StoreChild.start(server.url, 'claim'), StoreChild.start(server.url, 'claim')]);
  const ends = children.map((child) => child.ended());
  for (const child of children) child.begin();
  await Promise.all(ends);
  const won = children.flatMap(({ lines }) => lines);
  expect(won).toHaveLength(1000);
  expect(new Set(won).size).toBe(1000);
});

it('writes records that any Keyv on @keyv/redis can read', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  await store.commit(CLAIM);
  const adapter = new KeyvRedis(server.url);
  const stranger = new Keyv(adapter, { namespace: 'dailies:tasks', useKeyPrefix: false });
  onTestFinished(() => stranger.disconnect());
  expect(await stranger.get('a')).toEqual({ revision: 1, prompt: ':)' });
});

it('rejects at once while Redis is down, writes nothing later, and reconnects', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  await server.kill();
  await vi.waitFor(() => expect(said.join('')).toContain('redis_unreachable'), 300_000);
  await expect(store.commit(CLAIM)).rejects.toMatchObject(UNAVAILABLE);
  await expect(store.keyv('tasks').set('a', 1)).rejects.toMatchObject(UNAVAILABLE);
  await expect(store.keyv('tasks').get('a')).rejects.toMatchObject(UNAVAILABLE);
  await expect(store.ping()).rejects.toMatchObject(UNAVAILABLE);
  await server.restart();
  await vi.waitFor(() => store.ping(), 300_000);
  expect(await store.keyv('tasks').get('a')).toBeUndefined();
  expect(await store.commit(CLAIM)).toBe(true);
  expect(said.filter((line) => line.includes('redis_unreachable'))).toHaveLength(1);
  expect(said.join('')).toContain('redis_reconnected');
});

it('times out on a Redis that does not respond, and reconnects', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  server.pause();
  const calls = [store.commit(CLAIM), store.keyv('tasks').get('b'), store.scan('open'), store.ping()];
  const outcomes = Promise.allSettled(calls);
  clock.advance(5_000);
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
  expect(await calls[0]?.catch(String)).toContain('no answer within 5000 ms');
  await expect(store.ping()).rejects.toMatchObject(UNAVAILABLE);
  server.resume();
  await vi.waitFor(() => store.ping(), 300_000);
  expect(await store.commit({ records: [{ namespace: 'tasks', key: 'c', value: {}, expected: 'absent' }] })).toBe(true);
});

it('can be closed while Redis does not respond', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  server.pause();
  const call = store.ping().catch((thrown: unknown) => thrown);
  const closing = store.close();
  clock.advance(5_000);
  await closing;
  expect(await call).toMatchObject(UNAVAILABLE);
  server.resume();
});

it('commits after Redis flushed its script cache', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  await server.command('SCRIPT', 'FLUSH');
  expect(await store.commit(CLAIM)).toBe(true);
  await server.command('SCRIPT', 'FLUSH');
  expect(await store.commit(CLAIM)).toBe(false);
});

it('fails to open on an unreachable Redis', async () => {
  const server = await serveRedis();
  await server.kill();
  const opening = openRedisStore(server.url, { clock, logger });
  const failed = expect(opening).rejects.toMatchObject(UNAVAILABLE);
  await vi.waitFor(() => expect(said).not.toEqual([]), 300_000);
  clock.advance(5_000);
  await failed;
});

it('reports a rejected password without printing it', async () => {
  const server = await serveRedis('--requirepass', 'right-s3cret');
  const opening = openRedisStore(`redis://user:wrong-s3cret@127.0.0.1:${server.port}`, { clock, logger });
  const failure = opening.catch((thrown: unknown) => thrown);
  await vi.waitFor(() => expect(said).not.toEqual([]), 300_000);
  clock.advance(5_000);
  expect(await failure).toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining('WRONGPASS') });
  logger.error({ err: await failure }, 'as main would log it');
  expect(said.join('')).not.toContain('s3cret');
  const store = await open(`redis://:right-s3cret@127.0.0.1:${server.port}`);
  expect(await store.commit(CLAIM)).toBe(true);
});
