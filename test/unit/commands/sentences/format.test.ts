import { describe, expect, it } from 'vitest';
import { formatMonth } from '#commands/sentences/dates.ts';
import {
  all,
  beginning,
  either,
  formatAgo,
  formatBytes,
  formatDuration,
  formatElapsed,
  formatRange,
  formatSpan,
  shorten,
} from '#commands/sentences/format.ts';

describe('formatting', () => {
  it.each([
    [-5, '0:00'],
    [7_999, '0:07'],
    [134_000, '2:14'],
    [3_725_000, '1:02:05'],
  ])('%d ms elapsed is %s', (ms, text) => expect(formatElapsed(ms)).toBe(text));

  it.each([
    [300, '1 s'],
    [30_000, '30 s'],
    [1_800_000, '30 min'],
    [7_200_000, '2 h'],
    [86_400_000, '1 day'],
    [604_800_000, '7 days'],
  ])('%d ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [59_999, 'just now'],
    [60_000, '1 minute ago'],
    [3_599_999, '59 minutes ago'],
    [7_200_000, '2 hours ago'],
    [86_400_000, '1 day ago'],
  ])('%d ms ago is %s', (ms, text) => expect(formatAgo(ms)).toBe(text));

  it.each([
    [33_000, 47_000, '30–50 s'],
    [40_000, 40_000, '40 s'],
    [3_000, 8_000, 'up to 10 s'],
    [125_000, 170_000, '2–3 min'],
    [120_000, 120_000, '2 min'],
    [20_000, 110_000, 'up to 2 min'],
    [3_700_000, 7_000_000, '1–2 h'],
  ])('%d to %d ms is %s', (from, to, text) => expect(formatSpan(from, to)).toBe(text));

  it.each([
    [200, '1 KB'],
    [655_360, '640 KB'],
    [9_961_472, '9.5 MB'],
    [10_485_760, '10 MB'],
    [50_331_648, '48 MB'],
  ])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it.each([
    [[], '', ''],
    [['4'], '4', '4'],
    [['4', '6'], '4 or 6', '4 and 6'],
    [['4', '6', '8'], '4, 6 or 8', '4, 6 and 8'],
  ])('%j', (values, one, every) => {
    expect(either(values)).toBe(one);
    expect(all(values)).toBe(every);
  });

  it('formats ranges and months', () => {
    expect(
      [
        { min: 0, max: 0 },
        { min: 2, max: 2 },
        { min: 0, max: 2 },
        { min: 1, max: 9 },
      ].map(formatRange),
    ).toEqual(['none', 'exactly 2', 'up to 2', '1 to 9']);
    expect(formatMonth('2026-11')).toBe('November 2026');
  });

  it('cuts a text between code points', () => {
    expect(beginning('a fox', 9)).toBe('a fox');
    expect(beginning('a 🦊', 3)).toBe('a ');
    expect(beginning('a 🦊', 4)).toBe('a 🦊');
    expect(beginning('a \uD83E fox', 4)).toBe('a \uFFFD ');
  });

  it('shortens after a word, and never within a grapheme', () => {
    expect(shorten(' a \n red fox ', 9)).toBe('a red fox');
    expect(shorten('running through the snow', 20)).toBe('running through the…');
    expect(shorten('x'.repeat(30), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(shorten('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 12)).toBe('👩‍👩‍👧…');
  });
});
