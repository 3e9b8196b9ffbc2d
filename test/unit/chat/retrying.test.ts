import { describe, expect, it } from 'vitest';
import type { StepRetry } from '#src/tasks/step-retry.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { EVENTS, newTask } from '#test/fakes/tasks.ts';

const MINUTE_MS = 60_000;

/** Notifies the chat that a step of a task failed and is retried in `inMs`. */
async function fails(
  house: ChatHouse,
  id: TaskId,
  retry: Pick<StepRetry, 'step' | 'code'> & { readonly inMs: number },
  seen: { readonly failures: number; readonly isForAll?: boolean },
): Promise<void> {
  const { inMs, step, code } = retry;
  const task: Task = await house.record(id);
  const shown = { step, code, words: null, nextAtMs: house.clock.now() + inMs };
  house.chat.retrying(task, shown, { isForAll: false, ...seen });
  await house.pass(3_000);
}

describe('failed polls', () => {
  const outage = { step: 'poll', code: 'unavailable', inMs: 5_000 } as const;

  it('are shown once, from the second one on, until one succeeds', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await fails(house, id, outage, { failures: 1 });
    expect(house.platform.view.retrying).toBeNull();
    await fails(house, id, outage, { failures: 2 });
    expect(house.platform.view.retrying).toMatchObject({ step: 'poll', code: 'unavailable' });
    const edits = house.platform.countOf('edit');
    for (let failures = 3; failures < 20; failures += 1) await fails(house, id, outage, { failures });
    expect(house.platform.countOf('edit')).toBe(edits);
    await house.poll(id, null, 'queued');
    await house.pass(3_000);
    expect(house.platform.view).toMatchObject({ retrying: null, phase: 'queued' });
  });

  it('also show that the task is overdue', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await fails(house, id, outage, { failures: 2 });
    expect(house.platform.view.pace?.kind).not.toBe('overdue');
    await house.pass(31 * MINUTE_MS, MINUTE_MS);
    await fails(house, id, outage, { failures: 60 });
    expect(house.platform.view.pace?.kind).toBe('overdue');
  });

  it('are shown after a restart until one succeeds', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await fails(house, id, outage, { failures: 2 });
    const next = await house.restart();
    expect(await next.chat.view(await next.record(id))).toMatchObject({ retrying: { code: 'unavailable' } });
    await next.poll(id, null, 'queued');
    await next.pass(3_000);
    expect(next.platform.view.retrying).toBeNull();
  });
});

describe('a clip that cannot be downloaded yet', () => {
  it('is shown with the reason, the next attempt and a button, edited only when these change', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.completed);
    await house.pass(3_000);
    expect(house.platform.view).toMatchObject({ phase: 'fetching', retrying: null, buttons: ['details'] });
    await fails(house, id, { step: 'fetch', code: 'not_ready', inMs: 4_000 }, { failures: 2 });
    expect(house.platform.view).toMatchObject({
      phase: 'fetching',
      retrying: { step: 'fetch', code: 'not_ready' },
      buttons: ['refetch', 'details'],
    });
    const edits = house.platform.countOf('edit');
    await fails(house, id, { step: 'fetch', code: 'not_ready', inMs: 8_000 }, { failures: 3 });
    expect(house.platform.countOf('edit')).toBe(edits);
    await fails(house, id, { step: 'fetch', code: 'not_ready', inMs: 4 * MINUTE_MS }, { failures: 9 });
    expect(house.platform.countOf('edit')).toBe(edits + 1);
  });

  it('no longer shows failed polls', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await fails(house, id, { step: 'poll', code: 'unavailable', inMs: 5_000 }, { failures: 2 });
    await house.happen(id, EVENTS.completed);
    await house.pass(3_000);
    expect(house.platform.view).toMatchObject({ phase: 'fetching', retrying: null });
  });
});

describe('a pause requested by the service', () => {
  const busy = { step: 'send', code: 'rate_limited', inMs: MINUTE_MS } as const;
  const SEEN = { failures: 1, isForAll: true };

  it('is shown on every waiting task, later ones included, until the service accepts them', async () => {
    const house = new ChatHouse();
    const id = await house.task();
    const other = await house.task({ id: 'other' as TaskId });
    await house.pass(3_000);
    await fails(house, id, busy, SEEN);
    const later = await house.task({ id: 'later' as TaskId });
    for (const task of [id, other, later]) {
      const message = house.platform.messages.find((one) => one.task === task);
      expect(message?.shown.at(-1)?.view).toMatchObject({ phase: 'queued', retrying: { code: 'rate_limited' } });
    }
    await house.happen(other, EVENTS.send, EVENTS.accepted);
    await house.pass(3_000);
    expect(await house.chat.view(await house.record(other))).toMatchObject({ retrying: null });
    await house.pass(MINUTE_MS);
    const after = newTask({ id: 'after' as TaskId });
    expect((await house.chat.view(after)).retrying).toBeNull();
  });

  it('is shown on the tasks of that service alone', async () => {
    const house = new ChatHouse();
    const id = await house.task();
    const request = { ...newTask().request, service: 'other' };
    const other = await house.task({ id: 'other' as TaskId, request });
    await house.pass(3_000);
    await fails(house, id, busy, SEEN);
    const retryingOf = async (task: TaskId) => (await house.chat.view(await house.record(task))).retrying;
    expect([await retryingOf(id), await retryingOf(other)]).toMatchObject([{ code: 'rate_limited' }, null]);
  });

  it('is not shown if it is short', async () => {
    const house = new ChatHouse();
    const id = await house.task();
    await fails(house, id, { ...busy, inMs: 2_000 }, SEEN);
    expect(house.platform.view.retrying).toBeNull();
  });
});
