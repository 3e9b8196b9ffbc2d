import { afterEach, beforeEach, expect, test } from 'vitest';
import { slackManifest } from '#adapters/slack/manifest.ts';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';
import { keepRunning, Onlooker } from '#test/fakes/discord-program.ts';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf } from '#test/fakes/slack-house.ts';
import { Tarpit } from '#test/fakes/tarpit.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

const WITHIN = { timeout: 25_000, interval: 25 };
/** More than deliveries may run at once. */
const MANY = 4;

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let slack: FakeSlack;
let discord: FakeDiscord;
let look: Onlooker;
let toSlack: Tarpit;
let toDiscord: Tarpit;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  slack = await startSlack({ manifest: slackManifest(null) });
  discord = await startDiscord();
  look = new Onlooker(discord);
  toSlack = await Tarpit.start(slack.apiUrl);
  toDiscord = await Tarpit.start(discord.apiUrl);
});

afterEach(async () => {
  await dailies.kill();
  await Promise.all([toSlack.close(), toDiscord.close()]);
  await Promise.all([slack.close(), discord.close(), upstream.close()]);
  await dir.remove();
});

async function start(): Promise<void> {
  dailies = await startDailies({
    dir: dir.path,
    upstream,
    env: {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: toSlack.through(slack.apiUrl),
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: toDiscord.through(discord.apiUrl),
      MAX_CONCURRENT_DELIVERIES: '2',
    },
  });
}

const slackCards = () => slack.messages(slack.channels.general).filter((message) => buttonsOf(message).length > 0);
const slackClips = () => slack.messages(slack.channels.general).filter(({ fileIds }) => fileIds.length > 0);

/** Somebody asks for many clips on each platform; all of them run until they are let go. */
async function orderOnBoth(): Promise<{ readonly letGo: () => void; readonly onDiscord: readonly string[] }> {
  const letGo = keepRunning(upstream);
  await start();
  const onDiscord: string[] = [];
  for (let at = 0; at < MANY; at += 1) {
    slack.people.slash(`/video create fox number ${at}`);
    onDiscord.push((await look.card(await look.create())).id);
  }
  await expect.poll(() => slackCards().length, WITHIN).toBe(MANY);
  await expect.poll(() => upstream.creates, WITHIN).toBe(2 * MANY);
  return { letGo, onDiscord };
}

test('while Slack answers nothing, Discord gets its clips', async () => {
  const { letGo, onDiscord } = await orderOnBoth();
  toSlack.freeze();
  letGo();
  for (const id of onDiscord) await look.delivered(id);
  await look.mentioned(discord.users.alice, MANY);
  // One call to Slack takes half a minute to give up, and two may be under way: Discord did not wait for its turn.
  expect(toSlack.isMet).toBe(true);
  expect(slackClips()).toEqual([]);
});

test('while Discord answers nothing, Slack gets its clips', async () => {
  const { letGo } = await orderOnBoth();
  toDiscord.freeze();
  letGo();
  await expect.poll(() => slackClips().length, WITHIN).toBe(MANY);
  expect(toDiscord.isMet).toBe(true);
});

test('a start with Slack out of reach does not keep Discord from working, nor the other way round', async () => {
  toSlack.freeze();
  await start();
  const asked = await look.create();
  await look.delivered((await look.card(asked)).id);
  const ready = await fetch(`${dailies.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(Object.keys(((await ready.json()) as { missing: object }).missing)).toEqual(['slack']);

  await dailies.kill();
  await toSlack.close();
  toSlack = await Tarpit.start(slack.apiUrl);
  toDiscord.freeze();
  await start();
  await expect.poll(() => slack.socket.isConnected, WITHIN).toBe(true);
  slack.people.slash('/video create a fox');
  await expect.poll(() => slackClips().length, WITHIN).toBe(1);
});
