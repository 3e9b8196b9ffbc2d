import { describe, expect, it } from 'vitest';
import { paceOf } from '#src/money/pace.ts';
import { microsOf } from '#src/tasks/money.ts';

const DAY_MS = 86_400_000;
/** The month so far on the day `day`, counted from 0, of a month with 30 days. */
const on = (day: number, used: string, limit?: string) =>
  paceOf({
    used: microsOf(used),
    ...(limit === undefined ? {} : { limit: microsOf(limit) }),
    nowMs: day * DAY_MS,
    startMs: 0,
    endMs: 30 * DAY_MS,
  });

describe('the pace of a month', () => {
  it('continues the average so far to the end of the month', () => {
    expect(on(10, '40')).toEqual({ byEnd: microsOf('120') });
  });

  it('names the day on which the limit is used up, if that is within the month', () => {
    expect(on(10, '40', '100')).toEqual({ byEnd: microsOf('120'), runsOutAtMs: 25 * DAY_MS });
    expect(on(10, '40', '120')).toEqual({ byEnd: microsOf('120') });
    expect(on(10, '40', '500')).toEqual({ byEnd: microsOf('120') });
  });

  it('names no day once the limit is used up', () => {
    expect(on(10, '40', '40')).toEqual({ byEnd: microsOf('120') });
    expect(on(10, '40', '0')).toEqual({ byEnd: microsOf('120') });
  });

  it('says nothing on the first day, after the month, and where nothing was used', () => {
    expect([on(0.9, '40'), on(30, '40'), on(31, '40'), on(10, '0')]).toEqual([null, null, null, null]);
  });

  it('stays exact for amounts beyond the range of floating-point numbers', () => {
    expect(on(15, '900000000.000001')).toEqual({ byEnd: microsOf('1800000000.000002') });
  });
});
