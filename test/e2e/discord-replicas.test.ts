import { type TestContext, test } from 'vitest';
import { type FakeDiscord, type FakeDiscordOptions, startDiscord } from '#test/fakes/discord/index.ts';
import { buttonsOf, plainOf } from '#test/fakes/discord-house.ts';
import { keepRunning, Onlooker } from '#test/fakes/discord-program.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

/** Upper bound for another replica to claim a shard, in any failure of its holder. */
const TAKEN_OVER_WITHIN = { timeout: 300_000, interval: 25 };
/** Timeout of a test on a busy machine, including the start of all processes. */
const TIMEOUT = { timeout: 600_000 };
/** Rate limits too wide to reach, since replicas do not share their remaining limits. */
const WIDE = { limit: 1_000, windowMs: 1_000 };

/** A test with its own replicas, Discord and Redis, so that the tests of this file can wait concurrently. */
const alongside = test.concurrent;

/** Starts everything but the replicas. */
async function begin({ expect, onTestFinished }: TestContext, options: FakeDiscordOptions = {}) {
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  const redis = await RedisServer.start('--maxmemory-policy', 'noeviction');
  onTestFinished(() => redis.remove());
  const upstream = await startVideoService();
  onTestFinished(() => upstream.close());
  const discord = await startDiscord({ limits: { edit: WIDE, webhook: WIDE, send: WIDE, global: WIDE }, ...options });
  onTestFinished(() => discord.close());
  const replicas: RunningDailies[] = [];
  onTestFinished(async () => {
    for (const replica of replicas) await replica.kill();
    // A command that waited for a replica may be answered a moment after Discord's three seconds: sent in time, there late.
    expect(discord.violations.filter((violation) => !violation.startsWith('late answer'))).toEqual([]);
    expect(discord.vanished).toEqual([]);
  });
  const own = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl, STORE_URL: redis.url };
  const start = async (): Promise<RunningDailies> => {
    const replica = await startDailies({ dir: dir.path, upstream, env: { ...own, LOG_LEVEL: 'info' } });
    replicas.push(replica);
    return replica;
  };
  const shows = (channel: string, words: string) =>
    discord.messages(channel).filter((message) => plainOf(message).includes(words));
  return { upstream, discord, look: new Onlooker(discord), start, shows };
}

/** Starts two replicas with one shard, and returns which one holds it. */
async function beginPair(context: TestContext) {
  const { expect } = context;
  const setup = await begin(context);
  const holder = await setup.start();
  // A busy machine reports ready before Discord is connected.
  await expect.poll(() => taken(holder), TAKEN_OVER_WITHIN).toBe(1);
  const other = await setup.start();
  await expect.poll(() => readiness(other), TAKEN_OVER_WITHIN).toEqual({});
  expect([taken(holder), taken(other)]).toEqual([1, 0]);
  return { ...setup, holder, other };
}

/** Returns what a replica lacks to be ready. */
const readiness = async (replica: RunningDailies): Promise<object> => {
  const { missing = {} } = (await (await fetch(`${replica.url}/readyz`)).json()) as { readonly missing?: object };
  return missing;
};
/**
 * Orders a clip, even while no replica is connected: waits until the command is answered, or offered because it took
 * over 3 s, and then confirms it. @returns whether it was offered; the offer mentions its requester.
 */
async function ordered(discord: FakeDiscord, prompt: string): Promise<boolean> {
  const asked = discord.people.slash('video create', { prompt });
  const offer = () =>
    discord
      .messages(discord.channels.general)
      .find((one) => plainOf(one).includes('You asked') && plainOf(one).includes(prompt));
  const isAnswered = () => plainOf(discord.original(asked) ?? { content: '', components: [] }) !== '';
  await discord.until(() => isAnswered() || offer() !== undefined, 'an answer or an offer');
  const late = offer();
  if (late === undefined) return false;
  const create = buttonsOf(late).find(({ label }) => label.startsWith('Create'));
  discord.people.press(late.id, create?.id ?? '');
  await discord.until(
    () => discord.messages(discord.channels.general).some((one) => one !== offer() && plainOf(one).includes(prompt)),
    'a card',
  );
  return true;
}

const taken = (replica: RunningDailies) => timesIn(replica, 'claimed a Discord shard');
/** Returns the number of shards that a replica holds. */
const held = (replica: RunningDailies) =>
  taken(replica) - timesIn(replica, 'released a Discord shard') - timesIn(replica, 'lost a Discord shard');
const timesIn = (replica: RunningDailies, words: string) => replica.output().split(words).length - 1;

alongside(
  'the holder of the only shard is killed: the other resumes its session and takes over its messages',
  TIMEOUT,
  async (context) => {
    const { expect } = context;
    const { discord, upstream, look, shows, holder, other } = await beginPair(context);
    const letGo = keepRunning(upstream);
    const card = await look.card(await look.create());
    await look.says(card.id, '33 %');
    await holder.kill();
    await discord.until(() => !discord.gateway.isConnected, 'the connection to break');
    const owl = ordered(discord, 'an owl');
    await expect.poll(() => discord.gateway.resumes, TAKEN_OVER_WITHIN).toBe(1);
    const [resumption] = discord.gateway.resumptions;
    expect(resumption?.seq).toBeGreaterThan(0);
    expect(resumption?.seq).toBeLessThan(resumption?.lastSeq ?? 0);
    // Too late for a response: it is offered, and created once it is confirmed.
    expect(await owl).toBe(true);
    const isOffered = await ordered(discord, 'a badger');
    letGo();
    await look.delivered(card.id);
    const offers = isOffered ? 2 : 1;
    await look.mentioned(discord.users.alice, 3 + offers);
    expect(shows(discord.channels.general, 'red fox')[0]?.attachments).toHaveLength(1);
    expect(discord.messages(discord.channels.general)).toHaveLength(6 + offers);
    expect(upstream.creates).toBe(3);
    expect(discord.gateway.identifies).toBe(1);
    expect(await readiness(other)).toEqual({});
  },
);

alongside(
  'the holder of the only shard is paused past its lease and resumes: nothing is duplicated',
  TIMEOUT,
  async (context) => {
    const { expect } = context;
    const { discord, upstream, look, holder, other } = await beginPair(context);
    const letGo = keepRunning(upstream);
    const card = await look.card(await look.create());
    await look.says(card.id, '33 %');
    holder.freeze();
    discord.people.react(card.id, '🔁');
    await expect.poll(() => discord.gateway.resumes, TAKEN_OVER_WITHIN).toBe(1);
    holder.thaw();
    await expect.poll(() => holder.output(), TAKEN_OVER_WITHIN).toContain('lost a Discord shard');
    letGo();
    await look.delivered(card.id);
    await look.mentioned(discord.users.alice, 2);
    expect(discord.messages(discord.channels.general)).toHaveLength(4);
    expect(upstream.creates).toBe(2);
    expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1, shards: [0] });
    for (const replica of [holder, other]) await expect.poll(() => readiness(replica), TAKEN_OVER_WITHIN).toEqual({});
  },
);

alongside('a rolling restart leaves no command unanswered', TIMEOUT, async (context) => {
  const { expect } = context;
  const { discord, upstream, look, start, holder, other } = await beginPair(context);
  const letGo = keepRunning(upstream);
  const card = await look.card(await look.create());
  await look.says(card.id, '33 %');
  const stopped = holder.stop();
  await discord.until(() => !discord.gateway.isConnected, 'the connection to close');
  const owl = ordered(discord, 'an owl');
  expect(await stopped).toBe(0);
  const offered = [await owl];
  expect(discord.gateway.resumes).toBe(1);
  const third = await start();
  await other.stop();
  await expect.poll(() => taken(third), TAKEN_OVER_WITHIN).toBe(1);
  offered.push(await ordered(discord, 'a badger'));
  letGo();
  await look.delivered(card.id);
  const offers = offered.filter(Boolean).length;
  await look.mentioned(discord.users.alice, 3 + offers);
  expect(discord.messages(discord.channels.general)).toHaveLength(6 + offers);
  expect(upstream.creates).toBe(3);
  expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 2 });
  expect(discord.commandWrites).toBe(1);
});

alongside(
  'three shards are spread over two replicas and rebalanced to one that joins later',
  TIMEOUT,
  async (context) => {
    const { expect } = context;
    const { discord, look, start } = await begin(context, { shards: 3, maxConcurrency: 3 });
    // Servers that the bot joins after its first start would have to be listed in ALLOW_TEAMS.
    const channels = [0, 1, 2].map((shard) => discord.channelOn(shard));
    const [first, second] = await Promise.all([start(), start()]);
    // A replica that starts well before the other claims all three, and releases one of them later.
    const spread = () => [held(first), held(second)].toSorted((a, b) => a - b);
    await expect.poll(spread, TAKEN_OVER_WITHIN).toEqual([1, 2]);
    await expect.poll(() => discord.gateway.shards, TAKEN_OVER_WITHIN).toEqual([0, 1, 2]);
    expect(discord.commandWrites).toBe(1);
    const commandsWork = async () => {
      for (const channel of channels) await look.card(await look.create({ prompt: 'a fox' }, { channel }));
    };
    await commandsWork();
    await second.stop();
    await expect.poll(() => discord.gateway.shards, TAKEN_OVER_WITHIN).toEqual([0, 1, 2]);
    await commandsWork();
    const third = await start();
    await expect.poll(() => held(third), TAKEN_OVER_WITHIN).toBe(1);
    await expect.poll(() => discord.gateway.shards, TAKEN_OVER_WITHIN).toEqual([0, 1, 2]);
    await commandsWork();
    expect(discord.gateway.identifies).toBe(3);
    await look.mentioned(discord.users.alice, 9);
  },
);
