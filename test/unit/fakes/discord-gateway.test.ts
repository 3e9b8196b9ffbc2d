import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';
import { RawBot, type RawGateway } from './raw-bot.ts';

const GUILDS = 1 << 0;
const MEMBERS = 1 << 1;
const REACTIONS = 1 << 10;
const VIDEO = { name: 'video', description: 'Makes videos', integration_types: [0, 1] };
const QUIET = { allowed_mentions: { parse: [] } };

let discord: FakeDiscord;
let bot: RawBot;

beforeEach(async () => {
  discord = await startDiscord({ identifyEveryMs: 0 });
  bot = new RawBot(discord);
});
afterEach(() => discord.close());

/** Opens a connection and identifies. */
const identified = async (intents = GUILDS): Promise<RawGateway> => {
  const gateway = await bot.connect();
  await gateway.identify(intents);
  await gateway.event('READY');
  return gateway;
};

/** Resumes a session at the address from its READY. */
const resumed = async (before: RawGateway, seq: number): Promise<RawGateway> => {
  const { d } = await before.event('READY');
  const gateway = await bot.connect('/resume?v=10&encoding=json');
  await gateway.send(6, { token: discord.token, session_id: d['session_id'], seq });
  return gateway;
};

it('says hello, acknowledges heartbeats, sends READY and the server', async () => {
  const gateway = await bot.connect();
  await gateway.until(() => gateway.packets.length > 0);
  expect(gateway.packets[0]).toMatchObject({ op: 10, d: { heartbeat_interval: 41_250 } });
  await gateway.send(1, null);
  await gateway.until(() => gateway.packets.some(({ op }) => op === 11));
  await gateway.identify(GUILDS);
  expect((await gateway.event('READY')).d['guilds']).toEqual([{ id: discord.guildId, unavailable: true }]);
  expect((await gateway.event('GUILD_CREATE')).d['id']).toBe(discord.guildId);
  expect(discord.violations).toEqual([]);
});

it.each([
  ['a privileged intent', 4014, 2, { intents: GUILDS | MEMBERS }],
  ['an unknown intent', 4013, 2, { intents: 1 << 30 }],
  ['a wrong token', 4004, 2, { token: 'other' }],
  ['an unknown opcode', 4001, 99, {}],
  ['a presence before identifying', 4003, 3, {}],
  ['an event of more than 4096 bytes', 4002, 2, { note: 'x'.repeat(4096) }],
])('closes on %s with %i', async (_what, code, op, overrides) => {
  const gateway = await bot.connect();
  if (op === 2) await gateway.identify(GUILDS, overrides);
  else await gateway.send(op, overrides);
  await gateway.until(() => gateway.closed !== null);
  expect(gateway.closed).toBe(code);
  expect(discord.violations).toHaveLength(1);
});

it('closes on another version and on a second IDENTIFY', async () => {
  const old = await bot.connect('/?v=9&encoding=json');
  await old.until(() => old.closed !== null);
  const twice = await identified();
  await twice.identify(GUILDS);
  await twice.until(() => twice.closed !== null);
  expect([old.closed, twice.closed]).toEqual([4012, 4005]);
});

it('closes a connection that stops its heartbeat', async () => {
  const hasty = await startDiscord({ heartbeatMs: 20 });
  const gateway = await new RawBot(hasty).connect();
  await gateway.until(() => gateway.closed !== null);
  expect(hasty.violations).toEqual(['gateway closed with 4000: no heartbeat']);
  await hasty.close();
});

it('replays missed events after a RESUME, then sends RESUMED', async () => {
  await bot.call(`PUT /applications/${discord.applicationId}/commands`, [VIDEO]);
  const first = await identified();
  await first.event('GUILD_CREATE');
  discord.closeGateway(4000);
  await first.until(() => first.closed !== null);
  const { id } = discord.people.slash('video');
  expect(discord.interactions[0]?.isDelivered).toBe(false);
  const second = await resumed(first, 2);
  await second.event('RESUMED');
  expect(second.packets.map(({ t, s }) => [t, s])).toEqual([
    [null, null],
    ['INTERACTION_CREATE', 3],
    ['RESUMED', 4],
  ]);
  expect((await second.event('INTERACTION_CREATE')).d['id']).toBe(id);
  expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1 });
});

it('rejects a RESUME after a close with 1000, after invalidation and with a sequence number too high', async () => {
  const left = await identified();
  left.close(1000);
  await discord.until(() => !discord.gateway.isConnected, 'the connection to close');
  const after = await resumed(left, 1);
  await after.until(() => after.packets.some(({ op }) => op === 9));

  const ahead = await identified();
  discord.breakGateway();
  const tooFar = await resumed(ahead, 99);
  await tooFar.until(() => tooFar.closed !== null);
  expect(tooFar.closed).toBe(4007);

  const invalid = await identified();
  discord.invalidSession();
  await invalid.until(() => invalid.packets.some(({ op, d }) => op === 9 && (d as unknown) === false));
});

it('requires a RESUME at the address given in READY', async () => {
  const first = await identified();
  const { d } = await first.event('READY');
  const gateway = await bot.connect();
  await gateway.send(6, { token: discord.token, session_id: d['session_id'], seq: 1 });
  await gateway.event('RESUMED');
  expect(discord.violations[0]).toContain('resume_gateway_url');
});

it('sends only the events of the intents', async () => {
  const deaf = await identified(GUILDS);
  const listening = await identified(GUILDS | REACTIONS);
  const { json } = await bot.call(`POST /channels/${discord.channels.general}/messages`, { content: 'x', ...QUIET });
  discord.people.react(json.id, '🔁');
  expect((await listening.event('MESSAGE_REACTION_ADD')).d).toMatchObject({
    message_id: json.id,
    emoji: { name: '🔁' },
  });
  discord.deleteChannel(discord.channels.clips);
  await deaf.event('CHANNEL_DELETE');
  expect(deaf.packets.some(({ t }) => t === 'MESSAGE_REACTION_ADD')).toBe(false);
});

describe('sessions', () => {
  it('may be started once per interval in each bucket: Opcode 9 otherwise', async () => {
    const strict = await startDiscord({ shards: 2, maxConcurrency: 2 });
    const raw = new RawBot(strict);
    const [first, other, hasty] = [await raw.connect(), await raw.connect(), await raw.connect()];
    await first.identify(GUILDS, { shard: [0, 2] });
    await first.event('READY');
    await other.identify(GUILDS, { shard: [1, 2] });
    await other.event('READY');
    expect(strict.violations).toEqual([]);
    await hasty.identify(GUILDS, { shard: [0, 2] });
    await hasty.until(() => hasty.packets.some(({ op, d }) => op === 9 && (d as unknown) === false));
    expect(strict.violations).toEqual([
      'IDENTIFY as shard 0/2, which is connected',
      'a second IDENTIFY within 5000 ms in bucket 0',
    ]);
    await strict.close();
  });

  it('receive the events of their shard’s servers, and direct messages on shard 0', async () => {
    const sharded = await startDiscord({ shards: 3, maxConcurrency: 3 });
    const raw = new RawBot(sharded);
    await raw.call(`PUT /applications/${sharded.applicationId}/commands`, [VIDEO]);
    const shards: RawGateway[] = [];
    for (const id of [0, 1, 2]) {
      const gateway = await raw.connect();
      await gateway.identify(GUILDS, { shard: [id, 3] });
      await gateway.event('READY');
      shards.push(gateway);
    }
    const { alice } = sharded.users;
    const channels = [sharded.dm(alice), sharded.channelOn(1), sharded.channelOn(2), sharded.channelOn(0)];
    const sent = channels.map((channel) => sharded.people.slash('video', {}, { channel }).id);
    const heard = (gateway: RawGateway | undefined) =>
      gateway?.packets.filter(({ t }) => t === 'INTERACTION_CREATE').map(({ d }) => d['id']) ?? [];
    await shards[0]?.until(() => heard(shards[0]).length === 2);
    for (const one of [1, 2]) await shards[one]?.until(() => heard(shards[one]).length === 1);
    expect(shards.map(heard)).toEqual([[sent[0], sent[3]], [sent[1]], [sent[2]]]);
    expect(sharded.gateway.shards).toEqual([0, 1, 2]);
    await sharded.close();
  });

  it('continue over the connection that resumed them last, and the previous one is closed', async () => {
    const first = await identified();
    const second = await resumed(first, 2);
    await second.event('RESUMED');
    await first.until(() => first.closed !== null);
    discord.deleteChannel(discord.channels.clips);
    await second.event('CHANNEL_DELETE');
    expect(discord.gateway.resumptions).toMatchObject([{ shard: [0, 1], seq: 2, lastSeq: 2 }]);
  });

  it('end once they time out', async () => {
    const first = await identified();
    discord.closeGateway(4009);
    await first.until(() => first.closed === 4009);
    const second = await resumed(first, 1);
    await second.until(() => second.packets.some(({ op }) => op === 9));
  });
});

it('delivers an interaction twice on request', async () => {
  await bot.call(`PUT /applications/${discord.applicationId}/commands`, [VIDEO]);
  const gateway = await identified();
  discord.redeliver(discord.people.slash('video'));
  const all = () => gateway.packets.filter(({ t }) => t === 'INTERACTION_CREATE');
  await gateway.until(() => all().length === 2);
  expect(new Set(all().map(({ d }) => d['id'])).size).toBe(1);
});
