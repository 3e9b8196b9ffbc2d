import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { makeClipsDiffer } from '#test/fakes/clip.ts';
import type { FakeDiscord } from '#test/fakes/discord/index.ts';
import { buttonsOf as discordButtons, plainOf as discordText } from '#test/fakes/discord-house.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf as slackButtons, plainOf as slackText } from '#test/fakes/slack-house.ts';
import type { FakeVideoService } from '#test/fakes/video-service.ts';
import { answered, type RunningDailies } from './dailies.ts';
import { test } from './fixtures.ts';

const PROMPT = 'a red fox in the fog';
const MODELS = 'swift-1,epic-pro,reel-2';
const HEADING = 'comparison of 3 models';

test('three takes: one card with three clips, one mention; also over a kill and a redelivery', async ({
  upstream,
  start,
}) => {
  const letGo = keepRunning(upstream);
  let dailies = await start();
  const card = answered(await dailies.interact('/video create a red fox --takes 3', { id: 'same' }));
  // Killed during a create, a take would be uncertain.
  await expect.poll(async () => (await dailies.message(card)).text).toMatch(/(Take \d · Running.*\s*){3}/u);
  await dailies.kill();
  dailies = await start();
  expect(answered(await dailies.interact('/video create a red fox --takes 3', { id: 'same' }))).toBe(card);
  letGo();
  await expect.poll(async () => (await dailies.message(card)).attachments).toHaveLength(3);
  await expect
    .poll(async () => JSON.stringify(await dailies.messages()))
    .toContain('your 3 takes of “a red fox” are ready.');
  const messages = await dailies.messages();
  expect(messages.filter(({ replyTo }) => replyTo === card)).toHaveLength(1);
  expect(messages.find(({ id }) => id === card)?.text).toMatch(/Take 1 · Done.*\nTake 2 · Done.*\nTake 3 · Done/);
  expect(upstream.posts).toBe(3);
});

/** What betrays a model before the reveal: its name or title, its own price, its time, the words of the service. */
const BETRAYING = /swift-1|reel-2|epic-pro|Swift 1|Reel 2|Epic Pro|\b0\.20\b|\b0\.44\b|:0\.2\b|tired|made in|Done in/u;

/** Users, messages and presses of a platform, in its own form. */
interface Side {
  /** Returns the card of the comparison. */
  readonly card: () => Promise<Shown | undefined>;
  readonly press: (card: Shown, button: string, voter: 0 | 1 | 2) => unknown;
  /** Returns all that was sent to the platform for the comparison, and what its users see, as text. */
  readonly sent: () => Promise<string>;
  /** Returns the number of clips posted. */
  readonly clips: () => Promise<number>;
}

interface Shown {
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
}

function onDiscord(discord: FakeDiscord): Side {
  const { general } = discord.channels;
  const { alice, bob, carol } = discord.users;
  const before = discord.requests.length;
  const public_ = () => discord.messages(general).filter(({ visibleTo }) => visibleTo === null);
  discord.people.slash('video compare', { prompt: PROMPT, models: MODELS }, { user: alice });
  return {
    card: async () =>
      public_()
        .map((message) => ({ id: message.id, text: discordText(message), buttons: discordButtons(message) }))
        .find(({ text }) => text.includes(HEADING)),
    press: ({ id }, button, voter) => discord.people.press(id, button, { user: [alice, bob, carol][voter] ?? '' }),
    sent: async () =>
      JSON.stringify([
        discord.requests.slice(before),
        Object.values(discord.channels).map((id) => discord.messages(id)),
      ]),
    clips: async () => public_().flatMap(({ attachments }) => attachments).length,
  };
}

function onSlack(slack: FakeSlack): Side {
  const { general } = slack.channels;
  const { alice, bob, carol } = slack.users;
  const before = slack.calls.length;
  slack.people.slash(`/video compare ${PROMPT} --models ${MODELS}`, { user: alice });
  return {
    card: async () =>
      slack
        .messages(general)
        .map((message) => ({ id: message.ts, text: slackText(message), buttons: slackButtons(message) }))
        .find(({ text }) => text.includes(HEADING)),
    press: ({ id }, button, voter) => slack.people.press(id, button, { user: [alice, bob, carol][voter] ?? '' }),
    sent: async () => {
      const files = slack.files.map(({ content: _content, ...file }) => file);
      const calls = slack.calls.slice(before).map(({ args, answer }) => [args, answer]);
      return JSON.stringify([calls, files, Object.values(slack.channels).map((id) => slack.messages(id))]);
    },
    clips: async () => slack.messages(general).flatMap(({ fileIds }) => fileIds).length,
  };
}

async function onPlayground(dailies: RunningDailies): Promise<Side> {
  const card = answered(await dailies.interact(`/video compare ${PROMPT} --models ${MODELS}`));
  const written = async () => (await dailies.messages()).filter(({ author }) => author !== 'ana');
  return {
    card: () => dailies.message(card),
    press: ({ id }, button, voter) => dailies.press(id, button, { user: ['ana', 'ben', 'cleo'][voter] ?? '' }),
    sent: async () => JSON.stringify(await written()),
    clips: async () => (await dailies.message(card)).attachments.length,
  };
}

/** Has one model fail, with a message that names it. */
function failAll({ handlers }: FakeVideoService, model: string): void {
  const { create } = handlers;
  handlers.create = (call) => {
    const before = call.service.creates;
    create(call);
    const made = [...call.service.tasks.values()].at(-1);
    if (call.service.creates > before && made?.model === model)
      Object.assign(made, { status: 'failed', failure: { code: 'generation_failed', message: `${model} is tired` } });
  };
}

test('a comparison on three platforms: nothing sent betrays a model until the reveal, and votes count', async ({
  dir,
  upstream,
  discord,
  slack,
  start,
}) => {
  failAll(upstream, 'epic-pro');
  makeClipsDiffer(upstream, 200_000);
  const [swift] = sandboxCatalog.models;
  const reel = { ...swift, name: 'reel-2', title: 'Reel 2', price: '0.11', default: false };
  const epic = { ...swift, name: 'epic-pro', title: 'Epic Pro', price: '0.13', default: false };
  const path = join(dir, 'catalog.json');
  await writeFile(path, JSON.stringify({ models: [swift, reel, epic] }));
  const dailies = await start({ ...slack.env, ...discord.env, PLAYGROUND: 'on', MODEL_CATALOG: path });
  await Promise.all([discord.botReady(), slack.botReady()]);
  const sides = [onDiscord(discord), onSlack(slack), await onPlayground(dailies)];
  for (const side of sides) {
    const shown = async (): Promise<Shown> => (await side.card()) ?? { id: '', text: '', buttons: [] };
    const press = async (label: string, voter: 0 | 1 | 2) => {
      const card = await shown();
      await side.press(card, card.buttons.find((one) => one.label === label)?.id ?? label, voter);
    };
    await expect.poll(async () => (await shown()).text).toContain('Which one is better?');
    await expect.poll(side.clips).toBe(2);
    const [first = '', second = ''] = (await shown()).buttons.map(({ label }) => label);
    expect([first, second].map((label) => label.slice(0, -1))).toEqual(['Vote for ', 'Vote for ']);
    for (const [label, voter] of [
      [first, 0],
      [first, 1],
      [second, 2],
    ] as const)
      await press(label, voter);
    await expect.poll(async () => (await shown()).text).toContain('3 people have voted.');
    await press(second, 1);
    await expect.poll(side.sent).toContain(`changed your vote to clip ${second.at(-1)}`);
    expect(BETRAYING.exec(await side.sent())?.[0]).toBeUndefined();
    await press('Reveal the models', 0);
    await expect.poll(async () => (await shown()).text).toMatch(/made by (?:Swift 1|Reel 2), won with 2 of 3 votes\./u);
    expect((await shown()).text).toMatch(/Clip \w\W+Swift 1 · \$0\.20 · made in/u);
  }
});
