import { expect, test } from 'vitest';
import { NO_MONEY } from './money.ts';
import { drawPlan, FAULT_KINDS, type PlanOptions } from './plan.ts';
import { commandOf, rowOf } from './report.ts';
import { run } from './run.ts';

/** Short form of `npm run chaos`: a few seeds with different faults. Mostly waiting, so they run concurrently. */
const RUNS: readonly PlanOptions[] = [
  {
    seed: 16,
    store: 'sqlite',
    replicas: 1,
    interactions: 16,
    faults: ['kill', 'disk', 'clock', 'service-cut', 'service'],
    profile: 'none',
  },
  {
    seed: 8,
    store: 'redis',
    replicas: 2,
    interactions: 16,
    faults: ['kill', 'redis-kill', 'redis-cut', 'service', 'key'],
    profile: 'list',
  },
  {
    seed: 60,
    store: 'redis',
    replicas: 2,
    interactions: 16,
    faults: ['roll', 'redis-full', 'redis-readonly', 'redis-clients', 'replica', 'service'],
    profile: 'price',
  },
];

test.concurrent.each(RUNS)(
  'seed $seed on $store, profile $profile: nothing is lost, duplicated or wrong',
  { timeout: 600_000 },
  async (options) => {
    const done = await run(drawPlan(options));
    const grave = done.violations.filter(({ isWarning }) => isWarning !== true);
    expect(grave, `${rowOf(done)}${commandOf(done.plan)}`).toEqual([]);
    expect(done.history.store.tasks.size).toBeGreaterThanOrEqual(options.interactions);
  },
);

test('draws every requested fault kind; chat faults add the chats', () => {
  const drawn = (faults: PlanOptions['faults']) =>
    Array.from({ length: 40 }, (_, seed) => drawPlan({ seed, store: 'redis', replicas: 2, interactions: 5, faults }));
  const plans = drawn(FAULT_KINDS);
  const kinds = plans.flatMap(({ schedule }) => schedule.map(({ kind }) => kind));
  // Faults of the service and changes of money are no part of the schedule.
  expect(new Set([...kinds, 'service', 'money', 'remove'])).toEqual(new Set(FAULT_KINDS));
  expect(plans.some(({ money }) => money !== NO_MONEY)).toBe(true);
  const onlyToChats = drawn(['delete', 'token', 'scope']);
  expect(onlyToChats.every(({ orders }) => new Set(orders.map(({ platform }) => platform)).size === 3)).toBe(true);
  expect(new Set(onlyToChats.flatMap(({ schedule }) => schedule.map(({ chat }) => chat)))).toEqual(
    new Set(['discord', 'slack']),
  );
});

test('draws the same plan for the same seed', () => {
  const options = { store: 'redis', replicas: 4, interactions: 30, faults: FAULT_KINDS } as const;
  expect(drawPlan({ ...options, seed: 7 })).toEqual(drawPlan({ ...options, seed: 7 }));
  expect(drawPlan({ ...options, seed: 7 }).schedule).not.toEqual(drawPlan({ ...options, seed: 8 }).schedule);
});
