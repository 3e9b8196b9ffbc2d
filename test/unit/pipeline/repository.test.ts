import { describe, expect, it } from 'vitest';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { BOB, EVENTS, NOON_MS, newTask } from '#test/fakes/tasks.ts';

/** A repository with one claimed task, and the number of its reads. */
async function recording(): Promise<{ readonly repository: TaskRepository; readonly reads: () => number }> {
  const store = new MemoryStore();
  const records = store.keyv('tasks');
  const get = records.get.bind(records);
  const commit = store.commit.bind(store);
  let [reads, isCommitting] = [0, false];
  records.get = (async (key: string) => {
    if (!isCommitting) reads += 1;
    return get(key);
  }) as typeof records.get;
  // This store compares by reading; those reads are not counted.
  store.commit = async (change) => {
    isCommitting = true;
    return commit(change).finally(() => {
      isCommitting = false;
    });
  };
  const repository = new TaskRepository(store);
  await repository.claim([newTask()]);
  return { repository, reads: () => reads };
}

describe('an event', () => {
  it('is applied to a known record without reading it again', async () => {
    const { repository, reads } = await recording();
    const begun = await repository.record(newTask().id, EVENTS.send, newTask());
    expect(begun).toMatchObject({ done: true, task: { state: 'sending', revision: 2 } });
    const ended = await repository.record(newTask().id, EVENTS.accepted, begun?.task);
    expect(ended).toMatchObject({ done: true, task: { state: 'polling', revision: 3 } });
    expect(reads()).toBe(0);
    expect(await repository.get(newTask().id)).toEqual(ended?.task);
  });

  it('is judged by the current record where the known one is stale', async () => {
    const { repository } = await recording();
    const begun = await repository.record(newTask().id, EVENTS.send);
    await repository.record(newTask().id, { kind: 'cancel', by: BOB, atMs: NOON_MS });
    // It counts in the known record, and still does in the current one.
    const ended = await repository.record(newTask().id, EVENTS.accepted, begun?.task);
    expect(ended).toMatchObject({ done: true, task: { state: 'cancelled', cancelledBy: BOB } });
    // It counts in the known record, but no longer in the current one.
    const again = await repository.record(newTask().id, EVENTS.send, newTask());
    expect(again).toMatchObject({ done: false, task: { state: 'cancelled' } });
  });

  it('is not rejected because of a stale record', async () => {
    const { repository } = await recording();
    await repository.record(newTask().id, EVENTS.send);
    const ended = await repository.record(newTask().id, EVENTS.accepted, newTask());
    expect(ended).toMatchObject({ done: true, task: { state: 'polling' } });
  });

  it('is ignored for a missing task', async () => {
    const { repository } = await recording();
    expect(await repository.record('nothing' as never, EVENTS.send)).toBeUndefined();
  });
});
