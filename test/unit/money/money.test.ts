import { beforeEach, describe, expect, it } from 'vitest';
import type { SumPart } from '#src/engine/store/store.ts';
import { createMoney } from '#src/money/money.ts';
import { microsOf } from '#src/tasks/money.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, NOON_MS, requestedTask } from '#test/fakes/tasks.ts';

const ACTOR = { person: ADA, surface: 'command' } as const;
const TASK = requestedTask();
const { platform, team } = TASK.origin;

let store: MemoryStore;
let clock: ManualClock;
let money: ReturnType<typeof createMoney>;

beforeEach(() => {
  store = new MemoryStore();
  clock = new ManualClock(NOON_MS);
  money = createMoney({ store, clock });
});

const limit = (amount: string, currency = 'USD') =>
  money.budgets.change({ kind: 'team', platform, team }, ACTOR, { part: 'hard', amount: microsOf(amount), currency });
const spend = (amounts: Partial<Record<SumPart, string>>, period = '2026-11') => {
  const add = Object.fromEntries(Object.entries(amounts).map(([part, amount]) => [part, microsOf(amount)]));
  return store.commit({ records: [], sums: [{ sum: `team:${platform}:${team}:${period}:USD`, add }] });
};

describe('what a team has left', () => {
  it('is its budget and grants, without what is used, held and in doubt', async () => {
    await limit('40');
    await spend({ settled: '2', held: '1.5', doubted: '0.5', extra: '0.2' });
    expect(await money.leftFor(TASK)).toEqual({ amount: '36.2', currency: 'USD' });
  });

  it('is nothing for a team beyond its budget', async () => {
    await spend({ settled: '2' });
    await limit('1');
    expect(await money.leftFor(TASK)).toEqual({ amount: '0', currency: 'USD' });
  });

  it('is counted in the current month of the team’s time zone', async () => {
    await limit('40');
    await spend({ settled: '2' });
    await spend({ settled: '3' }, '2026-12');
    expect(await money.leftFor(TASK)).toMatchObject({ amount: '38' });
    clock.advance(Date.UTC(2026, 10, 30, 12) - NOON_MS);
    await money.settings.change({ platform, team }, ACTOR, { timeZone: 'Pacific/Kiritimati' });
    expect(await money.leftFor(TASK)).toMatchObject({ amount: '37' });
  });

  it('is unknown without a limit in the task’s currency', async () => {
    expect(await money.leftFor(TASK)).toBeNull();
    await limit('40', 'EUR');
    expect(await money.leftFor(TASK)).toBeNull();
    const own = { kind: 'person', platform, team, person: TASK.origin.user } as const;
    await money.budgets.change(own, ACTOR, { part: 'hard', amount: 5n, currency: 'USD' });
    expect(await money.leftFor(TASK)).toBeNull();
  });
});
