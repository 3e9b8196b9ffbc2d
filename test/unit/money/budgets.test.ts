import { beforeEach, describe, expect, it } from 'vitest';
import type { SumWrite } from '#src/engine/store/store.ts';
import { type BudgetChange, BudgetRepository, type BudgetScope } from '#src/money/budgets.ts';
import { microsOf } from '#src/tasks/money.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const ADA = { id: 'U1', name: 'Ada' };
const BOB = { id: 'U2', name: 'Bob' };
const ACTOR = { person: ADA, surface: 'command' } as const;
const OF = { platform: 'slack', team: 'T1' };
const TEAM = { kind: 'team', ...OF } as const;
const EVERYONE = { kind: 'everyone', ...OF } as const;
const CHANNEL = { kind: 'channel', ...OF, channel: 'C1' } as const;
const PERSON = { kind: 'person', ...OF, person: BOB } as const;
const ORIGIN = { ...OF, channel: 'C1', user: BOB };

let store: MemoryStore;
let audit: AuditTrail;
let budgets: BudgetRepository;

beforeEach(() => {
  store = new MemoryStore();
  audit = new AuditTrail(store, new ManualClock());
  budgets = new BudgetRepository({ store, audit });
});

const hard = (amount: string | null, currency?: string): BudgetChange => ({
  part: 'hard',
  amount: amount === null ? null : microsOf(amount),
  ...(currency === undefined ? {} : { currency }),
});
const soft = (amount: string | null, currency?: string): BudgetChange => ({ ...hard(amount, currency), part: 'soft' });
const set = (scope: Exclude<BudgetScope, { kind: 'deployment' }>, change: BudgetChange) =>
  budgets.change(scope, ACTOR, change);
const logged = async (log: Parameters<AuditTrail['page']>[0] = OF) =>
  (await audit.page(log, { offset: 0, limit: 100 })).entries.map(({ action, by, surface, subject, before, after }) => ({
    action,
    by,
    surface,
    subject,
    before,
    after,
  }));
const price = (amount: string, currency = 'USD') => ({ kind: 'price', price: { amount, currency } });

describe('a budget', () => {
  it('is stored as the commits compare it, by currency', async () => {
    await set(TEAM, hard('100', 'USD'));
    await set(TEAM, hard('20.5', 'EUR'));
    await set(TEAM, soft('80', 'USD'));
    expect(await store.keyv('budgets').get('team:slack:T1')).toMatchObject({
      revision: 3,
      hard: { USD: '100000000', EUR: '20500000' },
      soft: { USD: '80000000' },
    });
    expect(await budgets.get(TEAM)).toEqual({
      scope: TEAM,
      hard: { USD: microsOf('100'), EUR: microsOf('20.5') },
      soft: { USD: microsOf('80') },
      by: ADA,
    });
  });

  it('refuses what it does not cover, from the commit after it on', async () => {
    const spend = (amount: string) =>
      store.commit({
        records: [],
        sums: [{ sum: 'team:slack:T1:2026-11:USD', add: { held: microsOf(amount) } }],
        within: [{ sum: 'team:slack:T1:2026-11:USD', budgets: ['team:slack:T1'], currency: 'USD' }],
      });
    expect(await spend('8')).toBe(true);
    await set(TEAM, hard('10', 'USD'));
    expect(await spend('2.000001')).toBe(false);
    expect(await spend('2')).toBe(true);
    await set(TEAM, hard('5', 'USD'));
    expect(await spend('0')).toBe(false);
    await set(TEAM, hard(null));
    expect(await spend('1000')).toBe(true);
  });

  it('with an amount of 0 allows no money; off removes it, with its soft amount', async () => {
    await set(TEAM, hard('0', 'USD'));
    await set(TEAM, soft('1', 'USD'));
    expect((await budgets.get(TEAM))?.hard).toEqual({ USD: 0n });
    const { before, after } = await set(TEAM, hard(null));
    expect([before?.hard, after]).toEqual([{ USD: 0n }, null]);
    expect(await store.keyv('budgets').get('team:slack:T1')).toBeUndefined();
    expect(await budgets.list(OF)).toEqual([]);
  });

  it('loses only the currency or the part that is removed', async () => {
    await set(TEAM, hard('10', 'USD'));
    await set(TEAM, hard('20', 'EUR'));
    await set(TEAM, soft('8', 'USD'));
    await set(TEAM, soft('9', 'EUR'));
    await set(TEAM, hard(null, 'EUR'));
    expect((await budgets.get(TEAM))?.soft).toEqual({ USD: microsOf('8'), EUR: microsOf('9') });
    await set(TEAM, soft(null, 'EUR'));
    expect(await budgets.get(TEAM)).toMatchObject({ hard: { USD: microsOf('10') }, soft: { USD: microsOf('8') } });
    await set(TEAM, soft(null));
    expect(await budgets.get(TEAM)).toMatchObject({ hard: { USD: microsOf('10') }, soft: {} });
  });

  it('is listed with those of its team, in the order of their scopes', async () => {
    for (const scope of [PERSON, CHANNEL, EVERYONE, TEAM]) await set(scope, hard('1', 'USD'));
    await set({ ...TEAM, team: 'T2' }, hard('1', 'USD'));
    expect((await budgets.list(OF)).map(({ scope }) => scope)).toEqual([TEAM, EVERYONE, CHANNEL, PERSON]);
  });

  it('keeps every one of concurrent changes', async () => {
    const currencies = ['AAA', 'BBB', 'CCC', 'DDD', 'EEE'];
    await Promise.all(currencies.map((currency) => set(TEAM, hard('1', currency))));
    expect(Object.keys((await budgets.get(TEAM))?.hard ?? {}).toSorted()).toEqual(currencies);
    expect(await logged()).toHaveLength(5);
    expect(await audit.verify(OF)).toEqual({ ok: true, entries: 5 });
  });
});

describe('the audit log', () => {
  it('has exactly one entry per change, with who, before and after', async () => {
    await set(TEAM, hard('100', 'USD'));
    await set(TEAM, hard('150', 'USD'));
    await set(TEAM, hard('150', 'USD'));
    await set(PERSON, soft('5', 'USD'));
    await set(CHANNEL, hard('7', 'USD'));
    await set(EVERYONE, hard(null));
    const all = { by: ADA, surface: 'command' };
    expect((await logged()).toReversed()).toEqual([
      { ...all, action: 'budget', subject: [], before: [], after: [price('100')] },
      { ...all, action: 'budget', subject: [], before: [price('100')], after: [price('150')] },
      { ...all, action: 'soft_budget', subject: [{ kind: 'person', person: BOB }], before: [], after: [price('5')] },
      { ...all, action: 'budget', subject: [{ kind: 'channel', channel: 'C1' }], before: [], after: [price('7')] },
    ]);
  });

  it('names both parts where off removes both', async () => {
    await set(TEAM, hard('10', 'USD'));
    await set(TEAM, soft('8', 'USD'));
    await set(TEAM, hard(null));
    expect((await logged()).slice(0, 2).map(({ action, before, after }) => ({ action, before, after }))).toEqual([
      { action: 'soft_budget', before: [price('8')], after: [] },
      { action: 'budget', before: [price('10')], after: [] },
    ]);
  });
});

describe('the budget of the deployment', () => {
  it('follows the environment: set, changed, removed, each logged once', async () => {
    const amounts = [{ USD: 5n }, { USD: 5n }, { USD: 5n, EUR: 2n }, {}, {}];
    for (const one of amounts) await budgets.setDeployment(one);
    expect(await budgets.get({ kind: 'deployment' })).toBeNull();
    expect((await logged('deployment')).toReversed().map(({ before, after }) => [before.length, after.length])).toEqual(
      [
        [0, 1],
        [1, 2],
        [2, 0],
      ],
    );
    expect((await logged('deployment'))[0]).toMatchObject({ by: null, surface: 'environment', action: 'budget' });
    expect(await budgets.list(OF)).toEqual([]);
  });
});

describe('the limits of an order', () => {
  const NOVEMBER = { period: '2026-11', currency: 'USD' };
  const add = (sum: string, parts: SumWrite['add']) => store.commit({ records: [], sums: [{ sum, add: parts }] });

  it('are the amounts of each scope with its spend', async () => {
    await budgets.setDeployment({ USD: microsOf('500') });
    await set(TEAM, hard('100', 'USD'));
    await set(CHANNEL, soft('10', 'USD'));
    await add('team:slack:T1:2026-11:USD', { held: 3n, settled: 4n, doubted: 5n, extra: 6n });
    await add('team:slack:T1:2026-10:USD', { settled: 9n });
    expect(await budgets.limits(ORIGIN, NOVEMBER)).toEqual([
      {
        scope: 'deployment',
        hard: microsOf('500'),
        currencies: ['USD'],
        spend: { currency: 'USD', held: 0n, settled: 0n, doubted: 0n, extra: 0n },
      },
      {
        scope: 'team',
        hard: microsOf('100'),
        currencies: ['USD'],
        spend: { currency: 'USD', held: 3n, settled: 4n, doubted: 5n, extra: 6n },
      },
      {
        scope: 'channel',
        soft: microsOf('10'),
        currencies: [],
        spend: { currency: 'USD', held: 0n, settled: 0n, doubted: 0n, extra: 0n },
      },
    ]);
  });

  it('take the one of everyone for a person without a hard amount of their own', async () => {
    await set(EVERYONE, hard('5', 'USD'));
    await set(PERSON, soft('1', 'USD'));
    expect(await budgets.limits(ORIGIN, NOVEMBER)).toMatchObject([{ scope: 'person', hard: microsOf('5') }]);
    expect((await budgets.limiting(PERSON))?.scope).toEqual(EVERYONE);
    await set(PERSON, hard('7', 'EUR'));
    const [own] = await budgets.limits(ORIGIN, NOVEMBER);
    expect(own).toMatchObject({ scope: 'person', soft: microsOf('1'), currencies: ['EUR'] });
    expect(own).not.toHaveProperty('hard');
    expect((await budgets.limiting(PERSON))?.scope).toEqual(PERSON);
  });
});
