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
const lost = () => ({ kind: 'lost', error: errorOf('lost_answer', { retryable: false }) }) as const;

/** An app with orders whose answers were lost, and what the list of the service has that agrees with each. */
async function uncertain(count = 1) {
  const house = new TaskHouse().start();
  house.videos.willCreate(...Array.from({ length: count }, () => lost));
  const ids: TaskId[] = [];
  for (let order = 0; order < count; order += 1)
    ids.push(await house.order({ key: `i${order}`, request: { ...orderOf().request, prompt: `fox ${order}` } }));
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
  house.videos.willRetrieve(() => status('in_progress'));
  expect(await look(1)).toMatchObject([{ state: 'uncertain' }]);
  expect(await look(1)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost', sends: 1 }]);
  house.videos.willRetrieve(() => status('completed'));
  await house.pass(30_000, 1_000);
  expect(await house.task(id)).toMatchObject({ state: 'completed', clip: {} });
  expect(house.videos.posts).toHaveLength(1);
  expect(ledgerOf(await house.task(id)).map(({ state }) => state)).toEqual(['settled']);
});

it('a task that the list has only later is found, and another one in its place is not taken at once', async () => {
  const { house, look } = await uncertain();
  const lists = [[], [], ['other'], ['up-lost'], ['up-lost']];
  house.videos.listed = () => lists.shift() ?? [];
  expect(await look(4)).toMatchObject([{ state: 'uncertain' }]);
  expect(await look(1)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost' }]);
});

it.each([
  ['none', () => []],
  ['several', () => ['one', 'two']],
  ['no list', () => null],
  [
    'an error',
    () => {
      throw errorOf('unavailable');
    },
  ],
] as readonly (readonly [string, ScriptedVideos['listed']])[])('of %s, a user decides', async (_what, listed) => {
  const { house, look } = await uncertain();
  house.videos.listed = listed;
  expect(await look(5)).toMatchObject([{ state: 'uncertain', failure: { code: 'lost_answer' } }]);
  expect(house.videos.posts).toHaveLength(1);
});

it('a task that agrees with two orders is nobody’s, also once a user has dismissed one of them', async () => {
  const { house, ids, look } = await uncertain(2);
  house.videos.listed = () => ['up-lost'];
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }, { state: 'uncertain' }]);
  await house.service.leave(ids[1] as TaskId, ADA);
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }, { state: 'uncertain' }]);
});

it('what an order that was sent again has left in the list is not taken by another one, but by neither', async () => {
  const { house, ids, look } = await uncertain(2);
  house.videos.willRetrieve(() => status('in_progress'));
  house.videos.listed = () => [];
  await look(1);
  const price = { amount: '0.30', currency: 'USD' };
  await house.service.resubmit(ids[0] as TaskId, ADA, { afterSends: 1, price });
  await house.pass(1_000);
  house.videos.listed = ({ prompt }) => (prompt === 'fox 1' ? ['up-first'] : []);
  expect(await look(3)).toMatchObject([{ state: 'polling', sends: 2 }, { state: 'uncertain' }]);
});

it('two orders that agree with a task each take them', async () => {
  const { house, ids, look } = await uncertain(2);
  house.videos.willRetrieve(() => status('in_progress'));
  const prompts = new Map<string, string>();
  house.videos.listed = ({ prompt }) => [prompts.get(prompt) ?? ''];
  for (const [at, id] of ids.entries()) prompts.set((await house.task(id)).request.prompt, `up-${at}`);
  expect(await look(2)).toMatchObject([
    { state: 'polling', upstreamId: 'up-0' },
    { state: 'polling', upstreamId: 'up-1' },
  ]);
});

it('what another order has, of its service’s own accord or while it is being sent, is not taken', async () => {
  const { house, look } = await uncertain();
  house.videos.willRetrieve(() => status('in_progress'));
  await house.order({ key: 'other' });
  house.videos.listed = () => ['up-2'];
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }]);
  const { promise, resolve } = Promise.withResolvers<void>();
  house.videos.onItsWay = promise;
  await house.order({ key: 'sending' });
  house.videos.listed = () => ['up-2', 'up-3'];
  expect(await look(3)).toMatchObject([{ state: 'uncertain' }]);
  resolve();
  house.videos.listed = () => ['up-2', 'up-3', 'up-lost'];
  await house.pass(1_000);
  expect(await look(2)).toMatchObject([{ state: 'polling', upstreamId: 'up-lost' }]);
});

it('the list is not asked about what a user has dismissed, or what was lost half an hour ago', async () => {
  const { house, id, look } = await uncertain();
  house.videos.listed = () => [];
  await house.pass(31 * MINUTE_MS, MINUTE_MS);
  await look(2);
  expect(house.videos.lists).toBe(0);
  const other = await uncertain();
  await other.house.service.leave(other.id, ADA);
  await other.look(2);
  expect(other.house.videos.lists).toBe(0);
  expect(await house.task(id)).toMatchObject({ state: 'uncertain' });
});

it('at Ark, a task whose answer was lost is found among those of strangers, once the list has it', async () => {
  const clock = new ManualClock(NOON_MS);
  const ark = await startArk(() => clock.now());
  onTestFinished(() => ark.close());
  const catalog = exampleCatalog('ark');
  const options = { dialect: ARK, catalog: () => catalog, clock };
  const client = clientOf({ baseUrl: `${ark.api.baseUrl}/api/v3`, token: ARK_KEY }, options);
  const house = new TaskHouse({
    clock,
    queues: queueNamesOf(['fake'], ['ark']),
    videos: Object.assign(new ScriptedVideos(), { of: () => client }),
  }).start();
  const media = { image: [], audio: [], video: [] };
  const request = {
    model: 'seedance-1.5-pro',
    prompt: 'a fox',
    service: 'ark',
    seconds: 5,
    resolution: '720p',
    aspectRatio: '16:9',
    media,
  } as const;
  const stranger = { ...request, seconds: 10 };
  expect(await client.create(stranger, { key: 'stranger', mayStillSend: () => true })).toMatchObject({
    kind: 'accepted',
  });
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
  house.videos.willRetrieve(() => status('in_progress'));
  await look(1);
  await house.service.identify(id, ADA, 'up-mine' as never);
  expect(await look(2)).toMatchObject([{ state: 'polling', upstreamId: 'up-mine' }]);
});
