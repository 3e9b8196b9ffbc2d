import { type Clock, systemClock } from '#src/clock.ts';
import { Faults } from './faults.ts';
import { Files } from './files.ts';
import { Gateway, type Resumption, type Welcome } from './gateway.ts';
import { type ShardOf, shardOf } from './gateway-session.ts';
import { LIMITS, type Limits, RateLimits } from './limits.ts';
import { People } from './people.ts';
import type { Permission } from './permissions.ts';
import { INTENTS } from './posting.ts';
import type { Interaction, Message, Ping, Vanished } from './records.ts';
import type { Json } from './refusal.ts';
import { remove, removeBot, removeChannel } from './removing.ts';
import { listen, type RecordedRequest, type RouteName } from './server.ts';
import { startThread } from './threading.ts';
import { channelJson, guildJson, userJson } from './wire.ts';
import { present, World } from './world.ts';

export { fileOf } from './files.ts';
export type { Limits } from './limits.ts';
export type { Permission } from './permissions.ts';
export { FLAGS, type Interaction, type Message, type Ping } from './records.ts';
export type { RecordedRequest, RouteName } from './server.ts';

export interface FakeDiscordOptions {
  /** Clock of the 3 s and 15 min deadlines, the age of messages, nonces and CDN URLs. Default: the system clock. */
  readonly clock?: Clock;
  /** Default: a made-up token. */
  readonly token?: string;
  /** Largest upload in bytes by the bot's token, and default of `attachment_size_limit`. Default 10 MiB. */
  readonly maxFileBytes?: number;
  /** Default {@link LIMITS}; their windows use the system clock, as clients do. */
  readonly limits?: Partial<Limits>;
  /** Default 41,250 ms, by the system clock. */
  readonly heartbeatMs?: number;
  /** Recommended number of shards. Default 1. */
  readonly shards?: number;
  /** Number of sessions that may be started concurrently. Default 1. */
  readonly maxConcurrency?: number;
  /** Interval for `maxConcurrency` sessions. Default 5,000 ms, by the system clock. */
  readonly identifyEveryMs?: number;
  /** Privileged intents granted to the application (bitfield). Default none. */
  readonly privilegedIntents?: number;
  /** True if any user may add the bot to a server. Default false. */
  readonly isPublic?: boolean;
}

/** The fake as tests see and control it. Actions of users are in {@link People}. */
export interface FakeDiscord {
  /** Value of `DISCORD_API_URL`: without the version. */
  readonly apiUrl: string;
  readonly token: string;
  /** Variables of a program that is this bot. */
  readonly env: Readonly<Record<string, string>>;
  readonly applicationId: string;
  readonly botId: string;
  readonly guildId: string;
  /**
   * Channel ids. `secret` is a private thread to which the bot was not added, `elsewhere` is in a server without the
   * bot, `group` is a group DM: only user installs have access to the last two.
   */
  readonly channels: Readonly<Record<'general' | 'clips' | 'thread' | 'secret' | 'elsewhere' | 'group', string>>;
  /** User ids. `dora` is a member of none of the bot's servers. */
  readonly users: Readonly<Record<'alice' | 'bob' | 'carol' | 'dora', string>>;
  /** Actions of the bot that Discord's documentation forbids, in order. Empty for a correct bot. */
  readonly violations: readonly string[];
  /** Every notification. */
  readonly pings: readonly Ping[];
  /** Files that an edit removed from a message. */
  readonly vanished: readonly Vanished[];
  /** Returns {@link vanished} and empties it: files that had to be removed. */
  takeVanished(): readonly Vanished[];
  readonly requests: readonly RecordedRequest[];
  /** Every interaction, oldest first. */
  readonly interactions: readonly Interaction[];
  readonly people: People;
  /** Number of sessions started and resumed, and the intents requested last. */
  readonly gateway: {
    readonly identifies: number;
    readonly resumes: number;
    readonly intents: number;
    readonly isConnected: boolean;
    readonly resumptions: readonly Resumption[];
    /** The connected shards. */
    readonly shards: readonly number[];
  };
  /** Number of requests that the rate limits (not faults) answered with 429. */
  readonly rateLimited: number;
  /** Number of times the bot wrote its commands. */
  readonly commandWrites: number;
  /** Returns the commands of a server, or the global ones. */
  commands(guildId?: string): readonly Json[];
  /** Returns the messages of a channel that are not deleted, oldest first, ephemeral ones included. */
  messages(channelId: string): readonly Message[];
  message(id: string): Message;
  /** Returns `@original` of an interaction: its message, or null if it has none. */
  original(interaction: Interaction): Message | null;
  /** Returns the DM between the bot and a user; opens it if there is none. */
  dm(userId: string): string;
  /** Adds a channel on another server of the bot whose events go to the shard; returns its id. */
  channelOn(shard: number): string;
  /** Resolves once `isTrue`, which is checked after every request; rejects after `withinMs` (5 min) of real time. */
  until(isTrue: () => boolean, what: string, withinMs?: number): Promise<void>;
  /** Resolves once the bot has registered commands and is connected: what is sent to it earlier is lost. */
  botReady(withinMs?: number): Promise<void>;
  /** Resolves to the interaction's first response. */
  answered(interaction: Interaction): Promise<NonNullable<Interaction['answer']>>;

  /** Denies the bot these permissions in a channel; replaces earlier denials. */
  deny(channelId: string, permissions: readonly Permission[]): void;
  /** Takes these permissions from @everyone in the bot's servers. */
  withhold(permissions: readonly Permission[]): void;
  /** Sets a user's roles in the bot's servers. */
  setRoles(userId: string, roles: readonly string[]): void;
  /** Restricts a channel to these users and the bot. */
  makePrivate(channelId: string, userIds: readonly string[]): void;
  /** Adds a role to the bot's servers; returns its id. */
  addRole(name: string): string;
  /** Adds the bot to a private thread, as a mention there does. */
  addBot(channelId: string): void;
  /** Sets the largest upload; pending interactions keep the limit that they were sent with. */
  limitFiles(maxBytes: number): void;
  /** Deletes a message on behalf of a moderator. */
  deleteMessage(messageId: string): void;
  deleteChannel(channelId: string): void;
  /** Starts the thread of a message on behalf of a user. */
  startThread(messageId: string, name: string): void;
  /** Returns the name of the thread of a message; `null` if it has none. */
  threadOf(messageId: string): string | null;
  /** Returns the channel that a thread belongs to; `null` for any other channel. */
  channelOf(threadId: string): string | null;
  /** Removes the bot from its server. */
  removeBot(): void;
  /** Answers the bot's token with 401 until it is restored. */
  revokeToken(): void;
  restoreToken(): void;

  /** Expires every interaction's token. */
  expireTokens(): void;
  /** Sends an interaction again. */
  redeliver(interaction: Interaction): void;
  /**
   * Sends an event that does not conform to Discord's documentation: the only feature here that the real Discord is not
   * known to have.
   */
  garble(event: string, data: unknown): void;
  /** Executes the next request to `route`, then closes the connection. */
  dropNextAnswer(route: RouteName): void;
  /** Rejects the next request to `route`; with `acts` it is executed nevertheless. `code` 0: none of Discord's. */
  fail(route: RouteName, status: number, options?: { readonly code?: number; readonly acts?: boolean }): void;
  /**
   * Answers 429 from the next request to `route` on, for its channel or token and `retryAfterMs` of real time; an
   * earlier retry is a violation.
   */
  rateLimit(
    route: RouteName,
    limit: { readonly retryAfterMs: number; readonly scope?: 'user' | 'global' | 'shared' },
  ): void;
  /** Holds the next request to `route` until the returned function is called. */
  hold(route: RouteName): () => void;
  /** Number of requests held. */
  readonly held: number;
  /** Closes the gateway's connections; with `refuse`, rejects that many new ones first. */
  closeGateway(code: number, options?: { readonly refuse?: number }): void;
  /** Breaks the connections without a close frame. */
  breakGateway(): void;
  /** Sends op 9. Not resumable by default. */
  invalidSession(isResumable?: boolean): void;
  close(): Promise<void>;
}

/** Starts a strict Discord (REST and gateway, version 10) on a free port of 127.0.0.1. */
export async function startDiscord(options: FakeDiscordOptions = {}): Promise<FakeDiscord> {
  const { token = 'fake.discord.token', maxFileBytes = 10 * 1024 * 1024 } = options;
  const clock = withoutSteps(options.clock ?? systemClock);
  const { privilegedIntents: privileged = 0, heartbeatMs = 41_250, shards = 1 } = options;
  let port = 0;
  const requests: RecordedRequest[] = [];
  const files = new Files(clock, () => `http://127.0.0.1:${port}`);
  const gateway: Gateway = new Gateway({
    token,
    privileged,
    heartbeatMs,
    origin: () => `ws://127.0.0.1:${port}`,
    violate: (what) => world.violate(what),
    shards,
    maxConcurrency: options.maxConcurrency ?? 1,
    identifyEveryMs: options.identifyEveryMs ?? 5_000,
    welcome: (shard) => welcome(world, shard),
    lost(interactions) {
      for (const id of interactions) {
        const interaction = world.interactions.get(id);
        if (interaction?.answer === null) interaction.isDelivered = false;
      }
    },
    changed: () => world.changed(),
  });
  const world: World = new World({
    clock,
    files,
    token,
    maxFileBytes,
    seesContent: (privileged & INTENTS.messageContent) !== 0,
    send: (dispatch) => gateway.dispatch(dispatch),
  });
  world.isPublic = options.isPublic ?? false;
  const { channels, users } = populate(world);
  const violate = (what: string): void => world.violate(what);
  const faults = new Faults(violate);
  const limits = new RateLimits({ ...LIMITS, ...options.limits }, violate);
  const { server, port: opened } = await listen({ world, gateway, limits, faults, requests });
  port = opened;
  const apiUrl = `http://127.0.0.1:${port}/api`;
  const people = new People(world, { user: users.alice, channel: channels.general });

  return {
    apiUrl,
    token,
    env: { DISCORD_API_URL: apiUrl, DISCORD_TOKEN: token },
    applicationId: world.applicationId,
    botId: world.bot.id,
    guildId: world.guildId,
    channels,
    users,
    violations: world.violations,
    pings: world.pings,
    vanished: world.vanished,
    takeVanished: () => world.vanished.splice(0),
    requests,
    get interactions() {
      return [...world.interactions.values()];
    },
    people,
    gateway,
    get rateLimited() {
      return limits.refused;
    },
    get commandWrites() {
      return world.commandWrites;
    },
    commands: (guildId) => world.commands.get(guildId ?? 'global') ?? [],
    messages: (channelId) =>
      [...world.messages.values()].filter((one) => one.channelId === channelId && !one.isDeleted),
    message: (id) => present(world.messages.get(id), `message ${id}`),
    original: ({ originalId }) => (originalId === null ? null : (world.messages.get(originalId) ?? null)),
    dm: (userId) => world.dmWith(userId).id,
    channelOn(shard) {
      let guildId = world.freshId();
      while (shardOf(guildId, shards) !== shard) guildId = `${BigInt(guildId) + (1n << 22n)}`;
      return world.addChannel({ name: `on-${shard}`, kind: 'text', guildId }).id;
    },
    until: (isTrue, what, withinMs) => until(world, isTrue, what, withinMs),
    botReady(withinMs) {
      const hasCommands = (): boolean => world.commands.values().some((list) => list.length > 0);
      const isReady = (): boolean => hasCommands() && gateway.isConnected;
      return until(world, isReady, 'the commands and the connection of the bot', withinMs);
    },
    async answered(interaction) {
      await until(world, () => interaction.answer !== null, `an answer to ${interaction.kind} ${interaction.id}`);
      return present(interaction.answer, 'answer');
    },
    deny(channelId, permissions) {
      const channel = world.channel(channelId);
      channel.denied = new Set(permissions);
      const event = channel.kind === 'thread' ? 'THREAD_UPDATE' : 'CHANNEL_UPDATE';
      world.dispatch(event, channelJson(world, channel), INTENTS.guilds);
    },
    withhold(permissions) {
      world.everyone = world.everyone.filter((one) => !permissions.includes(one));
    },
    setRoles: (userId, roles) => void world.users.set(userId, { ...world.user(userId), roles }),
    makePrivate(channelId, userIds) {
      const channel = world.channel(channelId);
      channel.viewers = new Set(userIds);
      world.dispatch('CHANNEL_UPDATE', channelJson(world, channel), INTENTS.guilds);
    },
    addRole: (name) => world.addRole(name),
    addBot(channelId) {
      world.channel(channelId).isBotAdded = true;
    },
    limitFiles(maxBytes) {
      world.maxFileBytes = maxBytes;
    },
    deleteMessage: (id) => remove(world, present(world.messages.get(id), `message ${id}`)),
    deleteChannel: (id) => removeChannel(world, world.channel(id)),
    startThread: (id, name) => void startThread(world, present(world.messages.get(id), `message ${id}`), name),
    threadOf: (id) => world.channels.get(id)?.name ?? null,
    channelOf: (id) => world.channels.get(id)?.parentId ?? null,
    removeBot: () => removeBot(world),
    revokeToken() {
      world.isTokenRefused = true;
    },
    restoreToken() {
      world.isTokenRefused = false;
    },
    expireTokens() {
      for (const interaction of world.interactions.values()) interaction.isExpired = true;
    },
    garble: (event, data) => void world.dispatch(event, data as Parameters<typeof world.dispatch>[1]),
    redeliver({ id, payload }) {
      world.repeated.add(id);
      world.dispatch('INTERACTION_CREATE', payload);
    },
    dropNextAnswer: (route) => faults.add(route, { kind: 'drop' }),
    fail: (route, status, { code = 0, acts = false } = {}) => faults.add(route, { kind: 'fail', status, code, acts }),
    rateLimit: (route, { retryAfterMs, scope = 'user' }) =>
      faults.add(route, { kind: 'limit', scope, waitMs: retryAfterMs, met: null }),
    get held() {
      return faults.held;
    },
    hold(route) {
      const { promise, resolve } = Promise.withResolvers<void>();
      faults.add(route, { kind: 'hold', until: promise });
      return resolve;
    },
    closeGateway(code, { refuse = 0 } = {}) {
      gateway.refusals = refuse;
      gateway.hangUp(code);
    },
    breakGateway() {
      for (const session of gateway.sessions) session.terminate();
    },
    invalidSession: (isResumable = false) => gateway.invalidate(isResumable),
    close: () =>
      new Promise((done) => {
        gateway.close();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Returns Discord's own clock, which runs with the bot's but is not adjusted with it. */
function withoutSteps(clock: Clock): Clock {
  const startMs = clock.now() - clock.monotonic();
  return {
    now: () => Math.floor(startMs + clock.monotonic()),
    monotonic: () => clock.monotonic(),
    after: (delayMs, run) => clock.after(delayMs, run),
  };
}

/** @see discord docs: events/gateway-events, "Ready" */
function welcome(world: World, [shard, count]: ShardOf): Welcome {
  const isMember = world.channels.values().some(({ guildId, isBotHere }) => guildId === world.guildId && isBotHere);
  const isIn = isMember && shardOf(world.guildId, count) === shard;
  const ready = {
    v: 10,
    user: userJson(world.bot),
    guilds: isIn ? [{ id: world.guildId, unavailable: true }] : [],
    private_channels: [],
    application: { id: world.applicationId, flags: 0 },
  };
  return { ready, events: isIn ? [{ event: 'GUILD_CREATE', data: guildJson(world), intent: INTENTS.guilds }] : [] };
}

function populate(world: World): Pick<FakeDiscord, 'channels' | 'users'> {
  const { guildId, strangeGuildId } = world;
  const general = world.addChannel({ name: 'general', kind: 'text', guildId }).id;
  const [alice, bob, carol, dora] = ['alice', 'bob', 'carol', 'dora'].map((name) => world.addUser(name).id) as [
    string,
    string,
    string,
    string,
  ];
  world.outsiders.add(dora);
  return {
    users: { alice, bob, carol, dora },
    channels: {
      general,
      clips: world.addChannel({ name: 'clips', kind: 'text', guildId }).id,
      thread: world.addChannel({ name: 'fox clips', kind: 'thread', guildId, parentId: general }).id,
      secret: world.addChannel({ name: 'secret clips', kind: 'thread', guildId, parentId: general, isPrivate: true })
        .id,
      elsewhere: world.addChannel({ name: 'lobby', kind: 'text', guildId: strangeGuildId, isBotHere: false }).id,
      group: world.addChannel({ name: 'film night', kind: 'group', isBotHere: false }).id,
    },
  };
}

function until(world: World, isTrue: () => boolean, what: string, withinMs = 300_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = world.watch(look);
    const cancel = systemClock.after(withinMs, () => {
      stop();
      reject(new Error(`Still waiting for ${what}; violations: ${world.violations.join('; ') || 'none'}.`));
    });
    function look(): void {
      if (!isTrue()) return;
      stop();
      cancel();
      resolve();
    }
    look();
  });
}
