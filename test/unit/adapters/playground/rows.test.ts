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

/** Returns the rows in short form: `day`, `new`, or a message id, with `+` for a message without a header. */
const shown = (messages: readonly ReturnType<typeof message>[], readUpTo: number | null = null, user = 'ada') =>
  rowsOf(messages, { readUpTo, user }).map((row) =>
    row.kind === 'message' ? `${row.message.id}${row.isCompact ? '+' : ''}` : row.kind,
  );

it('has a divider at the start of each day', () => {
  const [one, two] = [task(), task()];
  const tomorrow = { ...task(), createdAtMs: AT_MS + 86_400_000 };
  expect(shown([one, two, tomorrow])).toEqual(['day', one.id, two.id, 'day', tomorrow.id]);
});

it('has one divider above new messages of other users since the last visit', () => {
  const [read, mine, theirs, more] = [task(), task('ada'), task('sam'), task('sam')];
  const all = [read, mine, theirs, more];
  expect(shown(all, read.order)).toEqual(['day', read.id, mine.id, 'new', theirs.id, more.id]);
  expect(shown(all, more.order)).not.toContain('new');
  expect(shown(all, null)).not.toContain('new');
});

it('groups a notice with its clip, and a burst of notices under one header', () => {
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
