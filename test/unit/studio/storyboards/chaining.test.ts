import { pino } from 'pino';
import { expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { Boards } from '#src/orders/board.ts';
import { memberIdOf, taskIdOf } from '#src/pipeline/task-ids.ts';
import { Chaining } from '#src/studio/chaining.ts';
import { lastLedgerState } from '#src/tasks/state-machine.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { TaskHouse } from '../../../fakes/task-house.ts';
import { ADA, EVENTS, NOON_MS, orderOf } from '../../../fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const PLACE = { id: SET, kind: 'storyboard', at: 1, of: 4 } as const;
const OWN = 'https://files.example/mug.png';
const RUNNING = new AbortController().signal;

/** A chained storyboard of four shots, the third of which has an image of its own. `process`: another process on its store. */
async function withChain(take = async ({ id }: Pick<Task, 'id'>) => `https://dailies.example/media/frame-${id}`) {
  const house = new TaskHouse();
  const { request, price } = orderOf();
  const more = [2, 3, 4].map((at) => {
    const media = { ...request.media, image: at === 3 ? [OWN] : [] };
    return { request: { ...request, prompt: `shot ${at}`, media, chain: {} }, price };
  });
  await house.submit(orderOf({ set: { kind: 'storyboard', more } }));
  const taken: TaskId[] = [];
  const frames = {
    take: (task: Pick<Task, 'id'>) => {
      taken.push(task.id);
      return take(task);
    },
  };
  const { repository, queue, clock, store } = house;
  const process = () => {
    const logger = pino({ level: 'silent' });
    return new Chaining({ repository, boards: new Boards(store), frames, queue, clock, random: () => 0, logger });
  };
  const chaining = process();
  const happen = async (id: TaskId, ...events: readonly TaskEvent[]) => {
    for (const event of events) await repository.record(id, event);
  };
  const finish = (id: TaskId, atMs = NOON_MS + 1_000) =>
    happen(
      id,
      EVENTS.send,
      { ...EVENTS.accepted, upstreamId: `up-${id}` as Task['upstreamId'] & string },
      { kind: 'completed', atMs },
      EVENTS.fetched,
    );
  const run = (at: number) => chaining.run(memberIdOf(SET, at), RUNNING);
  const shot = (at: number) => house.task(memberIdOf(SET, at));
  return { house, chaining, taken, process, happen, finish, run, shot };
}

it('claims every shot and sends the first one alone', async () => {
  const { house, shot } = await withChain();
  house.start();
  await house.pass(3_000, 1_000);
  expect(house.videos.posts.map(({ request }) => request.prompt)).toEqual([orderOf().request.prompt]);
  for (const at of [2, 3, 4]) {
    const task = await shot(at);
    expect([task.state, lastLedgerState(task), task.sends]).toEqual(['waiting', 'reserved', 0]);
    expect(task.money?.sends.map(({ counted }) => counted)).toEqual(['held']);
  }
});

it('waits for the clip before, and stores its last frame as the first image with the state in which it may be sent', async () => {
  const { finish, happen, run, shot, taken, process } = await withChain();
  expect(await run(2)).toBe(10_000);
  await happen(SET, EVENTS.send, EVENTS.lost);
  expect(await run(2)).toBe(10_000);
  await happen(SET, { ...EVENTS.identify, upstreamId: 'up-1' as Task['upstreamId'] & string });
  await happen(SET, { kind: 'completed', atMs: NOON_MS });
  // It is not fetched yet.
  expect(await run(2)).toBe(10_000);
  await happen(SET, EVENTS.fetched);
  expect(taken).toEqual([]);
  await Promise.all([run(2), process().run(memberIdOf(SET, 2), RUNNING)]);
  const second = await shot(2);
  const frame = `https://dailies.example/media/frame-${SET}`;
  expect(second).toMatchObject({ state: 'claimed', frameOf: SET, request: { chain: { frame } } });
  expect(second.request.media.image).toEqual([frame]);
  await finish(memberIdOf(SET, 2));
  await run(3);
  expect((await shot(3)).request.media.image).toEqual([
    `https://dailies.example/media/frame-${memberIdOf(SET, 2)}`,
    OWN,
  ]);
  // A job that runs again changes nothing.
  const { revision } = await shot(3);
  expect(await run(3)).toBeNull();
  expect((await shot(3)).revision).toBe(revision);
});

const ACCEPTED = [EVENTS.send, EVENTS.accepted] as const;

it.each<[string, readonly TaskEvent[], string]>([
  ['failed', [...ACCEPTED, EVENTS.failed], 'failed'],
  ['was rejected', [EVENTS.send, EVENTS.refused], 'refused'],
  ['was cancelled before it was sent', [EVENTS.cancel], 'cancelled'],
  ['was cancelled at the service', [...ACCEPTED, EVENTS.cancel], 'cancelled'],
  ['was left unresolved', [EVENTS.send, EVENTS.lost, EVENTS.leave], 'unconfirmed'],
  ['could not be fetched', [...ACCEPTED, EVENTS.completed, EVENTS.unfetchable], 'lost'],
])('orders none of the shots after one that %s, and releases what they held', async (_what, events, end) => {
  const { happen, run, shot, taken } = await withChain();
  await happen(SET, ...events);
  for (const at of [2, 3, 4]) expect(await run(at)).toBeNull();
  for (const at of [2, 3, 4]) {
    const task = await shot(at);
    expect(task).toMatchObject({ state: 'cancelled', sends: 0, dropped: { shot: 1, end }, presented: false });
    expect(task.money?.sends.map(({ counted }) => counted)).toEqual([undefined]);
  }
  expect(taken).toEqual([]);
});

it('makes a retry of a dropped shot with the take that is chosen by then', async () => {
  const { house, happen, finish, run, process } = await withChain();
  await happen(SET, ...ACCEPTED, EVENTS.failed);
  await run(2);
  const retry = async (key: string, at: number, chain?: object) => {
    const { request } = orderOf();
    const order = { key, takeOf: { ...PLACE, at }, request: { ...request, ...chain } };
    return (await house.submit(orderOf(order))).task.id;
  };
  const first = await retry('retry:a', 1);
  const second = await retry('retry:b', 2, { chain: {} });
  expect((await house.task(second)).state).toBe('waiting');
  expect(await process().run(second, RUNNING)).toBe(10_000);
  await finish(first);
  await process().run(second, RUNNING);
  expect(await house.task(second)).toMatchObject({ state: 'claimed', frameOf: first });
});

it.each(['storage_unavailable', 'unavailable', 'timed_out', 'rate_limited', 'store_unavailable'] as const)(
  'waits while the clip before cannot be read: %s',
  async (code) => {
    const { finish, run, shot } = await withChain(async () => {
      throw new DailiesError('taking a frame', { code, retryable: true });
    });
    await finish(SET);
    for (let tries = 0; tries < 10; tries += 1) expect(await run(2)).toBeGreaterThan(0);
    expect((await shot(2)).state).toBe('waiting');
  },
);

it('never sends a shot whose frame cannot be taken in five attempts, and gives a retry as many', async () => {
  const { house, chaining, finish, run, shot, taken } = await withChain(async () => {
    throw new Error('ffmpeg ended with 1');
  });
  await finish(SET);
  for (let tries = 1; tries < 5; tries += 1) expect(await run(2)).toBeGreaterThan(0);
  expect(await run(2)).toBeNull();
  expect(taken).toHaveLength(5);
  expect(await shot(2)).toMatchObject({ state: 'cancelled', dropped: { shot: 1, end: 'unframed' }, sends: 0 });
  expect(house.videos.posts).toEqual([]);
  const { request } = orderOf();
  const again = orderOf({ key: 'retry:b', takeOf: { ...PLACE, at: 2 }, request: { ...request, chain: {} } });
  const { task } = await house.submit(again);
  for (let tries = 1; tries < 5; tries += 1) expect(await chaining.run(task.id, RUNNING)).toBeGreaterThan(0);
  expect(await chaining.run(task.id, RUNNING)).toBeNull();
});

it('ends with the process without a decision', async () => {
  const stopping = new AbortController();
  const { finish, shot, process } = await withChain(async () => {
    stopping.abort(new Error('stopping'));
    throw new Error('killed');
  });
  await finish(SET);
  await expect(process().run(memberIdOf(SET, 2), stopping.signal)).rejects.toThrow('stopping');
  expect((await shot(2)).state).toBe('waiting');
});

it('can be cancelled while it waits, for nothing', async () => {
  const { house, run, shot } = await withChain();
  await house.service.cancel(memberIdOf(SET, 2), ADA);
  expect(await shot(2)).toMatchObject({ state: 'cancelled', cancelledBy: ADA, sends: 0 });
  await run(3);
  expect((await shot(3)).dropped).toEqual({ shot: 2, end: 'cancelled' });
});

it('waits for an approval first, and then for the clip before', async () => {
  const house = new TaskHouse();
  const { request, price } = orderOf();
  const more = [{ request: { ...request, chain: {} }, price }];
  const approval = { above: price, askedOf: [], isPromptShown: false };
  await house.submit(orderOf({ approval, set: { kind: 'storyboard', more } }));
  expect((await house.task(memberIdOf(SET, 2))).state).toBe('requested');
  await house.repository.record(SET, EVENTS.approve);
  expect((await house.task(SET)).state).toBe('claimed');
  expect((await house.task(memberIdOf(SET, 2))).state).toBe('waiting');
});

it('has a take wait for the take before that the same press ordered, and drops it with that', async () => {
  const { house, chaining, finish, run, happen, taken } = await withChain();
  const [second, third] = [memberIdOf(SET, 2), memberIdOf(SET, 3)];
  await finish(SET);
  await run(2);
  await finish(second);
  await run(3);
  await finish(third);
  const again = async (at: number, press: string) => {
    const { request } = await house.task(memberIdOf(SET, at));
    const order = orderOf({ key: `${press}:${at}`, retryOf: memberIdOf(SET, at), takeOf: { ...PLACE, at }, press });
    return (await house.submit({ ...order, request: { ...request, chain: {} } })).task.id;
  };
  const [two, three] = [await again(2, 'first'), await again(3, 'first')];
  taken.length = 0;
  expect(await chaining.run(three, RUNNING)).toBe(10_000);
  await chaining.run(two, RUNNING);
  await finish(two, NOON_MS + 5_000);
  await chaining.run(three, RUNNING);
  expect(taken).toEqual([SET, two]);
  expect(await house.task(three)).toMatchObject({ state: 'claimed', frameOf: two });
  const [failing, after] = [await again(2, 'second'), await again(3, 'second')];
  await chaining.run(failing, RUNNING);
  await happen(failing, EVENTS.send, EVENTS.accepted, EVENTS.failed);
  await chaining.run(after, RUNNING);
  expect(await house.task(after)).toMatchObject({ state: 'cancelled', sends: 0, dropped: { shot: 2, end: 'failed' } });
});
