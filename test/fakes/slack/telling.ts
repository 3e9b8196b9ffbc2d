import { randomBytes } from 'node:crypto';
import { parse } from './mrkdwn.ts';
import type { Channel, Envelope, Json, Message, View } from './records.ts';
import type { ResponseUrls } from './response-urls.ts';
import { messageJson, personJson, teamJson, viewJson } from './wire.ts';
import { given, id, type World } from './world.ts';

/** Required scope by event. @see docs.slack.dev/reference/events */
const EVENT_SCOPES: Readonly<Record<string, string>> = {
  app_mention: 'app_mentions:read',
  'message.im': 'im:history',
  'message.channels': 'channels:history',
  'message.groups': 'groups:history',
  reaction_added: 'reactions:read',
  link_shared: 'links:read',
  assistant_thread_started: 'assistant:write',
  assistant_thread_context_changed: 'assistant:write',
  member_joined_channel: 'channels:read',
};

/** The deprecated verification token: present in payloads, but apps must not use it. */
const VERIFICATION_TOKEN = 'fake-verification-token';

interface EnvelopeParts {
  readonly kind: Envelope['kind'];
  readonly type: string;
  readonly userId: string;
  readonly channelId?: string;
  readonly viewId?: string;
  readonly messageTs?: string;
  readonly triggerId?: string;
  readonly responseUrl?: string;
  readonly payload: Json;
}

/** Turns the actions of users into the envelopes that the app receives. */
export class Telling {
  readonly #world: World;
  readonly #responseUrls: ResponseUrls;

  constructor(world: World, responseUrls: ResponseUrls) {
    this.#world = world;
    this.#responseUrls = responseUrls;
  }

  /** @see docs.slack.dev/interactivity/implementing-slash-commands "Preparing your app to receive commands" */
  command(typed: {
    readonly command: string;
    readonly text: string;
    readonly userId: string;
    readonly channel: Channel;
  }): Envelope {
    const { command, text, userId, channel } = typed;
    const { triggerId, responseUrl, teamId } = this.#handles(userId, { channelId: channel.id });
    const payload = {
      token: VERIFICATION_TOKEN,
      team_id: teamId,
      team_domain: this.#world.team(teamId).domain,
      channel_id: channel.id,
      channel_name: nameOf(channel),
      user_id: userId,
      user_name: this.#world.user(userId).name,
      command,
      text,
      api_app_id: this.#world.appId,
      is_enterprise_install: 'false',
      response_url: responseUrl,
      trigger_id: triggerId,
    };
    const ids = { userId, channelId: channel.id, triggerId, responseUrl };
    return this.#send({ kind: 'slash_commands', type: 'command', ...ids, payload });
  }

  /** @see docs.slack.dev/reference/interaction-payloads/block_actions-payload */
  blockAction({
    action,
    message,
    userId,
  }: {
    readonly action: Json;
    readonly message: Message;
    readonly userId: string;
  }): Envelope {
    const { ts, channelId, visibleTo, threadTs } = message;
    const isEphemeral = visibleTo !== null;
    const handles = this.#handles(userId, { channelId, messageTs: ts });
    const container = { type: 'message', message_ts: ts, channel_id: channelId, is_ephemeral: isEphemeral };
    const payload = {
      ...this.#interaction('block_actions', userId, handles),
      container: { ...container, ...given('thread_ts', threadTs) },
      channel: this.#channelJson(channelId),
      // "message … is not included for ephemeral messages".
      ...(isEphemeral ? {} : { message: messageJson(this.#world, message) }),
      state: { values: {} },
      response_url: handles.responseUrl,
      actions: [{ ...action, action_ts: this.#world.freshTs() }],
    };
    const ids = { userId, channelId, messageTs: ts, ...handles };
    return this.#send({ kind: 'interactive', type: 'block_actions', ...ids, payload });
  }

  /** An element used in a modal or on the Home tab. */
  viewAction(view: View, action: Json): Envelope {
    const { id: viewId, userId } = view;
    const { triggerId } = this.#handles(userId, { viewId });
    const shown = viewJson(this.#world, view);
    const payload = {
      ...this.#interaction('block_actions', userId, { triggerId }),
      container: { type: 'view', view_id: viewId },
      view: shown,
      state: shown['state'],
      actions: [{ ...action, action_ts: this.#world.freshTs() }],
    };
    return this.#send({ kind: 'interactive', type: 'block_actions', userId, viewId, triggerId, payload });
  }

  /** @see docs.slack.dev/reference/interaction-payloads/view-interactions-payload */
  viewEnd(view: View, type: 'view_submission' | 'view_closed', isCleared = false): Envelope {
    const { id: viewId, userId } = view;
    const { triggerId } = this.#handles(userId, { viewId });
    const isSubmitted = type === 'view_submission';
    const payload = {
      ...this.#interaction(type, userId, isSubmitted ? { triggerId } : {}),
      view: viewJson(this.#world, view),
      ...(isSubmitted ? { response_urls: [] } : { is_cleared: isCleared }),
    };
    return this.#send({ kind: 'interactive', type, userId, viewId, triggerId, payload });
  }

  /** @see docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload */
  messageShortcut(callbackId: string, message: Message, userId: string): Envelope {
    const { ts, channelId } = message;
    const handles = this.#handles(userId, { channelId, messageTs: ts });
    const payload = {
      ...this.#interaction('message_action', userId, handles),
      action_ts: this.#world.freshTs(),
      channel: this.#channelJson(channelId),
      callback_id: callbackId,
      response_url: handles.responseUrl,
      message_ts: ts,
      message: messageJson(this.#world, message),
    };
    const ids = { userId, channelId, messageTs: ts, ...handles };
    return this.#send({ kind: 'interactive', type: 'message_action', ...ids, payload });
  }

  globalShortcut(callbackId: string, userId: string): Envelope {
    const { triggerId } = this.#handles(userId, {});
    const payload = {
      ...this.#interaction('shortcut', userId, { triggerId }),
      action_ts: this.#world.freshTs(),
      callback_id: callbackId,
    };
    return this.#send({ kind: 'interactive', type: 'shortcut', userId, triggerId, payload });
  }

  /**
   * A message of a user, if the app receives an event for it. @see docs.slack.dev/reference/events/message,
   * /app_mention
   */
  said(message: Message, channel: Channel): void {
    const { botUserId } = this.#world.team(channel.teamId);
    this.#linksShared(message, channel);
    if (!channel.members.has(botUserId)) return;
    const types = { public: 'channel', private: 'group', dm: 'im' } as const;
    const subscription = { public: 'message.channels', private: 'message.groups', dm: 'message.im' } as const;
    const subtype = message.fileIds.length > 0 ? { subtype: 'file_share' } : {};
    const place = { channel: channel.id, event_ts: message.ts };
    // @see docs.slack.dev/apis/slack-connect/developing-for-slack-connect: authors from another organisation
    const { teamId: authorTeam } = this.#world.user(message.authorId);
    const externalAuthor = authorTeam === channel.teamId ? {} : { user_team: authorTeam, source_team: authorTeam };
    const body = {
      ...messageJson(this.#world, message),
      ...externalAuthor,
      ...place,
      channel_type: types[channel.kind],
    };
    this.event(channel.teamId, 'message', { ...body, ...subtype }, subscription[channel.kind]);
    // In a DM a mention is an ordinary message.
    if (channel.kind === 'dm' || !message.text.includes(`<@${botUserId}>`)) return;
    this.event(channel.teamId, 'app_mention', { ...messageJson(this.#world, message), ...externalAuthor, ...place });
  }

  /** Links of the app's domains, also where it is no member. @see docs.slack.dev/reference/events/link_shared */
  #linksShared({ ts, authorId, threadTs, text, blocks }: Message, { id: channel, teamId, members }: Channel): void {
    const { botUserId } = this.#world.team(teamId);
    // "Apps will also not receive link_shared events for their own messages".
    if (authorId === botUserId) return;
    const links = parse(text, blocks)
      .links.map((url) => ({ url, domain: URL.parse(url)?.hostname ?? '' }))
      .filter(({ domain }) => this.#world.manifest.unfurlDomains.includes(domain));
    if (links.length === 0) return;
    const place = { channel, message_ts: ts, ...given('thread_ts', threadTs), source: 'conversations_history' };
    const unfurl = { unfurl_id: `${channel}.${ts}`, is_bot_user_member: members.has(botUserId) };
    this.event(teamId, 'link_shared', { ...place, ...unfurl, user: authorId, links });
  }

  /** An edited message of a user. @see docs.slack.dev/reference/events/message/message_changed */
  changed(message: Message, before: Message): void {
    const channel = this.#world.channel(message.channelId);
    if (channel.kind !== 'dm') return;
    const edited = { user: message.authorId, ts: this.#world.freshTs() };
    const changed = { ...messageJson(this.#world, message), edited };
    const place = { channel: channel.id, channel_type: 'im', subtype: 'message_changed', hidden: true };
    const body = { ...place, message: changed, previous_message: messageJson(this.#world, before) };
    this.event(channel.teamId, 'message', { ...body, ts: edited.ts, event_ts: edited.ts }, 'message.im');
  }

  /** @see docs.slack.dev/reference/events/reaction_added */
  reacted({ ts, channelId, authorId }: Message, reaction: string, userId: string): void {
    const channel = this.#world.channel(channelId);
    if (!channel.members.has(this.#world.team(channel.teamId).botUserId)) return;
    const item = { type: 'message', channel: channelId, ts };
    this.event(channel.teamId, 'reaction_added', { user: userId, reaction, item, item_user: authorId });
  }

  homeOpened(userId: string): Envelope | null {
    const { teamId } = this.#world.user(userId);
    const home = this.#world.views.values().find((one) => one.type === 'home' && one.userId === userId);
    const view = home === undefined ? {} : { view: viewJson(this.#world, home) };
    const channel = this.#world.dmWith(userId).id;
    return this.event(teamId, 'app_home_opened', { user: userId, channel, tab: 'home', ...view });
  }

  /**
   * Opens a thread of the assistant pane, or tells that its user went to another channel. There is no pane without the feature
   * and its scope. @see docs.slack.dev/reference/events/assistant_thread_started, /assistant_thread_context_changed
   */
  pane(event: 'started' | 'context_changed', thread: Message, userId: string, viewedId: string): Envelope | null {
    const { teamId } = this.#world.user(userId);
    if (!this.#world.manifest.hasAssistant) throw new Error('There is no assistant pane.');
    const context = { channel_id: viewedId, team_id: teamId, enterprise_id: null };
    const opened = { user_id: userId, context, channel_id: thread.channelId, thread_ts: thread.ts };
    return this.event(teamId, `assistant_thread_${event}`, { assistant_thread: opened });
  }

  /**
   * An event, if the app is subscribed to it and has the scope.
   * @param subscription name of the event in the manifest, if it differs from the type
   * @see docs.slack.dev/apis/events-api "Receiving events"
   */
  event(teamId: string, type: string, event: Json, subscription = type): Envelope | null {
    const world = this.#world;
    const team = world.team(teamId);
    const scope = EVENT_SCOPES[subscription];
    const isGranted = scope === undefined || team.scopes.has(scope);
    if (!world.manifest.events.includes(subscription) || !isGranted) return null;
    const bot = {
      enterprise_id: null,
      team_id: teamId,
      user_id: team.botUserId,
      is_bot: true,
      is_enterprise_install: false,
    };
    const payload = {
      token: VERIFICATION_TOKEN,
      team_id: teamId,
      context_team_id: teamId,
      api_app_id: world.appId,
      event: { event_ts: world.freshTs(), ...event, type },
      type: 'event_callback',
      event_id: id('Ev'),
      event_time: Math.floor(world.clock.now() / 1000),
      authorizations: [bot],
      is_ext_shared_channel: false,
      event_context: `4-${randomBytes(12).toString('base64url')}`,
    };
    const userId = typeof event['user'] === 'string' ? event['user'] : team.botUserId;
    return this.#send({ kind: 'events_api', type, userId, payload, ...channelOf(event) });
  }

  #send(parts: EnvelopeParts): Envelope {
    return this.#world.tell({
      channelId: null,
      viewId: null,
      messageTs: null,
      triggerId: null,
      responseUrl: null,
      teamId: this.#world.user(parts.userId).teamId,
      ...parts,
      attempts: [],
      answer: null,
    });
  }

  #handles(
    userId: string,
    {
      channelId,
      messageTs,
      viewId,
    }: { readonly channelId?: string; readonly messageTs?: string; readonly viewId?: string },
  ): { triggerId: string; responseUrl: string; teamId: string } {
    const { teamId } = this.#world.user(userId);
    const triggerId = this.#world.trigger({ userId, teamId, viewId: viewId ?? null });
    const holder = { channelId: channelId ?? '', userId, messageTs: messageTs ?? null };
    const responseUrl = channelId === undefined ? '' : this.#responseUrls.make(holder);
    return { triggerId, responseUrl, teamId };
  }

  #interaction(type: string, userId: string, { triggerId }: { readonly triggerId?: string }): Json {
    const user = this.#world.user(userId);
    return {
      type,
      token: VERIFICATION_TOKEN,
      user: personJson(user),
      api_app_id: this.#world.appId,
      team: teamJson(this.#world.team(user.teamId)),
      enterprise: null,
      is_enterprise_install: false,
      ...given('trigger_id', triggerId),
    };
  }

  #channelJson(channelId: string): Json {
    return { id: channelId, name: nameOf(this.#world.channel(channelId)) };
  }
}

/**
 * Returns the name of a conversation in payloads; group messages keep their name.
 * @see docs.slack.dev/interactivity/implementing-slash-commands: "directmessage", "privategroup"
 * @see docs.slack.dev/reference/objects/conversation-object: "mpdm-…"
 */
function nameOf({ kind, name }: Channel): string {
  if (kind === 'dm') return 'directmessage';
  if (name.startsWith('mpdm-')) return name;
  return kind === 'private' ? 'privategroup' : name;
}

function channelOf(event: Json): { channelId?: string } {
  const item = event['item'] as Json | undefined;
  const channel = event['channel'] ?? item?.['channel'];
  return typeof channel === 'string' ? { channelId: channel } : {};
}
