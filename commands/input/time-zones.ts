import { isTimeZone } from '#src/period.ts';

/** Returns the names of all time zones, `UTC` first. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
}

/** Returns the name of a typed time zone, whose case and blanks may differ; `null` for an unknown one. */
export function zoneNamed(typed: string): string | null {
  const name = typed.trim().replace(/\s+/gu, '_');
  const known = timeZones().find((zone) => zone.toLowerCase() === name.toLowerCase());
  return known ?? (isTimeZone(name) ? name : null);
}
