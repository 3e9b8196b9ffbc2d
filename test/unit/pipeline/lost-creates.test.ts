import { expect, it, onTestFinished } from 'vitest';
import { queueNamesOf } from '#src/engine/queue/queue.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { ARK } from '#src/videos/dialects/ark/index.ts';
import { runJob } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { ARK_KEY, startArk } from '#test/fakes/services/ark.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, NOON_MS, orderOf } from '#test/fakes/tasks.ts';
import { errorOf, ScriptedVideos, status } from '#test/fakes/videos.ts';
import { clientOf } from '../videos/client.ts';
import { exampleCatalog } from '../videos/dialects/journey.ts';

const MINUTE_MS = 60_000;
const PRICE = { amount: '0.30', currency: 'USD' };
const lost = () => ({ kind: 'lost', error: errorOf('lost_answer', { retryable: false }) }) as const;

/** An app with orders whose answers were lost, one after the other. */
async function uncertain({ count = 1, apartMs = 0 } = {}) {
  const house = new TaskHouse().start();
  house.videos.hasList = true;
  house.videos.willCreate(...Array.from({ length: count }, () => lost));
  house.videos.willRetrieve(() => status('in_progress'));
  const ids: TaskId[] = [];
  for (let order = 0; order < count; order += 1) {
    ids.push(await house.order({ key: `i${order}`, request: { ...orderOf().request, prompt: `fox ${order}` } }));
    await house.pass(apartMs, MINUTE_MS);
  }
  /** Looks at the lists several times, 20 seconds apart. */
  const look = async (times: number): Promise<readonly Task[]> => {
    for (let time = 0; time < times; time += 1) {
      expect(await runJob(house.lostCreates, house)).toBe(true);
      await house.pass(20_000, 1_000);
    }
    return Promise.all(ids.map((id) => house.task(id)));
  };
  return { house, id: ids[0] as TaskId, ids, look };
}

it('an order takes the one task of the list that agrees with it, at the second look, and is followed to its clip', async () => {
  const { house, id, look } = await uncertain();
  house.videos.listed = () => ['up-lost'];
  expect(await look(1)).toMatchObject([{ state: 'uncertain' }]);
  const accepted = { atMs: NOON_MS + 20_000, how: 'listed' };
  expect(await look(1)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost', sends: 1, accepted }]);
  house.videos.willRetrieve(() => status('completed'));
  await house.pass(30_000, 1_000);
  expect(await house.task(id)).toMatchObject({ state: 'completed', clip: {} });
  expect(house.videos.posts).toHaveLength(1);
  expect(ledgerOf(await house.task(id)).map(({ state }) => state)).toEqual(['settled']);
});

it('the list is asked for the time in which the POST was on its way, for ten minutes and once more', async () => {
  const { house, look } = await uncertain();
  const asked: (readonly [number, number])[] = [];
  house.videos.listed = (_request, fromMs, untilMs) => {
    asked.push([fromMs, untilMs]);
    return [];
  };
  await look(1);
  expect(asked).toEqual([[NOON_MS - 10_000, NOON_MS + 70_000]]);
  await house.pass(11 * MINUTE_MS, MINUTE_MS);
  await look(2);
  expect(asked).toHaveLength(2);
});

it('a task that the list has only later is found, and another one in its place is not taken at once', async () => {
  const { house, look } = await uncertain();
  const lists = [[], [], ['other'], ['up-lost'], ['up-lost']];
  house.videos.listed = () => lists.shift() ?? [];
  expect(await look(4)).toMatchObject([{ state: 'uncertain' }]);
  expect(await look(1)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost' }]);
});

it.each<[string, 'none' | 'alike' | 'unread', ScriptedVideos['listed']]>([
  ['none', 'none', () => []],
  ['several', 'alike', () => ['one', 'two']],
  ['no list', 'unread', () => null],
  [
    'an error',
    'unread',
    () => {
      throw errorOf('unavailable');
    },
  ],
])('of %s, a user decides once the search is over, and is told: %s', async (_what, result, listed) => {
  const { house, look } = await uncertain();
  house.videos.listed = listed;
  const search = { untilMs: NOON_MS + 10 * MINUTE_MS };
  expect((await look(5))[0]?.failure).toEqual({ code: 'lost_answer', words: null, search });
  house.delivered.length = 0;
  await house.pass(10 * MINUTE_MS, MINUTE_MS);
  expect((await look(2))[0]).toMatchObject({ state: 'uncertain', failure: { search: { ...search, result } } });
  expect(house.delivered).toHaveLength(1);
  expect(house.videos.posts).toHaveLength(1);
});

it('one that is there only when the search is over is left to a user: it was not there before', async () => {
  const { house, look } = await uncertain();
  await house.pass(10 * MINUTE_MS, MINUTE_MS);
  house.videos.listed = () => ['up-lost'];
  expect(await look(3)).toMatchObject([{ state: 'uncertain', failure: { search: { result: 'alike' } } }]);
});

it('one that was there before is taken also by the look that ends the search', async () => {
  const { house, look } = await uncertain();
  await house.pass(10 * MINUTE_MS - 10_000, 10_000);
  house.videos.listed = () => ['up-lost'];
  expect(await look(2)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost' }]);
});

it('what the list said before is told, where it cannot be read when the search is over', async () => {
  const { house, look } = await uncertain();
  house.videos.listed = () => [];
  await look(1);
  house.videos.listed = () => null;
  await house.pass(10 * MINUTE_MS, MINUTE_MS);
  expect(await look(1)).toMatchObject([{ failure: { search: { result: 'none' } } }]);
});

it.each([
  ['whose service has no list', false],
  ['that a user has cancelled', true],
] as const)('an order %s is not looked for', async (_which, isCancelled) => {
  const house = new TaskHouse().start();
  house.videos.hasList = isCancelled;
  const { promise, resolve } = Promise.withResolvers<void>();
  house.videos.onItsWay = promise;
  house.videos.willCreate(lost);
  const id = await house.order();
  if (isCancelled) await house.service.cancel(id, ADA);
  resolve();
  await house.pass(1_000);
  expect(await runJob(house.lostCreates, house)).toBe(true);
  expect((await house.task(id)).failure).toEqual({ code: 'lost_answer', words: null });
  expect(house.videos.looks).toEqual([]);
});

it('an order whose sender died is looked for, if its service still has a list', async () => {
  const house = new TaskHouse({ exclusive: false }).start();
  house.videos.hasList = true;
  house.videos.onItsWay = new Promise(() => undefined);
  const id = await house.order();
  const next = house.another({ exclusive: false }).start();
  next.membership.gone.add('me');
  next.queue.schedule('send', id, NOON_MS);
  await house.pass(0);
  expect((await next.task(id)).failure).toMatchObject({ search: { untilMs: NOON_MS + 10 * MINUTE_MS } });
});

it('a task that does not say all that was ordered is nobody’s, and keeps others from being taken', async () => {
  const { house, look } = await uncertain();
  house.videos.listed = () => ['up-lost'];
  house.videos.saysAll = false;
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }]);
});

it('of two orders lost at about the same time, neither takes a task, also long after and once one is decided on', async () => {
  const { house, ids, look } = await uncertain({ count: 2 });
  const [first, second] = ids as [TaskId, TaskId];
  house.videos.listed = () => ['up-lost'];
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }, { state: 'uncertain' }]);
  await house.service.leave(first, ADA);
  expect(await look(30)).toMatchObject([{ state: 'uncertain' }, { state: 'uncertain' }]);
  await house.service.identify(second, ADA, 'up-mine' as never);
  expect(await look(2)).toMatchObject([{ leftBy: ADA }, { upstreamId: 'up-mine' }]);
});

it.each([
  ['dismissed', (house: TaskHouse, id: TaskId) => house.service.leave(id, ADA)],
  ['sent again', (house: TaskHouse, id: TaskId) => house.service.resubmit(id, ADA, { afterSends: 1, price: PRICE })],
] as const)(
  'what an order has left that was %s before the first look is not taken by another one',
  async (_, decide) => {
    const { house, ids, look } = await uncertain({ count: 2 });
    await decide(house, ids[0] as TaskId);
    await house.pass(1_000);
    house.videos.listed = () => ['up-first'];
    expect((await look(3))[1]).toMatchObject({ state: 'uncertain' });
  },
);

it('what an order has left that was sent again is not taken by another one, whichever replica looks', async () => {
  const { house, ids } = await uncertain({ count: 2 });
  await house.service.resubmit(ids[0] as TaskId, ADA, { afterSends: 1, price: PRICE });
  await house.pass(1_000);
  house.videos.listed = () => ['up-first'];
  const other = house.another();
  for (let time = 0; time < 3; time += 1) expect(await runJob(other.lostCreates, other)).toBe(true);
  expect(await other.task(ids[1] as TaskId)).toMatchObject({ state: 'uncertain' });
});

it('all orders are looked for in one look', async () => {
  const { house, look } = await uncertain({ count: 3 });
  await look(2);
  expect(house.videos.looks).toHaveLength(6);
  expect(new Set(house.videos.looks).size).toBe(2);
});

it('orders lost minutes apart take a task each', async () => {
  const { house, look } = await uncertain({ count: 2, apartMs: 4 * MINUTE_MS });
  house.videos.listed = ({ prompt }) => [prompt === 'fox 0' ? 'up-0' : 'up-1'];
  expect(await look(2)).toMatchObject([
    { state: 'polling', upstreamId: 'up-0' },
    { state: 'polling', upstreamId: 'up-1' },
  ]);
});

it.each([
  ['one account', 'neither takes a task', () => 'account', 'uncertain'],
  ['accounts of their own', 'each takes its task', ({ service = '' }) => service, 'polling'],
] as const)('of orders at two services with %s, lost at the same time, %s', async (_of, _what, serviceKey, state) => {
  const house = new TaskHouse({ serviceKey, queues: queueNamesOf(['fake'], ['one', 'two']) }).start();
  house.videos.hasList = true;
  house.videos.willCreate(lost, lost);
  house.videos.willRetrieve(() => status('in_progress'));
  house.videos.listed = ({ service }) => [`up-${service}`];
  const request = orderOf().request;
  const ids = [
    await house.order({ key: 'i1', request: { ...request, service: 'one' } }),
    await house.order({ key: 'i2', request: { ...request, service: 'two' } }),
  ];
  for (let time = 0; time < 3; time += 1) expect(await runJob(house.lostCreates, house)).toBe(true);
  expect(await Promise.all(ids.map((id) => house.task(id)))).toMatchObject([{ state }, { state }]);
});

it('no order takes a task while it is unknown when another one was sent, as after an upgrade', async () => {
  const { house, ids } = await uncertain({ count: 2, apartMs: 4 * MINUTE_MS });
  const [first, second] = ids as [TaskId, TaskId];
  const { turnAtMs: _, ...older } = await house.task(first);
  await house.store.keyv('tasks').set(first, older);
  await house.store.keyv('lost_posts').delete(`${first}:1`);
  house.videos.listed = () => ['up-lost'];
  const next = house.another();
  for (let time = 0; time < 3; time += 1) expect(await runJob(next.lostCreates, next)).toBe(true);
  expect(await next.task(second)).toMatchObject({ state: 'uncertain' });
});

it('what another order has, or may have while it is being sent, is not taken', async () => {
  const { house, look } = await uncertain();
  await house.order({ key: 'other' });
  house.videos.listed = () => ['up-2'];
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }]);
  const { promise, resolve } = Promise.withResolvers<void>();
  house.videos.onItsWay = promise;
  await house.order({ key: 'sending' });
  house.videos.listed = () => ['up-2', 'up-3'];
  expect(await look(1)).toMatchObject([{ state: 'uncertain' }]);
  resolve();
  house.videos.listed = () => ['up-2', 'up-3', 'up-lost'];
  await house.pass(1_000);
  expect(await look(3)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost' }]);
});

it('nothing is taken for an order that a user has cancelled: it might be cancelled at the service', async () => {
  const house = new TaskHouse().start();
  const { promise, resolve } = Promise.withResolvers<void>();
  house.videos.hasList = true;
  house.videos.onItsWay = promise;
  house.videos.willCreate(lost);
  house.videos.listed = () => ['up-lost'];
  const id = await house.order();
  await house.service.cancel(id, ADA);
  resolve();
  await house.pass(1_000);
  for (let time = 0; time < 3; time += 1) expect(await runJob(house.lostCreates, house)).toBe(true);
  expect(await house.task(id)).toMatchObject({ state: 'uncertain', cancelledBy: ADA });
});

it('what was found is not cancelled at the service: it may be somebody else’s', async () => {
  const { house, id, look } = await uncertain();
  house.videos.listed = () => ['up-lost'];
  house.videos.willRetrieve(() => status('queued'));
  await look(2);
  await house.service.cancel(id, ADA);
  await house.pass(MINUTE_MS, 1_000);
  expect(await house.task(id)).toMatchObject({ state: 'cancelled' });
  expect(house.videos.cancels).toEqual([]);
});

it('at Ark, a task whose answer was lost is found among those of strangers, once the list has it', async () => {
  const clock = new ManualClock(NOON_MS);
  const ark = await startArk(() => clock.now());
  onTestFinished(() => ark.close());
  const catalog = exampleCatalog('ark');
  const options = { dialect: ARK, catalog: () => catalog, clock };
  const client = clientOf({ baseUrl: `${ark.api.baseUrl}/api/v3`, token: ARK_KEY }, options);
  const videos = Object.assign(new ScriptedVideos(), { of: () => client });
  const house = new TaskHouse({ clock, queues: queueNamesOf(['fake'], ['ark']), videos }).start();
  const media = { image: [], audio: [], video: [] };
  const settings = { service: 'ark', seconds: 5, resolution: '720p', aspectRatio: '16:9' } as const;
  const request = { ...settings, model: 'seedance-1.5-pro', prompt: 'a fox', media };
  const sending = { key: 'stranger', mayStillSend: () => true };
  expect(await client.create({ ...request, seconds: 10 }, sending)).toMatchObject({ kind: 'accepted' });
  ark.losesAnswers(true);
  const { task } = await house.submit({ request });
  await house.pass(0);
  await expect.poll(() => ark.taken).toBe(2);
  await house.pass(61_000, 1_000);
  await expect.poll(async () => (await house.task(task.id)).state).toBe('uncertain');
  ark.listsLate(1);
  for (let look = 0; look < 2; look += 1) expect(await runJob(house.lostCreates, house)).toBe(true);
  expect((await house.task(task.id)).state).toBe('uncertain');
  ark.listsLate(0);
  for (let look = 0; look < 2; look += 1) expect(await runJob(house.lostCreates, house)).toBe(true);
  expect(await house.task(task.id)).toMatchObject({ state: 'polling', upstreamId: 'cgt-20261127000001-x7k2p' });
  expect(ark.taken).toBe(2);
});

it('a user’s decision between two looks counts', async () => {
  const { house, id, look } = await uncertain();
  house.videos.listed = () => ['up-lost'];
  await look(1);
  await house.service.identify(id, ADA, 'up-mine' as never);
  expect(await look(2)).toMatchObject([{ state: 'polling', upstreamId: 'up-mine' }]);
});
