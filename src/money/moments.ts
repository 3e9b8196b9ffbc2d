import { Temporal } from 'temporal-polyfill';

const MINUTE_MS = 60_000;
/** Units of a typed duration, by their initial letter, in milliseconds. */
const UNITS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
};
const DURATION = /^(?<number>\d{1,4})\s*(?<unit>m|min|minutes?|h|hours?|d|days?|w|weeks?)$/iu;
const DATE = /^(?<date>\d{4}-\d\d-\d\d)(?:[ T](?<time>\d{1,2}:\d\d))?$/u;
const TIME = /^\d{1,2}:\d\d$/u;

/**
 * Reads the end of something: a duration from now (`2h`, `3 days`), a time of day (`14:00`: the next one), a date
 * (`2026-11-30`: its beginning), or both (`2026-11-30 14:00`), in a time zone.
 * @returns ms since the epoch, not necessarily later than now; null for anything else.
 */
export function momentOf(text: string, timeZone: string, nowMs: number): number | null {
  const typed = text.trim();
  const { number, unit = '' } = DURATION.exec(typed)?.groups ?? {};
  if (number !== undefined) return nowMs + Number(number) * (UNITS[unit.charAt(0).toLowerCase()] ?? 0);
  const { date, time } = DATE.exec(typed)?.groups ?? {};
  try {
    if (date !== undefined) return momentAt(date, time, timeZone);
    if (!TIME.test(typed)) return null;
    const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate();
    const atMs = momentAt(today.toString(), typed, timeZone);
    return atMs > nowMs ? atMs : momentAt(today.add({ days: 1 }).toString(), typed, timeZone);
  } catch (thrown) {
    // 30 February, 25:00.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** @throws RangeError where there is no such day or time of day */
function momentAt(date: string, time: string | undefined, timeZone: string): number {
  const day = Temporal.PlainDate.from(date, { overflow: 'reject' });
  if (time === undefined) return day.toZonedDateTime(timeZone).epochMilliseconds;
  const plainTime = Temporal.PlainTime.from(time.padStart(5, '0'), { overflow: 'reject' });
  return day.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds;
}
