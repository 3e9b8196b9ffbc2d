import { beforeEach, describe, expect, it } from 'vitest';
import { createMoney, type Money } from '#src/money/money.ts';
import { microsOf } from '#src/tasks/money.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

type Environment = Parameters<Money['applyEnvironment']>[0];

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

/** Starts a replica with an environment. */
const start = (changes: Partial<Environment> = {}) =>
  createMoney({ store, clock: new ManualClock() }).applyEnvironment({
    budgetPerMonth: {},
    admins: [],
    refunds: 'assumed',
    ...changes,
  });
const logged = async () => {
  const { audit } = createMoney({ store, clock: new ManualClock() });
  expect(await audit.verify('deployment')).toMatchObject({ ok: true });
  const { entries } = await audit.page('deployment', { offset: 0, limit: 100 });
  return entries.map(({ action, by, surface, subject, before, after }) => ({
    action,
    by,
    surface,
    values: [subject, before, after].map((some) => some.map((value) => ('text' in value ? value.text : value.kind))),
  }));
};
const entry = (...values: readonly (readonly string[])[]) => ({
  action: 'environment',
  by: null,
  surface: 'environment',
  values,
});

const ADA = { platform: 'slack', user: 'U1' };
const BOB = { platform: 'discord', user: '2' };

describe('the environment', () => {
  it('is not logged while it has its defaults', async () => {
    await start();
    expect(await logged()).toEqual([]);
  });

  it('leaves one entry per change over replicas that start at once', async () => {
    const environment = {
      admins: [ADA],
      refunds: 'by_statement',
      budgetPerMonth: { USD: microsOf('500') },
    } as const;
    await Promise.all([start(environment), start(environment)]);
    await start(environment);
    expect(await logged()).toEqual([
      entry(['REFUNDS'], ['assumed'], ['by_statement']),
      entry(['ADMINS'], [], ['slack:U1']),
      { ...entry([], [], ['price']), action: 'budget' },
    ]);
  });

  it('is compared with the last start, whatever the order of ADMINS', async () => {
    await start({ admins: [ADA, BOB] });
    await start({ admins: [BOB, ADA, ADA] });
    await Promise.all([start({ admins: [BOB] }), start({ admins: [BOB] })]);
    await start();
    expect(await logged()).toEqual([
      entry(['ADMINS'], ['discord:2'], []),
      entry(['ADMINS'], ['discord:2', 'slack:U1'], ['discord:2']),
      entry(['ADMINS'], [], ['discord:2', 'slack:U1']),
    ]);
  });
});
