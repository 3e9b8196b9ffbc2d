import { describe, expect, it } from 'vitest';
import { formatDay, formatReset, monthName, zoneName } from '#commands/sentences/dates.ts';

describe('months in sentences', () => {
  it('are named without the year', () => {
    expect(monthName('2026-02')).toBe('February');
  });

  it('end on the first day of the next one, in the team’s time zone', () => {
    expect([formatReset('2026-11', 'Europe/Berlin'), formatReset('2026-12', 'UTC')]).toEqual([
      '1 December (Berlin time)',
      '1 January (UTC)',
    ]);
  });

  it('name a day as it is in the time zone', () => {
    const lateMs = Date.UTC(2026, 10, 23, 23, 30);
    expect([formatDay(lateMs, 'UTC'), formatDay(lateMs, 'Europe/Berlin')]).toEqual(['23 November', '24 November']);
  });

  it('name a time zone by its city, others as they are', () => {
    expect(
      ['America/Argentina/Buenos_Aires', 'Pacific/Kiritimati', 'UTC', 'Etc/GMT+3', '+05:30'].map(zoneName),
    ).toEqual(['Buenos Aires time', 'Kiritimati time', 'UTC', 'GMT+3', '+05:30']);
  });
});
