import {
  type APIChannel,
  type APIDMChannel,
  type APIGuild,
  type APIGuildMember,
  ChannelType,
  OverwriteType,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
  Routes,
} from 'discord.js';
import { BoundedMap, TtlCache } from '#src/bounded-map.ts';
import type { Channels, MemberRights, MissingRight, Place } from '#src/chat/index.ts';
import { within } from '#src/clock.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Audience } from '#src/tasks/index.ts';
import { readAddress, writeAddress } from '../messages/message-store.ts';
import type { Parts } from '../parts.ts';
import { ownIdentity } from '../registration/register.ts';
import { errorResponseOf } from './errors.ts';

/** Facts that determine the permissions in a channel. */
export interface ChannelFacts {
  readonly guild: string;
  readonly owner: string;
  /** Permissions by role; those of @everyone under the server's own id. */
  readonly roles: ReadonlyMap<string, bigint>;
  /** Permission overwrites of the channel (of a thread: its parent), by role or member. */
  readonly overwrites: readonly { readonly id: string; readonly allow: bigint; readonly deny: bigint }[];
  readonly isThread: boolean;
  /** The channel that a thread belongs to; `null` for any other channel. */
  readonly parent: string | null;
  /** True for a private thread, which only its own members see. */
  readonly isPrivate: boolean;
  /** True for a voice or stage channel, or a thread in one. */
  readonly isVoice: boolean;
}

/** Facts about a channel that do not depend on the server. */
type ChannelKind = Pick<ChannelFacts, 'isThread' | 'isVoice' | 'parent'>;

interface Member {
  readonly user: string;
  readonly roles: readonly string[];
}

const ALL_PERMISSIONS = ~0n;

/**
 * Computes a member's permissions in a channel.
 * @see https://discord.com/developers/docs/topics/permissions#permission-overwrites
 */
export function permissionsIn(
  { guild, owner, roles, overwrites }: Pick<ChannelFacts, 'guild' | 'owner' | 'roles' | 'overwrites'>,
  member: Member,
): bigint {
  if (member.user === owner) return ALL_PERMISSIONS;
  const own = [guild, ...member.roles];
  const base = own.reduce((sum, role) => sum | (roles.get(role) ?? 0n), 0n);
  if ((base & PermissionFlagsBits.Administrator) !== 0n) return ALL_PERMISSIONS;
  const change = (bits: bigint, ids: readonly string[]): bigint => {
    const changes = overwrites.filter(({ id }) => ids.includes(id));
    const denied = changes.reduce((sum, { deny }) => sum | deny, 0n);
    return changes.reduce((sum, { allow }) => sum | allow, bits & ~denied);
  };
  return change(change(change(base, [guild]), member.roles), [member.user]);
}

/**
 * Returns whether permissions suffice to view a channel; the text of a voice channel requires Connect, too.
 * @see https://discord.com/developers/docs/topics/permissions
 */
function canView(permissions: bigint, { isVoice }: Pick<ChannelFacts, 'isVoice'>): boolean {
  const needed = PermissionFlagsBits.ViewChannel | (isVoice ? PermissionFlagsBits.Connect : 0n);
  return (permissions & needed) === needed;
}

/** Converts Discord's permissions in a channel to the platform's rights. */
export function memberRights(permissions: bigint, channel: ChannelKind): MemberRights {
  const parent = channel.parent === null ? {} : { parent: channel.parent };
  if ((permissions & PermissionFlagsBits.Administrator) !== 0n) return { ...EVERYTHING, ...parent };
  if (!canView(permissions, channel)) return NOTHING;
  const send = channel.isThread ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  return { view: true, post: (permissions & send) !== 0n, manage: (permissions & MANAGE) !== 0n, ...parent };
}

/** Returns whether a team is a server; direct messages are teams of their own, with other ids. */
function isServer(team: string): boolean {
  return /^\d+$/.test(team);
}

/** Returns the permissions needed to post, with Discord's names for them, in the order in which they are reported. */
function permissionsFor(isThread: boolean, what: 'clip' | 'words'): readonly (readonly [bigint, string])[] {
  return [
    [PermissionFlagsBits.ViewChannel, 'View Channel'],
    isThread
      ? [PermissionFlagsBits.SendMessagesInThreads, 'Send Messages in Threads']
      : [PermissionFlagsBits.SendMessages, 'Send Messages'],
    ...(what === 'clip' ? ([[PermissionFlagsBits.AttachFiles, 'Attach Files']] as const) : []),
    [PermissionFlagsBits.ReadMessageHistory, 'Read Message History'],
  ];
}

/**
 * Permissions that open private threads without being added.
 * @see https://discord.com/developers/docs/topics/threads#private-threads
 */
const OPENS_PRIVATE_THREADS = PermissionFlagsBits.ManageThreads | PermissionFlagsBits.Administrator;
/** Permissions of which any one makes a channel manager. */
const MANAGE =
  PermissionFlagsBits.ManageMessages |
  PermissionFlagsBits.ManageChannels |
  PermissionFlagsBits.ManageGuild |
  PermissionFlagsBits.Administrator;
const NOTHING: MemberRights = { view: false, post: false, manage: false };
const EVERYTHING: MemberRights = { view: true, post: true, manage: true };
const NOT_ADDED: MissingRight = { kind: 'uninvited', to: 'thread', type: '@ and my name in it' };

/** Returns a missing permission. Channel permissions override those of roles, so it can always be granted there. */
function lacks(right: string): MissingRight {
  return { kind: 'permission', right, where: 'the channel’s settings › Permissions' };
}

/** Returns the first permission that is missing from `permissions`; `null` if none is. */
export function missingAmong(
  permissions: bigint,
  isThread: boolean,
  what: 'clip' | 'words' = 'clip',
): MissingRight | null {
  if ((permissions & PermissionFlagsBits.Administrator) !== 0n) return null;
  const missing = permissionsFor(isThread, what).find(([right]) => (permissions & right) === 0n);
  return missing === undefined ? null : lacks(missing[1]);
}

/** Facts that hold for a whole server. */
type Server = Pick<ChannelFacts, 'guild' | 'owner' | 'roles'> & { readonly uploadLimitBytes: number };
type Channel = Pick<ChannelFacts, 'overwrites' | 'isThread' | 'parent' | 'isPrivate' | 'isVoice'> & {
  /** Id of the channel's server; `null` for a direct message. */
  readonly server: string | null;
};

/** TTL of the caches; a refusal is never based on a cached value alone. */
const CACHE_TTL_MS = 60_000;
/** Time for which the bot counts as no member of a server, without another check: without an intent for servers, no event tells. */
const ABSENT_MS = 10 * 60_000;
const MAX_ABSENT = 1_000;
/** Timeout of the check whether the bot is a member of a server, which delays a response. */
const MEMBERSHIP_TIMEOUT_MS = 1_000;

/**
 * Looks up permissions at Discord, so that all replicas agree, regardless of which one receives a server's events.
 * Results are cached for a minute; before a refusal they are fetched again.
 */
export class Permissions implements Channels {
  readonly #options: Pick<Parts, 'rest' | 'clock' | 'self'>;
  readonly #servers: TtlCache<Server>;
  readonly #channels: TtlCache<Channel>;
  readonly #ownRoles: TtlCache<readonly string[]>;
  /** By server and user. */
  readonly #members: TtlCache<APIGuildMember>;
  /** By server, the time until which the bot counts as no member. */
  readonly #absentUntilMs = new BoundedMap<string, number>(MAX_ABSENT);

  constructor(options: Pick<Parts, 'rest' | 'clock' | 'self'>) {
    this.#options = options;
    const { clock } = options;
    this.#servers = new TtlCache(clock, CACHE_TTL_MS);
    this.#channels = new TtlCache(clock, CACHE_TTL_MS);
    this.#ownRoles = new TtlCache(clock, CACHE_TTL_MS);
    this.#members = new TtlCache(clock, CACHE_TTL_MS);
  }

  /** Returns the permission that the bot lacks to post there; `null` if none. @throws DailiesError */
  async missingRight({ team, channel, address }: Place, what: 'clip' | 'words' = 'clip'): Promise<MissingRight | null> {
    const { rest } = this.#options;
    // Interactions have tokens of their own, but without the bot's token no clip could be posted later.
    if (rest.isRefused) await ownIdentity(rest);
    const { permissions, isThread, isPrivate, hasBot, guild, isDirect } = readAddress(address);
    if (permissions !== null && guild !== null) {
      if (hasBot) {
        const missing = missingAmong(permissions, isThread, what);
        // Blocks an order only if the server confirms it.
        if (missing !== null) return this.#findMissingFresh(guild, channel, what).catch(() => missing);
        return isPrivate && (permissions & OPENS_PRIVATE_THREADS) === 0n ? this.#threadAccess(channel) : null;
      }
      const mayAttach = (permissions & (PermissionFlagsBits.AttachFiles | PermissionFlagsBits.Administrator)) !== 0n;
      return mayAttach || what === 'words' ? null : lacks('Attach Files');
    }
    if (isDirect || !isServer(team)) return null;
    return (await this.#findMissing(team, channel, what)) === null ? null : this.#findMissingFresh(team, channel, what);
  }

  /**
   * Returns the audience of a channel: the team if @everyone may view it and it is no private thread, else the channel.
   * `null` if the bot itself has no access.
   */
  async audience({ team, channel, address }: Place): Promise<Audience | null> {
    const { isDirect, isPrivate, guild } = readAddress(address);
    // With a user install, only the channel itself sees the clips made there.
    const isElsewhere = guild !== null && guild !== team;
    if (isDirect || isElsewhere || isPrivate || !isServer(team)) return 'channel';
    return this.#facts(team, channel).then((facts) => {
      if (facts.isPrivate || facts.server !== team) return 'channel';
      // A member without roles.
      return canView(permissionsIn(facts, { user: '', roles: [] }), facts) ? 'team' : 'channel';
    }, ifNoAccess(null));
  }

  /** Returns the rights of a user in a channel, if it is one of that server. @throws DailiesError */
  async rights({ team, channel, address }: Place, user: string): Promise<MemberRights> {
    // The members of a direct message have all rights in it.
    if (readAddress(address).isDirect) return EVERYTHING;
    if (!isServer(team)) return team === `dm:${channel}` ? EVERYTHING : NOTHING;
    return this.#memberRights(team, channel, user).catch(ifNoAccess(NOTHING));
  }

  /** Returns whether a user is a member of the server. @throws DailiesError */
  async isMember({ team }: Pick<Place, 'team'>, user: string): Promise<boolean> {
    if (!isServer(team)) return true;
    return this.#member(team, user).then(() => true, ifUnknown(false));
  }

  /** Returns whether a member of a server has a role. @throws DailiesError where that cannot be looked up */
  async isInGroup({ team }: Pick<Place, 'team'>, role: string, user: string): Promise<boolean> {
    if (!isServer(team)) return false;
    return this.#member(team, user).then(({ roles }) => roles.includes(role), ifUnknown(false));
  }

  lastingAddress(address: Place['address']): Place['address'] {
    return writeAddress({ ...readAddress(address), token: null, source: null, permissions: null });
  }

  /** @see https://discord.com/developers/docs/resources/user#create-dm */
  async directChannel(_place: Place, user: string): Promise<string> {
    const call = { route: Routes.userChannels(), body: { recipient_id: user }, doing: 'opening a direct message' };
    return (await this.#options.rest.call<APIDMChannel>({ method: 'POST', ...call })).id;
  }

  async #memberRights(team: string, channel: string, user: string): Promise<MemberRights> {
    const [facts, { roles }] = await Promise.all([this.#facts(team, channel), this.#member(team, user)]);
    if (facts.server !== team) return NOTHING;
    const rights = permissionsIn(facts, { user, roles });
    const isIn = !facts.isPrivate || (rights & OPENS_PRIVATE_THREADS) !== 0n || (await this.#isInThread(channel, user));
    return isIn ? memberRights(rights, facts) : NOTHING;
  }

  /** Returns the channel that a thread belongs to; `null` for any other channel, or without access. @throws DailiesError */
  async parentOf(channel: string): Promise<string | null> {
    return this.#channels.of(channel, this.#fetchChannel).then(({ parent }) => parent, ifNoAccess(null));
  }

  /** Returns all permissions of a member in a channel of a server. @throws DailiesError */
  async of(guild: string, channel: string, member: Member): Promise<bigint> {
    return permissionsIn(await this.#facts(guild, channel), member);
  }

  /** Returns the names of the permissions that the bot's roles lack in a server, whose channels may deny others. */
  async missingInServer(guild: string): Promise<readonly string[]> {
    const known = [this.#servers.of(guild, this.#fetchServer), this.#ownRolesIn(guild), this.#options.self()] as const;
    const [server, roles, { user }] = await Promise.all(known);
    const permissions = permissionsIn({ ...server, overwrites: [] }, { user, roles });
    const needed = new Map([...permissionsFor(false, 'clip'), ...permissionsFor(true, 'clip')]);
    return [...needed].filter(([right]) => (permissions & right) === 0n).map(([, right]) => right);
  }

  /** Returns the upload limit of a server in bytes, by its boosts; the smallest one if the lookup fails. */
  async uploadLimitBytes(guild: string | null): Promise<number> {
    if (guild === null) return MIN_UPLOAD_BYTES;
    return this.#servers.of(guild, this.#fetchServer).then(
      ({ uploadLimitBytes }) => uploadLimitBytes,
      () => MIN_UPLOAD_BYTES,
    );
  }

  /**
   * Resolves to whether the bot is a member of a server. Never rejects: false on failure or timeout.
   * @param isInstalled an interaction shows that the server itself installed it
   */
  async isMemberOf(guild: string, isInstalled: boolean): Promise<boolean> {
    const { clock } = this.#options;
    if (isInstalled) this.#absentUntilMs.delete(guild);
    if (isInstalled || clock.monotonic() < (this.#absentUntilMs.get(guild) ?? 0)) return isInstalled;
    const note = (isMember: boolean): boolean => {
      if (!isMember) this.#absentUntilMs.set(guild, clock.monotonic() + ABSENT_MS);
      return isMember;
    };
    const known = this.#servers.of(guild, this.#fetchServer).then(() => true, ifNoAccess(false));
    const noted = known.then(note, () => false);
    return within(clock, MEMBERSHIP_TIMEOUT_MS, noted, false);
  }

  /**
   * Checks access to a private thread. Commands work in one that the bot was not added to, but its own token does not.
   */
  async #threadAccess(thread: string): Promise<MissingRight | null> {
    return this.#channels.of(thread, this.#fetchChannel).then(() => null, ifNoAccess(NOT_ADDED));
  }

  #findMissingFresh(guild: string, channel: string, what: 'clip' | 'words'): Promise<MissingRight | null> {
    this.#servers.forget(guild);
    this.#ownRoles.forget(guild);
    this.#channels.forget(channel);
    return this.#findMissing(guild, channel, what);
  }

  async #findMissing(guild: string, channel: string, what: 'clip' | 'words'): Promise<MissingRight | null> {
    const known = [this.#facts(guild, channel), this.#ownRolesIn(guild), this.#options.self()] as const;
    return Promise.all(known).then(
      ([facts, roles, { user }]) => {
        // The roles of one server do not apply to a channel of another one.
        if (facts.server !== guild) return lacks('View Channel');
        return missingAmong(permissionsIn(facts, { user, roles }), facts.isThread, what);
      },
      ifNoAccess(lacks('View Channel')),
    );
  }

  async #facts(guild: string, channel: string): Promise<ChannelFacts & Pick<Channel, 'server'>> {
    const [server, here] = await Promise.all([
      this.#servers.of(guild, this.#fetchServer),
      this.#channels.of(channel, this.#fetchChannel),
    ]);
    return { ...server, ...here };
  }

  readonly #fetchServer = async (guild: string): Promise<Server> => {
    const doing = `looking at server ${guild}`;
    const {
      owner_id: owner,
      roles,
      premium_tier: tier,
    } = await this.#options.rest.get<APIGuild>(Routes.guild(guild), doing);
    return {
      guild,
      owner,
      roles: new Map(roles.map((role) => [role.id, BigInt(role.permissions)])),
      uploadLimitBytes: UPLOAD_BYTES[tier] ?? MIN_UPLOAD_BYTES,
    };
  };

  readonly #fetchChannel = async (id: string): Promise<Channel> => {
    const doing = `looking at channel ${id}`;
    const channel = await this.#options.rest.get<APIChannel>(Routes.channel(id), doing);
    const isThread = 'thread_metadata' in channel;
    const parent = (isThread && 'parent_id' in channel ? channel.parent_id : null) ?? null;
    const holder = parent !== null ? await this.#options.rest.get<APIChannel>(Routes.channel(parent), doing) : channel;
    const overwrites = 'permission_overwrites' in holder ? (holder.permission_overwrites ?? []) : [];
    return {
      overwrites: overwrites
        .filter(({ type }) => type === OverwriteType.Role || type === OverwriteType.Member)
        .map((one) => ({ id: one.id, allow: BigInt(one.allow), deny: BigInt(one.deny) })),
      server: 'guild_id' in channel ? (channel.guild_id ?? null) : null,
      isThread,
      parent,
      isPrivate: channel.type === ChannelType.PrivateThread,
      isVoice: holder.type === ChannelType.GuildVoice || holder.type === ChannelType.GuildStageVoice,
    };
  };

  /** @see https://discord.com/developers/docs/resources/channel#get-thread-member */
  async #isInThread(thread: string, user: string): Promise<boolean> {
    return this.#options.rest.get(Routes.threadMembers(thread, user), 'looking at the members of a thread').then(
      () => true,
      () => false,
    );
  }

  #member(guild: string, user: string): Promise<APIGuildMember> {
    const route = Routes.guildMember(guild, user);
    return this.#members.of(`${guild}:${user}`, () => this.#options.rest.get(route, 'reading the roles of a member'));
  }

  #ownRolesIn(guild: string): Promise<readonly string[]> {
    return this.#ownRoles.of(guild, async () => {
      const { user } = await this.#options.self();
      const route = Routes.guildMember(guild, user);
      return (await this.#options.rest.get<APIGuildMember>(route, 'looking at my own roles')).roles;
    });
  }
}

/** Returns a handler of failed lookups: resolves to a fallback for a user who is no member of the server. */
function ifUnknown<Fallback>(fallback: Fallback): (thrown: unknown) => Fallback {
  return (thrown) => {
    if (isUnknownMember(thrown)) return fallback;
    throw thrown;
  };
}

/** Returns whether a user is no member of the server, or no user. */
function isUnknownMember(thrown: unknown): boolean {
  const { code } = (thrown instanceof DailiesError ? errorResponseOf(thrown) : null) ?? {};
  return code === RESTJSONErrorCodes.UnknownMember || code === RESTJSONErrorCodes.UnknownUser;
}

/** Returns a handler of failed lookups: resolves to a fallback where the bot has no access. */
function ifNoAccess<Fallback>(fallback: Fallback): (thrown: unknown) => Fallback {
  return (thrown) => {
    const { code } = asDailiesError(thrown, 'looking up permissions');
    if (code === 'missing_permission' || code === 'message_gone') return fallback;
    throw thrown;
  };
}

/** Upload limit without boosts, in bytes. @see https://discord.com/developers/docs/reference#uploading-files */
const MIN_UPLOAD_BYTES = 10 * 1024 ** 2;
const UPLOAD_BYTES: Readonly<Record<number, number>> = { 2: 50 * 1024 ** 2, 3: 100 * 1024 ** 2 };
