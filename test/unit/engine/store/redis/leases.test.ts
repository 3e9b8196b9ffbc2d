import { pino } from 'pino';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import type { Store } from '#src/engine/store/store.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';
import type { RedisServer } from '#test/fakes/redis-server.ts';
import { StoreChild } from '#test/fakes/store-child.ts';

let server: RedisServer;
let store: Store;

beforeEach(async () => {
  server = await serveRedis();
  store = await openRedis(server.url, { clock: systemClock, logger: pino({ level: 'silent' }) });
});

async function holder(): Promise<StoreChild> {
  const child = await StoreChild.start(server.url, 'lease');
  onTestFinished(() => child.kill());
  await child.saying(1);
  expect(child.lines).toEqual(['held']);
  return child;
}

it('passes to another process while its holder is stopped for longer than the TTL; the holder detects it', async () => {
  const child = await holder();
  expect(await store.leases.take('turn', 60_000)).toBeNull();
  child.pause();
  await expect.poll(() => store.leases.take('turn', 60_000)).not.toBeNull();
  child.resume();
  await child.saying(2);
  expect(child.lines).toEqual(['held', 'lost']);
  expect(await store.leases.holder('turn')).toBe(store.leases.owner);
});

it('passes to another process when its holder is killed', async () => {
  const child = await holder();
  await child.kill();
  await expect.poll(() => store.leases.take('turn', 60_000)).not.toBeNull();
});

it('survives a restart of Redis that keeps its data', async () => {
  const lease = await store.leases.take('turn', 60_000);
  await server.kill();
  await server.restart();
  await vi.waitFor(async () => expect(await store.leases.take('turn', 60_000)).toBeNull(), 300_000);
  expect(lease?.isHeld()).toBe(true);
});

it('cannot be taken while Redis is down, and stays free for others afterwards', async () => {
  await server.kill();
  await expect(store.leases.take('turn', 60_000)).rejects.toMatchObject({ code: 'store_unavailable' });
  await server.restart();
  await vi.waitFor(async () => expect(await store.leases.take('turn', 60_000)).not.toBeNull(), 300_000);
});
