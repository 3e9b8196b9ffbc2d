import { describe, expect, it, vi } from 'vitest';
import { checkBooks } from '#src/money/books/check.ts';
import type { Order } from '#src/pipeline/order.ts';
import { sumsOf } from '#src/tasks/money.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, orderOf } from '#test/fakes/tasks.ts';
import { accepted, errorOf, ScriptedVideos, status } from '#test/fakes/videos.ts';

/** Returns an order at a service, under a key of its own. */
function orderAt(service: string | undefined, key: string): Order {
  const order = orderOf({ key });
  return { ...order, request: { ...order.request, ...(service === undefined ? {} : { service }) } };
}

/** Pipeline of one process with two services, by name. */
function houseOf() {
  const [busy, other] = [new ScriptedVideos(), new ScriptedVideos()];
  const videos = Object.assign(new ScriptedVideos(), {
    of: ({ service }: { readonly service?: string }) => (service === 'busy' ? busy : other),
  });
  const house = new TaskHouse({ videos }).start();
  return { house, busy, other };
}

describe('two services', () => {
  it('a pause that one asks for holds up nothing of the other', async () => {
    const { house, busy, other } = houseOf();
    busy.willCreate(() => ({ kind: 'unsent', error: errorOf('rate_limited', { retryAfterMs: 60_000 }) }));
    const first = await house.order(orderAt('busy', 'fake:i1'));
    const second = await house.order(orderAt('busy', 'fake:i2'));
    const third = await house.order(orderAt('other', 'fake:i3'));
    expect([busy.posts.length, other.posts.length]).toEqual([1, 1]);
    expect(await house.task(third)).toMatchObject({ state: 'polling' });
    expect(await house.task(second)).toMatchObject({ state: 'claimed', sends: 0 });
    await house.pass(61_000, 1_000);
    expect(await house.task(first)).toMatchObject({ state: 'polling' });
    expect(await house.task(second)).toMatchObject({ state: 'polling' });
  });

  it('each task is polled, and its clip fetched, at its own', async () => {
    const { house, busy, other } = houseOf();
    busy.willCreate(() => accepted('b-1'));
    other.willCreate(() => accepted('o-1'));
    for (const videos of [busy, other]) videos.willRetrieve(() => status('completed', 100));
    const ids = [await house.order(orderAt('busy', 'fake:i1')), await house.order(orderAt(undefined, 'fake:i2'))];
    await house.pass(10_000, 1_000);
    for (const id of ids) expect(await house.task(id)).toMatchObject({ state: 'completed', clip: { bytes: 1_000 } });
    expect([busy, other].map(({ polls }) => polls)).toEqual([['b-1'], ['o-1']]);
    expect([busy, other].map(({ downloads }) => downloads.map(({ id }) => id))).toEqual([['b-1'], ['o-1']]);
  });

  it('a decision whose commit failed has its task polled at its service alone', async () => {
    const { house } = houseOf();
    const id = await house.order(orderAt('busy', 'fake:i1'));
    vi.spyOn(house.store, 'commit').mockRejectedValueOnce(errorOf('store_unavailable'));
    await expect(house.service.cancel(id, ADA)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await house.queue.stats('poll:busy')).toMatchObject({ planned: 1 });
    expect(await house.queue.stats('poll')).toMatchObject({ planned: 0 });
  });

  it('a restarted process finds the jobs of each again', async () => {
    const store = new MemoryStore();
    const before = new TaskHouse({ store }).start();
    const id = await before.order(orderAt('busy', 'fake:i1'));
    const after = new TaskHouse({ store, queues: ['poll', 'send', 'fetch', 'poll:busy', 'send:busy', 'fetch:busy'] });
    after.start();
    expect(await after.service.resume()).toBe(1);
    await after.pass(10_000, 1_000);
    expect(await after.task(id)).toMatchObject({ state: 'polling' });
    expect(after.videos.polls).toContain('up-1');
    expect(await after.queue.stats('poll:busy')).toMatchObject({ planned: 1 });
    expect(await after.queue.stats('poll')).toMatchObject({ planned: 0 });
  });
});

it('an order at a service that is not configured any more waits for it, and nothing is sent', async () => {
  const videos = new ScriptedVideos();
  const gone = errorOf('unavailable');
  let isThere = false;
  const house = new TaskHouse({
    videos: Object.assign(videos, {
      of: () => {
        if (isThere) return videos;
        throw gone;
      },
    }),
  }).start();
  const id = await house.order(orderAt('gone', 'fake:i1'));
  await house.pass(30_000, 1_000);
  expect(await house.task(id)).toMatchObject({ state: 'claimed', sends: 0, unsentTries: 0 });
  expect(house.retrying.map(({ retry }) => retry)).toContainEqual(
    expect.objectContaining({ step: 'send', code: 'unavailable' }),
  );
  isThere = true;
  await house.pass(40_000, 1_000);
  expect(await house.task(id)).toMatchObject({ state: 'polling', sends: 1 });
});

it('what a service says a clip has cost takes the place of its price in the books, even beyond a budget', async () => {
  const house = new TaskHouse().start();
  await house.store.keyv('budgets').set('team:fake:T1', { revision: 1, hard: { USD: '400000' }, soft: {} });
  const id = await house.order();
  house.videos.willRetrieve(() => ({ ...status('completed', 100), cost: { amount: '0.45', currency: 'USD' } }));
  await house.pass(10_000, 1_000);
  expect(await house.task(id)).toMatchObject({
    state: 'completed',
    money: { sends: [{ amount: '0.45', listed: '0.30', counted: 'settled' }] },
  });
  const { origin } = orderOf();
  const [team] = await house.store.sums([sumsOf(origin, { period: '2026-11', currency: 'USD' }).team]);
  expect(team).toMatchObject({ held: 0n, settled: 450_000n });
  expect(await house.service.submit(orderOf({ key: 'fake:next' }))).toMatchObject({
    ok: false,
    over: { scope: 'team' },
  });
  expect((await checkBooks(house.store)).disagreements).toEqual([]);
});
