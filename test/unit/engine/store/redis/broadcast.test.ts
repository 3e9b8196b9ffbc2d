import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { RedisBroadcast } from '#src/engine/store/redis/broadcast.ts';
import type { RedisConnection } from '#src/engine/store/redis/connection.ts';
import type { Store } from '#src/engine/store/store.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';

const said: Record<string, unknown>[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void said.push(JSON.parse(line)) });

function open(url: string): Promise<Store> {
  return openRedis(url, { clock: systemClock, logger });
}

it('reaches every process, and reports possibly missed messages after an outage', async () => {
  const server = await serveRedis();
  const [one, other] = [await open(server.url), await open(server.url)];
  const heard: string[] = [];
  const missed = vi.fn();
  other.broadcast.subscribe('news', (text) => heard.push(text), missed);
  await vi.waitFor(() => {
    one.broadcast.publish('news', 'before');
    expect(heard).toContain('before');
  }, 300_000);
  expect(missed).not.toHaveBeenCalled();
  await server.kill();
  await server.restart();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 300_000);
  await vi.waitFor(() => {
    one.broadcast.publish('news', 'after');
    expect(heard).toContain('after');
  }, 300_000);
});

it('reports missed messages also to a listener that subscribed while Redis was down', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  await server.kill();
  const missed = vi.fn();
  await vi.waitFor(() => expect(store.ping()).rejects.toThrow(), 300_000);
  store.broadcast.subscribe('news', () => undefined, missed);
  await server.restart();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 300_000);
});

it.each([
  ['reports missed messages to who subscribed while Redis was down, although the first attempt connects', false, 1],
  ['reports none to who subscribed while it was up', true, 0],
])('%s', async (_what, isReady, times) => {
  const client = Object.assign(new EventEmitter(), { pSubscribe: vi.fn(async () => undefined) });
  const beside = () => ({ client, call: (_doing: string, run: () => Promise<unknown>) => run() });
  const link = { client: { isReady }, beside } as unknown as RedisConnection;
  const missed = vi.fn();
  new RedisBroadcast(link, logger).subscribe('news', () => undefined, missed);
  client.emit('ready');
  await setImmediate();
  expect(client.pSubscribe).toHaveBeenCalledOnce();
  expect(missed).toHaveBeenCalledTimes(times);
});

it('continues after a listener threw, and logs the error', async () => {
  const { url } = await serveRedis();
  const { broadcast } = await open(url);
  const heard: string[] = [];
  broadcast.subscribe('odd', () => {
    throw new TypeError('not understood');
  });
  broadcast.subscribe('news', (text) => heard.push(text));
  await vi.waitFor(() => {
    broadcast.publish('odd', '?');
    broadcast.publish('news', 'fine');
    expect(heard).toContain('fine');
  }, 300_000);
  expect(said).toContainEqual(expect.objectContaining({ level: 50, topic: 'odd' }));
});
