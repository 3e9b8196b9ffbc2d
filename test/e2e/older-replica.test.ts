import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '#src/store/open.ts';
import { toChange } from '#src/tasks/indexes.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { EVENTS, lived, newTask, originOf } from '../fakes/tasks.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { type Answer, administer, answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

// A replica of revision 72ef3f3 or 00cf06b, which knows no budgets, by the one lease that it holds and renews while it
// lives: see `createMembership` in its src/tasks/membership.ts, and `createRedisLeases` in its src/store/redis-leases.ts.
const OLDER = 'e2a9a2f4-3a0c-4a55-9b0d-8f3f6c8f5a11';
const LEASE = `dailies:lease:replica:${OLDER}`;
const SENTENCE =
  'An older version of me is still running beside this one and would not keep to budgets or policies, so nothing was ordered or changed. ' +
  'Try again once the update is complete.';

let redis: RedisServer;
let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  redis = await RedisServer.start();
  upstream = await startVideoService({ pollsUntilDone: 1 });
  dir = await makeDir();
  // Longer than the test lasts: nobody renews it.
  await redis.command('SET', LEASE, `${OLDER} 1`, 'NX', 'PX', '900000');
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await redis.remove();
  await dir.remove();
});

const start = (env: Readonly<Record<string, string>> = {}) =>
  startDailies({ dir: dir.path, upstream, env: { STORE_URL: redis.url, ...env } });
const order = (id: string) => dailies.interact('/video create a fox --seconds 4', { id });
/** Removes its lease, as it does when it is stopped; after a kill, Redis does. */
const stopOlder = () => redis.command('DEL', LEASE);

function expectRefused({ status, body }: Answer): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body.error).toBe(SENTENCE);
}

test('beside an older replica, nothing is ordered under the budget of the environment until it is gone', async () => {
  dailies = await start({ BUDGET_PER_MONTH: '10 USD' });
  for (const id of ['first', 'second', 'first']) expectRefused(await order(id));
  expect((await dailies.messages()).filter(({ task }) => task !== null)).toEqual([]);
  expect(upstream.posts).toBe(0);
  await stopOlder();
  await expect.poll(async () => (await order('first')).status).toBe(202);
  await dailies.reaches(answered(await order('first')), 'completed');
  expect(upstream.posts).toBe(1);
});

test('what was spent before the update counts from the first order on', async () => {
  await stopOlder();
  const store = await openStore(redis.url, { logger: pino({ level: 'silent' }) });
  const id = 'before' as TaskId;
  const created = {
    id,
    origin: originOf({ interaction: id }),
    createdAtMs: Date.now(),
    price: { amount: '0.2', currency: 'USD' },
  };
  const { send, accepted, completed, fetched } = EVENTS;
  // As an older version wrote it: without money, and uncounted.
  const task = { ...lived(newTask(created), send, accepted, completed, fetched), presented: true };
  await store.commit(toChange(null, task));
  await store.close();
  dailies = await start({ BUDGET_PER_MONTH: '0.30 USD', LOG_LEVEL: 'info' });
  const isCounted = (): boolean => dailies.output().includes('"tasks_counted"');
  const early = await order('early');
  expect(early.status).toBeGreaterThanOrEqual(400);
  if (!isCounted()) expect(early.body.error).toContain('still adding up what was spent before my last update');
  await expect.poll(async () => (await order('late')).body.error).toContain('budget of this installation is used up');
  expect(isCounted()).toBe(true);
  expect(upstream.posts).toBe(0);
});

test('beside an older replica, no budget is set; without one, orders are taken', async () => {
  dailies = await start();
  await dailies.reaches(answered(await order('first')), 'completed');
  expectRefused(await dailies.interact('/video budget team 0.30 USD', { user: 'operator' }));
  expect(await administer(dailies, '/video budget')).not.toContain('$0.30');
  await dailies.reaches(answered(await order('second')), 'completed');
  await stopOlder();
  expect(await administer(dailies, '/video budget team 0.30 USD')).toContain('is now $0.30');
  // What was ordered beside the older one counts.
  await expect.poll(async () => (await order('third')).body.error).toContain('is over by $0.10');
  expect(upstream.posts).toBe(2);
});
