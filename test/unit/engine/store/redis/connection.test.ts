import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { RedisConnection } from '#src/engine/store/redis/connection.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { serveRedis } from '#test/fakes/redis-house.ts';
import { SilentWay } from '#test/fakes/silent-way.ts';

/** Two connections to a Redis that is a replica, the second of which reported it right after both had left it. */
async function leftTwice() {
  const server = await serveRedis();
  const address = await SilentWay.start(server.port);
  onTestFinished(() => address.remove());
  const clock = new ManualClock();
  const url = `redis://127.0.0.1:${address.port}`;
  const one = await RedisConnection.open(url, { clock, logger: pino({ level: 'silent' }) });
  const other = one.beside();
  onTestFinished(async () => void (await Promise.all([one.close(), other.close()])));
  await other.connected;
  const write = (link: RedisConnection) =>
    link.call('writing', () => link.client.set('a', 'b')).catch((thrown: unknown) => String(thrown));
  const areReady = () => one.client.isReady && other.client.isReady;
  expect(await write(one)).toBe('OK');
  const before = address.connections;

  await server.command('REPLICAOF', '127.0.0.1', '1');
  expect(await write(one)).toContain('this Redis is a replica');
  await expect.poll(() => [address.connections - before, areReady()]).toEqual([2, true]);
  // Within the interval between two departures.
  expect(await write(other)).toContain('this Redis is a replica');
  expect(address.connections - before).toBe(2);
  const connections = () => address.connections - before;
  return { server, clock, writeAll: () => Promise.all([write(one), write(other)]), connections, areReady };
}

it('leaves a replica once more where the last departure led a connection to it again', async () => {
  const { clock, connections, areReady } = await leftTwice();
  clock.advance(1_000);
  await expect.poll(() => [connections(), areReady()]).toEqual([4, true]);
});

it('stays at a Redis that takes writes again meanwhile', async () => {
  const { server, clock, writeAll, connections } = await leftTwice();
  await server.command('REPLICAOF', 'NO', 'ONE');
  clock.advance(1_000);
  // Answered after the question for the role.
  expect(await writeAll()).toEqual(['OK', 'OK']);
  expect(connections()).toBe(2);
});
