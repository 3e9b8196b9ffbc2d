import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sendBytes } from '#test/fakes/clip.ts';
import { type FakeDiscord, fileOf } from '#test/fakes/discord/index.ts';
import { buttonsOf as discordButtons, plainOf as discordText } from '#test/fakes/discord-house.ts';
import { makeShot, play } from '#test/fakes/shots.ts';
import type { FakeSlack, View } from '#test/fakes/slack/index.ts';
import { buttonsOf as slackButtons, plainOf as slackText } from '#test/fakes/slack-house.ts';
import type { FakeVideoService } from '#test/fakes/video-service.ts';
import { test } from './fixtures.ts';

// A storyboard over the wire of each chat, from its order to its cut. The chat page is in `storyboard-page.test.ts`.

/** Pictures of each take, at 24 per second, in the order in which the takes of a shot are made. */
const TAKES = { 'a fox wakes up': [25], 'it runs': [30], 'it sleeps': [28, 40] } as const;
const SHOTS = Object.keys(TAKES) as readonly (keyof typeof TAKES)[];
/** Shot that fails when it is made first. */
const FAILING = 'it runs';
const RATE = 24;
/** Picture from which on each shot is white. */
const FLASH_FRAME = 12;

/** Message as its users see it. */
interface Shown {
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
  /** The message that it is below. */
  readonly below: string | null;
  readonly hasFile: boolean;
}

/** Actions of the requester in the form native to a chat. */
interface Side {
  readonly env: Readonly<Record<string, string>>;
  readonly ready: () => Promise<void>;
  readonly order: () => void;
  /** Returns the messages of the channel, those to the requester alone included. */
  readonly messages: () => readonly Shown[];
  readonly press: (message: string, button: string) => void;
  /** Presses **Edit board**, and submits its form. @param take words of the choice to make */
  readonly edit: (
    message: string,
    button: string,
    values: { readonly order: string; readonly take?: RegExp },
  ) => Promise<void>;
  readonly until: (isTrue: () => boolean, what: string) => Promise<void>;
  readonly file: (message: string) => Promise<Buffer>;
}

function onDiscord(discord: FakeDiscord): Side {
  const { general } = discord.channels;
  const { alice: user } = discord.users;
  return {
    env: discord.env,
    ready: () => discord.botReady(),
    // A command of Discord has no lines.
    order() {
      const file = fileOf('board.txt', 'text/plain', Buffer.from(SHOTS.join('\r\n')));
      discord.people.slash('video storyboard', { file, seconds: 4 }, { user });
    },
    messages() {
      const inChannel = discord.messages(general);
      // The thread of a message has its id.
      const inThreads = inChannel.flatMap(({ id }) => discord.messages(id));
      return [...inChannel, ...inThreads].map((one) => ({
        id: one.id,
        text: discordText(one),
        buttons: discordButtons(one),
        below: one.channelId === general ? null : one.channelId,
        hasFile: one.attachments.length > 0,
      }));
    },
    press: (message, button) => void discord.people.press(message, button, { user }),
    async edit(message, button, { order, take }) {
      const opened = discord.people.press(message, button, { user });
      const { data } = await discord.answered(opened);
      const chosen = take === undefined ? {} : { take: [choiceIn(data, ({ label }) => label, take)] };
      discord.people.submitModal(opened, { order, ...chosen });
    },
    until: (isTrue, what) => discord.until(isTrue, what),
    async file(message) {
      const [attachment] = discord.message(message).attachments;
      return Buffer.from(await (await fetch(attachment?.url ?? '')).arrayBuffer());
    },
  };
}

function onSlack(slack: FakeSlack): Side {
  const { general } = slack.channels;
  const { alice: user } = slack.users;
  return {
    env: slack.env,
    ready: () => slack.botReady(),
    order: () => void slack.people.slash(`/video storyboard --seconds 4\n${SHOTS.join('\n')}`, { user }),
    messages: () =>
      slack.messages(general).map((one) => ({
        id: one.ts,
        text: slackText(one),
        buttons: slackButtons(one),
        below: one.threadTs,
        hasFile: one.fileIds.length > 0,
      })),
    press: (message, button) => void slack.people.press(message, button, { user }),
    async edit(message, button, { order, take }) {
      slack.people.press(message, button, { user });
      await slack.until(() => slack.forms.shown(user) !== null, 'the form');
      const view = slack.forms.shown(user) as View;
      const chosen = take === undefined ? {} : { take: choiceIn(view.blocks, ({ text }) => text?.text, take) };
      slack.forms.submit(view, { order, ...chosen });
      await slack.until(() => slack.forms.shown(user) === null, 'the form being accepted');
    },
    until: (isTrue, what) => slack.until(isTrue, what),
    async file(message) {
      const [id] = slack.message(message).fileIds;
      return slack.files.find((one) => one.id === id)?.content ?? Buffer.alloc(0);
    },
  };
}

interface Option {
  readonly value?: string;
  /** Discord's. */
  readonly label?: string;
  /** Slack's. */
  readonly text?: { readonly text: string };
}

/** Returns the value of the option of a form with those words. */
function choiceIn(form: unknown, wordsOf: (option: Option) => string | undefined, words: RegExp): string {
  const values: string[] = [];
  JSON.stringify(form, (_, part: Option | null) => {
    if (typeof part?.value === 'string' && wordsOf(part)?.match(words)) values.push(part.value);
    return part;
  });
  expect(values).toHaveLength(1);
  return values[0] ?? '';
}

/** Has the service make the takes of the shots. */
async function serveTakes({ handlers, tasks }: FakeVideoService, dir: string): Promise<void> {
  const files = new Map<string, Buffer>();
  for (const [shot, takes] of Object.entries(TAKES))
    for (const [at, frames] of takes.entries())
      files.set(`${shot} ${at}`, await readFile(await makeShot(join(dir, `${frames}.mp4`), { frames })));
  const finished = new Map<string, number>();
  const takeOf = new Map<string, string>();
  let hasFailed = false;
  const { create } = handlers;
  handlers.create = (call) => {
    create(call);
    const { prompt } = JSON.parse(call.request.body) as { readonly prompt: string };
    const made = [...tasks.values()].at(-1);
    if (made === undefined || takeOf.has(made.id)) return;
    const isFailing = prompt === FAILING && !hasFailed;
    if (isFailing) {
      hasFailed = true;
      Object.assign(made, { status: 'failed', failure: { code: 'generation_failed', message: 'too dark' } });
    }
    const at = finished.get(prompt) ?? 0;
    if (!isFailing) finished.set(prompt, at + 1);
    takeOf.set(made.id, `${prompt} ${at}`);
  };
  handlers.content = (call) => sendBytes(call, files.get(takeOf.get(call.task?.id ?? '') ?? '') ?? Buffer.alloc(0));
}

describe.each(['discord', 'slack'] as const)('on %s', (name) => {
  test('a storyboard: a shot fails and is retried, a take chosen, a shot skipped, and the rest joined over a kill', {
    timeout: 600_000,
  }, async ({ dir, upstream, discord, slack, start }) => {
    await serveTakes(upstream, dir);
    const side = name === 'discord' ? onDiscord(discord) : onSlack(slack);
    const find = (words: string | RegExp) => side.messages().filter(({ text }) => text.match(words) !== null);
    const board = () => find('Storyboard: ').find(({ buttons }) => buttons.length > 0);
    let dailies = await start(side.env);
    await side.ready();
    /** Waits for a button of a message, and returns both. */
    const button = async (label: string | RegExp, isIn: (message: Shown) => boolean = () => true) => {
      const all = () =>
        side
          .messages()
          .filter(isIn)
          .flatMap(({ id, buttons }) =>
            buttons.flatMap((one) => (one.label.match(label) === null ? [] : [[id, one.id] as const])),
          );
      await side.until(() => all().length > 0, `the button ${label}`);
      return all()[0] ?? (['', ''] as const);
    };
    const says = (words: string) => side.until(() => board()?.text.includes(words) === true, words);

    side.order();
    side.press(...(await button(/^Create 3 shots/u)));
    await says('2 of 3 shots are ready; shot 2 failed.');
    expect(upstream.creates).toBe(3);
    // Pressed twice: one clip.
    const retry = await button(/^Retry shot 2/u);
    side.press(...retry);
    side.press(...retry);
    await says('All 3 shots are ready.');
    expect(upstream.creates).toBe(4);

    // The latest take is in the cut, until another one is chosen.
    const isOwn = ({ id, text }: Shown) => id !== board()?.id && text.includes('it sleeps');
    side.press(...(await button(/^Retry/u, isOwn)));
    await side.until(() => side.messages().filter(({ hasFile }) => hasFile).length === 4, 'the second take');
    expect(upstream.creates).toBe(5);
    const [card, edit] = await button('Edit board');
    await side.edit(card, edit, { order: '3 2', take: /^Shot 3 · take 1/u });
    await says('All 2 shots are ready. In the cut: shots 3, 2. Shot 1 left out.');
    expect(board()?.text).toMatch(/Shot 3[\s\S]*Shot 2[\s\S]*Shot 1[^\n]*skipped/u);

    // Killed once the message of the cut is there, whatever of the cut is made by then.
    const [first, join] = await button('Join 2 shots');
    side.press(first, join);
    const isCut = ({ text }: Shown) => /1\. it sleeps[\s\S]*2\. it runs/u.test(text) && text.includes('Cut');
    const files = () => side.messages().filter(({ hasFile }) => hasFile);
    await side.until(
      () => side.messages().some((one) => isCut(one) || one.text.startsWith('Joining')),
      'the message of the cut',
    );
    await dailies.kill();
    dailies = await start(side.env);
    await side.ready();
    await side.until(() => files().length === 5 && side.messages().some(isCut), 'the file of the cut');
    expect(side.messages().filter(isCut)).toMatchObject([{ below: board()?.id }]);
    // The channel has the card: shots, takes and the cut are in its thread.
    expect(new Set(files().map(({ below }) => below))).toEqual(new Set([board()?.id]));
    const path = `${dir}/cut.mp4`;
    await writeFile(path, await side.file(files().at(-1)?.id ?? ''));
    const played = await play(path);
    expect(played).toMatchObject({ width: 160, height: 90, frames: 28 + 30 });
    expect(Math.abs(played.seconds - (28 + 30) / RATE)).toBeLessThan(1 / RATE);
    expect(Math.abs((played.flashes[1] ?? 0) - (28 + FLASH_FRAME) / RATE)).toBeLessThan(1 / RATE);
    expect(upstream.creates).toBe(5);
    expect(upstream.posts).toBe(5);
  });
});
