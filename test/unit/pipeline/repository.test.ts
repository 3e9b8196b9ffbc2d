import { describe, expect, it } from 'vitest';
import { createTaskRepository, type TaskRepository } from '#src/pipeline/repository.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { BOB, EVENTS, NOON_MS, newTask } from '#test/fakes/tasks.ts';

/** A recorder with one claimed task, and how often that was read. */
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
  // This store compares by reading; that is not asked here.
  store.commit = async (change) => {
    isCommitting = true;
    return commit(change).finally(() => {
      isCommitting = false;
    });
  };
  const repository = createTaskRepository(store, []);
  await repository.claim(newTask());
  return { repository, reads: () => reads };
}

describe('an event', () => {
  it('happens to a record that is known without reading it once more', async () => {
    const { repository, reads } = await recording();
    const begun = await repository.record(newTask().id, EVENTS.send, newTask());
    expect(begun).toMatchObject({ done: true, task: { state: 'sending', revision: 2 } });
    const ended = await repository.record(newTask().id, EVENTS.accepted, begun?.task);
    expect(ended).toMatchObject({ done: true, task: { state: 'polling', revision: 3 } });
    expect(reads()).toBe(0);
    expect(await repository.get(newTask().id)).toEqual(ended?.task);
  });

  it('is judged by what the record is, where what was known is past', async () => {
    const { repository } = await recording();
    const begun = await repository.record(newTask().id, EVENTS.send);
    await repository.record(newTask().id, { kind: 'cancel', by: BOB, atMs: NOON_MS });
    // It would have counted in what was known, and still does, with what happened since.
    const ended = await repository.record(newTask().id, EVENTS.accepted, begun?.task);
    expect(ended).toMatchObject({ done: true, task: { state: 'cancelled', cancelledBy: BOB } });
    // It would have counted in what was known, and does not any more.
    const again = await repository.record(newTask().id, EVENTS.send, newTask());
    expect(again).toMatchObject({ done: false, task: { state: 'cancelled' } });
  });

  it('is not refused because of what was known', async () => {
    const { repository } = await recording();
    await repository.record(newTask().id, EVENTS.send);
    const ended = await repository.record(newTask().id, EVENTS.accepted, newTask());
    expect(ended).toMatchObject({ done: true, task: { state: 'polling' } });
  });

  it('does not happen to what is not there', async () => {
    const { repository } = await recording();
    expect(await repository.record('nothing' as never, EVENTS.send)).toBeUndefined();
  });
});
