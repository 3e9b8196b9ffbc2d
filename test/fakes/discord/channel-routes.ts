import { checkedMessage, type MessageForm } from './message-form.ts';
import { demand, type Permission } from './permissions.ts';
import { type Draft, edit, INTENTS, post } from './posting.ts';
import { type Channel, FLAGS, type Message } from './records.ts';
import { Refusal } from './refusal.ts';
import { remove } from './removing.ts';
import { type Call, ok, type Route } from './routes.ts';
import { startThread } from './threading.ts';
import { channelJson, messageJson } from './wire.ts';
import type { World } from './world.ts';

/** "Checked for uniqueness in the past few minutes": resources/message, Create Message, `enforce_nonce`. */
const NONCE_KEPT_MS = 5 * 60_000;

/** "Only SUPPRESS_EMBEDS, SUPPRESS_NOTIFICATIONS, IS_VOICE_MESSAGE and IS_COMPONENTS_V2 can be set": Create Message. */
const SEND_FLAGS = FLAGS.suppressEmbeds | FLAGS.silent | FLAGS.v2;

/** Returns the message in the path if the bot's token has access to it; ephemeral messages are excluded. */
function messageOf({ world, at }: Call, needed: readonly Permission[]): Message {
  const channel = world.reachable(at('channel'));
  if (channel.guildId !== null) demand(world.deniedIn(channel), needed);
  const message = world.messages.get(at('message'));
  const isHere = message?.channelId === channel.id && message.visibleTo === null && !message.isDeleted;
  if (message === undefined || !isHere) throw new Refusal(404, 10008);
  return message;
}

const draftOf = ({ world, files }: Call, form: MessageForm, flags: number): Draft => ({
  form,
  files,
  maxBytes: world.maxFileBytes,
  isLimitKnown: false,
  mentions: 'message',
  flags,
});

/**
 * Returns the permissions that the bot needs to post the draft. @see discord docs: resources/message, "Create Message",
 * Limitations
 */
function neededFor(channel: Channel, { form, files }: Draft): readonly Permission[] {
  return [
    // "SEND_MESSAGES has no effect in threads": topics/threads, "Permissions".
    channel.kind === 'thread' ? 'SEND_MESSAGES_IN_THREADS' : 'SEND_MESSAGES',
    ...(files.length > 0 ? (['ATTACH_FILES'] as const) : []),
    ...((form.embeds ?? []).length > 0 ? (['EMBED_LINKS'] as const) : []),
  ];
}

/** Returns the message that a reply refers to. @throws Refusal 160002, 50035 */
function answered(world: World, channel: Channel, { message_reference: reference }: MessageForm): string | null {
  if (reference === undefined || reference === null) return null;
  if (channel.guildId !== null && world.deniedIn(channel).has('READ_MESSAGE_HISTORY')) throw new Refusal(400, 160002);
  const target = world.messages.get(reference.message_id);
  const isThere =
    target !== undefined && !target.isDeleted && target.channelId === channel.id && target.visibleTo === null;
  if (isThere) return target.id;
  // "Whether to error if the referenced message doesn't exist … defaults true": resources/message, "Message Reference
  // Structure".
  if (reference.fail_if_not_exists === false) return null;
  const error = { code: 'REPLIES_UNKNOWN_MESSAGE', message: 'Unknown message' };
  throw new Refusal(400, 50035, { errors: { message_reference: { _errors: [error] } } });
}

/** Routes for messages by the bot's token. @see discord docs: resources/message, "Create Message" and following */
export const channelRoutes = {
  'GET /channels/:channel': {
    by: 'bot',
    bucket: 'other',
    handle({ world, at }) {
      const channel = world.reachable(at('channel'));
      demand(world.deniedIn(channel), []);
      return ok(channelJson(world, channel));
    },
  },
  'POST /channels/:channel/messages': {
    by: 'bot',
    bucket: 'send',
    handle(call) {
      const { world } = call;
      const channel = world.reachable(call.at('channel'));
      const form = checkedMessage(call.json);
      const draft = draftOf(call, form, SEND_FLAGS);
      if (channel.guildId !== null) demand(world.deniedIn(channel), neededFor(channel, draft));
      const twin = form.enforce_nonce === true ? sameNonce(world, channel, form.nonce) : undefined;
      if (twin !== undefined) return ok(messageJson(world, twin));
      const replyTo = answered(world, channel, form);
      return ok(messageJson(world, post(world, { channel, author: world.bot, replyTo }, draft)));
    },
  },
  'GET /channels/:channel/messages': {
    by: 'bot',
    bucket: 'other',
    handle({ world, at, query }) {
      const channel = world.reachable(at('channel'));
      const denied = world.deniedIn(channel);
      if (channel.guildId !== null) demand(denied, []);
      // "If the current user is missing the READ_MESSAGE_HISTORY permission … no messages will be returned": "Get
      // Channel Messages".
      const isBlind = channel.guildId !== null && denied.has('READ_MESSAGE_HISTORY');
      const after = BigInt(query.get('after') ?? 0);
      const there = [...world.messages.values()].filter(
        ({ id, channelId, visibleTo, isDeleted }) =>
          channelId === channel.id && visibleTo === null && !isDeleted && BigInt(id) > after && !isBlind,
      );
      // The messages directly after `after`, newest first.
      const page = there.slice(0, Number(query.get('limit') ?? 50)).reverse();
      return ok(page.map((message) => messageJson(world, message)));
    },
  },
  'GET /channels/:channel/messages/:message': {
    by: 'bot',
    bucket: 'other',
    handle: (call) => ok(messageJson(call.world, messageOf(call, ['READ_MESSAGE_HISTORY']))),
  },
  'PATCH /channels/:channel/messages/:message': {
    by: 'bot',
    bucket: 'edit',
    handle(call) {
      const { world } = call;
      const message = messageOf(call, []);
      if (message.author.id !== world.bot.id) throw new Refusal(403, 50005, { violation: "edit of another's message" });
      const form = checkedMessage(call.json);
      edit(world, message, draftOf(call, form, FLAGS.suppressEmbeds | FLAGS.v2));
      return ok(messageJson(world, message));
    },
  },
  'DELETE /channels/:channel/messages/:message': {
    by: 'bot',
    bucket: 'other',
    handle(call) {
      const message = messageOf(call, []);
      // Without Manage Messages, which the fake's bot does not have, only its own messages.
      if (message.author.id !== call.world.bot.id) throw new Refusal(403, 50013);
      remove(call.world, message);
      return undefined;
    },
  },
  'PUT /channels/:channel/messages/:message/reactions/:emoji/@me': {
    by: 'bot',
    bucket: 'reaction',
    handle(call) {
      const emoji = call.at('emoji');
      const message = messageOf(call, ['READ_MESSAGE_HISTORY']);
      const users = message.reactions.get(emoji);
      if (users === undefined) demand(call.world.deniedIn(call.world.channel(message.channelId)), ['ADD_REACTIONS']);
      message.reactions.set(emoji, new Set([...(users ?? []), call.world.bot.id]));
      return undefined;
    },
  },
  // resources/channel, "Start Thread from Message".
  'POST /channels/:channel/messages/:message/threads': {
    by: 'bot',
    bucket: 'other',
    handle(call) {
      const { world, json } = call;
      const message = messageOf(call, ['CREATE_PUBLIC_THREADS']);
      const { name } = json as { readonly name?: unknown };
      if (typeof name !== 'string' || name.length < 1 || name.length > 100)
        throw new Refusal(400, 50035, { violation: 'a thread without a name of 1 to 100 characters' });
      const thread = startThread(world, message, name);
      return ok(channelJson(world, thread));
    },
  },
  'POST /channels/:channel/typing': {
    by: 'bot',
    bucket: 'other',
    handle({ world, at }) {
      const channel = world.reachable(at('channel'));
      if (channel.guildId !== null) demand(world.deniedIn(channel), ['SEND_MESSAGES']);
      return undefined;
    },
  },
  'POST /users/@me/channels': {
    by: 'bot',
    bucket: 'other',
    handle({ world, json }) {
      const recipient = world.users.get(String((json as { recipient_id?: unknown }).recipient_id));
      if (recipient === undefined) throw new Refusal(400, 50035, { violation: 'DM to nobody' });
      const channel = world.dmWith(recipient.id);
      world.dispatch('CHANNEL_CREATE', channelJson(world, channel), INTENTS.directMessages);
      return ok(channelJson(world, channel));
    },
  },
} as const satisfies Record<string, Route>;

function sameNonce(world: World, { id }: Channel, nonce: MessageForm['nonce']): Message | undefined {
  if (nonce === undefined || nonce === null) return undefined;
  return world.messages.values().find((one) => {
    const isRecent = world.clock.now() - one.createdMs <= NONCE_KEPT_MS;
    return one.nonce === nonce && one.channelId === id && one.author.id === world.bot.id && isRecent;
  });
}
