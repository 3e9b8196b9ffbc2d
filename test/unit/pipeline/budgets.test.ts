import { describe, expect, it } from 'vitest';
import type { Store } from '#src/engine/store/store.ts';
import { sumsOf } from '#src/tasks/money.ts';
import type { Price, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { DEFAULT_SETTINGS } from '#src/teams/settings-schema.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { TaskHouse, type TaskHouseOptions } from '#test/fakes/task-house.ts';
import { ADA, BOB, EVENTS, newTask, orderOf, originOf } from '#test/fakes/tasks.ts';

const { send, accepted, completed, failed, lost } = EVENTS;
const NOVEMBER = { period: '2026-11', currency: 'USD' };
const CENTS_30: Price = { amount: '0.30', currency: 'USD' };

/** Sets the hard amounts of a budget, in millionths. */
async function setBudget(store: Store, key: string, hard: Readonly<Record<string, string>>): Promise<void> {
  const record = { revision: 1, hard, soft: {} };
  await store.commit({ records: [{ namespace: 'budgets', key, value: record, expected: 'any' }] });
}

/** Returns the parts of the sums of Ada's scopes. */
function sumsIn(house: TaskHouse, when = NOVEMBER) {
  return house.store.sums(Object.values(sumsOf(originOf(), when)));
}

/** Returns a house with an uncertain task of 0.30 USD. */
async function withUncertain(options: TaskHouseOptions = {}) {
  const house = new TaskHouse(options);
  const { task } = await house.submit();
  for (const event of [send, lost]) await house.repository.record(task.id, event);
  return { house, id: task.id };
}

describe('an order', () => {
  it('is claimed up to the limit, and not beyond', async () => {
    const house = new TaskHouse();
    await setBudget(house.store, 'team:fake:T1', { USD: '10000000' });
    const prices = { price: { amount: '0.40', currency: 'USD' } };
    const orders = Array.from({ length: 200 }, (_, at) => house.service.submit(orderOf({ key: `k${at}`, ...prices })));
    const outcomes = await Promise.all(orders);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(25);
    expect(outcomes.find(({ ok }) => !ok)).toEqual({
      ok: false,
      over: {
        scope: 'team',
        budget: 'team:fake:T1',
        period: '2026-11',
        currency: 'USD',
        limit: '10',
        used: '10',
        held: '10',
        doubted: '0',
        room: '0',
        price: '0.4',
      },
    });
    expect(await sumsIn(house)).toEqual(
      Array.from({ length: 4 }, () => ({ held: 10_000_000n, settled: 0n, doubted: 0n, extra: 0n })),
    );
  });

  it('is refused by the scope with the least room, and changes no sum', async () => {
    const house = new TaskHouse();
    await setBudget(house.store, 'deployment', { USD: '100000000' });
    await setBudget(house.store, 'channel:fake:T1:clips', { USD: '200000' });
    await setBudget(house.store, 'everyone:fake:T1', { USD: '100000' });
    const refused = await house.service.submit(orderOf());
    expect(refused).toMatchObject({ over: { scope: 'person', budget: 'everyone:fake:T1', room: '0.1' } });
    await setBudget(house.store, 'person:fake:T1:ada', { USD: '900000' });
    expect(await house.service.submit(orderOf())).toMatchObject({ over: { scope: 'channel', room: '0.2' } });
    for (const { held } of await sumsIn(house)) expect(held).toBe(0n);
    expect(
      await house.service.history(
        { platform: 'fake', team: 'T1', viewer: { user: 'ada', channel: 'clips' } },
        { offset: 0, limit: 9 },
      ),
    ).toEqual([]);
  });

  it('is refused in a currency that the budget has no amount in, and passes at no cost', async () => {
    const house = new TaskHouse();
    await setBudget(house.store, 'team:fake:T1', { EUR: '900000000', JPY: '0' });
    expect(await house.service.submit(orderOf())).toMatchObject({ over: { scope: 'team', missingCurrency: true } });
    const yen = (amount: string) => orderOf({ key: amount, price: { amount, currency: 'JPY' } });
    expect(await house.service.submit(yen('40'))).toMatchObject({ over: { limit: '0', room: '0', price: '40' } });
    expect(await house.service.submit(yen('0'))).toMatchObject({ ok: true });
  });

  it('is over a limit that was lowered below what is used, and what runs goes on', async () => {
    const house = new TaskHouse();
    const { task } = await house.submit();
    await setBudget(house.store, 'team:fake:T1', { USD: '100000' });
    expect(await house.service.submit(orderOf({ key: 'second' }))).toMatchObject({ over: { room: '-0.2' } });
    for (const event of [send, accepted, completed]) await house.repository.record(task.id, event);
    expect(await sumsIn(house)).toMatchObject([{ held: 0n, settled: 300_000n }, {}, {}, {}]);
  });

  it('that was claimed before is found, not refused', async () => {
    const house = new TaskHouse();
    await house.submit();
    await setBudget(house.store, 'team:fake:T1', { USD: '0' });
    expect(await house.service.submit(orderOf())).toMatchObject({ ok: true, isNew: false });
  });

  it('is refused by an error while a budget is damaged', async () => {
    const house = new TaskHouse();
    await house.store.keyv('budgets').set('team:fake:T1', { revision: 1, hard: { USD: 'a lot' } });
    await expect(house.service.submit(orderOf())).rejects.toMatchObject({ code: 'record_damaged' });
  });

  it('counts in the month of the team at the time of the claim', async () => {
    const zones = new Map([['T1', 'Pacific/Kiritimati']]);
    const settingsOf = async ({ team }: { team: string }) => ({
      ...DEFAULT_SETTINGS,
      timeZone: zones.get(team) ?? 'UTC',
    });
    const house = new TaskHouse({ settingsOf });
    await house.pass(Date.UTC(2026, 10, 30, 12) - house.clock.now(), 3_600_000);
    const december = await house.submit();
    // A zone that is changed in mid-month affects what is bought afterwards.
    zones.set('T1', 'America/Los_Angeles');
    const november = await house.submit({ key: 'second' });
    expect([december, november].map(({ task }) => task.money?.sends[0]?.period)).toEqual(['2026-12', '2026-11']);
    for (const event of [send, accepted, failed]) await house.repository.record(december.task.id, event);
    expect(await sumsIn(house, { ...NOVEMBER, period: '2026-12' })).toMatchObject([{ held: 0n }, {}, {}, {}]);
    expect(await sumsIn(house)).toMatchObject([{ held: 300_000n }, {}, {}, {}]);
  });

  it('is claimed once by two replicas whose clocks are on both sides of midnight', async () => {
    const store = new MemoryStore();
    const [early, late] = [new TaskHouse({ store }), new TaskHouse({ store })];
    const midnightMs = Date.UTC(2026, 11, 1);
    await early.pass(midnightMs - 2_500 - early.clock.now(), 3_600_000);
    await late.pass(midnightMs + 2_500 - late.clock.now(), 3_600_000);
    const both = await Promise.all([early.submit(), late.submit()]);
    expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);
    const sums = await store.sums(['team:fake:T1:2026-11:USD', 'team:fake:T1:2026-12:USD']);
    expect(sums.reduce((total, { held }) => total + held, 0n)).toBe(300_000n);
  });

  it('is not claimed while the settings of the team cannot be read, or the store', async () => {
    const settingsOf = () => Promise.reject(new Error('no settings'));
    const house = new TaskHouse({ settingsOf });
    await expect(house.submit()).rejects.toThrow('no settings');
    const store = new FlakyStore(new MemoryStore());
    const away = new TaskHouse({ store });
    store.failNext('unwritten');
    await expect(away.submit()).rejects.toMatchObject({ code: 'store_unavailable' });
    for (const { held } of await sumsIn(away)) expect(held).toBe(0n);
  });

  it('whose commit was applied and its response lost counts once', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store });
    store.failNext('answer_lost');
    await expect(house.submit()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await house.submit()).toMatchObject({ isNew: false });
    for (const { held } of await sumsIn(house)) expect(held).toBe(300_000n);
  });

  it('is refunded once a statement shows it, where refunds are not assumed', async () => {
    const house = new TaskHouse({ refunds: 'by_statement' });
    const { task } = await house.submit();
    for (const event of [send, accepted, failed]) await house.repository.record(task.id, event);
    expect(await sumsIn(house)).toMatchObject([{ held: 300_000n }, {}, {}, {}]);
    const booking = { kind: 'book', send: 1, as: 'refunded' } as const;
    expect(await house.repository.record(task.id, booking)).toMatchObject({ done: true });
    expect(await house.repository.record(task.id, booking)).toMatchObject({ done: false });
    for (const { held } of await sumsIn(house)) expect(held).toBe(0n);
  });

  it('lost between its commit and its POST, or its POST and the response, still counts after 40 days', async () => {
    const { house, id } = await withUncertain();
    await house.submit({ key: 'never sent' });
    house.clock.advance(40 * 86_400_000);
    for (const parts of await sumsIn(house)) expect(parts).toMatchObject({ doubted: 300_000n, held: 300_000n });
    expect(await house.repository.get(id)).toMatchObject({ state: 'uncertain' });
  });
});

describe('another submission', () => {
  it.each([
    ['UTC', '2026-12-01T00:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-30T10:00:00.000Z'],
    ['America/Los_Angeles', '2026-12-01T08:00:00.000Z'],
  ])('is a purchase of its own, at its price and in its month: %s, %s', async (timeZone, again) => {
    const { house, id } = await withUncertain({ settingsOf: async () => ({ ...DEFAULT_SETTINGS, timeZone }) });
    await house.pass(Date.parse(again) - house.clock.now(), 3_600_000);
    const price = { amount: '0.50', currency: 'USD' };
    expect(await house.service.resubmit(id, BOB, { afterSends: 1, price })).toMatchObject({ done: true });
    expect((await house.repository.get(id))?.money?.sends).toMatchObject([
      { period: '2026-11', amount: '0.30', counted: 'doubted' },
      { period: '2026-12', amount: '0.50', counted: 'held' },
    ]);
    expect(await sumsIn(house)).toMatchObject([{ doubted: 300_000n, held: 0n }, {}, {}, {}]);
    expect(await sumsIn(house, { ...NOVEMBER, period: '2026-12' })).toMatchObject([{ held: 500_000n }, {}, {}, {}]);
  });

  it('over a budget buys nothing, and does once the budget is raised', async () => {
    const { house, id } = await withUncertain();
    await setBudget(house.store, 'team:fake:T1', { USD: '500000' });
    const resubmission = { afterSends: 1, price: CENTS_30 };
    const refused = await house.service.resubmit(id, ADA, resubmission);
    expect(refused).toMatchObject({ done: false, over: { scope: 'team', doubted: '0.3', room: '0.2', price: '0.3' } });
    expect(await house.repository.get(id)).toMatchObject({ state: 'uncertain', revision: 3 });
    await setBudget(house.store, 'team:fake:T1', { USD: '600000' });
    expect(await house.service.resubmit(id, ADA, resubmission)).toMatchObject({ done: true });
  });

  it('by two people at the limit is bought once', async () => {
    const { house, id } = await withUncertain();
    const other = await house.submit({ key: 'other' });
    for (const event of [send, lost]) await house.repository.record(other.task.id, event);
    await setBudget(house.store, 'team:fake:T1', { USD: '900000' });
    const resubmission = { afterSends: 1, price: CENTS_30 };
    const both = [
      house.service.resubmit(id, ADA, resubmission),
      house.service.resubmit(id, BOB, resubmission),
      house.service.resubmit(other.task.id, ADA, resubmission),
      house.service.resubmit(other.task.id, BOB, resubmission),
    ];
    expect((await Promise.all(both)).filter(({ done }) => done)).toHaveLength(1);
    for (const { held, doubted } of await sumsIn(house)) expect(held + doubted).toBe(900_000n);
  });

  it('does not look at a limit for what the service reports', async () => {
    const { house, id } = await withUncertain();
    await setBudget(house.store, 'team:fake:T1', { USD: '0' });
    expect(await house.repository.record(id, accepted)).toMatchObject({ done: true });
    expect(await house.repository.record(id, completed)).toMatchObject({ done: true });
    for (const { settled } of await sumsIn(house)) expect(settled).toBe(300_000n);
  });
});

it('a decision on an uncertain task is logged with it, once', async () => {
  const log = async ({ store, clock }: TaskHouse) => {
    const { entries } = await new AuditTrail(store, clock).page(originOf(), { offset: 0, limit: 10 });
    return entries.map(({ by, subject, after, surface }) => ({ by, subject, after, surface }));
  };
  const subject = (task: string) => [
    { kind: 'task', task },
    { kind: 'person', person: ADA },
  ];
  const { house, id } = await withUncertain();
  const again = { afterSends: 1, price: CENTS_30 };
  await setBudget(house.store, 'team:fake:T1', { USD: '300000' });
  expect(await house.service.resubmit(id, BOB, again)).toMatchObject({ done: false });
  expect(await log(house)).toEqual([]);
  await setBudget(house.store, 'team:fake:T1', { USD: '600000' });
  await Promise.all([house.service.resubmit(id, BOB, again), house.service.resubmit(id, BOB, again)]);
  const sentAgain = [
    { kind: 'text', text: 'sent again' },
    { kind: 'price', price: CENTS_30 },
  ];
  expect(await log(house)).toEqual([{ by: BOB, subject: subject(id), after: sentAgain, surface: 'button' }]);
  for (const [decide, text, surface] of [
    [(of: TaskHouse, task: TaskId) => of.service.leave(task, BOB), 'dismissed', 'button'],
    [(of: TaskHouse, task: TaskId) => of.service.identify(task, BOB, 'up-1' as UpstreamId), 'ID entered', 'form'],
    [
      (of: TaskHouse, task: TaskId) => of.service.identify(task, BOB, 'up-1' as UpstreamId, 'button'),
      'ID entered',
      'button',
    ],
  ] as const) {
    const other = await withUncertain();
    await decide(other.house, other.id);
    expect(await log(other.house)).toMatchObject([
      { by: BOB, subject: subject(other.id), after: [{ text }, { price: CENTS_30 }], surface },
    ]);
  }
});

it('a purchase in a state that refuses it is judged by the state, not by the budget', async () => {
  const house = new TaskHouse();
  const { task } = await house.submit();
  await setBudget(house.store, 'team:fake:T1', { USD: '0' });
  const decision = await house.service.resubmit(newTask().id, ADA, { afterSends: 1, price: CENTS_30 });
  expect(decision).toEqual({ done: false, task: expect.objectContaining({ id: task.id, state: 'claimed' }) });
});
