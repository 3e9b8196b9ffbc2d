import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { Reviews } from '#src/studio/reviews.ts';
import type { Task } from '#src/tasks/task.ts';
import { REPLICA_STORES, type ReplicaStores } from '#test/fakes/replica-stores.ts';
import { ADA, BOB, EVENTS, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const logger = pino({ level: 'silent' });

const DONE = [EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched] as const;

describe.each(REPLICA_STORES)('reviews, on %s', (_, open) => {
  let stores: ReplicaStores;
  let repositories: readonly [TaskRepository, TaskRepository];
  let replicas: readonly [Reviews, Reviews];
  beforeEach(async () => {
    stores = await open();
    const [one, two] = stores;
    repositories = [new TaskRepository(one), new TaskRepository(two)];
    replicas = [
      new Reviews({ store: one, repository: repositories[0], logger }),
      new Reviews({ store: two, repository: repositories[1], logger }),
    ];
  });

  async function finished(changes: Partial<Task> = {}, events: readonly (typeof DONE)[number][] = DONE): Promise<Task> {
    const [repository] = repositories;
    const claim = await repository.claim([newTask(changes)]);
    for (const event of events) {
      const own = event.kind === 'accepted' ? { ...event, upstreamId: `up-${changes.id ?? ''}` as never } : event;
      await repository.record(newTask(changes).id, own);
    }
    if (claim.kind === 'refused') throw new TypeError('a refused claim');
    return (await repository.get(claim.task.id)) as Task;
  }

  it('count one of several decisions that two replicas take at once; the others learn of it', async () => {
    const task = await finished();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_each, at) => {
        const decision =
          at % 2 === 0
            ? ({ kind: 'signed_off', by: ADA, atMs: NOON_MS } as const)
            : ({ kind: 'changes_requested', by: BOB, atMs: NOON_MS, note: { text: `note ${at}` } } as const);
        return (replicas[at % 2] as Reviews).decide(task, decision, 0);
      }),
    );
    const [first, ...more] = outcomes.filter(({ done }) => done);
    expect(more).toEqual([]);
    const stored = await repositories[1].get(task.id);
    expect(stored?.review).toHaveLength(1);
    for (const outcome of outcomes) expect(outcome.task.review).toEqual(first?.task.review);
    expect(await stores[0].count('outbox')).toBe(1);
  });

  it('know the newer versions that have a clip or may still get one', async () => {
    const root = await finished({ id: taskIdOf('root') });
    const retry = (key: string, events: readonly (typeof DONE)[number][]) =>
      finished({ id: taskIdOf(key), retryOf: root.id }, events);
    const done = await retry('done', DONE);
    const failed = await retry('failed', DONE.slice(0, 2));
    await repositories[0].record(failed.id, EVENTS.failed);
    const running = await retry('running', DONE.slice(0, 2));
    const [reviews] = replicas;
    expect((await reviews.newer(root)).map(({ id }) => id)).toEqual([running.id, done.id]);
    expect((await reviews.newer(done)).map(({ version }) => version?.number)).toEqual([4]);
    expect(await reviews.newer(running)).toEqual([]);
  });
});
