import { afterEach, beforeEach, expect, test } from 'vitest';
import { RedisServer } from '../fakes/redis-server.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

let redis: RedisServer;
let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  redis = await RedisServer.start('--maxmemory-policy', 'noeviction');
  upstream = await startVideoService();
  dir = await makeDir();
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await redis.remove();
  await dir.remove();
});

test('with Redis: one create, a clip, and the same message after a kill', async () => {
  const options = { dir: dir.path, upstream, env: { STORE_URL: redis.url } };
  dailies = await startDailies(options);
  const deliveries = Array.from({ length: 20 }, () => dailies.interact('/video create a red fox', { id: 'same' }));
  const [message = '', ...others] = new Set((await Promise.all(deliveries)).map(answered));
  expect(others).toEqual([]);
  await upstream.arrived(2);
  expect((await fetch(`${dailies.url}/board`)).status).toBe(404);
  await dailies.kill();
  dailies = await startDailies({ ...options, env: { ...options.env, BOARD_TOKEN: 'for operators alone' } });
  await dailies.reaches(message, 'completed');
  await expect.poll(async () => (await dailies.message(message)).attachments).toHaveLength(1);
  expect(upstream.posts).toBe(1);
  const board = (headers = {}) => fetch(`${dailies.url}/board/api/queues`, { headers });
  expect((await board()).status).toBe(401);
  const shown = await board({ authorization: 'Bearer for operators alone' });
  expect(await shown.text()).toContain('"deliver.playground"');
});

test('reports a lost Redis in /readyz, creates nothing, and still shuts down cleanly', async () => {
  dailies = await startDailies({ dir: dir.path, upstream, env: { STORE_URL: redis.url } });
  await redis.kill();
  const ready = await fetch(`${dailies.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ missing: { store: expect.any(String) } });
  const { status } = await dailies.interact('/video create a red fox');
  expect(status).toBeGreaterThanOrEqual(500);
  expect(upstream.posts).toBe(0);
  expect(await dailies.stop()).toBe(0);
});
