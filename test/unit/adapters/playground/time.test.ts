import { expect, it } from 'vitest';
import { relativeTime } from '#adapters/playground/page/time.js';

const SECOND = 1_000;
const HOUR = 3_600_000;

it.each([
  [2 * HOUR - 5 * SECOND, 'in 2 hours'],
  [24 * HOUR - SECOND, 'tomorrow'],
  // The same words a minute later, or after a reload.
  [24 * HOUR - 60 * SECOND, 'tomorrow'],
  [2 * HOUR - 60 * SECOND, 'in 2 hours'],
  [23 * HOUR, 'in 23 hours'],
  [90 * SECOND, 'in 2 minutes'],
  [20 * SECOND, 'just now'],
  [0, 'just now'],
  [-59 * SECOND, 'just now'],
  [-2 * HOUR + SECOND, '1 hour ago'],
  [-24 * HOUR, 'yesterday'],
])('a time %i ms from now is “%s”', (fromNowMs, words) => {
  expect(relativeTime(1_700_000_000_000 + fromNowMs, 1_700_000_000_000)).toBe(words);
});
