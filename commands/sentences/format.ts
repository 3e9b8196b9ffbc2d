import { withoutDirection } from '../ui/card.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration as a timer does: `0:07`, `2:14`, `1:02:14`. Whole seconds, rounded down. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / SECOND_MS);
  const minutes = Math.floor(seconds / 60);
  const rest = twoDigits(seconds % 60);
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${twoDigits(minutes % 60)}:${rest}`;
}

/** Formats a duration in the largest unit of which it has at least one, rounded: `30 s`, `5 min`, `2 h`, `3 days`. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(1, Math.round(ms / SECOND_MS))} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.round(ms / HOUR_MS)} h`;
  const days = Math.round(ms / DAY_MS);
  return days === 1 ? '1 day' : `${days} days`;
}

/** Says when something that is refused may be tried again: `Try again in 30 s.` */
export function tryAgainIn(ms: number): string {
  return `Try again in ${formatDuration(ms)}.`;
}

const AGO = new Intl.RelativeTimeFormat('en');

/** Formats the time since an event in its largest unit, rounded down: `just now`, `2 minutes ago`. */
export function formatAgo(ms: number): string {
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return AGO.format(-Math.floor(ms / MINUTE_MS), 'minute');
  if (ms < DAY_MS) return AGO.format(-Math.floor(ms / HOUR_MS), 'hour');
  return AGO.format(-Math.floor(ms / DAY_MS), 'day');
}

/** Formats an estimate, widened to round numbers: `30–50 s`, `2–3 min`, `1–2 h`; one number if both ends are equal. */
export function formatSpan(fromMs: number, toMs: number): string {
  const { unitMs, step, name } = spanUnit(toMs);
  const from = Math.floor(fromMs / unitMs / step) * step;
  const to = Math.ceil(toMs / unitMs / step) * step;
  if (from <= 0) return `up to ${to} ${name}`;
  return from === to ? `${to} ${name}` : `${from}–${to} ${name}`;
}

function spanUnit(toMs: number): { readonly unitMs: number; readonly step: number; readonly name: string } {
  if (toMs <= 90 * SECOND_MS) return { unitMs: SECOND_MS, step: 10, name: 's' };
  if (toMs <= 90 * MINUTE_MS) return { unitMs: MINUTE_MS, step: 1, name: 'min' };
  return { unitMs: HOUR_MS, step: 1, name: 'h' };
}

/** Formats a file size: `640 KB`, `9.5 MB`, `48 MB`; in units of 1024, as chat platforms count their limits. */
export function formatBytes(bytes: number): string {
  const kilobytes = bytes / 1024;
  if (kilobytes < 1024) return `${Math.max(1, Math.round(kilobytes))} KB`;
  const megabytes = kilobytes / 1024;
  return megabytes < 10 ? `${Number(megabytes.toFixed(1))} MB` : `${Math.round(megabytes)} MB`;
}

/**
 * Returns a text on one line, truncated with `…` to at most `length` UTF-16 units (as platforms count): after a whole
 * word if one ends near the limit, and never within a grapheme.
 */
export function shorten(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  if (line.length <= length) return line;
  let cut = '';
  for (const { segment } of CHARACTERS.segment(line)) {
    if (cut.length + segment.length > length - 1) break;
    cut += segment;
  }
  const wordEnd = cut.lastIndexOf(' ');
  return `${wordEnd > cut.length * 0.8 ? cut.slice(0, wordEnd) : cut}…`;
}

/** Shortens user input for use in a sentence. */
export function shown(given: string): string {
  return shorten(given, 80);
}

/** Quotes user input in a sentence, shortened to a number of UTF-16 units. */
export function quoted(given: string, length = 80): string {
  return `“${shorten(given, length)}”`;
}

/** Returns the first `length` UTF-16 units of a text, or one less: platforms refuse half a surrogate pair. */
export function beginning(text: string, length: number): string {
  const cut = text.slice(0, length);
  return (cut === text ? text : cut.replace(/\p{Surrogate}$/u, '')).toWellFormed();
}

/** Segments by grapheme: one character for a reader may consist of several code points. */
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns the full stop for the end of a text; nothing after punctuation. */
export function fullStop(text: string): string {
  return /[.!?…]$/u.test(text) ? '' : '.';
}

const DISJUNCTION = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const CONJUNCTION = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** Joins values with “or”: `4`, `4 or 6`, `4, 6 or 8`. */
export function either(values: readonly string[]): string {
  return DISJUNCTION.format(values);
}

/** Joins values with “and”: `4`, `4 and 6`, `4, 6 and 8`. */
export function all(values: readonly string[]): string {
  return CONJUNCTION.format(values);
}

/** Formats a number with thousands separators: `2,000`. */
export function formatCount(number: number): string {
  return number.toLocaleString('en');
}

/** Formats a number with its noun: `1 clip`, `3 clips`, `2,000 clips`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${formatCount(number)} ${number === 1 ? one : many}`;
}

/** Formats the range of an allowed number: `none`, `exactly 1`, `up to 2`, `1 to 9`. */
export function formatRange({ min, max }: { readonly min: number; readonly max: number }): string {
  if (max === 0) return 'none';
  if (min === max) return `exactly ${max}`;
  return min === 0 ? `up to ${max}` : `${min} to ${max}`;
}

const NAME_LENGTH = 60;

/** Sanitises an external name for a terminal: removes control and directional characters, and shortens it. */
export function plainName(name: string): string {
  return shorten(withoutDirection(name).replace(/\p{Cc}+/gu, ' '), NAME_LENGTH);
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Returns words that continue a sentence: with a small first letter. */
export function uncapitalised(words: string): string {
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
