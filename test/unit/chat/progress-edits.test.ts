import { describe, expect, it } from 'vitest';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { MortalStore } from '#test/fakes/mortal-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, EVENTS, NOON_MS } from '#test/fakes/tasks.ts';

/** Lists the edits of the only message, without its first state. */
function edits(house: ChatHouse): { phase: string; progress: number | null; by: string }[] {
  return house.platform.only.shown
    .slice(1)
    .map(({ view, by }) => ({ phase: view.phase, progress: view.progress ?? null, by }));
}

describe('progress', () => {
  it('is shown as reported by the service', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, 12);
    expect(house.platform.view).toMatchObject({ phase: 'running', progress: 12, task: { state: 'polling' } });
  });

  it('without a percentage is shown as running, without a bar', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, null, 'queued');
    expect(house.platform.view).toMatchObject({ phase: 'queued', progress: null });
    await house.pass(3_000);
    await house.poll(id, null, 'in_progress');
    expect(house.platform.view).toMatchObject({ phase: 'running', progress: null });
  });

  it('shows the place in the service’s queue until it is running', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    for (const ahead of [3, 2, 0]) {
      await house.pass(3_000);
      await house.poll(id, null, 'queued', ahead);
      expect(house.platform.view).toMatchObject({ phase: 'queued', ahead });
    }
    await house.pass(3_000);
    await house.poll(id, null, 'in_progress');
    expect(house.platform.view).toMatchObject({ phase: 'running' });
    expect(house.platform.view).not.toHaveProperty('ahead');
  });

  it('is throttled to one edit per interval, with the latest state', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const before = house.platform.countOf('edit');
    for (let percent = 1; percent <= 60; percent += 1) {
      await house.poll(id, percent);
      await house.pass(100, 100);
    }
    expect(house.platform.countOf('edit') - before).toBeLessThanOrEqual(3);
    await house.pass(3_000);
    expect(house.platform.view.progress).toBe(60);
    expect(house.clock.pending).toBe(0);
  });

  it('that arrives while an edit is in flight is shown after it', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const letGo = house.platform.stalls('edit', 'progress');
    await house.poll(id, 10);
    await house.poll(id, 80);
    letGo();
    await house.pass(3_000);
    expect(edits(house).map(({ progress }) => progress)).toEqual([null, 10, 80]);
  });

  it('that decreases before it was shown is shown at its highest', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.poll(id, 60);
    await house.poll(id, 20);
    await house.pass(3_000);
    expect(house.platform.view.progress).toBe(60);
  });

  it('is throttled to the platform’s interval where that is longer', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, editIntervalMs: 10_000 };
    const id = await house.running();
    await house.pass(10_000);
    await house.poll(id, 10);
    await house.poll(id, 20);
    await house.pass(9_000);
    expect(house.platform.view.progress).toBe(10);
    await house.pass(1_000);
    expect(house.platform.view.progress).toBe(20);
  });

  it('is throttled to the same interval where the clock is set back by an hour', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, 10);
    expect(house.platform.view.progress).toBe(10);
    house.clock.step(-3_600_000);
    await house.poll(id, 20);
    await house.pass(3_000);
    expect(house.platform.view.progress).toBe(20);
  });

  it('that changes nothing causes no edit', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, 30);
    const before = house.platform.countOf('edit');
    for (let at = 0; at < 20; at += 1) {
      await house.poll(id, 30);
      await house.pass(5_000, 5_000);
    }
    expect(house.platform.countOf('edit')).toBe(before);
  });

  it('never decreases, even across a restart', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, 60);
    await house.pass(3_000);
    await house.poll(id, 20);
    await house.poll(id, null, 'queued');
    await house.pass(3_000);
    const next = await house.restart();
    for (const progress of [5, null, 59]) {
      await next.poll(id, progress);
      await next.pass(3_000);
    }
    await next.poll(id, 61);
    await next.pass(3_000);
    const shown = edits(next).map(({ progress }) => progress ?? -1);
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(next.platform.view).toMatchObject({ progress: 61, phase: 'running' });
    expect(await next.chat.view(await next.record(id))).toMatchObject({ progress: 61 });
  });

  it('shows changes by the passing of time alone: longer than usual, then overdue', async () => {
    const house = new ChatHouse({ usual: { fromMs: 60_000, toMs: 120_000 } });
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, 10);
    expect(house.platform.view).toMatchObject({ pace: { kind: 'usual' } });
    await house.pass(120_000, 10_000);
    await house.poll(id, 10);
    expect(house.platform.view).toMatchObject({ pace: { kind: 'longer' } });
    await house.pass(1_800_000, 60_000);
    await house.poll(id, 10);
    expect(house.platform.view).toMatchObject({
      pace: { kind: 'overdue', deadlineMs: 1_800_000, pollEveryMs: 30_000 },
    });
  });

  it('counts the time since the service accepted the task, even after a user’s decision', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    await house.pass(12 * 3_600_000, 600_000);
    await house.happen(id, { ...EVENTS.identify, atMs: house.clock.now() });
    await house.pass(3_000);
    await house.poll(id, 10);
    expect(house.platform.view.pace?.kind).not.toBe('overdue');
    await house.pass(1_800_000, 60_000);
    await house.poll(id, 10);
    expect(house.platform.view.pace?.kind).toBe('overdue');
  });

  it('of a cancelled task is not shown', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, { kind: 'cancel', by: ADA, atMs: NOON_MS });
    const before = house.platform.countOf('edit');
    await house.poll(id, 70);
    await house.pass(10_000);
    expect(house.platform.countOf('edit')).toBe(before);
    expect(house.platform.view.phase).toBe('cancelled');
  });
});

describe('a failed progress edit', () => {
  it('is repeated as soon as the platform allows it', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    house.platform.fails('edit', 'before', platformError('rate_limited', { retryAfterMs: 20_000 }), 'progress');
    await house.poll(id, 44);
    await house.pass(19_000);
    expect(house.platform.view.progress).toBeNull();
    await house.pass(1_000);
    expect(house.platform.view.progress).toBe(44);
  });

  it('is not repeated at once, regardless of the platform’s retryAfterMs', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    for (let at = 0; at < 50; at += 1) {
      house.platform.fails('edit', 'before', platformError('rate_limited', { retryAfterMs: 0 }), 'progress');
    }
    const before = house.platform.countOf('edit');
    await house.poll(id, 44);
    await house.pass(30_000);
    expect(house.platform.countOf('edit') - before).toBeLessThanOrEqual(11);
  });

  it('does not prevent the overdue notice', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    await house.poll(id, 10);
    await house.pass(1_800_000, 60_000);
    house.platform.fails('edit', 'before', platformError('platform_unavailable'), 'progress');
    await house.poll(id, 10);
    expect(house.platform.view.pace?.kind).not.toBe('overdue');
    await house.pass(60_000, 5_000);
    expect(house.platform.view.pace?.kind).toBe('overdue');
  });

  it('does not prevent the display of a task change', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    house.platform.fails('edit', 'before', platformError('platform_unavailable'), 'progress');
    await house.happen(id, EVENTS.resubmit);
    await house.pass(60_000, 5_000);
    expect(house.platform.view).toMatchObject({ phase: 'queued', task: { state: 'claimed' } });
  });

  it.each(['message_gone', 'missing_permission'] as const)('with %s is the last', async (code) => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    house.platform.fails('edit', 'before', platformError(code, { retryable: false }), 'progress');
    const before = house.platform.countOf('edit');
    for (let percent = 1; percent < 50; percent += 1) {
      await house.poll(id, percent);
      await house.pass(5_000, 5_000);
    }
    expect(house.platform.countOf('edit') - before).toBe(1);
  });

  it('of a deleted message is repeated where the store could not note that', async () => {
    const mortal = new MortalStore(new MemoryStore());
    const house = new ChatHouse({ store: mortal.store });
    const id = await house.running();
    await house.pass(3_000);
    for (let edit = 0; edit < 2; edit += 1)
      house.platform.fails('edit', 'before', platformError('message_gone', { retryable: false }), 'progress');
    const before = house.platform.countOf('edit');
    mortal.writesLeft = 0;
    await house.poll(id, 44);
    mortal.writesLeft = Number.POSITIVE_INFINITY;
    for (let percent = 45; percent < 60; percent += 1) {
      await house.pass(10_000, 5_000);
      await house.poll(id, percent);
    }
    expect(house.platform.countOf('edit') - before).toBe(2);
  });

  it('never delays the delivery', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    house.platform.fails('edit', 'before', platformError('rate_limited', { retryAfterMs: 3_600_000 }), 'progress');
    await house.poll(id, 44);
    await house.happen(id, EVENTS.failed);
    expect(house.platform.view.phase).toBe('failed');
    expect((await house.record(id)).presented).toBe(true);
  });
});

describe('a delivery and progress edits of the same message', () => {
  it('do not overtake each other: the outcome is shown last', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const letGo = house.platform.stalls('edit', 'progress');
    await house.poll(id, 50);
    await house.happen(id, EVENTS.failed);
    await house.pass(1_000);
    expect(house.platform.countOf('edit')).toBe(2);
    letGo();
    await house.pass(60_000, 5_000);
    expect(edits(house).at(-2)).toMatchObject({ by: 'progress', progress: 50 });
    expect(edits(house).at(-1)).toMatchObject({ by: 'final', phase: 'failed' });
    expect(house.clock.pending).toBe(0);
  });

  it('drop an edit that is still scheduled', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.poll(id, 50);
    await house.happen(id, EVENTS.failed);
    await house.pass(60_000, 5_000);
    expect(edits(house).at(-1)).toMatchObject({ by: 'final', phase: 'failed' });
    expect(edits(house).filter(({ by }) => by === 'final')).toHaveLength(1);
  });

  it('leave the outcome to the delivery, even when it is retried', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.poll(id, 50);
    for (let at = 0; at < 5; at += 1) {
      house.platform.fails('edit', 'before', platformError('platform_unavailable'), 'final');
    }
    await house.happen(id, EVENTS.failed);
    await house.pass(60_000, 500);
    expect(edits(house).filter(({ phase }) => phase === 'failed')).toMatchObject([{ by: 'final' }]);
  });

  it('lose no change that occurs during the delivery', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send);
    const letGo = house.platform.stalls('edit', 'final');
    await house.happen(id, EVENTS.lost);
    await house.happen(id, EVENTS.resubmit);
    letGo();
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'queued', task: { state: 'claimed' } });
  });
});

describe('shutdown', () => {
  it('waits for the edit in flight, and starts none', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const letGo = house.platform.stalls('edit', 'progress');
    await house.poll(id, 50);
    let isStopped = false;
    const stopped = house.chat.stop().then(() => {
      isStopped = true;
    });
    await house.pass(1_000);
    expect(isStopped).toBe(false);
    letGo();
    await stopped;
    const before = house.platform.countOf('edit');
    await house.poll(id, 90);
    await house.pass(10_000);
    expect(house.platform.countOf('edit')).toBe(before);
    expect(house.clock.pending).toBe(0);
  });

  it('cancels a scheduled edit', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.poll(id, 50);
    await house.chat.stop();
    expect(house.clock.pending).toBe(0);
  });
});
