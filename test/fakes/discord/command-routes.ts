import { type Command, checkedCommands } from './command-form.ts';
import { type Json, Refusal } from './refusal.ts';
import { type Call, ok, type Route } from './routes.ts';

function scopeOf({ world, at }: Call, isGlobal: boolean): string {
  if (at('application') !== world.applicationId) {
    throw new Refusal(403, 20012, { violation: `commands of another application: ${at('application')}` });
  }
  if (isGlobal) return 'global';
  if (at('guild') !== world.guildId)
    throw new Refusal(403, 50001, { violation: `commands of a server without the bot` });
  return at('guild');
}

const read = (isGlobal: boolean): Route => ({
  by: 'bot',
  bucket: 'other',
  handle: (call) =>
    ok((call.world.commands.get(scopeOf(call, isGlobal)) ?? []).map((one) => shown(one, isLocalized(call)))),
});

/** "Whether to include full localization dictionaries": "Get Global Application Commands". */
const isLocalized = ({ query }: Call): boolean => query.get('with_localizations') === 'true';

/** Returns a command with the fields that Discord adds, and without those that equal their default. */
function shown(command: Json, localized: boolean): Json {
  const added = { default_member_permissions: null, dm_permission: true, nsfw: false };
  return { ...added, ...shownOption(command, localized) };
}

function shownOption(option: Json, localized: boolean): Json {
  const {
    name_localizations = null,
    description_localizations = null,
    options,
    required,
    autocomplete,
    ...rest
  } = option;
  return {
    ...rest,
    ...(localized ? { name_localizations, description_localizations } : {}),
    ...(required === true ? { required } : {}),
    ...(autocomplete === true ? { autocomplete } : {}),
    ...(Array.isArray(options) ? { options: options.map((one: Json) => shownOption(one, localized)) } : {}),
  };
}

/** "Takes a list of application commands, overwriting the existing": "Bulk Overwrite Global Application Commands". */
const write = (isGlobal: boolean): Route => ({
  by: 'bot',
  bucket: 'other',
  handle(call) {
    const { world } = call;
    const scope = scopeOf(call, isGlobal);
    const known = world.commands.get(scope) ?? [];
    const written = checkedCommands(call.json, isGlobal).map((one): Command & Json => {
      const before = known.find(({ name, type }) => name === one.name && type === one.type);
      const where: Partial<Command> = isGlobal ? { contexts: null, integration_types: [0, 1] } : { guild_id: scope };
      const id = before?.['id'] ?? world.freshId();
      return { ...where, ...one, id, application_id: world.applicationId, version: world.freshId() };
    });
    world.commands.set(scope, written);
    world.commandWrites += 1;
    return ok(written.map((one) => shown(one, true)));
  },
});

/** @see discord docs: interactions/application-commands, "Endpoints" */
export const commandRoutes = {
  'GET /applications/:application/commands': read(true),
  'PUT /applications/:application/commands': write(true),
  'GET /applications/:application/guilds/:guild/commands': read(false),
  'PUT /applications/:application/guilds/:guild/commands': write(false),
} as const satisfies Record<string, Route>;
