import { expect, it } from 'vitest';
import { readableLine } from '#src/logger.ts';

const time = new Date(2026, 10, 22, 9, 5, 7).toISOString();
const read = (line: object): string =>
  readableLine(JSON.stringify({ level: 'info', time, msg: 'it happened', ...line }), false);

it('consists of the time of day, the level, the message and the fields', () => {
  expect(read({ task: 't1', lost: 2, reason: 'two words', of: { lane: 'poll' } })).toBe(
    '09:05:07 info  it happened task=t1 lost=2 reason="two words" of={"lane":"poll"}\n',
  );
});

it('ends with the message of an error, and with the stack of an unexpected one', () => {
  const err = { type: 'Error', message: 'no luck', stack: 'Error: no luck\n    at work (file.ts:1:2)' };
  expect(read({ level: 'error', err })).toBe('09:05:07 error it happened: no luck\n    at work (file.ts:1:2)\n');
  expect(read({ level: 'error', err: { ...err, code: 'disk_full' } })).toBe('09:05:07 error it happened: no luck\n');
  expect(read({ level: 'warn', err })).toBe('09:05:07 warn  it happened: no luck\n');
  expect(read({ err: 'thrown as text' })).toBe('09:05:07 info  it happened: "thrown as text"\n');
});

it('escapes control characters in untrusted text', () => {
  expect(read({ prompt: '\u001b[2Jfox\u009b\u202e' })).toContain('\\u001b[2Jfox\\u009b\\u202e');
  expect(read({ err: { message: 'a\u0007\nb' } })).toContain('a\\u0007\\u000ab');
});

it('colours warnings and errors', () => {
  expect(readableLine(JSON.stringify({ level: 'error', time, msg: 'x' }), true)).toContain('\u001b[31merror');
});
