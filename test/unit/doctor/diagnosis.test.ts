import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  CHECK_TIMEOUT_MS,
  type Diagnosis,
  type Finding,
  ok,
  report,
  runChecks,
  warning,
  withoutSecrets,
  wrong,
} from '#src/doctor/diagnosis.ts';
import { DailiesError } from '#src/errors.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const about = (subject: string, finding: Finding): Diagnosis => ({ ...finding, subject });

it('prints a line per diagnosis, a second one with what to do, and the totals', () => {
  const text = report([
    about('Store', ok('fine')),
    about('Clock', warning('7 s ahead', 'Set it.')),
    about('Disk', wrong('0 B free', 'Free it.')),
  ]);
  expect(text).toBe(
    '✓ Store: fine\n! Clock: 7 s ahead\n  → Set it.\n✗ Disk: 0 B free\n  → Free it.\n\n1 fine, 1 to look at, 1 wrong.\n',
  );
});

it('keeps a diagnosis with control characters on one line', () => {
  expect(report([about('Bot', ok('a\nb\u001b[31mc\u202ed'))])).toContain('✓ Bot: a b [31mc d\n');
});

it('reports a check that fails or takes too long, and keeps the order of the others', async () => {
  const clock = new ManualClock();
  const failure = new DailiesError('asking: no answer', { code: 'platform_unavailable', retryable: true });
  const running = runChecks(
    [
      { subject: 'slow', run: () => new Promise(() => undefined) },
      { subject: 'broken', run: () => Promise.reject(failure) },
      { subject: 'fine', run: async () => ok('yes') },
      { subject: 'silent', run: () => null },
      { subject: 'several', run: () => [ok('one'), null, ok('another', 'a subject of its own')] },
    ],
    clock,
  );
  await setImmediate();
  clock.advance(CHECK_TIMEOUT_MS);
  expect((await running).map(({ level, subject, found }) => [level, subject, found])).toEqual([
    ['wrong', 'slow', 'no result within 10 s'],
    ['wrong', 'broken', 'asking: no answer'],
    ['ok', 'fine', 'yes'],
    ['ok', 'several', 'one'],
    ['ok', 'a subject of its own', 'another'],
  ]);
});

it('hides secrets wherever they occur', () => {
  const found = [
    about('Store', wrong('hunter2-hunter2 is refused', 'Change hunter2-hunter2.')),
    about('Bot', ok('a bot')),
  ];
  const shown = report(
    withoutSecrets(found, { DISCORD_TOKEN: 'hunter2-hunter2', SLACK_BOT_TOKEN: 'bot', BOARD_TOKEN: '' }),
  );
  expect(shown).not.toContain('hunter2');
  expect(shown).toContain('[hidden] is refused');
  expect(shown).toContain('✓ Bot: a bot');
});

it('knows every secret of the environment', () => {
  const hidden = (text: string, given: Readonly<Record<string, string>>) =>
    withoutSecrets([about('Store', ok(text))], given).map(({ found }) => found);
  const given = { DISCORD_TOKEN: 'aaaaaa', LINK_SECRET: 'bbbbbb', STORE_URL: 'redis://user:p%40ssword@db' };
  expect(hidden('aaaaaa bbbbbb p%40ssword p@ssword user', given)).toEqual(['[hidden] [hidden] [hidden] [hidden] user']);
  expect(hidden('info', { LOG_LEVEL: 'info' })).toEqual(['info']);
  expect(hidden('at 100000%', { STORE_URL: 'redis://user:100000%@db' })).toEqual(['at [hidden]']);
});

it('writes the same fields in the same order for every diagnosis', async () => {
  const [found] = await runChecks([{ subject: 'Disk', run: () => wrong('full', 'Free it.') }], new ManualClock());
  expect(JSON.stringify(found)).toBe('{"level":"wrong","subject":"Disk","found":"full","fix":"Free it."}');
});
