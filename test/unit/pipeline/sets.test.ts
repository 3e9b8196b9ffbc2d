import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '#src/engine/store/store.ts';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import { DailiesError } from '#src/errors.ts';
import type { Order } from '#src/pipeline/order.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Submission } from '#src/pipeline/task-service.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import { type Limits, NO_LIMITS } from '#src/tasks/limits.ts';
import { sumsOf } from '#src/tasks/money.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { DEFAULT_SETTINGS } from '#src/teams/settings-schema.ts';
import { FlakyStore } from '../../fakes/flaky-store.ts';
import { MemoryStore } from '../../fakes/memory-store.ts';
import { REPLICA_STORES, type ReplicaStores } from '../../fakes/replica-stores.ts';
import { TaskHouse } from '../../fakes/task-house.ts';
import { ADA, BOB, EVENTS, NOON_MS, newTask, orderOf, originOf } from '../../fakes/tasks.ts';
import { status } from '../../fakes/videos.ts';

/** An order of a number of takes, each for $0.30. */
function takesOf(count: number, changes: Partial<Order> = {}): Order {
  const order = orderOf(changes);
  const { request, price } = order;
  return { ...order, set: { kind: 'takes', more: Array.from({ length: count - 1 }, () => ({ request, price })) } };
}

/** Ids of the set of the default order. */
function idsOf(count: number, key = 'fake:i1'): readonly TaskId[] {
  return memberIds({ id: taskIdOf(key), of: count });
}

function limits(changes: { readonly [Of in keyof Limits]?: Partial<Limits[Of]> }): Limits {
  const { person, channel } = NO_LIMITS;
  return { person: { ...person, ...changes.person }, channel: { ...channel, ...changes.channel } };
}

async function setBudget(store: Store, micros: number): Promise<void> {
  await store.keyv('budgets').set('team:fake:T1', { revision: 1, hard: { USD: String(micros) }, soft: {} });
}

/** The amount in progress, by scope, in micro-units. */
async function held(store: Store): Promise<readonly bigint[]> {
  const sums = await store.sums(Object.values(sumsOf(originOf(), { period: '2026-11', currency: 'USD' })));
  return sums.map((sum) => sum.held);
}

describe('a set', () => {
  it('is claimed with its first task under the order’s id, and each task is created once', async () => {
    const house = new TaskHouse().start();
    const { task, isNew } = await house.submit(takesOf(12));
    expect({ id: task.id, isNew }).toEqual({ id: taskIdOf('fake:i1'), isNew: true });
    await house.pass(1_000);
    expect(house.videos.posts).toHaveLength(12);
    for (const [index, id] of idsOf(12).entries())
      expect(await house.task(id)).toMatchObject({
        state: 'polling',
        set: { id: task.id, kind: 'takes', at: index + 1, of: 12 },
        price: { amount: '0.30' },
      });
    expect(new Set(idsOf(12)).size).toBe(12);
    expect(await held(house.store)).toEqual([3_600_000n, 3_600_000n, 3_600_000n, 3_600_000n]);
    expect(await house.store.count('history:fake:T1')).toBe(12);
  });

  it('holds and lists the price of each task, of which the first alone responds to the interaction', async () => {
    const house = new TaskHouse();
    const order = orderOf({ origin: originOf({ address: { token: 't', thread: '1' } }) });
    const more = ['0.05', '1.20'].map((amount) => ({ request: order.request, price: { amount, currency: 'USD' } }));
    await house.submit({ ...order, set: { kind: 'comparison', more, address: { thread: '1' } } });
    const tasks = await Promise.all(idsOf(3).map((id) => house.task(id)));
    expect(tasks.map((task) => task.price.amount)).toEqual(['0.30', '0.05', '1.20']);
    expect(tasks.flatMap(ledgerOf).map(({ amount }) => amount)).toEqual(['0.30', '0.05', '1.20']);
    expect(tasks.map(({ origin }) => origin.address)).toEqual([order.origin.address, { thread: '1' }, { thread: '1' }]);
    expect(await held(house.store)).toEqual([1_550_000n, 1_550_000n, 1_550_000n, 1_550_000n]);
  });

  it('is the same set for every delivery of its interaction, on any replica', async () => {
    const house = new TaskHouse().start();
    const replicas = [house, house.another().start()];
    const placed = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (replicas[at % 2] as TaskHouse).submit(takesOf(4))),
    );
    await house.pass(120_000, 5_000);
    expect(placed.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(placed.map(({ task }) => task.id)).size).toBe(1);
    expect(house.videos.posts).toHaveLength(4);
    expect(await house.submit(takesOf(3))).toMatchObject({ isNew: false, task: { set: { of: 4 } } });
    expect(await house.submit()).toMatchObject({ isNew: false, task: { set: { of: 4 } } });
  });

  it('is continued by another process after the one that claimed its 12 tasks was killed', async () => {
    const house = new TaskHouse();
    await house.submit(takesOf(12));
    expect(house.videos.posts).toEqual([]);
    const next = house.another().start();
    await next.service.resume();
    await next.pass(1_000);
    expect(house.videos.posts).toHaveLength(12);
  });

  it('is scheduled whole by a redelivery, where its claim was stored despite an error of the commit', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    store.failNext('answer_lost');
    await expect(house.submit(takesOf(4))).rejects.toMatchObject({ code: 'store_unavailable' });
    await house.submit(takesOf(4));
    await house.pass(0);
    expect(house.videos.posts).toHaveLength(4);
  });

  it('leaves its other tasks alone when one is cancelled or fails', async () => {
    const house = new TaskHouse();
    await house.submit(takesOf(3));
    const [first, second, third] = idsOf(3) as [TaskId, TaskId, TaskId];
    await house.service.cancel(second, ADA);
    await house.start().pass(0);
    expect(house.videos.posts).toHaveLength(2);
    house.videos.willRetrieve(
      () => status('failed'),
      () => status('completed'),
    );
    await house.pass(30_000, 5_000);
    expect((await house.task(second)).state).toBe('cancelled');
    const states = await Promise.all([first, third].map(async (id) => (await house.task(id)).state));
    expect(states.toSorted()).toEqual(['completed', 'failed']);
    const [team] = await house.store.sums([sumsOf(originOf(), { period: '2026-11', currency: 'USD' }).team]);
    expect(team).toEqual({ ...ZERO_SUM, settled: 300_000n });
  });

  const approval = { above: { amount: '1', currency: 'USD' }, askedOf: [], isPromptShown: false };
  const approve: TaskEvent = {
    kind: 'approve',
    by: BOB,
    period: '2026-11',
    price: { amount: '0.30', currency: 'USD' },
    atMs: NOON_MS,
  };

  it('is sent whole after its approval, by another process if the one that stored it was killed', async () => {
    const house = new TaskHouse();
    await house.submit(takesOf(12, { approval }));
    expect(await house.repository.recordAll(idsOf(12), () => approve)).toMatchObject({ done: true });
    expect(await house.repository.recordAll(idsOf(12), () => approve)).toMatchObject({ done: false });
    expect(await held(house.store)).toEqual([3_600_000n, 3_600_000n, 3_600_000n, 3_600_000n]);
    const next = house.another().start();
    await next.service.resume();
    await next.pass(1_000);
    expect(house.videos.posts).toHaveLength(12);
  });

  it.each(['withdraw', 'cancel'] as const)('is withdrawn whole by a %s of one of its tasks', async (way) => {
    const house = new TaskHouse();
    await house.submit(takesOf(4, { approval }));
    const third = idsOf(4)[2] as TaskId;
    expect(await house.service[way](third, ADA)).toMatchObject({ done: true, task: { id: third, state: 'declined' } });
    for (const id of idsOf(4)) expect(await house.task(id)).toMatchObject({ state: 'declined', revision: 2 });
    expect(await house.service[way](third, ADA)).toMatchObject({ done: false });
    expect(await house.store.count('open:fake:T1')).toBe(0);
  });

  it('is decided on by no one in part: where one of its tasks waits no more, it is not bought', async () => {
    const house = new TaskHouse();
    await house.submit(takesOf(3, { approval }));
    // As an older version does, one by one.
    const [first] = idsOf(3) as [TaskId];
    const before = await house.task(first);
    const declined = { ...before, state: 'declined', revision: before.revision + 1 } as const;
    await house.store.commit({ records: [{ namespace: 'tasks', key: first, value: declined, expected: 1 }] });
    expect(await house.repository.recordAll(idsOf(3), () => approve)).toMatchObject({ done: false });
    expect(await held(house.store)).toEqual([0n, 0n, 0n, 0n]);
    const expired: TaskEvent = { kind: 'decline', how: 'expired', atMs: NOON_MS + 86_400_000 };
    expect(await house.repository.recordAll(idsOf(3), () => expired)).toMatchObject({ done: true });
    for (const id of idsOf(3)) expect((await house.task(id)).state).toBe('declined');
  });

  it('waits for an approval as a whole, and holds nothing meanwhile', async () => {
    const house = new TaskHouse().start();
    await house.submit(takesOf(4, { approval }));
    for (const id of idsOf(4)) expect(await house.task(id)).toMatchObject({ state: 'requested' });
    expect(await held(house.store)).toEqual([0n, 0n, 0n, 0n]);
    await house.pass(10_000);
    expect(house.videos.posts).toEqual([]);
  });
});

describe('a limit on the number of tasks', () => {
  let orders = 0;
  function order(house: TaskHouse, count: number): Promise<Submission> {
    orders += 1;
    return house.service.submit(count === 1 ? orderOf({ key: `o${orders}` }) : takesOf(count, { key: `o${orders}` }));
  }

  it.each(['person', 'channel'] as const)('counts a set as one open order of a %s', async (of) => {
    const house = new TaskHouse({ limits: limits({ [of]: { open: 3 } }) });
    for (const count of [4, 1, 12]) expect(await order(house, count)).toMatchObject({ ok: true });
    for (const count of [1, 4])
      expect(await order(house, count)).toEqual({ ok: false, limit: { of, kind: 'open', max: 3, found: 3 } });
    expect(await house.store.count('open:fake:T1')).toBe(17);
  });

  it('counts a set until all of its tasks have ended', async () => {
    const house = new TaskHouse({ limits: limits({ person: { open: 2 } }) });
    const placed = await order(house, 3);
    if (!placed.ok || placed.task.set === undefined) throw new TypeError('the set was refused');
    await order(house, 1);
    const ids = memberIds(placed.task.set);
    for (const id of ids.slice(0, 2)) {
      await house.service.cancel(id, ADA);
      expect(await order(house, 1)).toMatchObject({ ok: false, limit: { found: 2 } });
    }
    await house.service.cancel(ids[2] as TaskId, ADA);
    expect(await order(house, 1)).toMatchObject({ ok: true });
  });

  it.each(['person', 'channel'] as const)('counts a set as one order within a minute of a %s', async (of) => {
    const house = new TaskHouse({ limits: limits({ [of]: { perMinute: 2 } }) });
    await order(house, 4);
    house.clock.advance(20_000);
    await order(house, 4);
    const limit = { of, kind: 'perMinute', max: 2, found: 2, freeInMs: 40_000 };
    expect(await order(house, 4)).toEqual({ ok: false, limit });
    house.clock.advance(40_000);
    expect(await order(house, 4)).toMatchObject({ ok: true });
    expect(await order(house, 1)).toMatchObject({ ok: false, limit: { freeInMs: 20_000 } });
  });

  it('is not exceeded by a hundred concurrent sets and single orders on two replicas', async () => {
    const house = new TaskHouse({ limits: limits({ person: { open: 5 } }) });
    await order(house, 12);
    const replicas = [house, house.another()];
    const placed = await Promise.all(
      Array.from({ length: 100 }, (_, at) => order(replicas[at % 2] as TaskHouse, at % 3 === 0 ? 4 : 1)),
    );
    expect(placed.filter(({ ok }) => ok)).toHaveLength(4);
  });
});

describe('every limit refuses a set as a whole', () => {
  const usd = (micros: number) => ({ revision: 1, hard: { USD: String(micros) }, soft: {} });
  const gone = (): Promise<never> =>
    Promise.reject(new DailiesError('no room', { code: 'data_full', retryable: true }));
  const pause = { by: BOB, atMs: NOON_MS, reason: 'audit' };
  const one: readonly (readonly [string, ConstructorParameters<typeof TaskHouse>[0], string | null])[] = [
    ['open clips of a person', { limits: limits({ person: { open: 1 } }) }, null],
    ['open clips of a channel', { limits: limits({ channel: { open: 1 } }) }, null],
    ['clips a minute of a person', { limits: limits({ person: { perMinute: 1 } }) }, null],
    ['clips a minute of a channel', { limits: limits({ channel: { perMinute: 1 } }) }, null],
    ['budget of a person', {}, 'person:fake:T1:ada'],
    ['budget of everyone', {}, 'everyone:fake:T1'],
    ['budget of a channel', {}, 'channel:fake:T1:clips'],
    ['budget of a team', {}, 'team:fake:T1'],
    ['budget of the deployment', {}, 'deployment'],
    ['pause', { settingsOf: async () => ({ ...DEFAULT_SETTINGS, pause }) }, null],
    ['limit on the data', { assertWritable: gone }, null],
  ];

  it.each(one)('%s', async (name, options, budget) => {
    const house = new TaskHouse(options);
    // Room for one order, or for 3 of the 4 takes.
    if (name.startsWith('open') || name.includes('minute')) await house.submit({ key: 'first' });
    if (budget !== null) await house.store.keyv('budgets').set(budget, usd(1_199_999));
    const before = await house.store.count('history:fake:T1');
    const outcome = await house.service.submit(takesOf(4)).catch(() => ({ ok: false }));
    expect(outcome.ok).toBe(false);
    for (const id of idsOf(4)) expect(await house.repository.get(id)).toBeUndefined();
    expect(await house.store.count('history:fake:T1')).toBe(before);
    if (budget !== null) expect(await held(house.store)).toEqual([0n, 0n, 0n, 0n]);
    // With room for all of them, they are all there.
    if (budget === null) return;
    await house.store.keyv('budgets').set(budget, usd(1_200_000));
    expect(await house.service.submit(takesOf(4))).toMatchObject({ ok: true });
    expect(await held(house.store)).toEqual([1_200_000n, 1_200_000n, 1_200_000n, 1_200_000n]);
  });
});

describe.each(REPLICA_STORES)('a set over a budget, on %s', (_, open) => {
  let stores: ReplicaStores;
  beforeEach(async () => {
    stores = await open();
  });

  function setOf(name: string, of: number): readonly Task[] {
    const id = taskIdOf(name);
    return memberIds({ id, of }).map((member, index) =>
      newTask({
        id: member,
        set: { id, kind: 'takes', at: index + 1, of },
        money: { sends: [{ period: '2026-11', amount: '0.30', currency: 'USD', atMs: NOON_MS }] },
      }),
    );
  }

  it('that holds 11 of its 12 tasks is claimed in no part', async () => {
    const [store] = stores;
    await setBudget(store, 3_599_999);
    const repository = new TaskRepository(store);
    const refused = await repository.claim(setOf('whole', 12));
    expect(refused).toMatchObject({ kind: 'refused', over: { scope: 'team', price: '3.6', room: '3.599999' } });
    expect(await held(store)).toEqual([0n, 0n, 0n, 0n]);
    for (const { id } of setOf('whole', 12)) expect(await repository.get(id)).toBeUndefined();
    expect(await store.count('open:fake:T1')).toBe(0);
    await setBudget(store, 3_600_000);
    expect(await repository.claim(setOf('whole', 12))).toMatchObject({ kind: 'taken' });
    expect(await held(store)).toEqual([3_600_000n, 3_600_000n, 3_600_000n, 3_600_000n]);
  });

  it('is claimed whole or not at all by forty concurrent orders of two replicas', async () => {
    const [one, two] = stores;
    await setBudget(one, 10_000_000);
    const repositories = [new TaskRepository(one), new TaskRepository(two)];
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_each, at) =>
        (repositories[at % 2] as TaskRepository).claim(setOf(`set ${at >> 1}`, 4)),
      ),
    );
    // Eight of $1.20 fit; the second delivery of each finds the first one, or is refused like it.
    expect(claims.filter((claim) => claim.kind === 'taken')).toHaveLength(8);
    expect(await one.count('open:fake:T1')).toBe(32);
    expect((await held(one))[1]).toBe(9_600_000n);
    expect(await one.count('spend:fake:T1:2026-11')).toBe(32);
  });

  it('of 12, claimed by a process that died right then, is whole for another, and claimed no second time', async () => {
    const [one, two] = stores;
    await new TaskRepository(one).claim(setOf('dead', 12));
    const next = new TaskRepository(two);
    for (const { id, set } of setOf('dead', 12)) expect(await next.get(id)).toMatchObject({ state: 'claimed', set });
    expect(await next.claim(setOf('dead', 12))).toMatchObject({ kind: 'known', task: { set: { of: 12 } } });
    expect(await two.count('state:claimed')).toBe(12);
    expect((await held(two))[1]).toBe(3_600_000n);
  });

  it('releases and settles the price of each of its tasks', async () => {
    const [store] = stores;
    const repository = new TaskRepository(store);
    await repository.claim(setOf('each', 3));
    const [first, second] = setOf('each', 3) as [Task, Task];
    await repository.record(first.id, { kind: 'cancel', by: ADA, atMs: NOON_MS });
    await repository.record(second.id, EVENTS.send);
    expect((await held(store))[1]).toBe(600_000n);
  });
});
