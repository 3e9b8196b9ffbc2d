import { mediaOf, walk } from './components.ts';
import { bits } from './permissions.ts';
import { type Attachment, type Channel, FLAGS, type Message, type User } from './records.ts';
import type { Json } from './refusal.ts';
import type { World } from './world.ts';

/** @see discord docs: resources/channel, "Channel Types" */
const CHANNEL_TYPES = { text: 0, dm: 1, group: 3, thread: 11 } as const;
const PRIVATE_THREAD = 12;
/** Category of every channel of a server: the parent of a channel that is no thread. */
const CATEGORY = '1000000000000000777';

const time = (ms: number): string => new Date(ms).toISOString();

/** @see discord docs: resources/user, "User Structure" */
export const userJson = ({ id, name, isBot }: User): Json => ({
  id,
  username: name,
  global_name: name,
  discriminator: '0',
  avatar: null,
  bot: isBot,
  public_flags: 0,
});

/** @see discord docs: resources/guild, "Guild Member Structure" */
export const memberJson = (user: User, permissions?: string): Json => ({
  user: userJson(user),
  nick: null,
  avatar: null,
  roles: user.roles ?? [],
  joined_at: time(1_600_000_000_000),
  premium_since: null,
  deaf: false,
  mute: false,
  flags: 0,
  pending: false,
  communication_disabled_until: null,
  ...(permissions === undefined ? {} : { permissions }),
});

/** @see discord docs: resources/channel, "Channel Structure" */
export function channelJson(world: World, channel: Channel): Json {
  const { id, name, kind, guildId, parentId, recipientId, denied } = channel;
  const common = { id, type: CHANNEL_TYPES[kind], last_message_id: null, flags: 0 };
  if (kind === 'dm') return { ...common, recipients: recipientId === null ? [] : [userJson(world.user(recipientId))] };
  if (kind === 'group') return { ...common, name, icon: null, recipients: [] };
  if (kind === 'thread') {
    const thread_metadata = { archived: false, auto_archive_duration: 1440, archive_timestamp: time(0), locked: false };
    const type = channel.isPrivate ? PRIVATE_THREAD : CHANNEL_TYPES[kind];
    return { ...common, type, guild_id: guildId, name, parent_id: parentId, owner_id: world.bot.id, thread_metadata };
  }
  const view = bits(['VIEW_CHANNEL']);
  // A private channel denies View Channel to @everyone and allows it to each of its viewers.
  const isPrivate = channel.viewers !== null;
  const bot = { id: world.bot.id, type: 1, allow: isPrivate ? view : '0', deny: bits(denied) };
  const overwrites = [
    ...(isPrivate ? [{ id: guildId, type: 0, allow: '0', deny: view }] : []),
    ...[...(channel.viewers ?? [])].map((id) => ({ id, type: 1, allow: view, deny: '0' })),
    ...(isPrivate || denied.size > 0 ? [bot] : []),
  ];
  return {
    ...common,
    guild_id: guildId,
    name,
    parent_id: CATEGORY,
    position: 0,
    nsfw: false,
    topic: null,
    permission_overwrites: overwrites,
  };
}

/** The bot's server as sent at the start. @see discord docs: events/gateway-events, "Guild Create" */
export function guildJson(world: World): Json {
  const here = [...world.channels.values()].filter(({ guildId, isDeleted }) => guildId === world.guildId && !isDeleted);
  // A channel that the bot may not view is listed as well; a thread is not. @see topics/threads, "Permissions"
  const seen = here.filter((one) => one.kind !== 'thread' || world.isSeen(one));
  return {
    id: world.guildId,
    name: 'The studio',
    icon: null,
    owner_id: '100000000000000001',
    roles: rolesJson(world),
    emojis: [],
    stickers: [],
    features: [],
    preferred_locale: 'en-US',
    premium_tier: 0,
    nsfw_level: 0,
    verification_level: 0,
    system_channel_id: null,
    system_channel_flags: 0,
    joined_at: time(1_600_000_000_000),
    large: false,
    unavailable: false,
    member_count: world.users.size,
    voice_states: [],
    members: [memberJson(world.bot)],
    channels: seen.filter(({ kind }) => kind !== 'thread').map((one) => channelJson(world, one)),
    threads: seen.filter(({ kind }) => kind === 'thread').map((one) => channelJson(world, one)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}

/** @see discord docs: topics/permissions, "Role Structure" */
export const roleJson = (id: string, name: string, permissions = '0'): Json => ({
  id,
  name,
  color: 0,
  colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
  hoist: false,
  position: 0,
  permissions,
  managed: false,
  mentionable: false,
  flags: 0,
});

/** Roles of the bot's servers, @everyone first. */
export const rolesJson = (world: World): readonly Json[] => [
  roleJson(world.guildId, '@everyone', bits(world.everyone)),
  ...[...world.roles].map(([id, name]) => roleJson(id, name)),
];

/** @see discord docs: resources/message, "Attachment Structure" */
export const attachmentJson = ({ id, filename, contentType, bytes, url, description }: Attachment): Json => ({
  id,
  filename,
  content_type: contentType,
  size: bytes,
  url,
  proxy_url: url,
  ...(description === null ? {} : { description }),
  ...(/^(image|video)\//.test(contentType) ? { width: 1280, height: 720 } : {}),
});

/**
 * A message as sent to the bot.
 * @see discord docs: resources/message, "Message Structure"
 * @see discord docs: events/gateway, "Message Content Intent": without it, the content of messages by other users is
 * empty, except in DMs, where the bot is mentioned, and in the target of a message command (`withContent`)
 */
export function messageJson(world: World, message: Message, withContent = false): Json {
  const channel = world.channels.get(message.channelId);
  const isOpen = withContent || world.seesContent || channel?.kind === 'dm' || message.author.id === world.bot.id;
  const isSeen = isOpen || message.mentions.includes(world.bot.id);
  const interaction = message.interactionId === null ? undefined : world.interactions.get(message.interactionId);
  return {
    id: message.id,
    channel_id: message.channelId,
    author: userJson(message.author),
    timestamp: time(message.createdMs),
    edited_timestamp: message.editedMs === null ? null : time(message.editedMs),
    tts: false,
    mention_everyone: message.mentions.includes('everyone'),
    mentions: message.mentions.flatMap((id) => world.users.get(id) ?? []).map(userJson),
    mention_roles: [],
    pinned: false,
    type: message.replyTo === null ? (interaction === undefined ? 0 : 20) : 19,
    flags: message.flags,
    content: isSeen ? message.content : '',
    embeds: isSeen ? message.embeds : [],
    attachments: isSeen ? unreferenced(message).map(attachmentJson) : [],
    components: isSeen ? message.components : [],
    reactions: [...message.reactions].map(([name, users]) => ({
      emoji: { id: null, name },
      count: users.size,
      count_details: { burst: 0, normal: users.size },
      me: users.has(world.bot.id),
      me_burst: false,
      burst_colors: [],
    })),
    ...(message.nonce === null ? {} : { nonce: message.nonce }),
    ...(message.author.id === world.bot.id ? { application_id: world.applicationId } : {}),
    ...(interaction === undefined
      ? {}
      : { webhook_id: world.applicationId, interaction_metadata: origin(world, interaction) }),
    ...(message.replyTo === null
      ? {}
      : { message_reference: { type: 0, channel_id: message.channelId, message_id: message.replyTo } }),
  };
}

/** @see discord docs: resources/message, "Message Structure": "any attached files that are not referenced in embeds or components" */
function unreferenced({ attachments, components }: Message): readonly Attachment[] {
  const shown = [...walk(components)].flatMap(mediaOf);
  return attachments.filter(({ id }) => !shown.some((media) => media.attachment_id === id));
}

/** @see discord docs: resources/message, "Message Interaction Metadata Object" */
const origin = (world: World, { id, payload, userId }: { id: string; payload: Json; userId: string }): Json => ({
  id,
  type: payload['type'],
  user: userJson(world.user(userId)),
  authorizing_integration_owners: payload['authorizing_integration_owners'],
});

/** Returns whether the user's client shows the message. */
export const isShown = (message: Message, userId: string): boolean =>
  !message.isDeleted &&
  (message.visibleTo === null || message.visibleTo === userId) &&
  (message.flags & FLAGS.loading) === 0;
