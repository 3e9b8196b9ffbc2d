import { afterEach, beforeEach, expect, it } from 'vitest';
import { storyboardForm } from '#commands/input/forms.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { FakeSlack, View } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';

const CATALOG = parseCatalog(sandboxCatalog);

let house: SlackHouse;
let slack: FakeSlack;

beforeEach(async () => {
  // A text stays here: it needs no public address.
  house = await SlackHouse.start({ hasLinks: false });
  slack = house.slack;
});

afterEach(async () => {
  await house.remove();
  expect(slack.violations).toEqual([]);
});

it('takes the shots of a text file attached to a mention, also of one in another workspace', async () => {
  for (const isStub of [false, true]) {
    house.bot.heard.length = 0;
    const content = Buffer.from('a fox wakes up\r\nit runs 🦊');
    const file = slack.people.upload({ name: 'board.txt', content, isStub });
    slack.people.mention('storyboard', { files: [file] });
    expect((await house.heard()).what).toBe('storyboard\na fox wakes up\r\nit runs 🦊');
  }
});

it('takes the shots of every text file that is attached', async () => {
  const files = ['a fox wakes up', 'it runs'].map((text, index) =>
    slack.people.upload({ name: `part-${index}.txt`, content: Buffer.from(text) }),
  );
  slack.people.mention('storyboard --aspect 16:9', { files });
  expect((await house.heard()).what).toBe('storyboard --aspect 16:9\na fox wakes up\nit runs');
});

it.each([
  ['UTF-16LE', Buffer.from('\uFEFFa fox\nit runs 🦊', 'utf16le')],
  ['UTF-16BE', Buffer.from('\uFEFFa fox\nit runs 🦊', 'utf16le').swap16()],
])('takes the shots of a text file in %s', async (_encoding, content) => {
  slack.people.mention('storyboard', { files: [slack.people.upload({ name: 'board.txt', content })] });
  expect((await house.heard()).what).toBe('storyboard\na fox\nit runs 🦊');
});

it.each([
  ['cannot be fetched', 'a fox', 'I couldn’t fetch board.txt'],
  ['is no text', 'a fox\0', 'board.txt isn’t text in UTF-8'],
])('refuses a file that %s', async (_what, content, sentence) => {
  if (sentence.includes('fetch')) slack.removeScopes(['files:read']);
  const file = slack.people.upload({ name: 'board.txt', content: Buffer.from(content) });
  slack.people.mention('storyboard', { files: [file] });
  const { alice } = slack.users;
  await slack.until(
    () => house.whispers(alice, slack.channels.general).some((one) => plainOf(one).includes(sentence)),
    'a refusal',
  );
  expect(house.bot.heard).toEqual([]);
});

it('keeps the lines of a typed storyboard', async () => {
  slack.people.slash('/video storyboard a fox\nit runs --seconds 4');
  expect((await house.heard()).what).toBe('storyboard a fox\nit runs --seconds 4');
});

it('has a form with selects, whose values are submitted', async () => {
  house.bot.reply = storyboardForm({ catalog: () => CATALOG, frames: { missing: () => ['ffmpeg'] } }, null, {
    script: 'a fox',
    aspect: '9:16',
  });
  slack.people.slash('/video storyboard');
  await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
  const view = slack.forms.shown(slack.users.alice) as View;
  expect(view.blocks.map(({ block_id: id }) => id)).toEqual(['shots', 'model', 'seconds', 'aspect', 'resolution']);
  house.bot.reply = privately('Asked.');
  slack.forms.submit(view, { shots: 'a fox\nit runs', seconds: '6' });
  const { what } = await house.heard(({ kind }) => kind === 'submit');
  expect(what).toMatchObject({ form: 'storyboard', values: { shots: 'a fox\nit runs', seconds: '6', aspect: '9:16' } });
});
