import { describe, expect, it } from 'vitest';
import { decodeError } from '#src/videos/dialects/tolerant.ts';
import { failure, reasonOf, retryAfterMs, scrubber } from '#src/videos/failures.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

describe('retryAfterMs', () => {
  it.each<[string | undefined, number | undefined]>([
    ['30', 30_000],
    ['0', 0],
    ['1.5', 1500],
    ['Fri, 20 Nov 2026 12:00:42 GMT', 42_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['-5', 0],
    ['99999999', 3_600_000],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j', (value, expected) => {
    expect(retryAfterMs(value === undefined ? {} : { 'retry-after': value }, NOW)).toBe(expected);
  });
});

describe('failure', () => {
  it('redacts the token everywhere, causes included', () => {
    const cause = Object.assign(new Error('parsing sk-secret/1'), { code: 'HPE', data: 'sk-secret/1' });
    const error = failure({ scrub: scrubber('sk-secret/1') }, 'asking with sk-secret/1', {
      code: 'unavailable',
      retryable: true,
      words: 'The key sk-secret/1 is wrong.',
      cause,
    });
    expect(error.words).toBe('The key [hidden] is wrong.');
    expect(error.cause).toMatchObject({ code: 'HPE' });
    const everything = [error.message, error.stack, error.words, JSON.stringify(error), JSON.stringify(error.cause)];
    const cause2 = error.cause instanceof Error ? [error.cause.message, error.cause.stack] : [];
    expect([...everything, ...cause2].join('\n')).not.toContain('sk-secret');
  });
});

describe('reasonOf', () => {
  const answer = (text: string, type?: string) => ({
    status: 502,
    headers: type === undefined ? {} : { 'content-type': type },
    text,
  });

  const wordsOf = (text: string, type?: string) =>
    reasonOf(answer(text, type), { scrub: scrubber('sk-secret/1'), dialect: { decodeError } }).words;

  it('reads JSON and the start of plain text, but no HTML', () => {
    expect(wordsOf('{"error":"busy now"}', 'application/json')).toBe('busy now');
    expect(wordsOf('upstream is busy\n', 'text/plain; charset=utf-8')).toBe('upstream is busy');
    expect(wordsOf('x'.repeat(900), 'text/plain')).toHaveLength(200);
    expect(wordsOf('<html>502</html>')).toBeNull();
    expect(wordsOf('body {}', 'text/css')).toBeNull();
  });

  it.each([189, 192, 195, 199])(
    'leaves no part of a token where the text is truncated (from character %d on)',
    (before) => {
      const words = wordsOf(`${'x'.repeat(before)}sk-secret/1 may not do this`, 'text/plain');
      expect(words).toBe(`${'x'.repeat(before)}[hidden] may not do this`.slice(0, 200));
    },
  );
});
