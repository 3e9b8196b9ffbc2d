import { describe, expect, it } from 'vitest';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { EVENTS } from '#test/fakes/tasks.ts';

/** Returns the number of reads of the task's record over `times` polls. */
async function readsOf(exclusive: boolean, times: number): Promise<{ house: TaskHouse; reads: number }> {
  const house = new TaskHouse({ exclusive }).start();
  const id = await house.order();
  await house.pass(5_000);
  let reads = 0;
  const get = house.repository.get.bind(house.repository);
  house.repository.get = (wanted) => {
    if (wanted === id) reads += 1;
    return get(wanted);
  };
  await house.pass(5_000 * times);
  return { house, reads };
}

describe('the record of a task that is polled', () => {
  it('is read once where the store belongs to this process alone', async () => {
    const { house, reads } = await readsOf(true, 5);
    expect(house.polled.length).toBeGreaterThan(5);
    expect(reads).toBe(0);
  });

  it('is read at every poll where other replicas write to the store', async () => {
    expect((await readsOf(false, 5)).reads).toBeGreaterThanOrEqual(5);
  });

  it('is read again after a change', async () => {
    const { house } = await readsOf(true, 1);
    const [task] = await house.service.open({ platform: 'fake', team: 'T1' }, 1);
    if (task === undefined) throw new TypeError('there is no open task');
    await house.repository.record(task.id, EVENTS.cancel);
    expect(await house.followed.find(task.id)).toMatchObject({ state: 'cancelled' });
  });
});
