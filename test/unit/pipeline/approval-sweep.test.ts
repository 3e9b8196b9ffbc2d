import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Jobs } from '#src/engine/jobs/jobs.ts';
import { approvalSweep } from '#src/pipeline/approval-sweep.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import { OUTBOX } from '#src/tasks/indexes.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, NOON_MS, newTask, requestedTask } from '#test/fakes/tasks.ts';

const HOUR_MS = 3_600_000;

/** Two replicas on one store, with an open request and a claimed task. */
async function replicas() {
  const [store, clock] = [new MemoryStore(), new ManualClock(NOON_MS)];
  const logger = pino({ level: 'silent' });
  const repositories = [new TaskRepository(store), new TaskRepository(store)] as const;
  const events: string[] = [];
  for (const repository of repositories)
    repository.subscribe({ changed: (task, event) => void events.push(`${event} ${task.id}`) });
  const [repository] = repositories;
  const request = requestedTask({ id: 'request' as TaskId });
  for (const task of [request, newTask({ id: 'claimed' as TaskId })]) await repository.claim([task]);
  const presented = { kind: 'presented', revision: 1 } as const;
  await repository.record(request.id, presented);
  events.length = 0;
  const sweeps = repositories.map((one) => new Jobs({ store, clock, logger }, [approvalSweep(one, clock)]));
  const sweep = async (atMs: number): Promise<void> => {
    clock.advance(atMs - clock.now());
    await Promise.all(sweeps.map((one) => one.runNow('approval_sweep')));
  };
  return { store, clock, repository, events, sweep, request };
}

it('reminds the approvers once, four hours before the end, and records the expiry once', async () => {
  const { store, repository, events, sweep, request } = await replicas();
  await sweep(NOON_MS + 20 * HOUR_MS - 1);
  expect(events).toEqual([]);
  for (const afterMs of [20 * HOUR_MS, 22 * HOUR_MS, 24 * HOUR_MS - 1]) await sweep(NOON_MS + afterMs);
  expect(events).toEqual(['remind request']);
  expect(await repository.get(request.id)).toMatchObject({ state: 'requested', presented: false });
  for (const afterMs of [24 * HOUR_MS, 25 * HOUR_MS]) await sweep(NOON_MS + afterMs);
  expect(events).toEqual(['remind request', 'decline request']);
  expect(await repository.get(request.id)).toMatchObject({ state: 'declined', declined: { how: 'expired' } });
  expect((await store.scan(OUTBOX)).map(({ member }) => member)).toEqual(['request']);
});

it('leaves a request that was decided on alone', async () => {
  const { repository, events, sweep, request } = await replicas();
  await repository.record(request.id, EVENTS.approve);
  await sweep(NOON_MS + 25 * HOUR_MS);
  expect(events).toEqual(['approve request']);
});

it('reminds of a set and expires it as a whole', async () => {
  const { repository, events, sweep } = await replicas();
  const id = 'set' as TaskId;
  const tasks = memberIds({ id, of: 4 }).map((one, at) =>
    requestedTask({ id: one, set: { id, kind: 'takes', at: at + 1, of: 4 } }),
  );
  await repository.claim(tasks);
  events.length = 0;
  await sweep(NOON_MS + 20 * HOUR_MS);
  const ofSet = (event: string) => tasks.map((task) => `${event} ${task.id}`);
  expect(events).toEqual(expect.arrayContaining(ofSet('remind')));
  expect(events).toHaveLength(5);
  await sweep(NOON_MS + 24 * HOUR_MS);
  expect(events.slice(5)).toEqual(expect.arrayContaining(ofSet('decline')));
  for (const task of tasks) expect(await repository.get(task.id)).toMatchObject({ state: 'declined', revision: 3 });
});
