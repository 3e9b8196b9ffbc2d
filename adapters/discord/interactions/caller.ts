import {
  type APIInteraction,
  type APIInteractionGuildMember,
  type APIUser,
  ApplicationIntegrationType,
  ChannelType,
  type GatewayMessageReactionAddDispatchData,
  InteractionContextType,
  InteractionType,
  MessageFlags,
  PermissionFlagsBits,
} from 'discord.js';
import type { Caller } from '#commands/bot-port.ts';
import type { MemberRights } from '#src/chat/platform.ts';
import type { Person } from '#src/tasks/task.ts';
import type { MessageToken } from '../messages/message-store.ts';
import { writeAddress } from '../origin.ts';
import { OPTION_FIELDS } from '../registration/commands.ts';
import { memberRights } from '../rest/permissions.ts';

/** The name of this platform. */
export const PLATFORM = 'discord';

const THREADS: ReadonlySet<ChannelType> = new Set([
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
]);

const VOICE: ReadonlySet<ChannelType> = new Set([ChannelType.GuildVoice, ChannelType.GuildStageVoice]);

/** What is known of an interaction besides what it says itself. */
export interface CallerContext {
  /** Its token, where its answer is for everybody. */
  readonly token: MessageToken | null;
  /** Whether the bot is a member of the server. */
  readonly isMemberOf: (guild: string) => Promise<boolean>;
  /** The team on whose account it is done. */
  readonly team: string;
}

/** Whether the bot itself may not be where something was done: a person who installed it brought it along. */
export function isBroughtAlong(interaction: APIInteraction): boolean {
  const { guild_id: guild, context, authorizing_integration_owners: owners } = interaction;
  if (guild === undefined) return context !== undefined && context !== InteractionContextType.BotDM;
  if (owners?.[ApplicationIntegrationType.GuildInstall] === guild) return false;
  // Whatever no person brought, the server itself installed.
  return owners?.[ApplicationIntegrationType.UserInstall] !== undefined;
}

/** Whether the bot itself is there: it may be a member of a server that somebody brought it to besides. */
async function hasBot(interaction: APIInteraction, isMemberOf: CallerContext['isMemberOf']): Promise<boolean> {
  if (!isBroughtAlong(interaction)) return true;
  return interaction.guild_id !== undefined && isMemberOf(interaction.guild_id);
}

/** Whoever did something, as the bot takes it. */
export async function callerOf(
  interaction: APIInteraction,
  { token, isMemberOf, team }: CallerContext,
): Promise<Caller> {
  const { id, member, guild_id: guild, channel } = interaction;
  const channelId = channel?.id ?? interaction.channel_id ?? '';
  const message = 'message' in interaction ? interaction.message : undefined;
  const isSeenByAll = message !== undefined && ((message.flags ?? 0) & MessageFlags.Ephemeral) === 0;
  return {
    platform: PLATFORM,
    team,
    ...formerTeam(guild, channelId),
    channel: channelId,
    user: personOf(interaction),
    interaction: id,
    mayManage: mayManage(permissionsIn(member?.permissions) ?? 0n),
    // Where a person brought the bot along, they have no rights in the server on whose account they do something.
    rights: guild === team ? rightsOf(interaction) : {},
    fields: OPTION_FIELDS,
    uploadLimitBytes: interaction.attachment_size_limit,
    address: writeAddress({
      token,
      hasBot: await hasBot(interaction, isMemberOf),
      guild: guild ?? null,
      isDirect: guild === undefined,
      isThread: channel !== undefined && THREADS.has(channel.type),
      isPrivate: channel?.type === ChannelType.PrivateThread,
      source: isSeenByAll ? message.id : null,
      permissions: permissionsIn(interaction.app_permissions),
    }),
  };
}

/** What Discord said of the caller's permissions: where they are, and in the channels that they named. */
function rightsOf(interaction: APIInteraction): Readonly<Record<string, MemberRights>> {
  const { channel, member } = interaction;
  // What is named in one server is in that server: Discord's client offers no other channel, nor takes one.
  const data = interaction.type === InteractionType.ApplicationCommand ? interaction.data : undefined;
  const resolved = data !== undefined && 'resolved' in data ? data.resolved : undefined;
  const named = resolved !== undefined && 'channels' in resolved ? Object.values(resolved.channels ?? {}) : [];
  const here = channel === undefined || member === undefined ? [] : [{ ...channel, permissions: member.permissions }];
  return Object.fromEntries(
    [...named, ...here].flatMap(({ id, type, permissions }) => {
      const held = permissionsIn(permissions);
      const kind = { isThread: THREADS.has(type), isVoice: VOICE.has(type) };
      return held === null ? [] : [[id, memberRights(held, kind)]];
    }),
  );
}

/** Whoever reacted. @param team on whose account @param isManager whether they may manage the channel. */
export function reactorOf(
  reaction: GatewayMessageReactionAddDispatchData,
  { team, isManager }: { readonly team: string; readonly isManager: boolean },
): Caller {
  const { guild_id: guild, channel_id: channel, message_id: message, user_id: user, member, emoji } = reaction;
  return {
    platform: PLATFORM,
    team,
    ...formerTeam(guild, channel),
    channel,
    user: { id: user, name: member === undefined ? user : nameOf(member.user, member) },
    // Reactions have no id: the same person’s same one is the same wish.
    interaction: `reaction:${message}:${user}:${emoji.name ?? ''}`,
    mayManage: isManager,
    address: writeAddress({
      token: null,
      hasBot: true,
      guild: guild ?? null,
      isDirect: guild === undefined,
      isThread: false,
      isPrivate: false,
      source: null,
      permissions: null,
    }),
  };
}

/** Earlier versions kept each direct message as a team of its own. */
function formerTeam(guild: string | undefined, channel: string): Pick<Caller, 'formerTeam'> {
  return guild === undefined ? { formerTeam: `dm:${channel}` } : {};
}

/** Whether these permissions let somebody decide on others’ clips. */
export function mayManage(permissions: bigint): boolean {
  return (permissions & (PermissionFlagsBits.ManageMessages | PermissionFlagsBits.Administrator)) !== 0n;
}

/** Whoever caused an interaction: a member in a server, a user elsewhere. */
function personOf({ member, user }: APIInteraction): Person {
  const who = member?.user ?? user;
  return who === undefined ? { id: '', name: '' } : { id: who.id, name: nameOf(who, member) };
}

/** As others see somebody. */
export function nameOf(user: APIUser, member?: Pick<APIInteractionGuildMember, 'nick'>): string {
  return member?.nick ?? user.global_name ?? user.username;
}

function permissionsIn(permissions: string | undefined): bigint | null {
  return permissions === undefined || !/^\d+$/.test(permissions) ? null : BigInt(permissions);
}
