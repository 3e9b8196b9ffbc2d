import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import type { JobHandler, JobKind, QueueLimits, WorkQueue } from '#src/engine/queue/queue.ts';
import { DailiesError } from '#src/errors.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { type Deferred, deferred, pass, settle } from '#test/fakes/settle.ts';

const nothing: JobHandler = async () => null;

class Lanes {
  readonly clock = new ManualClock(0);
  readonly queue: WorkQueue;
  readonly begun: string[] = [];
  readonly open = new Map<string, Deferred<number | null>>();

  constructor(concurrency: Partial<Readonly<Record<JobKind, number>>> = {}, limits: QueueLimits = {}) {
    this.queue = new MemoryQueue({
      clock: this.clock,
      logger: pino({ level: 'silent' }),
      concurrency: { send: 2, poll: 2, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1, ...concurrency },
      limits,
    });
  }

  /** Starts with a job handler that records its runs; a job waits to be ended by the test. */
  start(steps: Partial<Readonly<Record<JobKind, JobHandler>>> = {}): this {
    this.queue.start({
      send: nothing,
      poll: this.byHand,
      fetch: nothing,
      deliver: nothing,
      notify: nothing,
      join: nothing,
      frame: nothing,
      ...steps,
    });
    return this;
  }

  readonly byHand: JobHandler = (id) => {
    this.begun.push(id);
    const end = deferred<number | null>();
    this.open.set(id, end);
    return end.promise;
  };

  readonly noted: JobHandler = async (id) => {
    this.begun.push(id);
    return null;
  };

  async end(id: string, delayMs: number | null = null): Promise<void> {
    this.open.get(id)?.resolve(delayMs);
    await settle();
  }
}

describe('scheduled jobs', () => {
  it('run when due, in the order of their due times, once each', async () => {
    const house = new Lanes();
    expect(await house.queue.stats('poll')).toEqual({ planned: 0, running: 0, lagMs: 0 });
    house.start({ poll: house.noted });
    for (const [id, atMs] of [
      ['c', 300],
      ['a', 100],
      ['d', 400],
      ['b', 200],
    ] as const)
      house.queue.schedule('poll', id, atMs);
    expect(house.begun).toEqual([]);
    await pass(house.clock, 250, 50);
    expect(house.begun).toEqual(['a', 'b']);
    await pass(house.clock, 1_000, 50);
    expect(house.begun).toEqual(['a', 'b', 'c', 'd']);
    expect(house.clock.pending).toBe(0);
  });

  it('run from the start if scheduled before it', async () => {
    const house = new Lanes();
    house.queue.schedule('poll', 'a', 0);
    expect(house.clock.pending).toBe(0);
    house.start({ poll: house.noted });
    await settle();
    expect(house.begun).toEqual(['a']);
  });

  it('are replaced by a new job for the same id, earlier or later', async () => {
    const house = new Lanes();
    house.start({ poll: house.noted });
    house.queue.schedule('poll', 'sooner', 1_000);
    house.queue.schedule('poll', 'sooner', 100);
    house.queue.schedule('poll', 'later', 200);
    house.queue.schedule('poll', 'later', 2_000);
    expect((await house.queue.stats('poll')).planned).toBe(2);
    await pass(house.clock, 1_500, 100);
    expect(house.begun).toEqual(['sooner']);
    await pass(house.clock, 500, 100);
    expect(house.begun).toEqual(['sooner', 'later']);
  });

  it('of one queue are independent of those of another', async () => {
    const house = new Lanes();
    const fetched: string[] = [];
    house.start({
      fetch: async (id) => {
        fetched.push(id);
        return null;
      },
    });
    house.queue.schedule('poll', 'a', 0);
    house.queue.schedule('fetch', 'a', 0);
    await settle();
    expect({ begun: house.begun, fetched }).toEqual({ begun: ['a'], fetched: ['a'] });
  });

  it('repeat after the delay that the handler returns', async () => {
    const house = new Lanes().start();
    house.queue.schedule('poll', 'a', 0);
    await house.end('a', 500);
    await pass(house.clock, 499, 499);
    expect(house.begun).toEqual(['a']);
    await pass(house.clock, 1, 1);
    expect(house.begun).toEqual(['a', 'a']);
  });

  it('run by the ten thousand, within the concurrency limit, and leave nothing behind', async () => {
    const house = new Lanes({ poll: 32 });
    let running = 0;
    let most = 0;
    const seen = new Set<string>();
    house.start({
      poll: async (id) => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        seen.add(id);
        running -= 1;
        return null;
      },
    });
    for (let at = 0; at < 10_000; at += 1) house.queue.schedule('poll', `t${at}`, (at * 7_919) % 5_000);
    const stats = await house.queue.stats('poll');
    expect(stats.planned + stats.running).toBe(10_000);
    await pass(house.clock, 5_000, 100);
    expect(seen.size).toBe(10_000);
    expect(most).toBeLessThanOrEqual(32);
    expect(most).toBeGreaterThan(1);
    expect(await house.queue.stats('poll')).toMatchObject({ planned: 0, running: 0 });
    expect(house.clock.pending).toBe(0);
  });
});

describe('a running job', () => {
  it('takes one slot of its queue, and the next due one starts when it ends', async () => {
    const house = new Lanes().start();
    for (const id of ['a', 'b', 'c']) house.queue.schedule('poll', id, 0);
    expect(house.begun).toEqual(['a', 'b']);
    expect(await house.queue.stats('poll')).toMatchObject({ running: 2, planned: 1 });
    await pass(house.clock, 10_000, 1_000);
    expect(house.begun).toEqual(['a', 'b']);
    await house.end('a');
    expect(house.begun).toEqual(['a', 'b', 'c']);
    expect(await house.queue.stats('poll')).toMatchObject({ running: 2, planned: 0, lagMs: 10_000 });
    // One late job does not count as lag for an hour in which none was due.
    await pass(house.clock, 61_000, 1_000);
    expect(await house.queue.stats('poll')).toMatchObject({ running: 2, lagMs: 0 });
  });

  it('does not delay other jobs while slots are free', async () => {
    const house = new Lanes().start();
    house.queue.schedule('poll', 'long', 0);
    for (let at = 1; at <= 20; at += 1) house.queue.schedule('poll', `t${at}`, at * 100);
    for (let at = 1; at <= 20; at += 1) {
      await pass(house.clock, 100, 100);
      expect(house.begun.at(-1)).toBe(`t${at}`);
      await house.end(`t${at}`);
    }
    expect((await house.queue.stats('poll')).running).toBe(1);
  });

  it('never runs twice at once for the same id: the new job waits for its end', async () => {
    const house = new Lanes().start();
    house.queue.schedule('poll', 'a', 0);
    house.queue.schedule('poll', 'a', 0);
    await pass(house.clock, 100, 100);
    expect(house.begun).toEqual(['a']);
    await house.end('a');
    expect(house.begun).toEqual(['a', 'a']);
    await house.end('a');
    expect(house.begun).toEqual(['a', 'a']);
  });

  it.each([
    [1_000, 100, 100],
    [100, 1_000, 100],
    [null, 700, 700],
  ])('that returns %s while it is scheduled for %i ms runs again after %i ms', async (answerMs, planMs, expectedMs) => {
    const house = new Lanes().start();
    house.queue.schedule('poll', 'a', 0);
    house.queue.schedule('poll', 'a', planMs);
    await house.end('a', answerMs);
    await pass(house.clock, expectedMs - 1, expectedMs);
    expect(house.begun).toHaveLength(1);
    await pass(house.clock, 1, 1);
    expect(house.begun).toHaveLength(2);
    await house.end('a');
    await pass(house.clock, 5_000, 500);
    expect(house.begun).toHaveLength(2);
  });

  it('that throws is retried later, without blocking others', async () => {
    const house = new Lanes({ poll: 1 });
    let tries = 0;
    house.start({
      poll: async (id) => {
        house.begun.push(id);
        if (id === 'bad') tries += 1;
        if (id === 'bad' && tries === 1) throw new Error('a defect');
        return null;
      },
    });
    house.queue.schedule('poll', 'bad', 0);
    house.queue.schedule('poll', 'good', 0);
    await settle();
    expect(house.begun.toSorted()).toEqual(['bad', 'good']);
    await pass(house.clock, 29_999, 5_000);
    expect(tries).toBe(1);
    await pass(house.clock, 1, 1);
    expect(tries).toBe(2);
    await pass(house.clock, 60_000, 5_000);
    expect(tries).toBe(2);
  });

  it('that throws with a retry delay is retried after it', async () => {
    const house = new Lanes();
    let tries = 0;
    house.start({
      poll: async () => {
        tries += 1;
        throw new DailiesError('reading', { code: 'store_unavailable', retryable: true, retryAfterMs: 2_000 });
      },
    });
    house.queue.schedule('poll', 'a', 0);
    await pass(house.clock, 2_000, 500);
    expect(tries).toBe(2);
  });
});

describe('a paused queue', () => {
  it('starts no job before the end of its pause, while running jobs and other queues continue', async () => {
    const house = new Lanes();
    const sent: string[] = [];
    house.start({
      send: async (id) => {
        sent.push(id);
        return null;
      },
    });
    house.queue.schedule('poll', 'a', 0);
    house.queue.pause('poll', 1_000);
    house.queue.pause('poll', 10);
    house.queue.schedule('poll', 'b', 0);
    house.queue.schedule('send', 'c', 0);
    await house.end('a', 0);
    await pass(house.clock, 999, 333);
    expect({ begun: house.begun, sent }).toEqual({ begun: ['a'], sent: ['c'] });
    await pass(house.clock, 1, 1);
    expect(house.begun.toSorted()).toEqual(['a', 'a', 'b']);
    expect(house.clock.pending).toBe(0);
  });

  it('starts no more jobs per period than its rate limit, and leaves none behind', async () => {
    let begun = 0;
    const limited = new Lanes({ poll: 100 }, { poll: { max: 3, perMs: 1_000 } });
    limited.start({
      poll: async () => {
        begun += 1;
        return null;
      },
    });
    for (let at = 0; at < 8; at += 1) limited.queue.schedule('poll', `t${at}`, 0);
    const seen: number[] = [];
    for (let second = 0; second < 4; second += 1) {
      await pass(limited.clock, second === 0 ? 999 : 1_000, 333);
      seen.push(begun);
    }
    expect(seen).toEqual([3, 6, 8, 8]);
    expect(limited.clock.pending).toBe(0);
  });
});

describe('draining', () => {
  it('starts no more jobs, aborts the running ones, and waits for them', async () => {
    const house = new Lanes();
    let signal: AbortSignal | undefined;
    const end = deferred<number | null>();
    house.start({
      poll: (id, given) => {
        house.begun.push(id);
        signal = given;
        return end.promise;
      },
    });
    house.queue.schedule('poll', 'a', 0);
    house.queue.schedule('poll', 'b', 1_000);
    expect(signal?.aborted).toBe(false);
    let isDrained = false;
    const drained = house.queue.drain().then(() => {
      isDrained = true;
    });
    expect(signal?.aborted).toBe(true);
    await pass(house.clock, 5_000, 500);
    expect({ begun: house.begun, isDrained }).toEqual({ begun: ['a'], isDrained: false });
    end.resolve(0);
    await drained;
    house.queue.schedule('poll', 'c', 0);
    await pass(house.clock, 5_000, 500);
    expect(house.begun).toEqual(['a']);
    expect(house.clock.pending).toBe(0);
  });

  it('times out if a job does not end', async () => {
    const house = new Lanes();
    house.start({ send: () => deferred<null>().promise });
    house.queue.schedule('send', 'a', 0);
    let isEnded: boolean | undefined;
    void house.queue.drain(75_000).then((result) => {
      isEnded = result;
    });
    await pass(house.clock, 74_999, 5_000);
    expect(isEnded).toBeUndefined();
    await pass(house.clock, 1, 1);
    expect(isEnded).toBe(false);
  });

  it('ends with the last job if that is before the timeout', async () => {
    const house = new Lanes();
    const end = deferred<null>();
    house.start({ send: () => end.promise });
    house.queue.schedule('send', 'a', 0);
    const drained = house.queue.drain(75_000);
    end.resolve(null);
    expect(await drained).toBe(true);
    expect(house.clock.pending).toBe(0);
  });

  it('ends at once if no job is running', async () => {
    const house = new Lanes().start();
    house.queue.schedule('poll', 'a', 10);
    expect(await house.queue.drain(75_000)).toBe(true);
    expect(house.clock.pending).toBe(0);
  });
});

describe('a clock adjustment', () => {
  it.each([-3_600_000, 3_600_000])('moves no scheduled job (%d ms)', async (ms) => {
    const house = new Lanes().start();
    house.queue.schedule('poll', 'a', house.clock.now() + 5_000);
    house.clock.step(ms);
    await pass(house.clock, 4_999);
    expect(house.begun).toEqual([]);
    await pass(house.clock, 1);
    expect(house.begun).toEqual(['a']);
  });
});
