import { useEffect, useReducer } from 'preact/hooks';
import { html } from './html.js';

const listeners = new Set();
setInterval(() => {
  for (const listener of listeners) listener();
}, 1000);

/** Draws the component again every second. */
export function useSeconds(isOn = true) {
  const [, again] = useReducer((count) => count + 1, 0);
  useEffect(() => {
    if (!isOn) return undefined;
    const listener = () => again(undefined);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, [isOn]);
}

/** A stretch of time as the bot writes it: `0:07`, `2:14`, `1:02:14`. */
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

/** A moment: relative, kept up to date; exact, in the reader's zone, on hover. */
export function Moment({ timeMs }) {
  useSeconds();
  const differenceMs = timeMs - Date.now();
  const [unit, unitMs] = UNITS.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? [];
  const words = unit === undefined ? 'just now' : relative.format(Math.trunc(differenceMs / unitMs), unit);
  const date = new Date(timeMs);
  return html`<time datetime=${date.toISOString()} title=${absolute.format(date)}>${words}</time>`;
}
