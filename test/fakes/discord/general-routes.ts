import { Refusal } from './refusal.ts';
import { ok, type Route } from './routes.ts';
import { channelJson, guildJson, memberJson, rolesJson, userJson } from './wire.ts';
import type { World } from './world.ts';

const guildRoute = (show: (world: World, id: string) => unknown): Route => ({
  by: 'bot',
  bucket: 'other',
  handle({ world, at }) {
    const isMember = world.channels.values().some(({ guildId, isBotHere }) => isBotHere && guildId === at('guild'));
    // 10004 for a server without the bot. @see topics/opcodes-and-status-codes, JSON error codes
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
  bot_public: world.isPublic,
  bot_require_code_grant: false,
  verify_key: '',
  flags: 0,
  bot: userJson(world.bot),
  integration_types_config: { 0: {}, 1: {} },
});

/** Routes for the application, users and servers. */
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
  // "a list of partial guild objects the current user is a member of". @see resources/user, "Get Current User Guilds"
  'GET /users/@me/guilds': {
    by: 'bot',
    bucket: 'other',
    handle({ world, query }) {
      const limit = Number(query.get('limit') ?? 200);
      if (!(limit >= 1 && limit <= 200)) throw new Refusal(400, 50035);
      const ids = new Set(
        [...world.channels.values()].flatMap(({ guildId, isBotHere }) => (isBotHere && guildId) || []),
      );
      const after = [...ids].filter((id) => BigInt(id) > BigInt(query.get('after') ?? 0));
      const page = after.sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1)).slice(0, limit);
      return ok(
        page.map((id) => ({ id, name: `Server ${id}`, icon: null, owner: false, permissions: '0', features: [] })),
      );
    },
  },
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
      const isBotIn = world.channels.values().some(({ guildId, isBotHere }) => isBotHere && guildId === at('guild'));
      if (!isBotIn) throw new Refusal(404, 10004);
      // Unknown Member. @see topics/opcodes-and-status-codes, JSON error codes
      if (world.outsiders.has(user.id)) throw new Refusal(404, 10007);
      return ok(memberJson(user));
    },
  },
} as const satisfies Record<string, Route>;
