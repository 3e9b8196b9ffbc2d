import { expect, it } from 'vitest';
import { ProductCopy } from './changes/change.ts';
import { TEAM_SETTING } from './changes/team-setting.ts';

/** Prints the option of the setting, its line on the card and that of the audit log. */
const SHOWN = `
  import { settings } from '#commands/administration/settings.ts';
  import { showAudit } from '#commands/administration/audit.ts';
  import { settingsCard } from '#commands/sentences/administration/settings.ts';
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
  const page = { list: 'audit', offset: 0, isDeployment: false };
  const { card: log } = await showAudit(ports, { mayAdminister: true, platform: 'slack', team: 'T1' }, page);
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
