import { afterEach, describe, expect, it, vi } from 'vitest';
import { createForm } from '#commands/forms.ts';
import { DailiesError } from '#src/errors.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { FakeSlack, View } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';

const FORM = createForm(parseCatalog(sandboxCatalog));
const PICTURE = Buffer.from('a picture of a fox');

let house: SlackHouse;
let slack: FakeSlack;

const start = async (hasLinks: boolean): Promise<void> => {
  house = await SlackHouse.start({ hasLinks });
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

/** The bytes behind an address of ours. */
const kept = async (address: string): Promise<Buffer> => {
  const { readFile } = await import('node:fs/promises');
  const id = new URL(address).pathname.replace('/media/', '');
  const file = await house.relay.find(id);
  if (file === undefined) throw new TypeError(`nothing is kept as ${id}`);
  return readFile(file.path);
};

const addressIn = (what: unknown): string => {
  const found = /https:\/\/dailies\.example\/media\/\S+?(?=["\s]|$)/.exec(JSON.stringify(what))?.[0];
  if (found === undefined) throw new TypeError(`no address of ours in ${JSON.stringify(what)}`);
  return found.replace(/\\?"$/, '');
};

describe('files that people give', () => {
  it.each([false, true])(
    'are fetched with the token and handed on at an address of ours (stub: %s)',
    async (isStub) => {
      await start(true);
      const file = slack.people.upload({ name: 'fox.png', content: PICTURE, isStub });
      slack.people.mention('make it run', { files: [file] });
      const { what } = await house.heard();
      expect(what).toMatch(/^make it run --image https:\/\/dailies\.example\/media\/relay-\S+$/);
      expect(await kept(addressIn(what))).toEqual(PICTURE);
      expect(JSON.stringify(house.bot.heard)).not.toContain('files-pri');
    },
  );

  it('come in forms too', async () => {
    await start(true);
    house.bot.reply = FORM;
    slack.people.slash('/video');
    const view = await formShown();
    house.bot.reply = privately('Ordered.');
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.forms.submit(view, { prompt: 'make it run', image_files: [file.id] });
    const { what } = await house.heard(({ kind }) => kind === 'command');
    expect(await kept(addressIn(what))).toEqual(PICTURE);
  });

  it('are refused before anything is asked for, where there is no address to hand them on at', async () => {
    await start(false);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('Files here are private');
    expect(house.bot.heard).toEqual([]);
  });

  it('are refused where they are of another kind', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.mp3', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('image: fox.mp3 is no image');
    expect(house.bot.heard).toEqual([]);
  });

  it('are refused where they are larger than what is kept', async () => {
    await start(true);
    const tooLarge = new DailiesError('too much', { code: 'too_large', retryable: false, limitBytes: 256 * 1024 ** 2 });
    vi.spyOn(house.relay, 'keep').mockRejectedValue(tooLarge);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    slack.people.mention('make it run', { files: [file] });
    await whispered('image: fox.png is too large; at most 256 MB');
    expect(house.bot.heard).toEqual([]);
  });

  it('are refused where a page to sign in at comes instead', async () => {
    await start(true);
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    const message = slack.people.say('look', { files: [file] });
    house.bot.reply = FORM;
    slack.people.messageShortcut('animate_this', message.ts);
    const view = await formShown();
    slack.removeScopes(['files:read']);
    slack.forms.submit(view, { prompt: 'make it run' });
    await slack.until(() => Object.keys(view.errors).length > 0, 'an error in the form');
    expect(JSON.stringify(view.errors)).toContain('could not be fetched');
    expect(house.bot.heard.filter(({ kind }) => kind === 'command')).toEqual([]);
  });
});

describe('"Animate this"', () => {
  it('makes a clip of the image of a message in a thread, and answers there', async () => {
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

  it('says so where there is no image, and where files cannot be handed on', async () => {
    await start(false);
    const message = slack.people.say('no picture');
    slack.people.messageShortcut('animate_this', message.ts);
    await whispered('There is no image in that message');
    const file = slack.people.upload({ name: 'fox.png', content: PICTURE });
    const other = slack.people.say('look', { files: [file] });
    slack.people.messageShortcut('animate_this', other.ts);
    await whispered('Files here are private');
  });
});
