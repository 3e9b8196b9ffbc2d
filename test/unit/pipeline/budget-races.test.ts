import { expect, test } from 'vitest';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { microsOf, sumsOf } from '#src/tasks/money.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, newTask, PURCHASE } from '#test/fakes/tasks.ts';

/** A task that two replicas know in the same revision, after these events. */
async function known(store: MemoryStore, ...events: readonly Parameters<TaskRepository['record']>[1][]) {
  const replicas = [new TaskRepository(store), new TaskRepository(store)] as const;
  const task = newTask();
  const claim = await replicas[0].claim([task]);
  if (claim.kind !== 'taken') throw new TypeError('the task is not new');
  for (const event of events) await replicas[0].record(task.id, event);
  const current = await replicas[0].get(task.id);
  const [purchase] = claim.task.money?.sends ?? [];
  if (current === undefined || purchase === undefined) throw new TypeError('the task has no money');
  const price = microsOf(purchase.amount);
  const sums = () => store.sums(Object.values(sumsOf(task.origin, purchase)));
  return { replicas, task: current, price, sums };
}

test('two replicas that see the same failure release the price once', async () => {
  const { replicas, task, price, sums } = await known(new MemoryStore(), EVENTS.send, EVENTS.accepted);
  expect(await sums()).toEqual(Array.from({ length: 4 }, () => ({ ...ZERO_SUM, held: price })));
  const recorded = await Promise.all(replicas.map((each) => each.record(task.id, EVENTS.failed, task)));
  expect(recorded.filter((one) => one?.done)).toHaveLength(1);
  expect(await sums()).toEqual(Array.from({ length: 4 }, () => ZERO_SUM));
});

test('a failure whose commit lost its answer releases the price once', async () => {
  const store = new MemoryStore();
  const { task, sums } = await known(store, EVENTS.send, EVENTS.accepted);
  const flaky = new FlakyStore(store);
  const replica = new TaskRepository(flaky);
  flaky.failNext('answer_lost');
  await expect(replica.record(task.id, EVENTS.failed, task)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await replica.record(task.id, EVENTS.failed, task)).toMatchObject({ done: false });
  expect(await sums()).toEqual(Array.from({ length: 4 }, () => ZERO_SUM));
});

test('two people who send the same task again at the limit buy it once', async () => {
  const store = new MemoryStore();
  const { replicas, task, price, sums } = await known(store, EVENTS.send, {
    kind: 'lost',
    failure: EVENTS.lost.failure,
  });
  const again = microsOf(PURCHASE.amount);
  const budget = { revision: 1, hard: { USD: String(price + again) }, soft: {} };
  await store.keyv('budgets').set(`team:${task.origin.platform}:${task.origin.team}`, budget);
  const recorded = await Promise.all(replicas.map((each) => each.record(task.id, EVENTS.resubmit, task)));
  expect(recorded.filter((one) => one?.done)).toHaveLength(1);
  expect(await sums()).toEqual(Array.from({ length: 4 }, () => ({ ...ZERO_SUM, held: again, doubted: price })));
});

test('an order that was not asked about, since a budget refused it, is not claimed once the budget is raised', async () => {
  const store = new MemoryStore();
  const repository = new TaskRepository(store);
  const task = newTask();
  const key = `team:${task.origin.platform}:${task.origin.team}`;
  await store.keyv('budgets').set(key, { revision: 1, hard: { USD: '0' }, soft: {} });
  const claim = (): Promise<unknown> => repository.claim([task], undefined, { isUnasked: true });
  expect(await claim()).toMatchObject({ kind: 'refused', over: { scope: 'team' } });
  await store.keyv('budgets').set(key, { revision: 2, hard: { USD: '99000000' }, soft: {} });
  expect(await claim()).toEqual({ kind: 'refused', isUnasked: true });
  expect(await repository.get(task.id)).toBeUndefined();
  await repository.claim([task]);
  expect(await claim()).toMatchObject({ kind: 'known' });
});
