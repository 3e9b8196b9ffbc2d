import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sendBytes } from '#test/fakes/clip.ts';
import { type FakeDiscord, fileOf } from '#test/fakes/discord/index.ts';
import {
  buttonsOf as discordButtons,
  selectsOf as discordSelects,
  plainOf as discordText,
  pressOn as pressOnDiscord,
} from '#test/fakes/discord-house.ts';
import { makeShot, play } from '#test/fakes/shots.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import {
  pressOn as pressOnSlack,
  buttonsOf as slackButtons,
  selectsOf as slackSelects,
  plainOf as slackText,
} from '#test/fakes/slack-house.ts';
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
  /** Presses a button, or chooses the option of a select that is this press. */
  readonly press: (message: string, button: string) => void;
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
        buttons: [...discordButtons(one), ...discordSelects(one).flatMap(({ options }) => options)],
        below: one.channelId === general ? null : one.channelId,
        hasFile: one.attachments.length > 0,
      }));
    },
    press: (message, button) => void pressOnDiscord(discord, message, button, { user }),
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
        buttons: [...slackButtons(one), ...slackSelects(one).flatMap(({ options }) => options)],
        below: one.threadTs,
        hasFile: one.fileIds.length > 0,
      })),
    press: (message, button) => void pressOnSlack(slack, message, button, { user }),
    until: (isTrue, what) => slack.until(isTrue, what),
    async file(message) {
      const [id] = slack.message(message).fileIds;
      return slack.files.find((one) => one.id === id)?.content ?? Buffer.alloc(0);
    },
  };
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
  test('a storyboard: a shot fails and is retried, a take chosen, a shot moved, and all joined over a kill', {
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
    // Three choices: the menu of shot 3, its other take, and its place.
    const isMenu = ({ text }: Shown) => text.includes('Shot 3 of the board');
    side.press(...(await button(/^3 · it sleeps · ready/u)));
    side.press(...(await button(/^Use take 1/u, isMenu)));
    side.press(...(await button(/^Before 1 · /u, (one) => isMenu(one) && one.text.includes('uses take 1'))));
    await says('All 3 shots are ready. In the cut: shots 3, 1, 2.');
    expect(board()?.text).toMatch(/Shot 3[\s\S]*Shot 1[\s\S]*Shot 2/u);

    // Killed once the message of the cut is there, whatever of the cut is made by then.
    const [first, join] = await button('Join 3 shots');
    side.press(first, join);
    const isCut = ({ text }: Shown) =>
      /1\. it sleeps[\s\S]*2\. a fox wakes up[\s\S]*3\. it runs/u.test(text) && text.includes('Cut');
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
    expect(played).toMatchObject({ width: 160, height: 90, frames: 28 + 25 + 30 });
    expect(Math.abs(played.seconds - (28 + 25 + 30) / RATE)).toBeLessThan(1 / RATE);
    expect(Math.abs((played.flashes[1] ?? 0) - (28 + FLASH_FRAME) / RATE)).toBeLessThan(1 / RATE);
    expect(upstream.creates).toBe(5);
    expect(upstream.posts).toBe(5);
  });
});
