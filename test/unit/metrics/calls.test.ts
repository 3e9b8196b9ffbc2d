import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { createInstruments } from '#src/metrics/calls.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';
import { samples } from '#test/fakes/samples.ts';
import { newTask, orderOf } from '#test/fakes/tasks.ts';
import { errorOf, ScriptedVideos } from '#test/fakes/videos.ts';

const CHANGE = { records: [{ namespace: 'cards', key: 'a', value: { revision: 1 }, expected: 'any' }] } as const;
const clock = new ManualClock();
let registry: Registry;
let instrument: ReturnType<typeof createInstruments>;

beforeEach(() => {
  registry = new Registry();
  instrument = createInstruments(registry);
});

const read = (name: string) => samples({ registry }, name);

it('counts failures of a store by operation', async () => {
  const inner = new FlakyStore(new MemoryStore());
  const store = instrument.store(inner, clock);
  expect((await read('dailies_store_errors_total'))['{operation="commit",code="store_unavailable"}']).toBe(0);
  inner.failNext('unwritten');
  await expect(store.commit(CHANGE)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await store.commit(CHANGE)).toBe(true);
  expect((await read('dailies_store_errors_total'))['{operation="commit",code="store_unavailable"}']).toBe(1);
  expect((await read('dailies_store_seconds'))['_count{operation="commit"}']).toBe(2);
});

it('does not change the behaviour of a store and its Keyvs', async () => {
  const inner = new MemoryStore();
  const store = instrument.store(inner, clock);
  const cards = store.keyv('cards');
  await cards.set('a', { revision: 7 });
  expect(await cards.get('a')).toEqual({ revision: 7 });
  expect(await cards.getMany(['a', 'b'])).toEqual([{ revision: 7 }, undefined]);
  expect(await inner.keyv('cards').get('a')).toEqual({ revision: 7 });
  expect(store.keyv('cards')).toBe(cards);
  await inner.keyv('cards').set('b', 1);
  expect(await read('dailies_store_seconds')).toMatchObject({
    '_count{operation="read"}': 2,
    '_count{operation="write"}': 1,
  });
});

it('passes the options of leases on', async () => {
  const inner = new MemoryStore();
  const given: unknown[] = [];
  const take = inner.leases.take.bind(inner.leases);
  inner.leases.take = (...asked) => {
    given.push(asked);
    return take(...asked);
  };
  const { leases } = instrument.store(inner, clock);
  const lease = await leases.take('a', 1_000, { isRenewed: false });
  expect(given).toEqual([['a', 1_000, { isRenewed: false }]]);
  expect(await leases.holder('a')).toBe(leases.owner);
  await lease?.release();
  expect((await read('dailies_store_seconds'))['_count{operation="lease"}']).toBe(2);
});

it('counts failures of a Keyv', async () => {
  const inner = new MemoryStore();
  const broken = { get: () => Promise.reject(errorOf('disk_full')) };
  Object.assign(inner.keyv('cards'), broken);
  const store = instrument.store(inner, clock);
  await expect(store.keyv('cards').get('a')).rejects.toMatchObject({ code: 'disk_full' });
  expect((await read('dailies_store_errors_total'))['{operation="read",code="disk_full"}']).toBe(1);
});

it('measures the calls to a named service under its name', async () => {
  const videos = instrument.videos(new ScriptedVideos(), clock, 'own');
  await videos.retrieve('up-1' as never);
  expect(await read('dailies_video_seconds')).toMatchObject({ '_count{call="retrieve",service="own"}': 1 });
});

it('measures the duration of calls to the video service, whether they succeed or fail', async () => {
  const inner = new ScriptedVideos();
  const videos = instrument.videos(inner, clock);
  inner.willCreate(() => {
    clock.advance(1_500);
    return { kind: 'lost', error: errorOf('lost_answer') };
  });
  const { request } = orderOf();
  expect(await videos.create(request, { key: 'k', mayStillSend: () => true })).toMatchObject({ kind: 'lost' });
  inner.willRetrieve(() => Promise.reject(errorOf('unavailable')));
  await expect(videos.retrieve('up-1' as never)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await read('dailies_video_seconds')).toMatchObject({
    '_bucket{le="1",call="create"}': 0,
    '_bucket{le="2",call="create"}': 1,
    '_count{call="retrieve"}': 1,
    '_count{call="download"}': 0,
  });
});

it('counts messages sent to a platform, by outcome', async () => {
  const inner = new FakePlatform();
  const platform = instrument.platform(inner, clock);
  const { id, origin } = newTask();
  const view = { kind: 'task', task: newTask() } as never;
  const message = await platform.open(id, origin, view);
  inner.edit = () => Promise.reject(platformError('rate_limited'));
  await expect(platform.edit(message, origin, view, 'progress')).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await read('dailies_platform_calls_total')).toEqual({
    '{platform="fake",call="open",outcome="ok"}': 1,
    '{platform="fake",call="progress",outcome="rate_limited"}': 1,
  });
  inner.limits = { ...inner.limits, uploadBytes: 5 };
  expect(platform.limits.uploadBytes).toBe(5);
});
