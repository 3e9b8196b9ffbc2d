import { expect, it } from 'vitest';
import { rowsOf } from '#adapters/playground/page/messages/rows.js';

const AT_MS = new Date(2026, 10, 21, 12).getTime();
let order = 0;

const message = (changes: object) => ({
  id: `m${++order}`,
  order,
  createdAtMs: AT_MS + order * 1000,
  clip: null,
  asked: null,
  visibleTo: null,
  replyTo: null,
  ...changes,
});
const task = (by = 'ada') => message({ clip: { by } });
const notice = (replyTo: string) => message({ replyTo });

/** What stands there, in short: `day`, `new`, a message's id, with `+` where it has no header of its own. */
const shown = (messages: readonly ReturnType<typeof message>[], readUpTo: number | null = null, user = 'ada') =>
  rowsOf(messages, { readUpTo, user }).map((row) =>
    row.kind === 'message' ? `${row.message.id}${row.isCompact ? '+' : ''}` : row.kind,
  );

it('draws a line where a day begins', () => {
  const [one, two] = [task(), task()];
  const tomorrow = { ...task(), createdAtMs: AT_MS + 86_400_000 };
  expect(shown([one, two, tomorrow])).toEqual(['day', one.id, two.id, 'day', tomorrow.id]);
});

it('draws a line above what others did since the last visit, once', () => {
  const [read, mine, theirs, more] = [task(), task('ada'), task('sam'), task('sam')];
  const all = [read, mine, theirs, more];
  expect(shown(all, read.order)).toEqual(['day', read.id, mine.id, 'new', theirs.id, more.id]);
  expect(shown(all, more.order)).not.toContain('new');
  expect(shown(all, null)).not.toContain('new');
});

it('puts a notice right below its clip, and notices of one burst under one header', () => {
  const [one, two] = [task(), task()];
  const [ofTwo, ofOne, later] = [notice(two.id), notice(one.id), notice('m0')];
  const muchLater = { ...notice('m0'), createdAtMs: AT_MS + 3_600_000 };
  expect(shown([one, two, ofTwo, ofOne, later, muchLater])).toEqual([
    'day',
    one.id,
    two.id,
    `${ofTwo.id}+`,
    `${ofOne.id}+`,
    `${later.id}+`,
    muchLater.id,
  ]);
});
