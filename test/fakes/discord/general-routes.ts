import { Refusal } from './refusal.ts';
import { ok, type Route } from './routes.ts';
import { channelJson, guildJson, memberJson, rolesJson, userJson } from './wire.ts';
import type { World } from './world.ts';

const guildRoute = (show: (world: World, id: string) => unknown): Route => ({
  by: 'bot',
  bucket: 'other',
  handle({ world, at }) {
    const isMember = world.channels.values().some(({ guildId, isBotHere }) => isBotHere && guildId === at('guild'));
    // A server that the bot is not in: 10004. @see topics/opcodes-and-status-codes, JSON error codes
    if (!isMember) throw new Refusal(404, 10004);
    return ok(show(world, at('guild')));
  },
});

const selfRoute = (show: (world: World) => unknown): Route => ({
  by: 'bot',
  bucket: 'other',
  handle: ({ world }) => ok(show(world)),
});

/** @see discord docs: resources/application, "Application Structure" */
const applicationJson = (world: World): unknown => ({
  id: world.applicationId,
  name: world.bot.name,
  icon: null,
  description: '',
  bot_public: true,
  bot_require_code_grant: false,
  verify_key: '',
  flags: 0,
  bot: userJson(world.bot),
  integration_types_config: { 0: {}, 1: {} },
});

/** Who and where: the application, users, servers. */
export const generalRoutes = {
  'GET /users/@me': selfRoute((world) => userJson(world.bot)),
  'GET /users/:user': {
    by: 'bot',
    bucket: 'other',
    handle({ world, at }) {
      const user = world.users.get(at('user'));
      if (user === undefined) throw new Refusal(404, 10013);
      return ok(userJson(user));
    },
  },
  'GET /applications/@me': selfRoute(applicationJson),
  'GET /oauth2/applications/@me': selfRoute(applicationJson),
  'GET /guilds/:guild': guildRoute(guildJson),
  'GET /guilds/:guild/roles': guildRoute(rolesJson),
  'GET /guilds/:guild/channels': guildRoute((world, id) =>
    [...world.channels.values()]
      .filter(({ guildId, isDeleted, kind }) => guildId === id && !isDeleted && kind !== 'thread')
      .map((channel) => channelJson(world, channel)),
  ),
  'GET /guilds/:guild/members/:user': {
    by: 'bot',
    bucket: 'other',
    handle({ world, at }) {
      const user = world.users.get(at('user'));
      if (user === undefined) throw new Refusal(404, 10013);
      return ok(memberJson(user));
    },
  },
} as const satisfies Record<string, Route>;
