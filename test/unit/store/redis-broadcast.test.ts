import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { openRedisStore } from '#src/store/redis.ts';
import type { Store } from '#src/store/store.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';

const cleanUp: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const undo of cleanUp.splice(0).toReversed()) await undo();
});

async function open(url: string): Promise<Store> {
  const store = await openRedisStore(url, { clock: systemClock, logger: pino({ level: 'silent' }) });
  cleanUp.push(() => store.close());
  return store;
}

it('is heard by every process, and after an outage says that something may have been missed', async () => {
  const server = await RedisServer.start();
  cleanUp.push(() => server.remove());
  const [one, other] = [await open(server.url), await open(server.url)];
  const heard: string[] = [];
  const missed = vi.fn();
  other.broadcast.subscribe('news', (text) => heard.push(text), missed);
  await vi.waitFor(() => {
    one.broadcast.publish('news', 'before');
    expect(heard).toContain('before');
  });
  expect(missed).not.toHaveBeenCalled();
  await server.kill();
  await server.restart();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 10_000);
  await vi.waitFor(() => {
    one.broadcast.publish('news', 'after');
    expect(heard).toContain('after');
  }, 10_000);
});
