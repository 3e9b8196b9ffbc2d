import { html } from 'htm/preact';
import { useEffect, useReducer } from 'preact/hooks';

const listeners = new Set();
setInterval(() => {
  for (const listener of listeners) listener();
}, 1000);

/** Renders the component again every second. */
export function useSeconds(isOn = true) {
  const [, again] = useReducer((count) => count + 1, 0);
  useEffect(() => {
    if (!isOn) return undefined;
    const listener = () => again(undefined);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, [isOn]);
}

/** Formats a duration as the bot does: `0:07`, `2:14`, `1:02:14`. */
export function elapsed(ms) {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const two = (number) => String(number).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** Formats a point in time relative to now, such as `2 minutes ago`; one to come is rounded to the minute, or the hour. */
export function relativeTime(timeMs, nowMs = Date.now()) {
  // What was set to 2 hours a second ago ends in 2 hours, not in 1.
  const aheadMs = timeMs - nowMs;
  const differenceMs = aheadMs + (aheadMs > 3_600_000 ? 1_800_000 : aheadMs > 0 ? 30_000 : 0);
  const [unit, unitMs] = UNITS.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? [];
  return unit === undefined ? 'just now' : relative.format(Math.trunc(differenceMs / unitMs), unit);
}

export function Time({ timeMs, words }) {
  const date = new Date(timeMs);
  return html`<time datetime=${date.toISOString()} title=${absolute.format(date)}>${words}</time>`;
}
