import { describe, expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { backoffMs, retry } from '#src/retry.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { pass } from '#test/fakes/settle.ts';

describe('the backoff after failures', () => {
  const bounds = { firstMs: 1_000, maxMs: 30_000 };

  it('doubles up to its maximum, with jitter between half and the whole', () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backoffMs(failures, { ...bounds, random: 1 }));
    expect(most).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(backoffMs(3, { ...bounds, random: 0 })).toBe(2_000);
  });

  it('is never shorter than requested by the other side', () => {
    expect(backoffMs(1, { ...bounds, random: 0, askedMs: 120_000 })).toBe(120_000);
    expect(backoffMs(6, { ...bounds, random: 1, askedMs: 5 })).toBe(30_000);
  });
});

describe('a retry', () => {
  const options = { firstMs: 1_000, maxMs: 4_000, random: () => 1 };

  it('repeats the work with backoff until it succeeds', async () => {
    const clock = new ManualClock();
    const delays: (readonly [string, number, number])[] = [];
    const failed = (thrown: unknown, failures: number, delayMs: number) =>
      void delays.push([(thrown as Error).message, failures, delayMs]);
    const outcomes = [
      () => Promise.reject(new Error('first')),
      () => Promise.reject(new DailiesError('second', { code: 'rate_limited', retryable: true, retryAfterMs: 9_000 })),
      async () => 'done',
    ];
    const result = retry({ ...options, clock, failed }, async () => (await outcomes.shift()?.()) ?? 'none left');
    await pass(clock, 10_000);
    expect(await result).toBe('done');
    expect(delays).toEqual([
      ['first', 1, 1_000],
      ['second', 2, 9_000],
    ]);
  });

  it('gives up when its observer throws', async () => {
    const failed = (thrown: unknown) => {
      throw thrown;
    };
    const result = retry({ ...options, clock: new ManualClock(), failed }, () => Promise.reject(new Error('final')));
    await expect(result).rejects.toThrow('final');
  });

  it('ends when it is aborted', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    let runs = 0;
    const result = retry({ ...options, clock, signal: stop.signal, failed: () => undefined }, () => {
      runs += 1;
      return Promise.reject(new Error('away'));
    });
    const ended = expect(result).rejects.toThrow('stopping');
    await pass(clock, 500);
    stop.abort(new Error('stopping'));
    await ended;
    expect([runs, clock.pending]).toEqual([1, 0]);
  });
});
