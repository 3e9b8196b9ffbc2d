import { expect, test } from 'vitest';
import { drawPlan, FAULT_KINDS, type PlanOptions } from './plan.ts';
import { commandOf, rowOf } from './report.ts';
import { run } from './run.ts';

/** The short form of `npm run chaos`: a few seeds whose faults differ. Most of each is waiting: they run at once. */
const RUNS: readonly PlanOptions[] = [
  {
    seed: 16,
    store: 'sqlite',
    replicas: 1,
    interactions: 16,
    faults: ['kill', 'disk', 'clock', 'service-cut', 'service'],
  },
  { seed: 8, store: 'redis', replicas: 2, interactions: 16, faults: ['kill', 'redis-kill', 'redis-cut', 'service'] },
  {
    seed: 60,
    store: 'redis',
    replicas: 2,
    interactions: 16,
    faults: ['roll', 'redis-full', 'redis-readonly', 'redis-clients', 'replica', 'service'],
  },
];

test.concurrent.each(RUNS)(
  'seed $seed on $store: nothing is lost, doubled or wrong',
  { timeout: 120_000 },
  async (options) => {
    const done = await run(drawPlan(options));
    const grave = done.violations.filter(({ isWarning }) => isWarning !== true);
    expect(grave, `${rowOf(done)}${commandOf(done.plan)}`).toEqual([]);
    expect(done.history.store.tasks.size).toBeGreaterThanOrEqual(options.interactions);
  },
);

test('whatever is asked for is drawn, and what happens to chats brings them along', () => {
  const drawn = (faults: PlanOptions['faults']) =>
    Array.from({ length: 40 }, (_, seed) => drawPlan({ seed, store: 'redis', replicas: 2, interactions: 5, faults }));
  const kinds = drawn(FAULT_KINDS).flatMap(({ schedule }) => schedule.map(({ kind }) => kind));
  expect(new Set([...kinds, 'service'])).toEqual(new Set(FAULT_KINDS));
  const onlyToChats = drawn(['delete', 'token', 'scope']);
  expect(onlyToChats.every(({ orders }) => new Set(orders.map(({ platform }) => platform)).size === 3)).toBe(true);
  expect(new Set(onlyToChats.flatMap(({ schedule }) => schedule.map(({ chat }) => chat)))).toEqual(
    new Set(['discord', 'slack']),
  );
});

test('a seed decides everything that is drawn', () => {
  const options = { store: 'redis', replicas: 4, interactions: 30, faults: FAULT_KINDS } as const;
  expect(drawPlan({ ...options, seed: 7 })).toEqual(drawPlan({ ...options, seed: 7 }));
  expect(drawPlan({ ...options, seed: 7 }).schedule).not.toEqual(drawPlan({ ...options, seed: 8 }).schedule);
});
