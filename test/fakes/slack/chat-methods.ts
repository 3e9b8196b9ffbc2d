import { z } from 'zod';
import { checkedBlocks } from './blocks.ts';
import { checked, flag, json, timestamp } from './form.ts';
import type { Call, Method } from './methods.ts';
import { parse } from './mrkdwn.ts';
import { checkedContents, content, demandVoice, post, threadOf } from './posting.ts';
import type { Channel, Message } from './records.ts';
import { Refusal } from './refusal.ts';
import { messageJson } from './wire.ts';

const target = { channel: z.string().min(1), token: z.string().optional() };
/** Text as received: a number has lost digits. @see github.com/slackapi/python-slack-sdk/issues/840 */
const threadTs = z.union([z.string(), z.number().transform(String)]).optional();
const postForm = z.looseObject({ ...target, ...content, thread_ts: threadTs, reply_broadcast: flag.optional() });
const ephemeralForm = z.looseObject({ ...target, ...content, user: z.string().min(1), thread_ts: threadTs });
const updateForm = z.looseObject({ ...target, ...content, ts: timestamp });
const deleteForm = z.looseObject({ ...target, ts: timestamp });
/**
 * "Both channel and ts must be provided together, or unfurl_id and source must be provided together".
 * @see docs.slack.dev/reference/methods/chat.unfurl
 */
const unfurlForm = z
  .strictObject({
    channel: z.string().min(1).optional(),
    ts: timestamp.optional(),
    unfurl_id: z.string().min(1).optional(),
    source: z.enum(['composer', 'conversations_history']).optional(),
    unfurls: json(z.record(z.string(), z.strictObject({ blocks: z.array(z.unknown()).min(1) }))),
  })
  .refine(({ channel, ts, unfurl_id: id, source }) => {
    const isByMessage = channel !== undefined && ts !== undefined && id === undefined && source === undefined;
    return isByMessage || (channel === undefined && ts === undefined && id !== undefined && source !== undefined);
  }, 'channel and ts, or unfurl_id and source');
const permalinkForm = z.looseObject({ ...target, message_ts: timestamp });

/**
 * Resolves the target channel; a user's id opens the DM. @see docs.slack.dev/reference/methods/chat.postMessage
 * "Channels": "pass a user's ID as the value of channel"
 */
function targetChannel({ world, team }: Call, channelId: string): Channel {
  const user = world.users.get(channelId);
  return user?.teamId === team.id && !user.isBot ? world.dmWith(user.id) : world.reachable(team, channelId);
}

/** Returns a message of the app itself that can be edited or deleted. @throws Refusal message_not_found, `notOwn` */
function ownMessage({ world, team, method }: Call, channelId: string, ts: string, notOwn: string): Message {
  // "ensure that this value is a DM ID (starts with D) instead of a User ID": reference/methods/chat.update
  const channel = world.reachable(team, channelId);
  const message = world.messages.get(ts);
  if (message?.visibleTo !== null && message !== undefined) {
    throw new Refusal('message_not_found', { violation: `${method} of an ephemeral message` });
  }
  if (message?.channelId !== channel.id || message.isDeleted) throw new Refusal('message_not_found');
  if (message.authorId !== team.botUserId) throw new Refusal(notOwn, { violation: `${method} of another's message` });
  return message;
}

/** Methods for messages. @see docs.slack.dev/reference/methods/chat.postMessage and the other chat.* methods */
export const chatMethods = {
  'chat.postMessage': {
    by: 'bot',
    scopes: ['chat:write'],
    // "Several hundred messages per minute" per workspace besides the channel's own limit: apis/web-api/rate-limits.
    tier: 4,
    handle(call) {
      const { world, team, args, limits } = call;
      const form = checked(postForm, args, { what: 'chat.postMessage' });
      const channel = targetChannel(call, form.channel);
      demandVoice(world, channel);
      const contents = checkedContents(world, form, { what: 'chat.postMessage' });
      const thread = threadOf(world, channel, form.thread_ts);
      limits.takeMessage(channel.id);
      const isBroadcast = form.reply_broadcast === true;
      // "Used in conjunction with thread_ts": reference/methods/chat.postMessage, reply_broadcast
      if (isBroadcast && thread === null) world.violate('reply_broadcast outside of a thread');
      const place = { channel, authorId: team.botUserId, threadTs: thread, visibleTo: null, isBroadcast };
      const message = post(world, place, contents);
      return { channel: channel.id, ts: message.ts, message: messageJson(world, message) };
    },
  },
  'chat.postEphemeral': {
    by: 'bot',
    scopes: ['chat:write'],
    tier: 4,
    handle(call) {
      const { world, team, args } = call;
      const form = checked(ephemeralForm, args, { what: 'chat.postEphemeral' });
      const channel = world.reachable(team, form.channel);
      demandVoice(world, channel);
      // @see docs.slack.dev/reference/methods/chat.postEphemeral: "user_not_in_channel: Intended recipient is not in
      // the specified channel"
      if (!channel.members.has(form.user)) throw new Refusal('user_not_in_channel');
      const contents = checkedContents(world, form, { what: 'chat.postEphemeral' });
      const thread = threadOf(world, channel, form.thread_ts);
      const place = { channel, authorId: team.botUserId, threadTs: thread, visibleTo: form.user };
      return { message_ts: post(world, place, contents).ts };
    },
  },
  'chat.update': {
    by: 'bot',
    scopes: ['chat:write'],
    tier: 3,
    handle(call) {
      const { world, args } = call;
      const form = checked(updateForm, args, { what: 'chat.update' });
      // "The message cannot be edited within a frozen, archived or deleted channel": reference/methods/chat.update,
      // is_inactive
      if (world.reachable(call.team, form.channel).isArchived) throw new Refusal('is_inactive');
      const message = ownMessage(call, form.channel, form.ts, 'cant_update_message');
      // "If the text argument is provided and blocks are not provided, the blocks will be removed":
      // reference/methods/chat.update
      const isDropping = form.blocks === undefined && form.text !== undefined && message.blocks.length > 0;
      if (isDropping) world.violate(`dropped blocks: chat.update of ${message.ts} with text alone`);
      const isKeeping = form.blocks === undefined && form.text === undefined;
      const kept = isKeeping ? { ...form, blocks: message.blocks, text: message.text } : form;
      // "The text field cannot exceed 4,000 characters": reference/methods/chat.update, msg_too_long
      const contents = checkedContents(world, kept, { what: 'chat.update', maxText: 4000 });
      message.text = contents.text;
      message.blocks = contents.blocks;
      message.metadata = contents.metadata ?? message.metadata;
      message.edits += 1;
      const { ts, channelId, text } = message;
      return { channel: channelId, ts, text, message: messageJson(world, message) };
    },
  },
  'chat.delete': {
    by: 'bot',
    scopes: ['chat:write'],
    tier: 3,
    handle(call) {
      const form = checked(deleteForm, call.args, { what: 'chat.delete' });
      // "The message cannot be deleted within a frozen, archived or deleted channel": reference/methods/chat.delete,
      // is_inactive
      if (call.world.reachable(call.team, form.channel).isArchived) throw new Refusal('is_inactive');
      const message = ownMessage(call, form.channel, form.ts, 'cant_delete_message');
      message.isDeleted = true;
      return { channel: message.channelId, ts: message.ts };
    },
  },
  'chat.unfurl': {
    by: 'bot',
    scopes: ['links:write'],
    tier: 3,
    handle({ world, args }) {
      const form = checked(unfurlForm, args, { what: 'chat.unfurl' });
      const [, byId = ''] = /^[^.]+\.(.+)$/.exec(form.unfurl_id ?? '') ?? [];
      const message = world.messages.get(form.ts ?? byId);
      // @see docs.slack.dev/reference/methods/chat.unfurl: missing_unfurls, cannot_find_message, cannot_unfurl_url
      if (Object.keys(form.unfurls).length === 0)
        throw new Refusal('missing_unfurls', { violation: 'nothing to unfurl' });
      if (message === undefined || message.isDeleted) throw new Refusal('cannot_find_message');
      const { links } = parse(message.text, message.blocks);
      for (const [url, { blocks }] of Object.entries(form.unfurls)) {
        const isOurs = world.manifest.unfurlDomains.includes(URL.parse(url)?.hostname ?? '');
        if (!isOurs || !links.includes(url))
          throw new Refusal('cannot_unfurl_url', { violation: `${url} is not in the message` });
        message.unfurls.set(url, checkedBlocks(blocks, 'chat.unfurl'));
      }
      return {};
    },
  },
  'chat.getPermalink': {
    by: 'bot',
    scopes: [],
    tier: 4,
    handle({ world, team, args }) {
      const form = checked(permalinkForm, args, { what: 'chat.getPermalink' });
      const channel = world.reachable(team, form.channel);
      const message = world.messages.get(form.message_ts);
      if (message?.channelId !== channel.id || message.isDeleted) throw new Refusal('message_not_found');
      const path = `${channel.id}/p${message.ts.replace('.', '')}`;
      const thread = message.threadTs === null ? '' : `?thread_ts=${message.threadTs}&cid=${channel.id}`;
      return { channel: channel.id, permalink: `${world.origin()}/archives/${path}${thread}` };
    },
  },
} as const satisfies Record<string, Method>;
