import { describe, expect, it } from 'vitest';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { readTask, readTasks } from '#src/tasks/record-shape.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { CLIP, newTask } from '#test/fakes/tasks.ts';

const task = newTask({ state: 'completed', clip: CLIP });
const { price: _price, ...unpriced } = task;

const DAMAGED: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['a string', 'a fox'],
  ['a list', [task]],
  ['without fields', {}],
  ['without a price', unpriced],
  ['with an invalid price', { ...task, price: 7 }],
  ['with another id', { ...task, id: 'another' }],
  ['with an invalid user', { ...task, origin: { ...task.origin, user: null } }],
  ['with an invalid request', { ...task, request: { prompt: 1 } }],
  ['with an incomplete clip', { ...task, clip: { path: '/etc/passwd' } }],
];

async function stored(value: unknown): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.keyv('tasks').set(task.id, value);
  const sound = newTask({ id: 'sound' as typeof task.id });
  await store.keyv('tasks').set(sound.id, sound);
  return store;
}

describe('the record of a task', () => {
  it.each(DAMAGED)('%s is reported as damaged and left out of lists', async (_what, value) => {
    const store = await stored(value);
    const damaged = { code: 'record_damaged', retryable: false };
    await expect(new TaskRepository(store).get(task.id)).rejects.toMatchObject(damaged);
    const listed = await readTasks(store, [task.id, 'missing', 'sound']);
    expect(listed.map(({ id }) => id)).toEqual(['sound']);
  });

  it.each([
    ['of this version', task],
    ['of a later version, with a state and fields of its own', { ...task, state: 'postponed', until: 'noon' }],
  ])('%s is read completely', async (_what, value) => {
    const store = await stored(value);
    expect(await readTask(store, task.id)).toEqual(value);
  });

  it('of an earlier version names the time of its acceptance differently', async () => {
    const store = await stored({ ...task, acceptedAtMs: 1 });
    expect(await readTask(store, task.id)).toEqual({ ...task, accepted: { atMs: 1 } });
  });
});
