import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Insertion, ProductCopy } from './changes/change.ts';
import { CLIP_SETTING } from './changes/clip-setting.ts';
import { COMMAND, REGISTRY } from './changes/command.ts';
import { FILE, RECORD_KIND } from './changes/record-kind.ts';
import { SET_KIND } from './changes/set-kind.ts';
import { TASK_STATE } from './changes/task-state.ts';
import { TEAM_NOTICE } from './changes/team-notice.ts';
import { TEAM_SETTING } from './changes/team-setting.ts';

let product: ProductCopy;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-product-'));
  product = await ProductCopy.make(folder);
  expect(await product.filesWithErrors()).toEqual([]);
  return () => rm(folder, { recursive: true, force: true });
});

/**
 * Makes a change in a copy of the product. After the first of its files, tsc asks for no other than the rest of them.
 * @returns the copy, and the files in their order
 */
async function changedBy(parts: readonly Insertion[]): Promise<{ copy: ProductCopy; files: readonly string[] }> {
  const copy = await product.copy();
  const files = [...new Set(parts.map(({ file }) => file))];
  const [first, ...others] = files;
  for (const part of parts) if (part.file === first) await copy.insert(part);
  expect(new Set(await copy.filesWithErrors()).difference(new Set(others))).toEqual(new Set());
  for (const part of parts) if (part.file !== first) await copy.insert(part);
  expect(await copy.filesWithErrors()).toEqual([]);
  return { copy, files };
}

/** Prints the option of the setting, and the body of a request with it. */
const SEEDED = `
  import { create } from '#commands/create.ts';
  import { requestWords } from '#commands/sentences/settings.ts';
  import { DIALECTS } from '#src/videos/index.ts';
  const request = { model: 'm', prompt: 'a fox', seconds: 4, seed: 7, media: { image: [], audio: [], video: [] } };
  console.log(JSON.stringify({
    option: create.declaration.options.find(({ name }) => name === 'seed'),
    body: DIALECTS['v1-videos'].createCall(request, { name: 'm', billing: 'per_call' }).body,
    words: requestWords(request),
  }));
`;

it('a new setting of a clip touches three files: its name, its row, and its words', async () => {
  const { copy, files } = await changedBy(CLIP_SETTING);
  expect(files).toHaveLength(3);
  expect(await copy.printedBy(SEEDED)).toMatchObject({
    option: { name: 'seed', description: 'Number by which a clip can be made alike', kind: 'integer' },
    body: { model: 'm', prompt: 'a fox', seed: 7 },
    words: ['4 s', '7'],
  });
});

/** Parks a task, and cancels it. */
const PARKED = `
  import { transition } from '#src/tasks/state-machine.ts';
  const by = { id: 'U1', name: 'Ada' };
  const parked = transition({ state: 'claimed', revision: 1, sends: 0, unsentTries: 0 }, { kind: 'park' });
  const cancelled = transition(parked, { kind: 'cancel', by, atMs: 1 });
  console.log(JSON.stringify([parked.state, cancelled.state]));
`;

it('a new state of tasks touches three files: its name, its row, and the answer to a late Cancel', async () => {
  const { copy, files } = await changedBy(TASK_STATE);
  expect(files).toHaveLength(3);
  expect(await copy.printedBy(PARKED)).toEqual(['parked', 'cancelled']);
});

/** Prints the card of a notice. */
const NOTICED = `
  import { teamNoticeCard } from '#commands/sentences/cards/team-notice.ts';
  console.log(JSON.stringify(teamNoticeCard({ kind: 'weekly_summary', clips: 3 })));
`;

it('a new notice to a team touches two files: what it says and to whom, and its words', async () => {
  const { copy, files } = await changedBy(TEAM_NOTICE);
  expect(files).toHaveLength(2);
  expect(JSON.stringify(await copy.printedBy(NOTICED))).toContain('3 clips this week.');
});

/** Prints the size of a set. */
const COUNTED = `
  import { setSize } from '#commands/sentences/ordered.ts';
  console.log(JSON.stringify(setSize({ kind: 'loops', of: 3 })));
`;

it('a new kind of set touches three files: its name, and its words', async () => {
  const { copy, files } = await changedBy(SET_KIND);
  expect(files).toHaveLength(3);
  expect(await copy.printedBy(COUNTED)).toBe('3 loops');
});

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
  const copy = await product.copy();
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
  const copy = await product.copy();
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
  const copy = await product.copy();
  await copy.add(COMMAND.file, COMMAND.text);
  for (const lines of REGISTRY) await copy.insert(lines);
  expect(await copy.filesWithErrors()).toEqual([]);
  expect(JSON.stringify(await copy.printedBy(GREETED))).toContain('Hello Ada');
});
