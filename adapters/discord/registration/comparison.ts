import { ApplicationCommandType, type RESTPostAPIApplicationCommandsJSONBody } from 'discord.js';

type Json = Readonly<Record<string, unknown>>;

/** Compared fields of commands, options and choices, with Discord's defaults for omitted ones. */
const DEFAULTS: Json = {
  type: ApplicationCommandType.ChatInput,
  name: null,
  value: null,
  name_localizations: null,
  description: '',
  description_localizations: null,
  required: false,
  autocomplete: false,
  min_value: null,
  max_value: null,
  min_length: null,
  max_length: null,
  default_member_permissions: null,
  nsfw: false,
};

/** Lists whose order is irrelevant. */
const SETS = ['channel_types', 'integration_types', 'contexts'] as const;

/** Fields that only global commands have. */
const GLOBAL_ONLY: ReadonlySet<string> = new Set(['integration_types', 'contexts']);

/**
 * Checks whether exactly these commands are registered. Fields added by Discord (ids, versions, its defaults) are
 * ignored; a missing option, a different limit or an additional command is a difference.
 * @param isGlobal whether they are registered for all servers: then their contexts are compared, too
 * @see https://discord.com/developers/docs/interactions/application-commands#application-command-object
 */
export function areRegistered(
  wanted: readonly RESTPostAPIApplicationCommandsJSONBody[],
  there: readonly object[],
  isGlobal: boolean,
): boolean {
  const forms = (commands: readonly object[]): readonly string[] =>
    commands.map((command) => JSON.stringify(normalized(command as Json, isGlobal))).toSorted();
  // Discord's own Entry Point command is not ours.
  const ours = (there as readonly Json[]).filter(({ type }) => type !== ApplicationCommandType.PrimaryEntryPoint);
  return JSON.stringify(forms(wanted)) === JSON.stringify(forms(ours));
}

function normalized(given: Json, isGlobal: boolean): Json {
  const plain = Object.entries(DEFAULTS).map(([field, standard]) => [field, plainValue(given[field] ?? standard)]);
  const sets = SETS.filter((field) => isGlobal || !GLOBAL_ONLY.has(field)).map((field) => [
    field,
    sorted(given[field]),
  ]);
  const nested = ['options', 'choices'].map((field) => {
    const inside = Array.isArray(given[field]) ? (given[field] as readonly Json[]) : [];
    return [field, inside.map((one) => normalized(one, false))];
  });
  return Object.fromEntries([...plain, ...sets, ...nested]);
}

/** Normalises a value: an empty dictionary equals none, and the order of its entries is irrelevant. */
function plainValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? null : entries;
}

function sorted(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list.map(String).toSorted() : [];
}
