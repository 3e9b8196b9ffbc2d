import { beforeEach, describe, expect, it } from 'vitest';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { versionOf } from '#src/tasks/review/versions.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { REPLICA_STORES, type ReplicaStores } from '#test/fakes/replica-stores.ts';
import { NOON_MS, newTask } from '#test/fakes/tasks.ts';

const ROOT = taskIdOf('root');

function retryOf(original: TaskId, key: string, changes: Partial<Task> = {}): Task {
  return newTask({ id: taskIdOf(key), retryOf: original, createdAtMs: NOON_MS + 1_000, ...changes });
}

async function claimed(repository: TaskRepository, task: Task): Promise<Task> {
  const claim = await repository.claim([task]);
  if (claim.kind !== 'taken') throw new TypeError(`${task.id} was ${claim.kind}`);
  return claim.task;
}

describe('the number of a version', () => {
  it('counts all retries below the root, in the order of their claims', async () => {
    const repository = new TaskRepository(new MemoryStore());
    const root = await claimed(repository, newTask({ id: ROOT }));
    const a = await claimed(repository, retryOf(ROOT, 'a'));
    const b = await claimed(repository, retryOf(a.id, 'b'));
    const c = await claimed(repository, retryOf(ROOT, 'c'));
    expect([root, a, b, c].map(versionOf)).toEqual([1, 2, 3, 4]);
    expect([a, b, c].map(({ version }) => version?.root)).toEqual([ROOT, ROOT, ROOT]);
  });

  it('stays when the root or another version is removed, and is not given twice', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    await claimed(repository, newTask({ id: ROOT }));
    const a = await claimed(repository, retryOf(ROOT, 'a'));
    for (const id of [ROOT, a.id]) {
      await repository.record(id, { kind: 'cancel', by: a.origin.user, atMs: NOON_MS });
      const { revision = 0 } = (await repository.get(id)) ?? {};
      await repository.record(id, { kind: 'presented', revision });
      const removed = await repository.record(id, {
        kind: 'remove',
        reason: 'deleted',
        keepsContent: false,
        atMs: NOON_MS,
      });
      expect(removed?.done).toBe(true);
    }
    expect(versionOf((await repository.get(a.id)) as Task)).toBe(2);
    expect(versionOf(await claimed(repository, retryOf(a.id, 'b')))).toBe(3);
  });

  it('is the same for a redelivered order', async () => {
    const repository = new TaskRepository(new MemoryStore());
    await claimed(repository, newTask({ id: ROOT }));
    await claimed(repository, retryOf(ROOT, 'a'));
    expect(await repository.claim([retryOf(ROOT, 'a')])).toMatchObject({
      kind: 'known',
      task: { version: { number: 2 } },
    });
    expect(versionOf(await claimed(repository, retryOf(ROOT, 'b')))).toBe(3);
  });

  it('goes on through the takes of a set', async () => {
    const repository = new TaskRepository(new MemoryStore());
    await claimed(repository, newTask({ id: ROOT }));
    const takes = ['t1', 't2', 't3'].map((key) => retryOf(ROOT, key));
    expect(await repository.claim(takes)).toMatchObject({
      tasks: [{ version: { number: 2 } }, { version: { number: 3 } }, { version: { number: 4 } }],
    });
    expect(versionOf(await claimed(repository, retryOf(ROOT, 'a')))).toBe(5);
  });
});

const AT_ONCE = 20;

describe.each(REPLICA_STORES)('versions claimed at once, on %s', (_, open) => {
  let stores: ReplicaStores;
  beforeEach(async () => {
    stores = await open();
  });

  it('have different numbers without gaps, also below different retries', async () => {
    const [one, two] = stores.map((store) => new TaskRepository(store)) as [TaskRepository, TaskRepository];
    await claimed(one, newTask({ id: ROOT }));
    const child = await claimed(one, retryOf(ROOT, 'child'));
    const made = await Promise.all(
      Array.from({ length: AT_ONCE }, (_each, at) =>
        claimed(at % 2 === 0 ? one : two, retryOf(at % 3 === 0 ? child.id : ROOT, `race-${at}`)),
      ),
    );
    const numbers = made.map((task) => task.version?.number ?? 0).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: AT_ONCE }, (_each, at) => at + 3));
    for (const { id, version } of made) expect((await two.get(id))?.version).toEqual(version);
  });
});
