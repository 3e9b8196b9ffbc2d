import type { Channel, Json, Message, SlackFile, Team, User, View } from './records.ts';
import { given, type World } from './world.ts';

/** A user in an interaction payload. */
export const personJson = ({ id, name, teamId }: User): Json => ({ id, username: name, name, team_id: teamId });

/** A workspace in an interaction payload. */
export const teamJson = ({ id, domain }: Team): Json => ({ id, domain });

/** @see docs.slack.dev/reference/objects/user-object */
export const userJson = ({
  id,
  name,
  teamId,
  isBot,
  timeZone,
  admin,
  isGuest = false,
  hasLeft = false,
}: User): Json => ({
  id,
  team_id: teamId,
  name,
  real_name: name,
  deleted: hasLeft,
  tz: timeZone,
  tz_offset: 3600,
  is_bot: isBot,
  is_app_user: false,
  is_admin: false,
  is_owner: false,
  is_primary_owner: false,
  ...(admin === undefined ? {} : { [admin]: true }),
  is_restricted: isGuest,
  is_ultra_restricted: false,
  profile: { real_name: name, display_name: name, team: teamId },
});

/** @see docs.slack.dev/reference/objects/conversation-object */
export function channelJson(world: World, channel: Channel): Json {
  const { id, name, kind, members, recipientId, isArchived, teamId } = channel;
  const isMember = members.has(world.team(teamId).botUserId);
  const common = { id, created: 1_700_000_000, is_archived: isArchived, context_team_id: teamId };
  if (kind === 'dm') return { ...common, is_im: true, user: recipientId, is_open: true };
  const isPrivate = kind === 'private';
  return {
    ...common,
    name,
    name_normalized: name,
    is_channel: true,
    is_group: false,
    is_im: false,
    is_mpim: false,
    is_private: isPrivate,
    is_member: isMember,
    is_general: false,
    is_shared: channel.isShared === true,
    is_ext_shared: channel.isShared === true,
    topic: { value: '', creator: '', last_set: 0 },
    purpose: { value: '', creator: '', last_set: 0 },
    num_members: members.size,
  };
}

/** @see docs.slack.dev/reference/events/message */
export function messageJson(world: World, message: Message): Json {
  const { ts, authorId, text, blocks, threadTs, fileIds, edits, metadata } = message;
  const author = world.user(authorId);
  const team = world.team(author.teamId);
  const bot = author.isBot ? { bot_id: team.botId, app_id: world.appId } : {};
  const reactions = [...message.reactions]
    .filter(([, users]) => users.size > 0)
    .map(([name, users]) => ({ name, users: [...users], count: users.size }));
  return {
    type: 'message',
    ts,
    user: authorId,
    ...bot,
    team: team.id,
    text,
    ...(blocks.length > 0 ? { blocks } : {}),
    ...given('thread_ts', threadTs),
    ...(threadTs === null ? {} : { parent_user_id: world.messages.get(threadTs)?.authorId }),
    ...(fileIds.length > 0 ? { files: fileIds.map((id) => eventFileJson(world, id)) } : {}),
    ...(edits > 0 ? { edited: { user: authorId, ts: `${Math.floor(world.clock.now() / 1000)}.000000` } } : {}),
    ...(reactions.length > 0 ? { reactions } : {}),
    ...given('metadata', metadata),
  };
}

/**
 * A file in an event: a stub where the app has to call files.info. @see docs.slack.dev/reference/objects/file-object
 * "check_file_info"
 */
export function eventFileJson(world: World, fileId: string): Json {
  const file = world.files.get(fileId);
  if (file === undefined || file.isDeleted) return { id: fileId, mode: 'tombstone' };
  if (file.isStub) return { id: fileId, mode: 'file_access', file_access: 'check_file_info' };
  return fileJson(world, file);
}

/** @see docs.slack.dev/reference/objects/file-object */
export function fileJson(world: World, file: SlackFile): Json {
  const { id, name, title, mimeType, length, ownerId, teamId, altText } = file;
  const path = `${teamId}-${id}`;
  const kind = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? 'binary';
  const isProcessed = file.isComplete && file.hiddenShares === 0;
  const shares: Record<'public' | 'private', Record<string, unknown[]>> = { public: {}, private: {} };
  for (const { channelId, ts, threadTs } of isProcessed ? file.shares : []) {
    const side = shares[world.channel(channelId).kind === 'public' ? 'public' : 'private'];
    const here = side[channelId] ?? [];
    side[channelId] = here;
    here.push({ ts, channel_name: world.channel(channelId).name, team_id: teamId, ...given('thread_ts', threadTs) });
  }
  const inKinds = (wanted: readonly Channel['kind'][]): readonly string[] => {
    const ids = isProcessed ? file.shares.map(({ channelId }) => channelId) : [];
    return [...new Set(ids)].filter((one) => wanted.includes(world.channel(one).kind));
  };
  return {
    id,
    name,
    title,
    mimetype: isProcessed ? mimeType : '',
    filetype: isProcessed ? kind : '',
    pretty_type: kind.toUpperCase(),
    user: ownerId,
    user_team: teamId,
    size: length,
    mode: 'hosted',
    is_external: false,
    is_public: inKinds(['public']).length > 0,
    url_private: `${world.origin()}/files-pri/${path}/${encodeURIComponent(name)}`,
    url_private_download: `${world.origin()}/files-pri/${path}/download/${encodeURIComponent(name)}`,
    permalink: `${world.origin()}/permalinks/files/${ownerId}/${id}/${encodeURIComponent(name)}`,
    channels: inKinds(['public']),
    groups: inKinds(['private']),
    ims: inKinds(['dm']),
    shares: Object.fromEntries(Object.entries(shares).filter(([, one]) => Object.keys(one).length > 0)),
    file_access: 'visible',
    ...given('alt_txt', altText),
  };
}

/** @see docs.slack.dev/reference/interaction-payloads/view-interactions-payload */
export function viewJson(world: World, view: View): Json {
  const { botId } = world.team(view.teamId);
  const plain = (text: string | null): Json | null =>
    text === null ? null : { type: 'plain_text', text, emoji: true };
  const values = Object.fromEntries([...view.values].map(([block, inside]) => [block, Object.fromEntries(inside)]));
  const modal = {
    title: plain(view.title),
    submit: plain(view.submit),
    close: plain(view.close),
    clear_on_close: view.clearOnClose,
    notify_on_close: view.notifyOnClose,
  };
  return {
    id: view.id,
    team_id: view.teamId,
    app_id: world.appId,
    app_installed_team_id: view.teamId,
    bot_id: botId,
    type: view.type,
    ...(view.type === 'modal' ? modal : {}),
    blocks: view.blocks,
    private_metadata: view.privateMetadata,
    callback_id: view.callbackId,
    external_id: view.externalId,
    state: { values },
    hash: view.hash,
    root_view_id: view.rootId,
    previous_view_id: view.previousId,
  };
}
