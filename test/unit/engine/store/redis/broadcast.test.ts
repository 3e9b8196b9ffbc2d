import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
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
  }, 60_000);
  expect(missed).not.toHaveBeenCalled();
  await server.kill();
  await server.restart();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 60_000);
  await vi.waitFor(() => {
    one.broadcast.publish('news', 'after');
    expect(heard).toContain('after');
  }, 60_000);
});

it('reports missed messages also to a listener that subscribed while Redis was down', async () => {
  const server = await serveRedis();
  const store = await open(server.url);
  await server.kill();
  const missed = vi.fn();
  await vi.waitFor(() => expect(store.ping()).rejects.toThrow(), 60_000);
  store.broadcast.subscribe('news', () => undefined, missed);
  await server.restart();
  await vi.waitFor(() => expect(missed).toHaveBeenCalled(), 60_000);
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
  }, 60_000);
  expect(said).toContainEqual(expect.objectContaining({ level: 50, topic: 'odd' }));
});
