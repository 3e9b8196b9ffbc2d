import { z } from 'zod';
import { checked, flag, timestamp, whole } from './form.ts';
import type { Call, Method } from './methods.ts';
import type { Channel, Json, Message } from './records.ts';
import { Refusal } from './refusal.ts';
import { channelJson, messageJson } from './wire.ts';

const named = z.looseObject({ channel: z.string().min(1) });
const paged = { cursor: z.string().optional(), limit: whole.optional() };
const membersForm = z.looseObject({ channel: z.string().min(1), ...paged });
const listForm = z.looseObject({ ...paged, types: z.string().optional(), exclude_archived: flag.optional() });
const historyForm = z.looseObject({
  channel: z.string().min(1),
  ...paged,
  oldest: z.string().optional(),
  latest: z.string().optional(),
});
const repliesForm = z.looseObject({ channel: z.string().min(1), ts: timestamp, ...paged });
const openForm = z.looseObject({ users: z.string().min(1), return_im: flag.optional() });

/** Prefix of the scopes for each kind of conversation. @see docs.slack.dev/reference/scopes */
const FAMILY = { public: 'channels', private: 'groups', dm: 'im' } as const;

/** Checks that the app has the scope for the conversation's kind. @throws Refusal missing_scope */
function demandScope({ team }: Call, { kind }: Channel, right: 'read' | 'history'): void {
  const needed = `${FAMILY[kind]}:${right}`;
  if (team.scopes.has(needed)) return;
  throw new Refusal('missing_scope', { body: { needed, provided: [...team.scopes].join(',') } });
}

function page(
  all: readonly Json[],
  name: string,
  { cursor, limit = 100 }: { cursor?: string | undefined; limit?: number | undefined },
): Json {
  const start = Number(cursor ?? 0);
  const next = start + limit < all.length ? String(start + limit) : '';
  return { [name]: all.slice(start, start + limit), response_metadata: { next_cursor: next } };
}

/** @see docs.slack.dev/reference/methods/conversations.history: `has_more` beside `next_cursor` */
function messagePage(all: readonly Json[], form: { cursor?: string | undefined; limit?: number | undefined }): Json {
  const { cursor, limit = 100 } = form;
  return { ...page(all, 'messages', form), has_more: Number(cursor ?? 0) + limit < all.length };
}

function visible({ world }: Call, { id }: Channel): readonly Message[] {
  return [...world.messages.values()].filter((one) => one.channelId === id && one.visibleTo === null && !one.isDeleted);
}

function readable(call: Call, channelId: string): Channel {
  const channel = call.world.reachable(call.team, channelId);
  demandScope(call, channel, 'history');
  // @see docs.slack.dev/reference/methods/conversations.history: not_in_channel
  if (!channel.members.has(call.team.botUserId)) throw new Refusal('not_in_channel');
  return channel;
}

/** Methods for conversations. @see docs.slack.dev/apis/web-api/using-the-conversations-api */
export const conversationMethods = {
  'conversations.info': {
    by: 'bot',
    scopes: ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
    tier: 3,
    handle(call) {
      const { channel: channelId } = checked(named, call.args, { what: 'conversations.info' });
      const channel = call.world.reachable(call.team, channelId);
      demandScope(call, channel, 'read');
      return { channel: channelJson(call.world, channel) };
    },
  },
  'conversations.join': {
    by: 'bot',
    scopes: ['channels:join'],
    tier: 3,
    handle({ world, team, args }) {
      const { channel: channelId } = checked(named, args, { what: 'conversations.join' });
      const channel = world.reachable(team, channelId);
      // @see docs.slack.dev/reference/methods/conversations.join: method_not_supported_for_channel_type, is_archived
      if (channel.kind !== 'public') throw new Refusal('method_not_supported_for_channel_type');
      if (channel.isArchived) throw new Refusal('is_archived');
      channel.members.add(team.botUserId);
      return { channel: channelJson(world, channel) };
    },
  },
  'conversations.members': {
    by: 'bot',
    scopes: ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
    tier: 4,
    handle(call) {
      const form = checked(membersForm, call.args, { what: 'conversations.members' });
      const channel = call.world.reachable(call.team, form.channel);
      demandScope(call, channel, 'read');
      return page([...channel.members] as unknown as Json[], 'members', form);
    },
  },
  'conversations.list': {
    by: 'bot',
    scopes: ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
    tier: 2,
    handle: (call) => listed(call, 'conversations.list', () => true),
  },
  'users.conversations': {
    by: 'bot',
    scopes: ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
    tier: 3,
    handle: (call) => listed(call, 'users.conversations', ({ members }) => members.has(call.team.botUserId)),
  },
  'conversations.open': {
    by: 'bot',
    scopes: ['im:write', 'mpim:write', 'groups:write', 'channels:manage'],
    tier: 3,
    handle(call) {
      const { users } = checked(openForm, call.args, { what: 'conversations.open' });
      const user = call.world.users.get(users);
      if (user?.teamId !== call.team.id) throw new Refusal('user_not_found');
      return { channel: { id: call.world.dmWith(user.id).id } };
    },
  },
  // "Rate limits … 1+ per minute … 15 messages" apply only to apps sold outside the Marketplace: changelog 2025-05-29.
  'conversations.history': {
    by: 'bot',
    scopes: ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
    tier: 3,
    handle(call) {
      const form = checked(historyForm, call.args, { what: 'conversations.history' });
      const channel = readable(call, form.channel);
      const { oldest = '0', latest = '9999999999.000000' } = form;
      const isAsked = ({ ts, threadTs }: Message): boolean => threadTs === null && ts > oldest && ts < latest;
      const found = visible(call, channel).filter(isAsked).toReversed();
      return messagePage(
        found.map((one) => messageJson(call.world, one)),
        form,
      );
    },
  },
  'conversations.replies': {
    by: 'bot',
    scopes: ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
    tier: 3,
    handle(call) {
      const form = checked(repliesForm, call.args, { what: 'conversations.replies' });
      const channel = readable(call, form.channel);
      const found = visible(call, channel).filter(({ ts, threadTs }) => ts === form.ts || threadTs === form.ts);
      if (found.length === 0) throw new Refusal('thread_not_found');
      return messagePage(
        found.map((one) => messageJson(call.world, one)),
        form,
      );
    },
  },
} as const satisfies Record<string, Method>;

/** @see docs.slack.dev/reference/methods/conversations.list: `types`, default public channels */
function listed(call: Call, method: string, isAsked: (channel: Channel) => boolean): Json {
  const form = checked(listForm, call.args, { what: method });
  const names = { public: 'public_channel', private: 'private_channel', dm: 'im' } as const;
  const wanted = (form.types ?? 'public_channel').split(',').map((one) => one.trim());
  const found = [...call.world.channels.values()].filter((channel) => {
    const isOurs = channel.teamId === call.team.id && wanted.includes(names[channel.kind]);
    const isSeen = channel.kind === 'public' || channel.members.has(call.team.botUserId);
    return isOurs && isSeen && isAsked(channel) && !(form.exclude_archived === true && channel.isArchived);
  });
  for (const channel of found) demandScope(call, channel, 'read');
  return page(
    found.map((one) => channelJson(call.world, one)),
    'channels',
    form,
  );
}
