import { tmpdir } from 'node:os';
import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import type { Platform } from '#src/chat/platform.ts';
import { DATA_KINDS, type DataBytes } from '#src/clips/data-space.ts';
import type { Store } from '#src/engine/store/store.ts';
import { addTaskGauges } from '#src/metrics/task-gauges.ts';
import { FakePlatform } from '../../fakes/platform.ts';
import { samples } from '../../fakes/samples.ts';
import { TaskHouse } from '../../fakes/task-house.ts';
import { EVENTS } from '../../fakes/tasks.ts';
import { errorOf } from '../../fakes/videos.ts';

const MINUTE_MS = 60_000;
const NO_FILES = Object.fromEntries(DATA_KINDS.map((kind) => [kind, 0])) as DataBytes;
const USAGE: DataBytes = { ...NO_FILES, clips: 4_000, references: 70 };
let registry: Registry;
let house: TaskHouse;
let platforms: Map<string, Platform>;

beforeEach(() => {
  registry = new Registry();
  house = new TaskHouse();
  platforms = new Map();
});

/** Registers the gauges of `house`, on another store if one is given. */
function addGauges(store: Store = house.store): void {
  const { queue, clock } = house;
  const space = { usage: () => USAGE, maxBytes: 10_000 };
  addTaskGauges(registry, { store, queue, platforms, clock, deadlineMs: 30 * MINUTE_MS, dataDir: tmpdir(), space });
}

const read = (name: string) => samples({ registry }, name);

it('counts open tasks by state, overdue tasks, and the jobs in the queue', async () => {
  addGauges();
  const first = await house.order({ key: 'a' });
  await house.order({ key: 'b' });
  expect(await read('dailies_open_tasks')).toMatchObject({ '{state="claimed"}': 2, '{state="polling"}': 0 });
  expect(await read('dailies_queue_steps')).toMatchObject({ '{lane="send",what="planned"}': 2 });
  await house.pass(3_000);
  house.start();
  await house.pass(0);
  expect(await read('dailies_queue_lag_seconds')).toMatchObject({ '{lane="send"}': 3 });
  await house.service.cancel(first, EVENTS.cancel.by);
  expect(await read('dailies_open_tasks')).toMatchObject({
    '{state="claimed"}': 0,
    '{state="polling"}': 1,
    '{state="cancelled"}': 1,
  });
  expect(await read('dailies_overdue_tasks')).toMatchObject({ '{state="polling"}': 0 });
  await house.pass(30 * MINUTE_MS, MINUTE_MS);
  // No user is waiting for the cancelled one.
  expect(await read('dailies_overdue_tasks')).toEqual({
    '{state="claimed"}': 0,
    '{state="sending"}': 0,
    '{state="polling"}': 1,
    '{state="completed"}': 0,
  });
});

it('reports the age of the oldest undelivered outcome', async () => {
  addGauges();
  expect(await read('dailies_outbox_oldest_seconds')).toEqual({ '': 0 });
  const id = await house.order();
  house.start();
  await house.pass(0);
  await house.pass(10 * MINUTE_MS, MINUTE_MS);
  await house.repository.record(id, { ...EVENTS.failed, atMs: house.clock.now() });
  await house.pass(90_000, 1_000);
  expect(await read('dailies_outbox_tasks')).toEqual({ '': 1 });
  expect(await read('dailies_outbox_oldest_seconds')).toEqual({ '': 90 });
});

it('counts outcomes undelivered for more than a day separately, so that they do not mask newer ones', async () => {
  addGauges();
  const HOUR_MS = 60 * MINUTE_MS;
  const fails = async (key: string): Promise<void> => {
    const id = await house.order({ key });
    await house.pass(0);
    await house.repository.record(id, { ...EVENTS.failed, atMs: house.clock.now() });
  };
  house.start();
  await fails('removed-the-bot');
  await house.pass(24 * HOUR_MS, HOUR_MS);
  expect(await read('dailies_outbox_oldest_seconds')).toEqual({ '': 24 * 3_600 });
  expect(await read('dailies_outbox_stuck_tasks')).toEqual({ '': 0 });
  await house.pass(HOUR_MS, HOUR_MS);
  expect(await read('dailies_outbox_oldest_seconds')).toEqual({ '': 0 });
  expect(await read('dailies_outbox_stuck_tasks')).toEqual({ '': 1 });
  await fails('new');
  await house.pass(90_000, 1_000);
  expect(await read('dailies_outbox_oldest_seconds')).toEqual({ '': 90 });
  expect(await read('dailies_outbox_tasks')).toEqual({ '': 2 });
});

it('reports the connected platforms and the free disk space', async () => {
  platforms.set('fake', new FakePlatform());
  const away = new FakePlatform('away');
  away.notReady = () => 'not connected';
  platforms.set('away', away);
  addGauges();
  expect(await read('dailies_platform_ready')).toEqual({ '{platform="fake"}': 1, '{platform="away"}': 0 });
  expect((await read('dailies_disk_free_bytes'))['']).toBeGreaterThan(0);
});

/** Returns a store whose reads have the outcome that a test sets. */
function storeThat<T>(answer: () => Promise<T>): Store {
  const away = { scan: answer, count: answer, ping: answer } as unknown as Store;
  return Object.assign(Object.create(house.store) as Store, away);
}

it('leaves out the gauges of an unreachable store, and reports it as down', async () => {
  addGauges(storeThat(() => Promise.reject(errorOf('store_unavailable'))));
  const text = await registry.metrics();
  expect(text).toContain('dailies_store_up 0\n');
  expect(text).toMatch(/^dailies_queue_steps{lane="poll",what="planned"} 0$/m);
  expect(text).toMatch(/^dailies_disk_free_bytes \d/m);
  for (const name of ['dailies_open_tasks', 'dailies_outbox_tasks', 'dailies_outbox_oldest_seconds']) {
    expect(text).not.toMatch(new RegExp(`^${name}[ {]`, 'm'));
  }
});

it('does not wait for a store that does not respond', async () => {
  addGauges(storeThat(() => new Promise(() => undefined)));
  const scrape = registry.metrics();
  await house.pass(2_000);
  const text = await scrape;
  expect(text).toContain('dailies_store_up 0\n');
  expect(text).not.toMatch(/^dailies_open_tasks/m);
  // A timed-out read leaves no timer behind.
  expect(house.clock.pending).toBe(0);
});

it('shows gauges again after an outage, without stale values', async () => {
  let isAway = false;
  addGauges(storeThat(async () => (isAway ? Promise.reject(errorOf('store_unavailable')) : 3)));
  expect(await read('dailies_outbox_tasks')).toEqual({ '': 3 });
  isAway = true;
  expect(await read('dailies_outbox_tasks')).toEqual({});
  isAway = false;
  expect(await read('dailies_outbox_tasks')).toEqual({ '': 3 });
  expect(await read('dailies_store_up')).toEqual({ '': 1 });
});

it('reports the bytes in the data folder by kind, and their limit', async () => {
  addGauges();
  expect(await read('dailies_data_bytes')).toMatchObject({
    '{kind="clips"}': 4_000,
    '{kind="references"}': 70,
    '{kind="store"}': 0,
  });
  expect(await read('dailies_data_limit_bytes')).toEqual({ '': 10_000 });
});
