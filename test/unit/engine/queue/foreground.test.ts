import { describe, expect, it } from 'vitest';
import { Foreground } from '#src/engine/queue/foreground.ts';
import type { JobHandler } from '#src/engine/queue/queue.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { deferred, pass, settle } from '#test/fakes/settle.ts';

const CROWD = 32;

/** Jobs beside a number of waiting users. */
function beside(waiting: number) {
  const clock = new ManualClock(0);
  const foreground = new Foreground(clock);
  const users = Array.from({ length: waiting }, () => deferred());
  const answers = users.map(({ promise }) => foreground.run(() => promise));
  const begun: string[] = [];
  const poll: JobHandler = async (id) => {
    begun.push(id);
    return 5_000;
  };
  const { signal } = new AbortController();
  const job = foreground.yielding({ poll }).poll;
  return { clock, users, answers, begun, job, signal };
}

describe('a job', () => {
  it('begins at once while few users wait', async () => {
    const { job, begun, signal } = beside(CROWD - 1);
    const result = job('task-1', signal);
    expect(begun).toEqual(['task-1']);
    expect(await result).toBe(5_000);
  });

  it('gives way while many wait, and begins with the first of their answers that makes them few', async () => {
    const { job, begun, signal, users, answers } = beside(CROWD + 1);
    const result = job('task-1', signal);
    users[0]?.resolve();
    await answers[0];
    await settle();
    expect(begun).toEqual([]);
    users[1]?.resolve();
    expect(await result).toBe(5_000);
    expect(begun).toEqual(['task-1']);
  });

  it('gives way for a second at most, again and again, so that it never starves', async () => {
    const { clock, job, begun, signal } = beside(CROWD);
    for (const id of ['first', 'second']) {
      const result = job(id, signal);
      await pass(clock, 999);
      expect(begun).not.toContain(id);
      await pass(clock, 1);
      expect(await result).toBe(5_000);
    }
    expect(begun).toEqual(['first', 'second']);
  });

  it('begins after an answer that failed, too', async () => {
    const { job, begun, signal, users, answers } = beside(CROWD);
    const result = job('task-1', signal);
    users[0]?.reject(new Error('away'));
    await expect(answers[0]).rejects.toThrow('away');
    await result;
    expect(begun).toEqual(['task-1']);
  });

  it('that gives way when the process stops does not begin, and stays due', async () => {
    const { clock, job, begun } = beside(CROWD);
    const stopping = new AbortController();
    const result = job('task-1', stopping.signal);
    stopping.abort();
    await pass(clock, 1_000);
    expect(await result).toBe(0);
    expect(begun).toEqual([]);
  });
});
