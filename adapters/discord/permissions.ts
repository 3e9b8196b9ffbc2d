import {
  type APIChannel,
  type APIGuild,
  type APIGuildMember,
  type Client,
  OverwriteType,
  PermissionFlagsBits,
  Routes,
} from 'discord.js';
import type { MissingRight, Place } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import { readAddress } from './address.ts';
import type { DiscordRest } from './rest.ts';

/** What decides who may do what in a channel. */
export interface ChannelFacts {
  readonly guild: string;
  readonly owner: string;
  /** Permissions by role; that of everybody under the server's own id. */
  readonly roles: ReadonlyMap<string, bigint>;
  /** What the channel (of a thread: the one it is in) changes, by role or member. */
  readonly overwrites: readonly { readonly id: string; readonly allow: bigint; readonly deny: bigint }[];
  readonly isThread: boolean;
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

/** What posting clips takes, as Discord calls it, in the order in which it is asked for. */
function rightsFor(isThread: boolean): readonly (readonly [bigint, string])[] {
  return [
    [PermissionFlagsBits.ViewChannel, 'View Channel'],
    isThread
      ? [PermissionFlagsBits.SendMessagesInThreads, 'Send Messages in Threads']
      : [PermissionFlagsBits.SendMessages, 'Send Messages'],
    [PermissionFlagsBits.AttachFiles, 'Attach Files'],
    [PermissionFlagsBits.ReadMessageHistory, 'Read Message History'],
  ];
}

const WHERE = 'the channel’s settings under Permissions, or Server Settings under Roles';

/** The first right that is missing among `permissions`; `null` when none is. */
export function missingAmong(permissions: bigint, isThread: boolean): MissingRight | null {
  if ((permissions & PermissionFlagsBits.Administrator) !== 0n) return null;
  const missing = rightsFor(isThread).find(([right]) => (permissions & right) === 0n);
  return missing === undefined ? null : { right: missing[1], where: WHERE };
}

/** Finds out what may be done where: from what the gateway told, else by asking. */
export class Permissions {
  readonly #rest: DiscordRest;
  readonly #client: () => Client | null;

  constructor(rest: DiscordRest, client: () => Client | null) {
    this.#rest = rest;
    this.#client = client;
  }

  /** What the bot lacks to post there; `null` when nothing does. @throws DailiesError */
  async missing({ team, channel, address }: Place): Promise<MissingRight | null> {
    const { permissions, isThread, hasBot, guild } = readAddress(address);
    if (permissions !== null && guild !== null) {
      if (hasBot) {
        const missing = missingAmong(permissions, isThread);
        return missing === null ? null : this.#unlessKnownBetter(missing, guild, channel);
      }
      const mayAttach = (permissions & (PermissionFlagsBits.AttachFiles | PermissionFlagsBits.Administrator)) !== 0n;
      return mayAttach ? null : { right: 'Attach Files', where: WHERE };
    }
    if (!/^\d+$/.test(team)) return null;
    try {
      const facts = await this.#facts(team, channel);
      return missingAmong(permissionsIn(facts, await this.#self(team)), facts.isThread);
    } catch (thrown) {
      const error = asDailiesError(thrown, `looking at channel ${channel}`);
      if (error.code !== 'missing_permission' && error.code !== 'message_gone') throw error;
      return { right: 'View Channel', where: WHERE };
    }
  }

  /** A right that an interaction says is missing stops an order: what the server itself told must not say otherwise. */
  #unlessKnownBetter(missing: MissingRight, guild: string, channel: string): MissingRight | null {
    const facts = this.#knownFacts(guild, channel);
    const me = this.#client()?.guilds.cache.get(guild)?.members.me;
    if (facts === null || me === null || me === undefined) return missing;
    const known = permissionsIn(facts, { user: me.id, roles: [...me.roles.cache.keys()] });
    return missingAmong(known, facts.isThread);
  }

  /** Everything somebody may do in a channel of a server. @throws DailiesError */
  async of(guild: string, channel: string, member: Member): Promise<bigint> {
    return permissionsIn(await this.#facts(guild, channel), member);
  }

  /** How large a file the bot may post in a server, by its boosts. */
  uploadLimitBytes(guild: string | null): number {
    const tier = guild === null ? 0 : (this.#client()?.guilds.cache.get(guild)?.premiumTier ?? 0);
    return (UPLOAD_MIB[tier] ?? LEAST_UPLOAD_MIB) * 1024 ** 2;
  }

  async #facts(guild: string, channel: string): Promise<ChannelFacts> {
    return this.#knownFacts(guild, channel) ?? (await this.#askedFacts(guild, channel));
  }

  #knownFacts(guild: string, id: string): ChannelFacts | null {
    const known = this.#client()?.guilds.cache.get(guild);
    const channel = known?.channels.cache.get(id);
    const holder = channel?.isThread() === true ? channel.parent : channel;
    if (known === undefined || channel === undefined || known.roles.cache.size === 0) return null;
    if (holder === null || holder === undefined || !('permissionOverwrites' in holder)) return null;
    return {
      guild,
      owner: known.ownerId,
      roles: new Map(known.roles.cache.map((role) => [role.id, role.permissions.bitfield])),
      overwrites: holder.permissionOverwrites.cache.map((one) => ({
        id: one.id,
        allow: one.allow.bitfield,
        deny: one.deny.bitfield,
      })),
      isThread: channel.isThread(),
    };
  }

  async #askedFacts(guild: string, id: string): Promise<ChannelFacts> {
    const doing = `looking at channel ${id}`;
    const get = <Answer>(route: `/${string}`) => this.#rest.call<Answer>({ method: 'GET', route, doing });
    const channel = await get<APIChannel>(Routes.channel(id));
    const isThread = 'thread_metadata' in channel;
    const parent = isThread && 'parent_id' in channel ? channel.parent_id : null;
    const holder = typeof parent === 'string' ? await get<APIChannel>(Routes.channel(parent)) : channel;
    const { owner_id: owner, roles } = await get<APIGuild>(Routes.guild(guild));
    const overwrites = 'permission_overwrites' in holder ? (holder.permission_overwrites ?? []) : [];
    return {
      guild,
      owner,
      roles: new Map(roles.map((role) => [role.id, BigInt(role.permissions)])),
      overwrites: overwrites
        .filter(({ type }) => type === OverwriteType.Role || type === OverwriteType.Member)
        .map((one) => ({ id: one.id, allow: BigInt(one.allow), deny: BigInt(one.deny) })),
      isThread,
    };
  }

  async #self(guild: string): Promise<Member> {
    const client = this.#client();
    const known = client?.guilds.cache.get(guild)?.members.me;
    if (known !== null && known !== undefined) return { user: known.id, roles: [...known.roles.cache.keys()] };
    const user = client?.user?.id ?? '';
    const route = Routes.guildMember(guild, user);
    const { roles } = await this.#rest.call<APIGuildMember>({ method: 'GET', route, doing: 'looking at my own roles' });
    return { user, roles };
  }
}

/** @see https://discord.com/developers/docs/reference#uploading-files; boosts of a server raise it. */
const LEAST_UPLOAD_MIB = 10;
const UPLOAD_MIB: Readonly<Record<number, number>> = { 0: LEAST_UPLOAD_MIB, 1: LEAST_UPLOAD_MIB, 2: 50, 3: 100 };
