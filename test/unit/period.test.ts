import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfPeriod, isTimeZone, periodOf, previousPeriod, startOfPeriod } from '#src/period.ts';

const at = (iso: string): number => Date.parse(iso);

/** Zones far from UTC, with a day that starts at 01:00, that skipped a day, and that put back the clock at midnight. */
const ZONES = [
  'UTC',
  'Pacific/Kiritimati',
  'America/Los_Angeles',
  'America/Asuncion',
  'Asia/Damascus',
  'Pacific/Apia',
  'America/St_Johns',
  'Europe/Berlin',
  '+05:30',
];

describe('the month of a time', () => {
  it.each([
    ['UTC', '2026-11-30T23:59:59.999Z', '2026-11'],
    ['UTC', '2026-12-01T00:00:00.000Z', '2026-12'],
    ['Pacific/Kiritimati', '2026-11-30T10:00:00.000Z', '2026-12'],
    ['Pacific/Kiritimati', '2026-11-30T09:59:59.999Z', '2026-11'],
    ['America/Los_Angeles', '2026-12-01T07:59:59.999Z', '2026-11'],
    ['America/Los_Angeles', '2026-12-01T08:00:00.000Z', '2026-12'],
    ['Europe/Berlin', '2028-02-29T22:59:59.999Z', '2028-02'],
    ['Europe/Berlin', '2028-02-29T23:00:00.000Z', '2028-03'],
    ['UTC', '1969-12-31T23:59:59.999Z', '1969-12'],
  ])('in %s at %s is %s', (zone, iso, period) => {
    expect(periodOf(at(iso), zone)).toBe(period);
  });

  it('starts at 01:00 where the clock is put forward at midnight', () => {
    expect(startOfPeriod('2023-10', 'America/Asuncion')).toBe(at('2023-10-01T01:00-03:00'));
    expect(startOfPeriod('2011-04', 'Asia/Damascus')).toBe(at('2011-04-01T01:00+03:00'));
  });

  it('has begun once, although the hour at midnight comes twice', () => {
    // At 00:01 on 1 November 2009 the clock was put back to 23:01 on 31 October.
    const startMs = startOfPeriod('2009-11', 'America/St_Johns');
    expect(startMs).toBe(at('2009-11-01T00:00-02:30'));
    const minutes = Array.from({ length: 180 }, (_, minute) =>
      periodOf(startMs + (minute - 60) * 60_000, 'America/St_Johns'),
    );
    expect(minutes).toEqual([...Array(60).fill('2009-10'), ...Array(120).fill('2009-11')]);
  });

  it('is the half-open range from its start to its end, in any zone', () => {
    const times = fc.integer({ min: at('1990-01-01'), max: at('2040-01-01') });
    fc.assert(
      fc.property(times, fc.constantFrom(...ZONES), (nowMs, zone) => {
        const period = periodOf(nowMs, zone);
        expect(startOfPeriod(period, zone)).toBeLessThanOrEqual(nowMs);
        expect(endOfPeriod(period, zone)).toBeGreaterThan(nowMs);
        expect(periodOf(startOfPeriod(period, zone), zone)).toBe(period);
        expect(periodOf(startOfPeriod(period, zone) - 1, zone)).toBe(previousPeriod(period));
      }),
      { numRuns: 300 },
    );
  });

  it('follows another', () => {
    expect(previousPeriod('2026-12')).toBe('2026-11');
    expect(previousPeriod('2026-01')).toBe('2025-12');
  });
});

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'america/los_angeles', 'Etc/GMT+5', 'America/Port-au-Prince', '+05:30', '-08'])(
    'is %s',
    (name) => {
      expect(isTimeZone(name)).toBe(true);
    },
  );

  it.each(['', 'Mars/Olympus', 'Berlin', 'UTC+2', '2026-01-01T00:00Z', '2026-01-01T00:00[Europe/Berlin]', 'Z', '12'])(
    'is not %j',
    (name) => {
      expect(isTimeZone(name)).toBe(false);
    },
  );
});
