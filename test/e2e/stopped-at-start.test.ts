import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { RedisServer } from '../fakes/redis-server.ts';
import { SilentWay } from '../fakes/silent-way.ts';
import { makeDir, spawnDailies } from './dailies.ts';

// A process that is stopped while it starts, as in a rolling restart that an operator aborts.

let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
});

afterAll(() => redis.remove());

test.each([1, 2, 3, 4, 5, 6])('shuts down cleanly when stopped after Redis connection number %i', async (number) => {
  const dir = await makeDir();
  onTestFinished(dir.remove);
  const way = await SilentWay.start(redis.port);
  onTestFinished(() => way.remove());
  const env = { STORE_URL: `redis://127.0.0.1:${way.port}`, LOG_LEVEL: 'info' };
  const { child, output } = spawnDailies({ dir: dir.path, env });
  const ended = once(child, 'exit');
  await expect.poll(() => way.connections, { interval: 1 }).toBeGreaterThanOrEqual(number);
  way.silence();
  child.kill('SIGTERM');
  await expect.poll(output, { interval: 1 }).toContain('"shutdown_started"');
  way.speak('all');
  expect(await ended).toEqual([0, null]);
  expect(output()).toContain('"stopped"');
  expect(output()).not.toMatch(/could not start|stopping .*:|"level":50/);
});
