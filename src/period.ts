import { Temporal } from 'temporal-polyfill';
import { BoundedMap } from './bounded-map.ts';

/** Number of time zones whose last month is kept. */
const MAX_ZONES = 1_000;
/** Month that each time zone was last found in, with its first moment and that after it: every order asks for it. */
const found = new BoundedMap<string, { readonly period: string; readonly startMs: number; readonly endMs: number }>(
  MAX_ZONES,
);

/**
 * Returns the month of a time as `YYYY-MM`. Months begin at the first moment of their first day in the time zone, which
 * is not 00:00 everywhere, and end where the next one begins, also where an hour at midnight comes twice.
 * @param timeZone IANA name; see {@link isTimeZone}.
 */
export function periodOf(nowMs: number, timeZone: string): string {
  const known = found.get(timeZone);
  if (known !== undefined && known.startMs <= nowMs && nowMs < known.endMs) return known.period;
  const period = findPeriod(nowMs, timeZone);
  found.set(timeZone, { period, startMs: startOfPeriod(period, timeZone), endMs: endOfPeriod(period, timeZone) });
  return period;
}

function findPeriod(nowMs: number, timeZone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone);
  const period = local.toPlainDate().toPlainYearMonth().toString();
  // The clock may have been put back from the first day of a month that has begun.
  return nowMs < endOfPeriod(period, timeZone) ? period : nextPeriod(period);
}

/** Returns the first moment of a month in a time zone, in milliseconds since the Unix epoch. */
export function startOfPeriod(period: string, timeZone: string): number {
  const firstDay = Temporal.PlainYearMonth.from(period).toPlainDate({ day: 1 });
  return firstDay.toZonedDateTime(timeZone).epochMilliseconds;
}

/** Returns the first moment after a month in a time zone, in milliseconds since the Unix epoch. */
export function endOfPeriod(period: string, timeZone: string): number {
  return startOfPeriod(nextPeriod(period), timeZone);
}

/** Returns the first moment of a day, `YYYY-MM-DD`, in a time zone, in milliseconds since the Unix epoch. */
export function startOfDay(day: string, timeZone: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds;
}

/** Returns the first moments of the day of a time and of `count` days before it, the latest first, by the day, `YYYY-MM-DD`. */
export function daysUntil(timeMs: number, count: number, timeZone: string): readonly (readonly [string, number])[] {
  const today = Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone).toPlainDate();
  const days = Array.from({ length: count + 1 }, (_, back) => today.subtract({ days: back }).toString());
  return days.map((day) => [day, startOfDay(day, timeZone)]);
}

/** Returns the first moment after a day, `YYYY-MM-DD`, in a time zone; `null` where there is no such day. */
export function endOfDay(day: string, timeZone: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return null;
  try {
    return Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** Returns the month before. */
export function previousPeriod(period: string): string {
  return Temporal.PlainYearMonth.from(period).subtract({ months: 1 }).toString();
}

/** A zone's name or an offset; Temporal also takes the zone of an ISO 8601 time. */
const ZONE = /^(?:[a-z][\w+/-]*|[+-]\d\d(?::?\d\d)?)$/i;

/** Returns whether a name is that of a time zone, such as `Europe/Berlin`, or an offset such as `+05:30`. */
export function isTimeZone(name: string): boolean {
  if (!ZONE.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
  } catch (thrown) {
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
  return true;
}

function nextPeriod(period: string): string {
  return Temporal.PlainYearMonth.from(period).add({ months: 1 }).toString();
}

/** Returns a time as ISO 8601 in UTC; undefined stays. */
export function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
