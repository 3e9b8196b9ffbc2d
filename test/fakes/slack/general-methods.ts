import { z } from 'zod';
import { checked, timestamp } from './form.ts';
import type { Call, Method } from './methods.ts';
import type { Json, Message } from './records.ts';
import { Refusal } from './refusal.ts';
import { messageJson, userJson } from './wire.ts';

const groupForm = z.looseObject({ usergroup: z.string().min(1) });
const userForm = z.looseObject({ user: z.string().min(1) });
const reactionForm = z.looseObject({
  channel: z.string().min(1),
  timestamp,
  // Names without colons; a skin tone may follow. @see docs.slack.dev/reference/methods/reactions.add
  name: z.string().regex(/^[\w+'-]+(::skin-tone-[2-6])?$/),
});
const reactionsForm = z.looseObject({ channel: z.string().min(1), timestamp });

function reactedTo({ world, team }: Call, form: { readonly channel: string; readonly timestamp: string }): Message {
  const channel = world.reachable(team, form.channel);
  const message = world.messages.get(form.timestamp);
  if (message?.channelId !== channel.id || message.visibleTo !== null || message.isDeleted) {
    throw new Refusal('message_not_found');
  }
  // @see docs.slack.dev/reference/methods/reactions.add: is_archived; the app must be in the conversation
  if (channel.isArchived) throw new Refusal('is_archived');
  if (channel.kind !== 'dm' && !channel.members.has(team.botUserId)) throw new Refusal('not_in_channel');
  return message;
}

/** Methods for the app's identity, users, reactions and the Socket Mode connection. */
export const generalMethods = {
  // @see docs.slack.dev/reference/methods/auth.test: hundreds of requests a minute
  'auth.test': {
    by: 'bot',
    scopes: [],
    tier: 4,
    handle({ world, team }) {
      const { id, name, domain, botUserId, botId } = team;
      const url = `https://${domain}.slack.com/`;
      const who = { team: name, user: world.user(botUserId).name, team_id: id, user_id: botUserId, bot_id: botId };
      return { url, ...who, is_enterprise_install: false };
    },
  },
  'apps.connections.open': {
    by: 'app',
    scopes: [],
    tier: 1,
    handle: ({ socketAddress }) => ({ url: socketAddress() }),
  },
  'users.info': {
    by: 'bot',
    scopes: ['users:read'],
    tier: 4,
    handle({ world, team, args }) {
      const { user: userId } = checked(userForm, args, { what: 'users.info' });
      const user = world.users.get(userId);
      const isShared = world.channels.values().some((one) => one.teamId === team.id && one.members.has(userId));
      if (user === undefined || (user.teamId !== team.id && !isShared)) throw new Refusal('user_not_found');
      // "is_stranger: the user is from an external workspace". @see docs.slack.dev/reference/objects/user-object
      return { user: { ...userJson(user), ...(user.teamId === team.id ? {} : { is_stranger: true }) } };
    },
  },
  // @see docs.slack.dev/reference/methods/usergroups.users.list: tier 2; no_such_subteam
  'usergroups.users.list': {
    by: 'bot',
    scopes: ['usergroups:read'],
    tier: 2,
    handle({ world, args }) {
      const { usergroup } = checked(groupForm, args, { what: 'usergroups.users.list' });
      const users = world.groups.get(usergroup);
      if (users === undefined) throw new Refusal('no_such_subteam');
      return { users: [...users] };
    },
  },
  // @see docs.slack.dev/reference/methods/usergroups.list: tier 2
  'usergroups.list': {
    by: 'bot',
    scopes: ['usergroups:read'],
    tier: 2,
    handle({ world, team }) {
      const usergroups = [...world.groups.keys()].map((id) => {
        const handle = id.toLowerCase();
        return { id, team_id: team.id, is_usergroup: true, handle, name: handle, description: '', date_delete: 0 };
      });
      return { usergroups };
    },
  },
  'reactions.add': {
    by: 'bot',
    scopes: ['reactions:write'],
    tier: 3,
    handle(call) {
      const form = checked(reactionForm, call.args, { what: 'reactions.add' });
      const { reactions } = reactedTo(call, form);
      const users = reactions.get(form.name) ?? new Set();
      if (users.has(call.team.botUserId)) throw new Refusal('already_reacted');
      reactions.set(form.name, users.add(call.team.botUserId));
      return {};
    },
  },
  'reactions.remove': {
    by: 'bot',
    scopes: ['reactions:write'],
    tier: 2,
    handle(call) {
      const form = checked(reactionForm, call.args, { what: 'reactions.remove' });
      const users = reactedTo(call, form).reactions.get(form.name);
      if (users?.delete(call.team.botUserId) !== true) throw new Refusal('no_reaction');
      return {};
    },
  },
  'reactions.get': {
    by: 'bot',
    scopes: ['reactions:read'],
    tier: 3,
    handle(call): Json {
      const form = checked(reactionsForm, call.args, { what: 'reactions.get' });
      const message = reactedTo(call, form);
      return { type: 'message', channel: message.channelId, message: messageJson(call.world, message) };
    },
  },
} as const satisfies Record<string, Method>;
