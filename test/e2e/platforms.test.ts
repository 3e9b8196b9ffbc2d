import { type TestContext, test } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { keepRunning, Onlooker } from '#test/fakes/discord-program.ts';
import { startSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf } from '#test/fakes/slack-house.ts';
import { Tarpit } from '#test/fakes/tarpit.ts';
import { startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

const WITHIN = { timeout: 300_000, interval: 25 };
/** More than the limit of concurrent deliveries. */
const MANY = 4;

/** A test with its own program and platforms, so that the tests of this file can wait concurrently. */
const alongside = test.concurrent;

/** Starts Slack, Discord and a video service, and proxies to the first two. */
async function begin({ onTestFinished }: TestContext) {
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  const upstream = await startVideoService();
  onTestFinished(() => upstream.close());
  const slack = await startSlack({ manifest: slackManifest(null) });
  onTestFinished(() => slack.close());
  const discord = await startDiscord();
  onTestFinished(() => discord.close());
  const way = async (target: string): Promise<Tarpit> => {
    const tarpit = await Tarpit.start(target);
    onTestFinished(() => tarpit.close());
    return tarpit;
  };
  const [toSlack, toDiscord] = [await way(slack.apiUrl), await way(discord.apiUrl)];
  const start = async (ways: { readonly toSlack?: Tarpit } = {}): Promise<RunningDailies> => {
    const dailies = await startDailies({
      dir: dir.path,
      upstream,
      env: {
        SLACK_BOT_TOKEN: slack.botToken,
        SLACK_APP_TOKEN: slack.appToken,
        SLACK_API_URL: (ways.toSlack ?? toSlack).through(slack.apiUrl),
        DISCORD_TOKEN: discord.token,
        DISCORD_API_URL: toDiscord.through(discord.apiUrl),
        MAX_CONCURRENT_DELIVERIES: '2',
      },
    });
    onTestFinished(() => dailies.kill());
    return dailies;
  };
  const said = () => slack.messages(slack.channels.general);
  const slackCards = () => said().filter((message) => buttonsOf(message).length > 0);
  const slackClips = () => said().filter(({ fileIds }) => fileIds.length > 0);
  return {
    upstream,
    slack,
    discord,
    look: new Onlooker(discord),
    way,
    toSlack,
    toDiscord,
    start,
    slackCards,
    slackClips,
  };
}

/** Orders many clips on each platform; all of them run until they are released. */
async function orderOnBoth(context: TestContext) {
  const { expect } = context;
  const setup = await begin(context);
  const { upstream, slack, look, start, slackCards } = setup;
  const letGo = keepRunning(upstream);
  const { output } = await start();
  expect(output()).toMatch(
    /Dailies is ready\.[^\n]*\nDiscord: .+\nSlack: .+\nVideo service: .+\nVersion: \d+\.\d+\.\d+\n/,
  );
  await slack.botReady();
  const onDiscord: string[] = [];
  for (let at = 0; at < MANY; at += 1) {
    slack.people.slash(`/video create fox number ${at}`);
    onDiscord.push((await look.card(await look.create())).id);
  }
  await expect.poll(() => slackCards().length, WITHIN).toBe(MANY);
  await expect.poll(() => upstream.creates, WITHIN).toBe(2 * MANY);
  return { ...setup, letGo, onDiscord };
}

alongside('while Slack does not respond, Discord gets its clips', async (context) => {
  const { expect } = context;
  const { discord, look, toSlack, slackClips, letGo, onDiscord } = await orderOnBoth(context);
  toSlack.freeze();
  letGo();
  for (const id of onDiscord) await look.delivered(id);
  await look.mentioned(discord.users.alice, MANY);
  // One call to Slack takes half a minute to time out, and two may be in flight: Discord did not queue behind them.
  await expect.poll(() => toSlack.isMet, WITHIN).toBe(true);
  expect(slackClips()).toEqual([]);
});

alongside('while Discord does not respond, Slack gets its clips', async (context) => {
  const { expect } = context;
  const { toDiscord, slackClips, letGo } = await orderOnBoth(context);
  toDiscord.freeze();
  letGo();
  await expect.poll(() => slackClips().length, WITHIN).toBe(MANY);
  await expect.poll(() => toDiscord.isMet, WITHIN).toBe(true);
});

alongside('starts with Slack unreachable while Discord works, and vice versa', async (context) => {
  const { expect } = context;
  const { slack, look, way, toSlack, toDiscord, start, slackClips } = await begin(context);
  toSlack.freeze();
  const dailies = await start();
  const asked = await look.create();
  await look.delivered((await look.card(asked)).id);
  const ready = await fetch(`${dailies.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(Object.keys(((await ready.json()) as { missing: object }).missing)).toEqual(['slack']);

  await dailies.kill();
  toDiscord.freeze();
  await start({ toSlack: await way(slack.apiUrl) });
  await expect.poll(() => slack.socket.isConnected, WITHIN).toBe(true);
  slack.people.slash('/video create a fox');
  await expect.poll(() => slackClips().length, WITHIN).toBe(1);
});
