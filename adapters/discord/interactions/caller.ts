import {
  type APIInteraction,
  type APIInteractionGuildMember,
  type APIUser,
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  InteractionType,
  MessageFlags,
  PermissionFlagsBits,
} from 'discord.js';
import type { Caller } from '#commands/bot-port.ts';
import type { MemberRights } from '#src/chat/index.ts';
import type { Person } from '#src/tasks/index.ts';
import { type MessageToken, writeAddress } from '../messages/message-store.ts';
import { OPTION_FIELDS } from '../registration/commands.ts';
import { memberRights, type Permissions } from '../rest/permissions.ts';

export const PLATFORM = 'discord';

const THREADS: ReadonlySet<ChannelType> = new Set([
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
]);

export function isThread({ type }: { readonly type: ChannelType }): boolean {
  return THREADS.has(type);
}

const VOICE: ReadonlySet<ChannelType> = new Set([ChannelType.GuildVoice, ChannelType.GuildStageVoice]);

/** Facts about an interaction that are not part of its payload. */
interface CallerContext {
  /** Its token, if its response is public. */
  readonly token: MessageToken | null;
  /** As {@link Permissions.isMemberOf}. */
  readonly isMemberOf: Permissions['isMemberOf'];
  /** The channel of the card that it is in the thread of; `null` if it is in no thread of a card. */
  readonly cardChannel: string | null;
  /** Team whose account is charged. */
  readonly team: string;
}

/** Returns whether an interaction came through a user install, in a place where the bot itself may not be a member. */
export function isBroughtAlong(interaction: APIInteraction): boolean {
  const { guild_id: guild, context, authorizing_integration_owners: owners } = interaction;
  if (guild === undefined) return context !== undefined && context !== InteractionContextType.BotDM;
  if (owners?.[ApplicationIntegrationType.GuildInstall] === guild) return false;
  // Without a user install, the server itself installed the app.
  return owners?.[ApplicationIntegrationType.UserInstall] !== undefined;
}

/** Returns whether the bot itself is there: it may also be a member of a server where a user install is used. */
async function hasBot(interaction: APIInteraction, isMemberOf: CallerContext['isMemberOf']): Promise<boolean> {
  const isInstalled = !isBroughtAlong(interaction);
  return interaction.guild_id === undefined ? isInstalled : isMemberOf(interaction.guild_id, isInstalled);
}

export async function callerOf(
  interaction: APIInteraction,
  { token, isMemberOf, cardChannel, team }: CallerContext,
): Promise<Caller> {
  const { id, member, guild_id: guild, channel } = interaction;
  const isMember = await hasBot(interaction, isMemberOf);
  const channelId = channel?.id ?? interaction.channel_id ?? '';
  const message = 'message' in interaction ? interaction.message : undefined;
  const isSeenByAll = message !== undefined && ((message.flags ?? 0) & MessageFlags.Ephemeral) === 0;
  return {
    platform: PLATFORM,
    team,
    // What is below a card belongs to its channel, and so does what people decide on there.
    channel: cardChannel ?? channelId,
    ...(cardChannel === null ? parentIn(channel) : {}),
    user: personOf(interaction),
    interaction: id,
    mayManage: mayManage(permissionsIn(member?.permissions) ?? 0n),
    // A user install and a direct message carry no rights in the server whose account is charged.
    mayAdminister: guild === team && mayAdminister(permissionsIn(member?.permissions) ?? 0n),
    roles: guild === team ? member?.roles : undefined,
    rights: guild === team ? rightsOf(interaction, cardChannel) : {},
    fields: OPTION_FIELDS,
    uploadLimitBytes: interaction.attachment_size_limit,
    ...(isMember ? {} : { isGuest: true }),
    address: writeAddress({
      token,
      hasBot: isMember,
      guild: guild ?? null,
      isDirect: guild === undefined,
      isThread: channel !== undefined && isThread(channel),
      isPrivate: channel?.type === ChannelType.PrivateThread,
      source: isSeenByAll ? message.id : null,
      below: null,
      within: cardChannel === null ? null : channelId,
      permissions: permissionsIn(interaction.app_permissions),
    }),
  };
}

/** Extracts the caller's permissions in the current channel and in the channels given as options. */
function rightsOf(interaction: APIInteraction, cardChannel: string | null): Readonly<Record<string, MemberRights>> {
  const { channel, member } = interaction;
  // A channel given as an option, or in a form, is of the same server: Discord's client neither offers nor accepts another.
  const isGiving =
    interaction.type === InteractionType.ApplicationCommand || interaction.type === InteractionType.ModalSubmit;
  const data = isGiving ? interaction.data : undefined;
  const resolved = data !== undefined && 'resolved' in data ? data.resolved : undefined;
  const named = resolved !== undefined && 'channels' in resolved ? Object.values(resolved.channels ?? {}) : [];
  const here = channel === undefined || member === undefined ? [] : [{ ...channel, permissions: member.permissions }];
  // A thread has the permissions of its channel.
  const around = here.flatMap((one) =>
    cardChannel === null ? [] : [{ ...one, id: cardChannel, type: ChannelType.GuildText }],
  );
  return Object.fromEntries(
    [...named, ...here, ...around].flatMap((one) => {
      const { id, type, permissions } = one;
      const held = permissionsIn(permissions);
      const { parentChannel: parent = null } = parentIn(one);
      const kind = { isThread: isThread(one), isVoice: VOICE.has(type), parent };
      return held === null ? [] : [[id, memberRights(held, kind)]];
    }),
  );
}

/** Channel of an interaction or an option, as far as it is needed here. */
interface SentChannel {
  readonly type: ChannelType;
  /** @see https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-object */
  readonly parent_id?: string | null;
}

/** Returns the channel that a thread belongs to; none for any other channel, whose parent is its category. */
function parentIn(channel: SentChannel | undefined): Pick<Caller, 'parentChannel'> {
  const parent = channel !== undefined && isThread(channel) ? channel.parent_id : null;
  return parent === null || parent === undefined ? {} : { parentChannel: parent };
}

/** Returns whether these permissions let a member decide on other users’ clips. */
export function mayManage(permissions: bigint): boolean {
  return (permissions & (PermissionFlagsBits.ManageMessages | PermissionFlagsBits.Administrator)) !== 0n;
}

function mayAdminister(permissions: bigint): boolean {
  return (permissions & (PermissionFlagsBits.ManageGuild | PermissionFlagsBits.Administrator)) !== 0n;
}

/** Returns the requester of an interaction: a member in a server, a user elsewhere. */
function personOf({ member, user }: APIInteraction): Person {
  const who = member?.user ?? user;
  return who === undefined ? { id: '', name: '' } : { id: who.id, name: nameOf(who, member) };
}

/** Returns the display name of a user: nickname, global name or username. */
export function nameOf(user: APIUser, member?: Pick<APIInteractionGuildMember, 'nick'>): string {
  return member?.nick ?? user.global_name ?? user.username;
}

function permissionsIn(permissions: string | undefined): bigint | null {
  return permissions === undefined || !/^\d+$/.test(permissions) ? null : BigInt(permissions);
}
