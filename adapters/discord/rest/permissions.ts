import {
  type APIChannel,
  type APIGuild,
  type APIGuildMember,
  ChannelType,
  OverwriteType,
  PermissionFlagsBits,
  type RouteLike,
  Routes,
} from 'discord.js';
import type { MemberRights, MissingRight, Place } from '#src/chat/platform.ts';
import { type Clock, within } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Audience } from '#src/tasks/task.ts';
import { readAddress } from '../origin.ts';
import type { DiscordRest } from './client.ts';
import { TtlCache } from './ttl-cache.ts';

/** What decides who may do what in a channel. */
export interface ChannelFacts {
  readonly guild: string;
  readonly owner: string;
  /** Permissions by role; that of everybody under the server's own id. */
  readonly roles: ReadonlyMap<string, bigint>;
  /** What the channel (of a thread: the one it is in) changes, by role or member. */
  readonly overwrites: readonly { readonly id: string; readonly allow: bigint; readonly deny: bigint }[];
  readonly isThread: boolean;
  /** Whether it is a thread that only its own members see. */
  readonly isPrivate: boolean;
  /** Whether it is a voice or stage channel, or a thread in one. */
  readonly isVoice: boolean;
}

/** Somebody in a server. */
export interface Member {
  readonly user: string;
  readonly roles: readonly string[];
}

const ALL = ~0n;

/** What somebody may do in a channel. @see https://discord.com/developers/docs/topics/permissions#permission-overwrites */
export function permissionsIn({ guild, owner, roles, overwrites }: ChannelFacts, member: Member): bigint {
  if (member.user === owner) return ALL;
  const own = [guild, ...member.roles];
  const base = own.reduce((sum, role) => sum | (roles.get(role) ?? 0n), 0n);
  if ((base & PermissionFlagsBits.Administrator) !== 0n) return ALL;
  const change = (bits: bigint, ids: readonly string[]): bigint => {
    const changes = overwrites.filter(({ id }) => ids.includes(id));
    const denied = changes.reduce((sum, { deny }) => sum | deny, 0n);
    return changes.reduce((sum, { allow }) => sum | allow, bits & ~denied);
  };
  return change(change(change(base, [guild]), member.roles), [member.user]);
}

/** The text of a voice channel takes Connect besides. @see https://discord.com/developers/docs/topics/permissions */
function canView(permissions: bigint, { isVoice }: Pick<ChannelFacts, 'isVoice'>): boolean {
  const needed = PermissionFlagsBits.ViewChannel | (isVoice ? PermissionFlagsBits.Connect : 0n);
  return (permissions & needed) === needed;
}

/** What permissions in a channel come to. */
export function memberRights(permissions: bigint, channel: Pick<ChannelFacts, 'isThread' | 'isVoice'>): MemberRights {
  const isAdministrator = (permissions & PermissionFlagsBits.Administrator) !== 0n;
  if (isAdministrator) return EVERYTHING;
  if (!canView(permissions, channel)) return NOTHING;
  const send = channel.isThread ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  return { view: true, post: (permissions & send) !== 0n, manage: (permissions & MANAGE) !== 0n };
}

/** Direct messages are teams of their own, with other ids than a server's. */
function isServer(team: string): boolean {
  return /^\d+$/.test(team);
}

/** What posting clips takes, as Discord calls it, in the order in which it is asked for. */
function rightsFor(isThread: boolean, what: 'clip' | 'words'): readonly (readonly [bigint, string])[] {
  return [
    [PermissionFlagsBits.ViewChannel, 'View Channel'],
    isThread
      ? [PermissionFlagsBits.SendMessagesInThreads, 'Send Messages in Threads']
      : [PermissionFlagsBits.SendMessages, 'Send Messages'],
    ...(what === 'clip' ? ([[PermissionFlagsBits.AttachFiles, 'Attach Files']] as const) : []),
    [PermissionFlagsBits.ReadMessageHistory, 'Read Message History'],
  ];
}

/** Whoever has one of these needs not be added. @see https://discord.com/developers/docs/topics/threads#private-threads */
const SEE_PRIVATE_THREADS = PermissionFlagsBits.ManageThreads | PermissionFlagsBits.Administrator;
/** Who has one of these manages a channel. */
const MANAGE =
  PermissionFlagsBits.ManageMessages |
  PermissionFlagsBits.ManageChannels |
  PermissionFlagsBits.ManageGuild |
  PermissionFlagsBits.Administrator;
const NOTHING: MemberRights = { view: false, post: false, manage: false };
const EVERYTHING: MemberRights = { view: true, post: true, manage: true };
const NOT_ADDED: MissingRight = { kind: 'uninvited', to: 'thread', type: '@ and my name in it' };

/** Permissions of a channel win over those of roles, so they are where a right can always be given. */
function lacks(right: string): MissingRight {
  return { kind: 'permission', right, where: 'the channel’s settings › Permissions' };
}

/** The first right that is missing among `permissions`; `null` when none is. */
export function missingAmong(
  permissions: bigint,
  isThread: boolean,
  what: 'clip' | 'words' = 'clip',
): MissingRight | null {
  if ((permissions & PermissionFlagsBits.Administrator) !== 0n) return null;
  const missing = rightsFor(isThread, what).find(([right]) => (permissions & right) === 0n);
  return missing === undefined ? null : lacks(missing[1]);
}

/** Collaborators of {@link Permissions}. */
export interface PermissionsOptions {
  readonly rest: DiscordRest;
  readonly clock: Clock;
  /** The bot's own user. @throws DailiesError */
  readonly self: () => Promise<string>;
}

/** What is decided by a whole server. */
type Server = Pick<ChannelFacts, 'guild' | 'owner' | 'roles'> & { readonly uploadLimitBytes: number };
type Channel = Pick<ChannelFacts, 'overwrites' | 'isThread' | 'isPrivate' | 'isVoice'> & {
  /** The server that the channel is in; `null` for a direct message. */
  readonly server: string | null;
};

/** What is known may be as old as this; nothing is refused because of it. */
const REMEMBERED_MS = 60_000;
/** How long an answer to somebody may wait for whether the bot is a member of a server. */
const MEMBERSHIP_WITHIN_MS = 1_000;

/**
 * Finds out what may be done where by asking Discord, so that every replica gives the same answer, whichever the events
 * of a server come to. What was found out is remembered for a minute; before anything is refused, it is asked anew.
 */
export class Permissions {
  readonly #options: PermissionsOptions;
  readonly #servers: TtlCache<Server>;
  readonly #channels: TtlCache<Channel>;
  readonly #ownRoles: TtlCache<readonly string[]>;
  /** By server and user. */
  readonly #members: TtlCache<APIGuildMember>;
  readonly #memberships: TtlCache<boolean>;

  constructor(options: PermissionsOptions) {
    this.#options = options;
    const { clock } = options;
    this.#servers = new TtlCache(clock, REMEMBERED_MS, (guild) => this.#askForServer(guild));
    this.#channels = new TtlCache(clock, REMEMBERED_MS, (channel) => this.#askForChannel(channel));
    this.#ownRoles = new TtlCache(clock, REMEMBERED_MS, (guild) => this.#askForOwnRoles(guild));
    this.#members = new TtlCache(clock, REMEMBERED_MS, (key) => this.#askForMember(key));
    this.#memberships = new TtlCache(clock, REMEMBERED_MS, (guild) => this.#askForMembership(guild));
  }

  /** What the bot lacks to post there; `null` when nothing does. @throws DailiesError */
  async missing({ team, channel, address }: Place, what: 'clip' | 'words' = 'clip'): Promise<MissingRight | null> {
    const { permissions, isThread, isPrivate, hasBot, guild, isDirect } = readAddress(address);
    if (permissions !== null && guild !== null) {
      if (hasBot) {
        const missing = missingAmong(permissions, isThread, what);
        if (missing !== null) return this.#unlessKnownBetter(missing, guild, channel, what);
        return isPrivate && (permissions & SEE_PRIVATE_THREADS) === 0n ? this.#unlessAdded(channel) : null;
      }
      const mayAttach = (permissions & (PermissionFlagsBits.AttachFiles | PermissionFlagsBits.Administrator)) !== 0n;
      return mayAttach || what === 'words' ? null : lacks('Attach Files');
    }
    if (isDirect || !isServer(team)) return null;
    return (await this.#lacking(team, channel, what)) === null ? null : this.#lackingNow(team, channel, what);
  }

  /**
   * Whether everyone in the server sees a channel: whether @everyone may view it, and it is no private thread. `null` where the
   * bot itself may not look.
   */
  async audience({ team, channel, address }: Place): Promise<Audience | null> {
    const { isDirect, isPrivate, guild } = readAddress(address);
    // Where a person brought the bot along, only that channel sees what is made there.
    const isElsewhere = guild !== null && guild !== team;
    if (isDirect || isElsewhere || isPrivate || !isServer(team)) return 'channel';
    try {
      const facts = await this.#facts(team, channel);
      if (facts.isPrivate || facts.server !== team) return 'channel';
      // Somebody without a role of their own.
      return canView(permissionsIn(facts, { user: '', roles: [] }), facts) ? 'team' : 'channel';
    } catch (thrown) {
      const error = asDailiesError(thrown, `looking at channel ${channel}`);
      if (error.code !== 'missing_permission' && error.code !== 'message_gone') throw error;
      return null;
    }
  }

  /** What somebody may do in a channel, if it is one of that server. @throws DailiesError */
  async rights({ team, channel, address }: Place, user: string): Promise<MemberRights> {
    // A direct message is there for those who are in it.
    if (readAddress(address).isDirect) return EVERYTHING;
    if (!isServer(team)) return team === `dm:${channel}` ? EVERYTHING : NOTHING;
    try {
      const [facts, { roles }] = await Promise.all([this.#facts(team, channel), this.#members.of(`${team}:${user}`)]);
      if (facts.server !== team) return NOTHING;
      const rights = permissionsIn(facts, { user, roles });
      const isIn = !facts.isPrivate || (rights & SEE_PRIVATE_THREADS) !== 0n || (await this.#isInThread(channel, user));
      return isIn ? memberRights(rights, facts) : NOTHING;
    } catch (thrown) {
      const error = asDailiesError(thrown, `looking at what somebody may do in channel ${channel}`);
      if (error.code !== 'missing_permission' && error.code !== 'message_gone') throw error;
      return NOTHING;
    }
  }

  /** Everything somebody may do in a channel of a server. @throws DailiesError */
  async of(guild: string, channel: string, member: Member): Promise<bigint> {
    return permissionsIn(await this.#facts(guild, channel), member);
  }

  /** How large a file the bot may post in a server, by its boosts; the least there is where that cannot be found out. */
  async uploadLimitBytes(guild: string | null): Promise<number> {
    if (guild === null) return LEAST_UPLOAD_BYTES;
    return this.#servers.of(guild).then(
      ({ uploadLimitBytes }) => uploadLimitBytes,
      () => LEAST_UPLOAD_BYTES,
    );
  }

  /** Whether the bot is a member of a server. Never rejects: what cannot be found out in time is no. */
  async isMemberOf(guild: string): Promise<boolean> {
    const known = this.#memberships.of(guild).catch(() => false);
    return within(this.#options.clock, MEMBERSHIP_WITHIN_MS, known, false);
  }

  /** Commands work in a private thread that the bot was not added to, and say nothing of it; its own token does not. */
  async #unlessAdded(thread: string): Promise<MissingRight | null> {
    try {
      await this.#channels.of(thread);
      return null;
    } catch (thrown) {
      const error = asDailiesError(thrown, `looking at thread ${thread}`);
      if (error.code !== 'missing_permission' && error.code !== 'message_gone') throw error;
      return NOT_ADDED;
    }
  }

  /** A right that an interaction says is missing stops an order: the server itself must not say otherwise. */
  async #unlessKnownBetter(
    missing: MissingRight,
    guild: string,
    channel: string,
    what: 'clip' | 'words',
  ): Promise<MissingRight | null> {
    return this.#lackingNow(guild, channel, what).catch(() => missing);
  }

  #lackingNow(guild: string, channel: string, what: 'clip' | 'words'): Promise<MissingRight | null> {
    this.#servers.forget(guild);
    this.#ownRoles.forget(guild);
    this.#channels.forget(channel);
    return this.#lacking(guild, channel, what);
  }

  async #lacking(guild: string, channel: string, what: 'clip' | 'words'): Promise<MissingRight | null> {
    try {
      const [facts, roles, user] = await Promise.all([
        this.#facts(guild, channel),
        this.#ownRoles.of(guild),
        this.#options.self(),
      ]);
      // The roles of one server say nothing about a channel of another one.
      if (facts.server !== guild) return lacks('View Channel');
      return missingAmong(permissionsIn(facts, { user, roles }), facts.isThread, what);
    } catch (thrown) {
      const error = asDailiesError(thrown, `looking at channel ${channel}`);
      if (error.code !== 'missing_permission' && error.code !== 'message_gone') throw error;
      return lacks('View Channel');
    }
  }

  async #facts(guild: string, channel: string): Promise<ChannelFacts & Pick<Channel, 'server'>> {
    const [server, here] = await Promise.all([this.#servers.of(guild), this.#channels.of(channel)]);
    return { ...server, ...here };
  }

  async #askForServer(guild: string): Promise<Server> {
    const doing = `looking at server ${guild}`;
    const { owner_id: owner, roles, premium_tier: tier } = await this.#get<APIGuild>(Routes.guild(guild), doing);
    return {
      guild,
      owner,
      roles: new Map(roles.map((role) => [role.id, BigInt(role.permissions)])),
      uploadLimitBytes: UPLOAD_BYTES[tier] ?? LEAST_UPLOAD_BYTES,
    };
  }

  async #askForChannel(id: string): Promise<Channel> {
    const doing = `looking at channel ${id}`;
    const channel = await this.#get<APIChannel>(Routes.channel(id), doing);
    const isThread = 'thread_metadata' in channel;
    const parent = isThread && 'parent_id' in channel ? channel.parent_id : null;
    const holder = typeof parent === 'string' ? await this.#get<APIChannel>(Routes.channel(parent), doing) : channel;
    const overwrites = 'permission_overwrites' in holder ? (holder.permission_overwrites ?? []) : [];
    return {
      overwrites: overwrites
        .filter(({ type }) => type === OverwriteType.Role || type === OverwriteType.Member)
        .map((one) => ({ id: one.id, allow: BigInt(one.allow), deny: BigInt(one.deny) })),
      server: 'guild_id' in channel ? (channel.guild_id ?? null) : null,
      isThread,
      isPrivate: channel.type === ChannelType.PrivateThread,
      isVoice: holder.type === ChannelType.GuildVoice || holder.type === ChannelType.GuildStageVoice,
    };
  }

  /** @see https://discord.com/developers/docs/resources/channel#get-thread-member */
  async #isInThread(thread: string, user: string): Promise<boolean> {
    return this.#get(Routes.threadMembers(thread, user), 'looking at the members of a thread').then(
      () => true,
      () => false,
    );
  }

  async #askForMember(key: string): Promise<APIGuildMember> {
    const [guild = '', user = ''] = key.split(':');
    return this.#get<APIGuildMember>(Routes.guildMember(guild, user), 'looking at the roles of somebody');
  }

  async #askForOwnRoles(guild: string): Promise<readonly string[]> {
    const route = Routes.guildMember(guild, await this.#options.self());
    return (await this.#get<APIGuildMember>(route, 'looking at my own roles')).roles;
  }

  async #askForMembership(guild: string): Promise<boolean> {
    try {
      await this.#servers.of(guild);
      return true;
    } catch (thrown) {
      const { code } = asDailiesError(thrown, `looking at server ${guild}`);
      if (code === 'missing_permission' || code === 'message_gone') return false;
      throw thrown;
    }
  }

  #get<InteractionResponse>(route: RouteLike, doing: string): Promise<InteractionResponse> {
    return this.#options.rest.call<InteractionResponse>({ method: 'GET', route, doing });
  }
}

/** @see https://discord.com/developers/docs/reference#uploading-files; boosts of a server raise it. */
const LEAST_UPLOAD_BYTES = 10 * 1024 ** 2;
const UPLOAD_BYTES: Readonly<Record<number, number>> = { 2: 50 * 1024 ** 2, 3: 100 * 1024 ** 2 };
