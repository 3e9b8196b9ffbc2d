import { afterEach, describe, expect, it, vi } from 'vitest';
import { createForm, storyboardForm } from '#commands/input/forms.ts';
import { DailiesError } from '#src/errors.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { allowedCatalog } from '#src/teams/policy/policy.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { personalCatalog } from '#src/videos/personal-defaults.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { FakeSlack, View } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';

const CATALOG = parseCatalog(sandboxCatalog);
const FORM = createForm(CATALOG);
const PICTURE = Buffer.from('a picture of a fox');

let house: SlackHouse;
let slack: FakeSlack;

const start = async (hasLinks: boolean, keptImageBytes = 0): Promise<void> => {
  house = await SlackHouse.start({ hasLinks, keptImageBytes });
  slack = house.slack;
};

afterEach(async () => {
  await house.remove();
  expect(slack.violations).toEqual([]);
});

const whispered = (text: string): Promise<void> =>
  slack.until(
    () => house.whispers(slack.users.alice, slack.channels.general).some((message) => plainOf(message).includes(text)),
    `a whisper of ${text}`,
  );

const formShown = async (): Promise<View> => {
  await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
  return slack.forms.shown(slack.users.alice) as View;
};

/** Returns the bytes behind a relay URL. */
const kept = async (address: string): Promise<Buffer> => {
  const { readFile } = await import('node:fs/promises');
  const id = new URL(address).pathname.replace('/media/', '');
  const file = await house.relay.find(id);
  if (file === undefined) throw new TypeError(`nothing is kept as ${id}`);
  return readFile(file.path);
};

const addressIn = (what: unknown): string => {
  const found = /https:\/\/(?:dailies\.example|kept\.dailies\.invalid)\/media\/\S+?(?=["\s]|$)/.exec(
    JSON.stringify(what),
  )?.[0];
  if (found === undefined) throw new TypeError(`no address of ours in ${JSON.stringify(what)}`);
  return found.replace(/\\?"$/, '');
};

describe('reference files', () => {
  it.each([false, true])('are fetched with the token and relayed (stub: %s)', async (isStub) => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE, isStub });
    slack.people.mention('make it run', { files: [file] });
    const { what, files } = await house.heard();
    expect(what).toBe('make it run');
    expect(files).toEqual({ image: [expect.stringMatching(/^https:\/\/dailies\.example\/media\/relay-\S+$/)] });
    expect(await kept(addressIn(files))).toEqual(PICTURE);
    expect(JSON.stringify(house.bot.heard)).not.toContain('files-pri');
  });

  it('are kept without a public URL for services that take the bytes of an image', async () => {
    await start(false, 1_000_000);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    const { files } = await house.heard();
    const [address = ''] = Object.values(files ?? {}).flat();
    expect(address).toMatch(/^https:\/\/kept\.dailies\.invalid\/media\/relay-\S+$/);
    expect(await kept(address)).toEqual(PICTURE);
  });

  it.each([
    ['a public URL', true, 0],
    ['services that take the bytes', false, 1_000_000],
  ])('can be uploaded in modals, with %s', async (_what, hasLinks, most) => {
    await start(hasLinks, most);
    house.bot.reply = FORM;
    slack.people.slash('/video');
    const view = await formShown();
    house.bot.reply = privately('Ordered.');
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.forms.submit(view, { prompt: 'make it run', image_files: [file.id] });
    const { what } = await house.heard(({ kind }) => kind === 'command');
    expect(await kept(addressIn(what))).toEqual(PICTURE);
  });

  it('are refused up front without a public URL for the relay', async () => {
    await start(false);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('I can’t pass files from here on yet');
    expect(house.bot.heard).toEqual([]);
  });

  it.each([false, true])('are sorted into images, audio and video (stubs: %s)', async (isStub) => {
    await start(true);
    const files = ['theme.mp3', 'fox.png', 'run.mp4', 'den.png'].map((name) =>
      slack.people.upload({ name, content: Buffer.from(name), isStub }),
    );
    slack.people.mention('make it run', { files });
    const { files: given = {} } = await house.heard();
    const each = Object.entries(given).flatMap(([option, all]) => all.map((address) => ({ option, address })));
    const contents = each.map(async ({ option, address }) => [option, String(await kept(address))]);
    expect(await Promise.all(contents)).toEqual([
      ['audio', 'theme.mp3'],
      ['image', 'fox.png'],
      ['image', 'den.png'],
      ['video', 'run.mp4'],
    ]);
  });

  it('have a field in the modal for each kind that the model accepts', async () => {
    await start(true);
    house.bot.reply = FORM;
    slack.people.slash('/video');
    const view = await formShown();
    const fields = () => view.blocks.map(({ block_id: id }) => id.split(':')[0]);
    expect(fields()).not.toContain('audio');
    slack.forms.change(view, 'model', 'reel-2');
    await slack.until(() => fields().includes('audio'), 'a field for audio');
    house.bot.reply = privately('Ordered.');
    const [image, audio] = ['fox.png', 'theme.mp3'].map((name) =>
      slack.people.upload({ name, content: Buffer.from(name) }),
    );
    slack.forms.submit(view, { prompt: 'run', image_files: [image?.id ?? ''], audio_files: [audio?.id ?? ''] });
    const { what } = await house.heard(({ kind }) => kind === 'command');
    const { given } = what as { given: Record<string, readonly string[]> };
    expect(String(await kept(given['image']?.[0] ?? ''))).toBe('fox.png');
    expect(String(await kept(given['audio']?.[0] ?? ''))).toBe('theme.mp3');
  });

  it('are named in the modal of Edit & retry, whichever model is selected', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    const address = addressIn((await house.heard()).files);
    if (FORM.kind !== 'form') throw new TypeError('no form');
    const media = { image: [address], audio: ['https://example.com/theme.mp3'], video: [] };
    house.bot.reply = { kind: 'form', form: { ...FORM.form, id: 'edit:task-1', media } };
    slack.people.slash('/video');
    const view = await formShown();
    const names = 'Reference files stay: fox.png, https://example.com/theme.mp3';
    expect(JSON.stringify(view.blocks)).toContain(names);
    expect(JSON.stringify(view)).not.toContain('/media/');
    slack.forms.change(view, 'model', 'reel-2');
    await slack.until(() => view.blocks.some(({ block_id: id }) => id === 'seconds:reel-2'), 'a change');
    expect(JSON.stringify(view.blocks)).toContain(names);
  });

  it('are refused if they are not media', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.pdf', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('fox.pdf can’t be used; reference files are images, audio or video');
    expect(house.bot.heard).toEqual([]);
  });

  it('are refused if video services cannot read them', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.svg', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('image: fox.svg can’t be used; image takes PNG');
    expect(house.bot.heard).toEqual([]);
  });

  it('are refused if they exceed the size limit', async () => {
    await start(true);
    const tooLarge = new DailiesError('too much', { code: 'too_large', retryable: false, limitBytes: 256 * 1024 ** 2 });
    vi.spyOn(house.relay, 'keep').mockRejectedValue(tooLarge);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('image: fox.png is too large; the limit is 256 MB');
    expect(house.bot.heard).toEqual([]);
  });

  it('are refused if Slack returns its sign-in page instead', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    const message = slack.people.say('look', { files: [file] });
    house.bot.reply = FORM;
    slack.people.messageShortcut('animate_this', message.ts);
    const view = await formShown();
    slack.removeScopes(['files:read']);
    slack.forms.submit(view, { prompt: 'make it run' });
    await slack.until(() => Object.keys(view.errors).length > 0, 'an error in the form');
    expect(JSON.stringify(view.errors)).toContain('I couldn’t fetch');
    expect(house.bot.heard.filter(({ kind }) => kind === 'command')).toEqual([]);
  });
});

describe('"Animate this"', () => {
  it('creates a clip from the image of a message in a thread, and responds there', async () => {
    await start(true);
    const parent = slack.people.say('here it comes');
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    const reply = slack.people.say('look', { files: [file], threadTs: parent.ts });
    house.bot.reply = FORM;
    slack.people.messageShortcut('animate_this', reply.ts);
    const view = await formShown();
    expect(view.title).toBe('Animate this image');
    house.bot.reply = privately('Ordered.');
    slack.forms.submit(view, { prompt: 'make it run' });
    const { what, caller } = await house.heard(({ kind }) => kind === 'command');
    expect(caller.address).toEqual({ thread: parent.ts });
    expect(await kept(addressIn(what))).toEqual(PICTURE);
    await whispered('Ordered.');
    expect(house.whispers(slack.users.alice, slack.channels.general)[0]?.threadTs).toBe(parent.ts);
  });

  it('begins with the user’s defaults', async () => {
    await start(true);
    const { name } = CATALOG.defaultModel;
    house.bot.reply = createForm(personalCatalog(CATALOG, { model: name, seconds: 8, aspect: '9:16' }));
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.messageShortcut('animate_this', slack.people.say('look', { files: [file] }).ts);
    const view = await formShown();
    house.bot.reply = privately('Ordered.');
    slack.forms.submit(view, { prompt: 'make it run' });
    const { what } = await house.heard(({ kind }) => kind === 'command');
    expect(what).toMatchObject({ given: { model: [name], seconds: ['8'], aspect: ['9:16'] } });
  });

  it('offers only the models that are allowed in the channel, also after a choice', async () => {
    await start(true);
    const takingImages = CATALOG.models.filter(({ media }) => media.image.max > 0);
    const [other, allowed] = takingImages;
    if (other === undefined || allowed === undefined) throw new TypeError('two models take images');
    const asked: string[] = [];
    house.bot.catalogFor = async ({ channel, user }) => {
      asked.push(`${channel} ${user.id}`);
      return allowedCatalog(CATALOG, { models: [allowed.name] });
    };
    house.bot.reply = FORM;
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.messageShortcut('animate_this', slack.people.say('look', { files: [file] }).ts);
    const view = await formShown();
    expect(JSON.stringify(view)).toContain(allowed.name);
    expect(JSON.stringify(view)).not.toContain(`"${other.name}"`);
    const before = asked.length;
    slack.forms.change(view, 'model', allowed.name);
    await slack.until(() => asked.length > before, 'the form was changed');
    expect(new Set(asked)).toEqual(new Set([`${slack.channels.general} ${slack.users.alice}`]));
  });

  it('refuses messages without an image, and files that cannot be relayed', async () => {
    await start(false);
    const message = slack.people.say('no picture');
    slack.people.messageShortcut('animate_this', message.ts);
    await whispered('There is no image in that message');
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    const other = slack.people.say('look', { files: [file] });
    slack.people.messageShortcut('animate_this', other.ts);
    await whispered('I can’t pass files from here on yet');
  });
});

describe('"Make a storyboard"', () => {
  const BOARD = storyboardForm({ catalog: () => CATALOG, frames: { missing: () => [] } }, null, { script: 'a fox' });

  it('opens the form with the words of a message and of its text file, in its thread', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'more.txt', content: Buffer.from('it sleeps') });
    const picture = slack.people.upload({ name: 'fox.png', content: PICTURE });
    const parent = slack.people.say('here it comes');
    const said = slack.people.say('a fox & a hen\nthey run', { files: [file, picture], threadTs: parent.ts });
    house.bot.reply = BOARD;
    slack.people.messageShortcut('storyboard_this', said.ts);
    const view = await formShown();
    expect(view.title).toBe('New storyboard');
    expect(house.bot.heard).toMatchObject([{ kind: 'form', what: 'a fox & a hen\nthey run\nit sleeps' }]);
    house.bot.reply = privately('It costs $0.20.');
    slack.forms.submit(view, { shots: 'a fox\nit runs' });
    const { what, caller } = await house.heard(({ kind }) => kind === 'submit');
    expect(what).toMatchObject({ form: 'storyboard', values: { shots: 'a fox\nit runs' } });
    expect(caller.address).toEqual({ thread: parent.ts });
    await whispered('It costs $0.20.');
  });

  it('refuses a message without words', async () => {
    await start(true);
    const picture = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.messageShortcut('storyboard_this', slack.people.say('', { files: [picture] }).ts);
    await whispered('There are no words in that message.');
    expect(house.bot.heard).toEqual([]);
  });
});
