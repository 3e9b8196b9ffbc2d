import { describe, expect, it, vi } from 'vitest';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { countAttempt, UpstreamIds } from '#src/pipeline/upstream-ids.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, EVENTS, NOON_MS, newTask, UPSTREAM } from '#test/fakes/tasks.ts';
import { accepted, errorOf } from '#test/fakes/videos.ts';

const HOUR_MS = 3_600_000;
const lost = () => ({ kind: 'lost', error: errorOf('lost_answer', { retryable: false }) }) as const;

/** An app in which one task has an id and another one is uncertain. */
async function twoTasks() {
  const house = new TaskHouse().start();
  const theirs = await house.order({ key: 'fake:theirs' });
  house.videos.willCreate(lost);
  const mine = await house.order({ key: 'fake:mine' });
  return { house, theirs, mine };
}

describe('an id that the service returns twice', () => {
  it('makes the second task uncertain and leaves the first one unchanged', async () => {
    const house = new TaskHouse().start();
    const first = await house.order({ key: 'fake:first' });
    house.videos.willCreate(() => accepted('up-1'));
    const second = await house.order({ key: 'fake:second' });
    expect(await house.task(first)).toMatchObject({ state: 'polling', upstreamId: 'up-1' });
    const task = await house.task(second);
    expect(task).toMatchObject({ state: 'uncertain', sends: 1, failure: { code: 'id_taken', words: null } });
    expect(task).not.toHaveProperty('upstreamId');
    expect(house.delivered).toContain(second);
    await house.pass(HOUR_MS, 30_000);
    expect(house.videos.posts).toHaveLength(2);
  });

  it('is assigned to the same task again where the store has lost it', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    const task = newTask();
    await repository.claim([task]);
    for (const event of [EVENTS.send, EVENTS.accepted, EVENTS.disowned, EVENTS.identify]) {
      expect((await repository.record(task.id, event))?.done).toBe(true);
    }
    expect(await repository.holderOf(UPSTREAM, {})).toBe(task.id);
  });

  it('goes to one of two tasks that are given it at the same time', async () => {
    const store = new MemoryStore();
    const ids = new UpstreamIds(store, () => 'https://a.test/v1');
    const [one, other] = ['one', 'other'].map((id) => newTask({ id: id as TaskId })) as [Task, Task];
    const upstreamId = 'up-1' as UpstreamId;
    const writes = await Promise.all([one, other].map((task) => ids.writes(task, { ...task, upstreamId }, false)));
    const areDone = [];
    for (const change of writes) areDone.push(await store.commit(change));
    expect(areDone).toEqual([true, false]);
    expect(await ids.holder(upstreamId, {})).toBe('one');
  });

  it('is not given back to a task that loses it meanwhile', async () => {
    const store = new MemoryStore();
    const ids = new UpstreamIds(store, () => 'https://a.test/v1');
    const [one, other] = ['one', 'other'].map((id) => newTask({ id: id as TaskId })) as [Task, Task];
    const upstreamId = 'up-1' as UpstreamId;
    const holding = { ...one, upstreamId };
    await store.commit(await ids.writes(one, holding, false));
    const again = await ids.writes(one, holding, true);
    await store.commit(await ids.writes(holding, one, false));
    expect(await store.commit(again)).toBe(false);
    await store.commit(await ids.writes(other, { ...other, upstreamId }, false));
    expect(await ids.holder(upstreamId, {})).toBe('other');
  });

  it('is distinct for two services', async () => {
    const store = new MemoryStore();
    for (const [service, id] of [
      ['https://a.test/v1', 'first'],
      ['https://b.test/v1', 'second'],
    ] as const) {
      const repository = new TaskRepository(store, () => service);
      await repository.claim([newTask({ id: id as TaskId })]);
      await repository.record(id as TaskId, EVENTS.send);
      expect(await repository.record(id as TaskId, EVENTS.accepted)).toMatchObject({ task: { state: 'polling' } });
    }
    expect(await new UpstreamIds(store, () => 'https://a.test/v1/').holder(UPSTREAM, {})).toBe('first');
    expect(await new UpstreamIds(store, () => 'https://c.test/v1').holder(UPSTREAM, {})).toBeUndefined();
  });

  it('is available again once its task has dropped it', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    await repository.claim([newTask()]);
    const { id } = newTask();
    for (const event of [EVENTS.send, EVENTS.accepted, EVENTS.disowned]) await repository.record(id, event);
    expect(await repository.holderOf(UPSTREAM, {})).toBe(id);
    await repository.record(id, EVENTS.resubmit);
    expect(await repository.holderOf(UPSTREAM, {})).toBeUndefined();
  });
});

describe('the holder of an id', () => {
  it('is left to the commit where the service answers with it, and read where a user enters it', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    const [mine, other] = ['mine', 'other'] as [TaskId, TaskId];
    await repository.claim([newTask({ id: mine })]);
    await repository.claim([newTask({ id: other })]);
    const read = vi.spyOn(store.keyv('upstream'), 'getMany');
    for (const event of [EVENTS.send, EVENTS.accepted]) await repository.record(mine, event);
    expect(read).not.toHaveBeenCalled();
    for (const event of [EVENTS.send, EVENTS.lost]) await repository.record(other, event);
    await repository.record(other, { ...EVENTS.identify, upstreamId: 'another' as UpstreamId });
    expect(read).toHaveBeenCalledOnce();
  });
});

describe('an id that a user enters', () => {
  it('is rejected where another task has it, without a call to the service, and changes nothing', async () => {
    const { house, theirs, mine } = await twoTasks();
    const { upstreamId } = await house.task(theirs);
    const before = await house.task(mine);
    const polls = house.videos.polls.length;
    await expect(house.service.identify(mine, ADA, upstreamId as UpstreamId)).rejects.toMatchObject({
      code: 'id_taken',
    });
    expect(await house.task(mine)).toEqual(before);
    expect(house.videos.polls).toHaveLength(polls);
  });

  it('is assigned to one of two tasks that claim it at once', async () => {
    const { house, mine } = await twoTasks();
    house.videos.willCreate(lost);
    const other = await house.order({ key: 'fake:other' });
    const id = 'found' as UpstreamId;
    const settled = await Promise.allSettled([mine, other].map((task) => house.service.identify(task, ADA, id)));
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const states = await Promise.all([mine, other].map(async (task) => (await house.task(task)).state));
    expect(states.toSorted()).toEqual(['polling', 'uncertain']);
  });

  it('may be entered five times per task and hour', async () => {
    const { house, mine } = await twoTasks();
    house.videos.willRetrieve(() => {
      throw errorOf('task_unknown', { retryable: false });
    });
    const enter = (id: string) => house.service.identify(mine, ADA, id as UpstreamId);
    for (const id of ['1', '2', '3', '4', '5']) {
      await expect(enter(id)).rejects.toMatchObject({ code: 'task_unknown' });
    }
    await expect(enter('6')).rejects.toMatchObject({ code: 'id_attempts', retryAfterMs: HOUR_MS });
    await expect(enter('right')).rejects.toMatchObject({ code: 'id_attempts' });
    house.clock.advance(HOUR_MS);
    await expect(enter('7')).rejects.toMatchObject({ code: 'task_unknown' });
  });

  it('is counted each time, even when entered concurrently', async () => {
    const store = new MemoryStore();
    const clock = new ManualClock(NOON_MS);
    const tries = Array.from({ length: 12 }, () => countAttempt(store, clock, newTask().id));
    const settled = await Promise.allSettled(tries);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });
});
