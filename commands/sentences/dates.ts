/** Formats the month of `2026-11` without its year: `November`. */
export function monthName(period: string): string {
  return firstDay(period).toLocaleString('en', { month: 'long', timeZone: 'UTC' });
}

/** Formats the first day after a month, in the team's time zone: `1 December (Berlin time)`. */
export function formatReset(period: string, timeZone: string): string {
  const day = firstDay(period);
  day.setUTCMonth(day.getUTCMonth() + 1);
  return `${day.toLocaleString('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' })} (${zoneName(timeZone)})`;
}

/** Formats the day of a time in a time zone: `24 November`. */
export function formatDay(timeMs: number, timeZone: string): string {
  return new Date(timeMs).toLocaleString('en-GB', { day: 'numeric', month: 'long', timeZone });
}

/** Formats the day that ends at a time, in a time zone: `24 December 2026`. */
export function formatLastDay(endMs: number, timeZone: string): string {
  return new Date(endMs - 1).toLocaleString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone });
}

/** Formats a time for a text that can't show it in the reader's own time zone: `30 November, 14:00 (Berlin time)`. */
export function formatMoment(timeMs: number, timeZone: string): string {
  const time = new Date(timeMs).toLocaleString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  return `${formatDay(timeMs, timeZone)}, ${time} (${zoneName(timeZone)})`;
}

/** Names a time zone by its city: `Berlin time`; others as they are: `UTC`, `GMT+3`. */
export function zoneName(timeZone: string): string {
  if (!timeZone.includes('/') || timeZone.startsWith('Etc/')) return timeZone.replace('Etc/', '');
  return `${timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone} time`;
}

function firstDay(period: string): Date {
  return new Date(`${period}-01T00:00:00Z`);
}

/** Formats `2026-11` as `November 2026`. */
export function formatMonth(month: string): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  return date.toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}
