import { describe, expect, it } from 'vitest';
import { nextPollMs, type PollPace } from '#src/pipeline/poll.ts';

const pace: PollPace = { firstMs: 5_000, minMs: 5_000, maxMs: 30_000, deadlineMs: 1_800_000 };
const MINUTE_MS = 60_000;

describe('the next poll', () => {
  it.each([
    [0, 5_000],
    [2 * MINUTE_MS - 1, 5_000],
    [2 * MINUTE_MS, 10_000],
    [5 * MINUTE_MS, 15_000],
    [10 * MINUTE_MS, 20_000],
    [20 * MINUTE_MS, 30_000],
    [30 * MINUTE_MS, 30_000],
    [7 * 24 * 60 * MINUTE_MS, 30_000],
  ])('of a task %i ms old is in %i ms', (ageMs, expected) => {
    expect(nextPollMs(pace, ageMs, 0)).toBe(expected);
  });

  it('has jitter and stays within the bounds', () => {
    expect(nextPollMs(pace, 0, 1)).toBe(5_500);
    for (let ageMs = 0; ageMs < 40 * MINUTE_MS; ageMs += MINUTE_MS) {
      for (const random of [0, 0.5, 1]) {
        const nextMs = nextPollMs(pace, ageMs, random);
        expect(nextMs).toBeGreaterThanOrEqual(pace.minMs);
        expect(nextMs).toBeLessThanOrEqual(pace.maxMs);
      }
    }
  });

  it('has a constant interval where the bounds are equal', () => {
    expect(nextPollMs({ ...pace, minMs: 100, maxMs: 100 }, 4 * MINUTE_MS, 1)).toBe(100);
  });
});
