import { expect, it } from 'vitest';
import { ProductCopy } from './changes/change.ts';
import { COMMAND, REGISTRY } from './changes/command.ts';
import { FILE, RECORD_KIND } from './changes/record-kind.ts';
import { TEAM_SETTING } from './changes/team-setting.ts';

/** Prints the option of the setting, its line on the card and that of the audit log. */
const SHOWN = `
  import { settings } from '#commands/administration/settings.ts';
  import { audit } from '#commands/administration/audit.ts';
  import { settingsCard } from '#commands/administration/setting-words.ts';
  import { settingEntries } from '#src/teams/audit/setting-entries.ts';
  import { DEFAULT_SETTINGS } from '#src/teams/index.ts';
  const after = { ...DEFAULT_SETTINGS, weeklySummary: true };
  const card = settingsCard('settings', { settings: after, channel: 'C1', changed: null, typed: '', lacksApprover: false });
  const entries = settingEntries(DEFAULT_SETTINGS, after).map((entry) => ({ ...entry, by: null, atMs: 0, surface: 'command' }));
  const ports = {
    audit: { page: async () => ({ entries, total: entries.length }) },
    settings: { get: async () => after },
    catalog: () => ({ models: [] }),
  };
  const page = { what: 'audit', offset: 0, isDeployment: false };
  const { card: log } = await audit.presses['page:audit'](ports, { mayAdminister: true, platform: 'slack', team: 'T1' }, page);
  const linesOf = ({ blocks }) => blocks.map(({ line, title }) => (title ?? line ?? []).map((part) => part.strong ?? part).join(''));
  const find = (lines, part) => lines.find((line) => line.includes(part));
  console.log(JSON.stringify({
    option: settings.declaration.options.find(({ name }) => name === 'weekly_summary'),
    shown: find(linesOf(card), 'Weekly summary'),
    logged: find(linesOf(log), 'weekly summary'),
  }));
`;

it('a new team setting touches two files: its row, and its words, which tsc asks for', async () => {
  const [row, words] = TEAM_SETTING;
  const copy = await ProductCopy.make();
  await copy.insert(row);
  expect(await copy.filesWithErrors()).toEqual([words.file]);
  await copy.insert(words);
  expect(await copy.filesWithErrors()).toEqual([]);
  expect(await copy.printedBy(SHOWN)).toEqual({
    option: {
      name: 'weekly_summary',
      description: 'Whether to post a summary every Monday',
      kind: 'text',
      choices: ['on', 'off'].map((value) => ({ value, label: value })),
      defaultWords: 'off',
    },
    shown: 'Weekly summary: posted every Monday.',
    logged: 'The operator turned the weekly summary on.',
  });
});

/** Forgets and exports a person by the new kind of record. */
const FORGOTTEN = `
  import { openStore } from '#src/engine/store/open.ts';
  import { recordKinds } from '#src/engine/index.ts';
  import { forgetIn, linesAbout } from '#src/people/personal-records.ts';
  import { readCaption, writeCaption } from '#src/teams/references.ts';
  const logger = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]));
  const store = await openStore('sqlite://' + process.cwd() + '/captions.db', { logger });
  const of = { platform: 'fake', team: 'T1', person: { id: 'U1', name: 'Ada' }, pseudonym: { id: 'forgotten-1', name: 'Removed person' } };
  await writeCaption(store, of, of.person);
  const lines = await Array.fromAsync(linesAbout(store, of));
  await forgetIn(store, of, (kind) => { throw new TypeError(kind); });
  const left = (await readCaption(store, of)).by.id;
  await store.close();
  console.log(JSON.stringify({ lines, left, holds: recordKinds.get('captions').holds }));
`;

it('a new kind of record touches one file, which does not compile without what it says about people', async () => {
  const copy = await ProductCopy.make();
  await copy.insert(RECORD_KIND.bare);
  expect(await copy.filesWithErrors()).toEqual([FILE]);
  await copy.insert(RECORD_KIND.personal);
  expect(await copy.filesWithErrors()).toEqual([]);
  expect(await copy.printedBy(FORGOTTEN)).toEqual({
    lines: [{ record: 'caption', text: 'made with care' }],
    left: 'forgotten-1',
    holds: 'a caption of a team, with who wrote it',
  });
});

/** Runs the new command. */
const GREETED = `
  import { subcommands } from '#commands/registry.ts';
  const hello = subcommands.find(({ declaration }) => declaration.name === 'hello');
  console.log(JSON.stringify(await hello.run({}, { user: { id: 'U1', name: 'Ada' } }, {})));
`;

it('a new command touches two files: its own, and the registry', async () => {
  const copy = await ProductCopy.make();
  await copy.add(COMMAND.file, COMMAND.text);
  for (const lines of REGISTRY) await copy.insert(lines);
  expect(await copy.filesWithErrors()).toEqual([]);
  expect(JSON.stringify(await copy.printedBy(GREETED))).toContain('Hello Ada');
});
