import { expect, it } from 'vitest';
import { momentOf } from '#src/money/moments.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;

it.each([
  ['30 min', 'UTC', NOW_MS + HOUR_MS / 2],
  ['2h', 'UTC', NOW_MS + 2 * HOUR_MS],
  ['3 Days', 'UTC', NOW_MS + 72 * HOUR_MS],
  ['1 week', 'UTC', NOW_MS + 168 * HOUR_MS],
  ['2026-11-30', 'Europe/Berlin', Date.UTC(2026, 10, 29, 23)],
  ['2026-11-30 9:05', 'Europe/Berlin', Date.UTC(2026, 10, 30, 8, 5)],
  ['2026-11-30T14:00', 'UTC', Date.UTC(2026, 10, 30, 14)],
  // Noon in UTC is 13:00 in Berlin.
  ['14:00', 'Europe/Berlin', NOW_MS + HOUR_MS],
  ['13:00', 'Europe/Berlin', NOW_MS + 24 * HOUR_MS],
  // The day has no 00:00 there.
  ['2026-09-06', 'America/Santiago', Date.UTC(2026, 8, 6, 4)],
  ['2020-01-01', 'UTC', Date.UTC(2020, 0, 1)],
])('%j in %s is read', (text, zone, expected) => expect(momentOf(text, zone, NOW_MS)).toBe(expected));

it.each(['', 'soon', '2026-02-30', '2026-13-01', '25:00', '14:60', '-2h', '2 fortnights', '2026-11-30 soon', '1e3h'])(
  '%j is not',
  (text) => expect(momentOf(text, 'UTC', NOW_MS)).toBeNull(),
);
