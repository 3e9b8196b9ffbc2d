import { type TestContext, test } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { freePort } from '#test/fakes/ports.ts';
import { type Message, startSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf } from '#test/fakes/slack-house.ts';
import type { RunningDailies } from './dailies.ts';
import { Replicas } from './replicas.ts';

/** Slack accepts one message per second in each channel, and 48 edits per minute in all. */
const WITHIN = { timeout: 300_000, interval: 200 };
/** Timeout of a test on a busy machine. */
const TIMEOUT = { timeout: 600_000 };
const COMMANDS = 8;
const CHANNELS = 12;

/** A test with its own replicas, Slack and Redis, so that the tests of this file can wait concurrently. */
const alongside = test.concurrent;

/** Starts two replicas that share the events of Slack. */
async function begin(mode: 'socket' | 'http', { expect, onTestFinished }: TestContext) {
  const isSocket = mode === 'socket';
  const slack = await startSlack({
    manifest: slackManifest(isSocket ? null : 'https://dailies.example'),
    limits: { perMinute: { 1: 10, 2: 20, 3: 50, 4: 10_000 } },
  });
  onTestFinished(async () => {
    await slack.close();
    expect(slack.violations).toEqual([]);
  });
  const replicas = await Replicas.prepare();
  onTestFinished(() => replicas.remove());
  const channels = Array.from({ length: CHANNELS }, (_, n) => slack.addChannel(`clips-${n}`));
  const start = async (): Promise<RunningDailies> =>
    replicas.start({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_API_URL: slack.apiUrl,
      PORT: String(await freePort()),
      // Reserves the edits per minute for the final states.
      PROGRESS_EDIT_MS: '600000',
      ...(isSocket ? { SLACK_APP_TOKEN: slack.appToken } : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    });
  const [one, other] = [await start(), await start()];
  if (isSocket) await slack.until(() => slack.socket.open === 4, 'two connections of each replica');
  else await slack.useHttp(...[one, other].map(({ url }) => `${url}/slack/events`));
  const everything = (): readonly Message[] =>
    channels.flatMap((channel) => slack.messages(channel)).filter(({ visibleTo }) => visibleTo === null);
  return {
    slack,
    upstream: replicas.upstream,
    one,
    other,
    everything,
    cards: () => everything().filter((message) => buttonsOf(message).length > 0),
    clips: () => everything().filter(({ fileIds }) => fileIds.length > 0),
    channelOf: (n: number) => ({ channel: channels[n % CHANNELS] ?? '' }),
  };
}

const isReady = async ({ url }: RunningDailies): Promise<boolean> => (await fetch(`${url}/readyz`)).status === 200;

alongside.for(['socket', 'http'] as const)(
  'two replicas (%s), every command delivered twice: one create, one message, one clip, one mention for each',
  TIMEOUT,
  async (mode, context) => {
    const { expect } = context;
    const { slack, upstream, everything, cards, clips, channelOf } = await begin(mode, context);
    for (let n = 0; n < COMMANDS; n += 1) {
      const command = slack.people.slash(`/video fox number ${n}`, channelOf(n));
      slack.redeliver(command);
    }
    await expect.poll(() => cards().length, WITHIN).toBe(COMMANDS);
    await expect.poll(() => clips().length, WITHIN).toBe(COMMANDS);
    await expect.poll(() => slack.pings.length, WITHIN).toBe(COMMANDS);
    await expect
      .poll(() => cards().filter(({ blocks }) => JSON.stringify(blocks).includes('/permalinks/')).length, WITHIN)
      .toBe(COMMANDS);
    expect(upstream.posts).toBe(COMMANDS);
    // Per command a message, and its clip with the mention; each clip in the thread of its own message.
    expect(everything()).toHaveLength(2 * COMMANDS);
    expect(new Set(clips().map(({ threadTs }) => threadTs)).size).toBe(COMMANDS);
    expect(new Set(slack.pings.map(({ ts }) => slack.message(ts).threadTs)).size).toBe(COMMANDS);
  },
);

alongside('one is killed midway: the other processes its claimed requests, once', TIMEOUT, async (context) => {
  const { expect } = context;
  const { slack, upstream, one, other, cards, clips, channelOf } = await begin('socket', context);
  const letGo = keepRunning(upstream);
  const commands = Array.from({ length: 12 }, (_, n) => slack.people.slash(`/video fox ${n}`, channelOf(n)));
  const acknowledged = () => commands.filter(({ answer }) => answer !== null);
  // A slow command is acknowledged with a sentence, before it is claimed.
  const taken = () => acknowledged().filter(({ answer }) => Object.keys(answer?.payload ?? {}).length === 0);
  await expect.poll(() => acknowledged().length, { ...WITHIN, interval: 1 }).toBeGreaterThan(3);
  await one.kill();
  await slack.until(() => slack.socket.open === 2, 'the connections of one replica');
  expect(await isReady(other)).toBe(true);
  await expect.poll(() => cards().length, WITHIN).toBeGreaterThanOrEqual(taken().length);
  letGo();
  // A create in flight when its replica died may have been accepted: it is reported, and not repeated.
  const uncertain = () => cards().filter((card) => buttonsOf(card).some(({ id }) => id.startsWith('again:')));
  // One that was claimed without an acknowledgement gets its card later.
  await expect.poll(() => upstream.posts - cards().length, WITHIN).toBeLessThanOrEqual(0);
  await expect.poll(() => cards().length - clips().length - uncertain().length, WITHIN).toBe(0);
  // A command may have been claimed although its acknowledgement was lost with the replica: it is processed, once.
  expect(cards().length).toBeGreaterThanOrEqual(taken().length);
  const prompts = cards().map((card) => /fox \d+/.exec(plainOf(card))?.[0]);
  expect(new Set(prompts).size).toBe(cards().length);
  expect(new Set(clips().map(({ threadTs }) => threadTs)).size).toBe(clips().length);
});

alongside(
  'one is killed before it claimed a slow command: nothing is bought, and its user knows that it may be lost',
  TIMEOUT,
  async (context) => {
    const { expect } = context;
    // Behind this load balancer the first command goes to the second replica.
    const { slack, upstream, one, cards, clips, channelOf } = await begin('http', context);
    slack.people.slash('/video a red fox', channelOf(0));
    await expect.poll(() => cards().length, WITHIN).toBe(1);
    const letGo = slack.hold('conversations.info');
    const slow = slack.people.slash('/video a blue bird', channelOf(1));
    await slack.acknowledged(slow);
    expect(slow.answer?.payload['text']).toContain('try again');
    await expect.poll(() => slack.held, WITHIN).toBe(1);
    await one.kill();
    letGo();
    slack.people.slash('/video a blue bird', channelOf(1));
    await expect.poll(() => clips().length, WITHIN).toBe(2);
    expect(cards()).toHaveLength(2);
    expect(upstream.posts).toBe(2);
  },
);

alongside('a rolling restart loses nothing, and buttons work on any live replica', TIMEOUT, async (context) => {
  const { expect } = context;
  const { slack, upstream, one, cards, clips, channelOf } = await begin('socket', context);
  const letGo = keepRunning(upstream);
  slack.people.slash('/video a red fox', channelOf(0));
  await expect.poll(() => cards().length, WITHIN).toBe(1);
  const [card] = cards();
  expect(await one.stop()).toBe(0);
  slack.people.slash('/video a blue bird', channelOf(1));
  await expect.poll(() => cards().length, WITHIN).toBe(2);
  const cancel = buttonsOf(slack.message(card?.ts ?? '')).find(({ id }) => id.startsWith('cancel:'))?.id ?? '';
  slack.people.press(card?.ts ?? '', cancel, channelOf(0));
  await expect.poll(() => plainOf(slack.message(card?.ts ?? '')), WITHIN).toContain('Cancelled in Dailies');
  letGo();
  await expect.poll(() => clips().length, WITHIN).toBe(1);
  expect(upstream.posts).toBe(2);
});
