import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '#src/chat/cards.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { FreezableClock, SharedStore } from '#test/fakes/shared-store.ts';
import { EVENTS, newTask, requestedTask } from '#test/fakes/tasks.ts';
import { setView, taskView } from '#test/fakes/views.ts';

const id = newTask().id;

describe('the message of a task', () => {
  it('is opened once by concurrent calls', async () => {
    const house = new ChatHouse();
    await house.repository.claim([newTask()]);
    const refs = await Promise.all(Array.from({ length: 50 }, () => house.chat.show(id)));
    expect(new Set(refs.map(({ message }) => message))).toEqual(new Set(['m1']));
    expect(house.platform.countOf('open')).toBe(1);
  });

  it('is opened once when a progress edit and a delivery need it concurrently', async () => {
    const house = new ChatHouse();
    const finishOpening = house.platform.stalls('open');
    await house.repository.claim([newTask()]);
    const shown = house.chat.show(id);
    await house.happen(id, EVENTS.send, EVENTS.accepted);
    await house.happen(id, EVENTS.failed);
    finishOpening();
    await shown;
    await house.pass(10_000);
    expect(house.platform.countOf('open')).toBe(1);
    expect(house.platform.view).toMatchObject({ phase: 'failed' });
  });

  it('is opened by a claim without a read of the task', async () => {
    const house = new ChatHouse();
    const claim = await house.repository.claim([newTask()]);
    if (claim.kind !== 'taken') throw new TypeError('the task was not claimed');
    house.repository.get = () => Promise.reject(new TypeError('the task was read'));
    expect(await house.chat.show(id, claim.task)).toMatchObject({ message: 'm1' });
  });

  it('is found after a restart, by task and by message', async () => {
    const house = new ChatHouse();
    await house.running();
    const next = await house.restart();
    expect(await next.chat.show(id)).toEqual({ channel: 'clips', message: 'm1' });
    expect(await next.chat.messageOf(id)).toEqual({ channel: 'clips', message: 'm1' });
    expect(await next.chat.taskOf('fake', { channel: 'clips', message: 'm1' })).toBe(id);
    expect(await next.chat.taskOf('other', { channel: 'clips', message: 'm1' })).toBeUndefined();
    expect(await next.chat.taskOf('fake', { channel: 'clips', message: 'm2' })).toBeUndefined();
    expect(await next.chat.messageOf('other' as TaskId)).toBeUndefined();
    expect(house.platform.countOf('open')).toBe(1);
  });

  it.each(['before', 'after'] as const)(
    'is opened once when the process dies %s the platform opened it',
    async (when) => {
      const house = new ChatHouse();
      house.platform.dies('open', when);
      await house.repository.claim([newTask()]);
      void house.chat.show(id);
      await house.pass(0);
      expect(house.platform.messages).toHaveLength(when === 'after' ? 1 : 0);
      const next = await house.restart();
      await next.happen(id, EVENTS.send, EVENTS.accepted);
      expect(next.platform.messages).toHaveLength(1);
      expect(next.platform.view.task?.state).toBe('polling');
    },
  );

  it('shows the end where the process that posted it died before it was recorded', async () => {
    const house = new ChatHouse();
    house.platform.dies('open', 'after');
    await house.repository.claim([newTask()]);
    void house.chat.show(id);
    await house.pass(0);
    // Nothing of the dead process shows these.
    const unobserved = new TaskRepository(house.store);
    for (const event of [EVENTS.send, EVENTS.accepted, EVENTS.failed]) await unobserved.record(id, event);
    const next = await house.restart();
    await next.pass(10_000);
    expect(next.platform.messages).toHaveLength(1);
    expect(next.platform.view.phase).toBe('failed');
  });

  it('shows an approval where the process that posted it died before it was recorded', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, showsState: false };
    house.platform.dies('open', 'after');
    await house.repository.claim([requestedTask()]);
    void house.chat.show(id);
    await house.pass(0);
    await new TaskRepository(house.store).record(id, EVENTS.approve);
    const next = await house.restart();
    await next.happen(id, EVENTS.send, EVENTS.accepted);
    await next.poll(id, null, 'queued');
    await next.pass(10_000);
    expect(next.platform.view.phase).toBe('queued');
  });

  it('is unchanged when a process resumes that was suspended while opening it', async () => {
    const shared = new SharedStore();
    const stopped = new ChatHouse({ store: shared.replica(new FreezableClock()) });
    const thaw = stopped.platform.stalls('open');
    await stopped.repository.claim([newTask()]);
    const shown = stopped.chat.show(id);
    await stopped.pass(0);
    shared.leases.forgetAll();
    const other = await stopped.restart({ store: shared.replica(new FreezableClock()) });
    await other.happen(id, EVENTS.send, EVENTS.accepted);
    shared.leases.forgetAll();
    await other.poll(id, 40);
    await other.pass(10_000);
    thaw();
    await shown;
    const third = await other.restart({ store: shared.replica(new FreezableClock()) });
    expect(await third.chat.view(await third.record(id))).toMatchObject({ progress: 40, phase: 'running' });
  });

  it('is opened by a retry after a failure', async () => {
    const house = new ChatHouse();
    house.platform.fails('open', 'before', platformError('platform_unavailable'));
    await house.repository.claim([newTask()]);
    await expect(house.chat.show(id)).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect(await house.chat.show(id)).toMatchObject({ message: 'm1' });
  });

  it('is refused for an unknown task', async () => {
    await expect(new ChatHouse().chat.show('none' as TaskId)).rejects.toThrow('there is no such task');
  });
});

describe('a newly opened message', () => {
  it('is not edited while nothing visible changes', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, showsState: false };
    const id = await house.running();
    await house.poll(id, null, 'queued');
    await house.pass(30_000);
    expect(house.platform.countOf('edit')).toBe(0);
    await house.poll(id, null, 'in_progress');
    expect(house.platform.countOf('edit')).toBe(1);
  });

  it('is edited where the opening process died: its content is unknown', async () => {
    const house = new ChatHouse();
    house.platform.dies('open', 'after');
    await house.repository.claim([newTask()]);
    void house.chat.show(newTask().id);
    await house.pass(0);
    const next = await house.restart();
    await next.happen(newTask().id, EVENTS.send, EVENTS.accepted);
    await next.pass(3_000);
    expect(next.platform.countOf('edit')).toBe(1);
  });
});

describe('the fingerprint of a view', () => {
  const limits = { showsState: false };
  const same = fingerprintOf(taskView(), limits);

  it('is the same when only time has passed', () => {
    expect(fingerprintOf(taskView({ nowMs: 1 }), limits)).toBe(same);
  });

  it('differs when a board has another revision, at which its card offers presses', () => {
    const board = setView({ kind: 'storyboard', id: 'set' as TaskId, of: 1 }, [{ view: taskView(), message: null }]);
    const at = (boardRevision: number) => fingerprintOf({ ...board, boardRevision }, limits);
    expect(at(1)).toBe(at(1));
    expect(at(2)).not.toBe(at(1));
  });

  it('is the same in another state that looks the same, unless the state itself is shown', () => {
    const claimed = taskView({ state: 'claimed' });
    expect(fingerprintOf(claimed, limits)).toBe(same);
    const shown = { showsState: true };
    expect(fingerprintOf(claimed, shown)).not.toBe(fingerprintOf(taskView(), shown));
  });

  it.each([
    taskView({ progress: 43 }),
    taskView({ phase: 'queued' }),
    taskView({ pace: { kind: 'longer' } }),
    taskView({ pace: { kind: 'overdue', deadlineMs: 1, pollEveryMs: 1 } }),
    taskView({ buttons: [] }),
    taskView({ lateOutcome: 'completed' }),
  ])('differs when users would see a difference', (view) => {
    expect(fingerprintOf(view, limits)).not.toBe(same);
  });
});
