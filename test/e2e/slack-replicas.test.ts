import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { slackManifest } from '#adapters/slack/manifest.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { freePort } from '#test/fakes/local-slack.ts';
import { type FakeSlack, type Message, startSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf } from '#test/fakes/slack-house.ts';
import type { RunningDailies } from './dailies.ts';
import { Replicas } from './replicas.ts';

/** Slack takes a message a second in each channel, and 48 changes a minute in all. */
const WITHIN = { timeout: 120_000, interval: 200 };
/** So long, if the machine is busy. */
const PATIENCE_MS = 600_000;
const COMMANDS = 12;
const CHANNELS = 12;

let replicas: Replicas;
let slack: FakeSlack;
let channels: readonly string[];

beforeEach(async () => {
  replicas = await Replicas.prepare();
});

afterEach(async () => {
  await replicas.remove();
  await slack.close();
  expect(slack.violations).toEqual([]);
});

/** Two replicas that share what Slack sends. */
async function begin(mode: 'socket' | 'http'): Promise<readonly [RunningDailies, RunningDailies]> {
  const isSocket = mode === 'socket';
  slack = await startSlack({
    manifest: slackManifest(isSocket ? null : 'https://dailies.example'),
    limits: { perMinute: { 1: 10, 2: 20, 3: 50, 4: 10_000 } },
  });
  channels = Array.from({ length: CHANNELS }, (_, n) => slack.addChannel(`clips-${n}`));
  const start = async (): Promise<RunningDailies> =>
    replicas.start({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_API_URL: slack.apiUrl,
      PORT: String(await freePort()),
      // The changes of the minute are for the ends.
      PROGRESS_EDIT_MS: '600000',
      ...(isSocket ? { SLACK_APP_TOKEN: slack.appToken } : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    });
  const pair = [await start(), await start()] as const;
  if (!isSocket) await slack.useHttp(...pair.map(({ url }) => `${url}/slack/events`));
  return pair;
}

const everything = (): readonly Message[] =>
  channels.flatMap((channel) => slack.messages(channel)).filter(({ visibleTo }) => visibleTo === null);
const cards = () => everything().filter((message) => buttonsOf(message).length > 0);
const clips = () => everything().filter(({ fileIds }) => fileIds.length > 0);
const channelOf = (n: number) => ({ channel: channels[n % CHANNELS] ?? '' });
const isReady = async ({ url }: RunningDailies): Promise<boolean> => (await fetch(`${url}/readyz`)).status === 200;

describe.each(['socket', 'http'] as const)('two replicas (%s)', (mode) => {
  test(
    'every command is delivered twice: one create, one message, one clip, one mention of each',
    async () => {
      await begin(mode);
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
      expect(replicas.upstream.posts).toBe(COMMANDS);
      // A message, its clip and its mention; each clip in the thread of a message of its own.
      expect(everything()).toHaveLength(3 * COMMANDS);
      expect(new Set(clips().map(({ threadTs }) => threadTs)).size).toBe(COMMANDS);
      expect(new Set(slack.pings.map(({ ts }) => slack.message(ts).threadTs)).size).toBe(COMMANDS);
    },
    PATIENCE_MS,
  );
});

test(
  'one is killed in the middle of it: what it took is done by the other one, once',
  async () => {
    const [one, other] = await begin('socket');
    const letGo = keepRunning(replicas.upstream);
    const commands = Array.from({ length: 12 }, (_, n) => slack.people.slash(`/video fox ${n}`, channelOf(n)));
    const taken = () => commands.filter(({ answer }) => answer !== null);
    await expect.poll(() => taken().length, { ...WITHIN, interval: 1 }).toBeGreaterThan(3);
    await one.kill();
    await slack.until(() => slack.socket.open === 2, 'the connections of one replica');
    expect(await isReady(other)).toBe(true);
    await expect.poll(() => cards().length, WITHIN).toBeGreaterThanOrEqual(taken().length);
    letGo();
    // What was on its way to the service when its replica died may have been taken there: that is said, and not repeated.
    const uncertain = () => cards().filter((card) => buttonsOf(card).some(({ id }) => id.startsWith('again:')));
    await expect.poll(() => cards().length - clips().length - uncertain().length, WITHIN).toBe(0);
    // One whose acknowledgement died with the replica may have been written down all the same: it is done, once.
    expect(cards().length).toBeGreaterThanOrEqual(taken().length);
    const prompts = cards().map((card) => /fox \d+/.exec(plainOf(card))?.[0]);
    expect(new Set(prompts).size).toBe(cards().length);
    expect(replicas.upstream.posts).toBeLessThanOrEqual(cards().length);
    expect(new Set(clips().map(({ threadTs }) => threadTs)).size).toBe(clips().length);
  },
  PATIENCE_MS,
);

test(
  'one is killed after it has answered Slack, and before it has begun: the other one does it',
  async () => {
    // Behind this load balancer the first command goes to the second replica.
    const [one] = await begin('http');
    slack.people.slash('/video a red fox', channelOf(0));
    await expect.poll(() => cards().length, WITHIN).toBe(1);
    const letGo = slack.hold('conversations.info');
    await slack.acknowledged(slack.people.slash('/video a blue bird', channelOf(1)));
    await expect.poll(() => slack.held, WITHIN).toBe(1);
    await one.kill();
    letGo();
    await expect.poll(() => clips().length, WITHIN).toBe(2);
    expect(cards()).toHaveLength(2);
    expect(replicas.upstream.posts).toBe(2);
  },
  PATIENCE_MS,
);

test(
  'a rolling restart loses nothing, and buttons work on whichever replica is there',
  async () => {
    const [one] = await begin('socket');
    const letGo = keepRunning(replicas.upstream);
    slack.people.slash('/video a red fox', channelOf(0));
    await expect.poll(() => cards().length, WITHIN).toBe(1);
    const [card] = cards();
    expect(await one.stop()).toBe(0);
    slack.people.slash('/video a blue bird', channelOf(1));
    await expect.poll(() => cards().length, WITHIN).toBe(2);
    const cancel = buttonsOf(slack.message(card?.ts ?? '')).find(({ id }) => id.startsWith('cancel:'))?.id ?? '';
    slack.people.press(card?.ts ?? '', cancel, channelOf(0));
    await expect.poll(() => plainOf(slack.message(card?.ts ?? '')), WITHIN).toContain('Stopped following');
    letGo();
    await expect.poll(() => clips().length, WITHIN).toBe(1);
    expect(replicas.upstream.posts).toBe(2);
  },
  PATIENCE_MS,
);
