import type { Command, Option } from './command-form.ts';
import type { UploadedFile } from './files.ts';
import { EVERYBODY } from './interacting.ts';
import { bits, type Permission } from './permissions.ts';
import type { Json } from './refusal.ts';
import { attachmentJson, channelJson, roleJson, userJson } from './wire.ts';
import { present, type World } from './world.ts';

/** Values of options: an attachment option takes a file, a user option a user's id, a mentionable one that or a role's. */
export type Given = Readonly<Record<string, string | number | boolean | UploadedFile>>;

/** A command that is available to users in a channel. */
export interface Found {
  readonly command: Command & Json;
  /** The subcommands on the way to `options`, which are those of the last. */
  readonly path: readonly Option[];
  readonly options: readonly Option[];
}

/**
 * Finds a command by the text entered, e.g. `video create`.
 * @throws Error if a user could not: not registered, or not available there
 */
export function findCommand(world: World, typed: string, channelId: string, type = 1): Found {
  const channel = world.channel(channelId);
  const scopes = ['global', ...(channel.guildId === null ? [] : [channel.guildId])];
  const all = scopes.flatMap((scope) => world.commands.get(scope) ?? []) as readonly (Command & Json)[];
  const [first = '', ...rest] = type === 1 ? typed.split(' ') : [typed];
  const command = present(
    all.find((one) => one.name === first && one.type === type),
    `command ${first}`,
  );
  const context = channel.guildId !== null ? 0 : channel.kind === 'dm' ? 1 : 2;
  if (command.contexts != null && !command.contexts.includes(context))
    throw new Error(`${first} is not offered in context ${context}.`);
  const installed = channel.isBotHere ? 0 : 1;
  // In the bot's own DM the command is available through either installation.
  const isInstalled = command.integration_types?.includes(installed) ?? command['guild_id'] !== undefined;
  if (!isInstalled && channel.kind !== 'dm') throw new Error(`${first} is not installed to where it was typed.`);
  let options = command.options ?? [];
  const path: Option[] = [];
  for (const word of rest) {
    const step = present(
      options.find((one) => one.name === word && one.type <= 2),
      `subcommand ${typed}`,
    );
    path.push(step);
    options = step.options ?? [];
  }
  if (options.some((one) => one.type <= 2)) throw new Error(`${typed} wants a subcommand.`);
  return { command, path, options };
}

/**
 * Returns the data of a command as Discord sends it: values of the options' types, inside its subcommands.
 * @param focused the option being entered: no option is required then
 * @throws Error if Discord's client would not let the user send it
 * @see discord docs: interactions/receiving-and-responding, "Application Command Data Structure"
 */
export function commandData(
  world: World,
  found: Found,
  given: Given,
  focused: string | null = null,
  typist: Typist | null = null,
): Json {
  const { command, path, options } = found;
  const resolved: Resolved = { attachments: {}, users: {}, roles: {}, channels: {} };
  for (const one of options) {
    if (focused === null && one.required === true && given[one.name] === undefined)
      throw new Error(`${one.name} is required.`);
  }
  const values = Object.entries(given).map(([name, value]): Json => {
    const option = present(
      options.find((one) => one.name === name),
      `option ${name}`,
    );
    const isFocused = name === focused;
    if (!isFocused) checkValue(option, value);
    return {
      name,
      type: option.type,
      value: wireValue(world, value, option, { resolved, typist }),
      ...(isFocused ? { focused: true } : {}),
    };
  });
  const inside = path.reduceRight<readonly Json[]>((inner, { name, type }) => [{ name, type, options: inner }], values);
  const used = Object.entries(resolved).filter(([, some]) => Object.keys(some).length > 0);
  return {
    id: command['id'],
    name: command.name,
    type: command.type,
    options: inside,
    ...(command['guild_id'] === undefined ? {} : { guild_id: command['guild_id'] }),
    ...(used.length === 0 ? {} : { resolved: Object.fromEntries(used) }),
  };
}

function wireValue(
  world: World,
  value: Given[string],
  { type }: Option,
  { resolved, typist }: { readonly resolved: Resolved; readonly typist: Typist | null },
): unknown {
  if (typeof value === 'object') {
    const attachment = world.files.add(world.freshId(), world.applicationId, value, null);
    resolved.attachments[attachment.id] = { ...attachmentJson(attachment), ephemeral: true };
    return attachment.id;
  }
  const what = ({ 6: 'user', 7: 'channel', 9: 'mentionable' } as const)[type as 6 | 7 | 9];
  if (what !== undefined) resolveChosen(world, String(value), what, { resolved, typist });
  return value;
}

/** Adds what a user chose to the resolved data. @throws Error for what Discord's client does not offer */
export function resolveChosen(
  world: World,
  id: string,
  what: 'user' | 'role' | 'mentionable' | 'channel',
  { resolved, typist }: { readonly resolved: Resolved; readonly typist: Typist | null },
): void {
  const role = what === 'role' || what === 'mentionable' ? world.roles.get(id) : undefined;
  if (role !== undefined) resolved.roles[id] = roleJson(id, role);
  else if (what === 'role') throw new Error(`There is no role ${id}.`);
  else if (what !== 'channel') resolved.users[id] = userJson(world.user(id));
  if (what !== 'channel' || typist === null) return;
  const channel = world.channel(id);
  // Discord's own check: "Invalid channel" for one that the user does not see.
  if (!world.isSeenBy(typist.userId, channel)) throw new Error(`The person does not see channel ${channel.id}.`);
  const { type: kind, name, parent_id } = channelJson(world, channel) as Record<string, unknown>;
  // Partial channels contain the permissions of the user. @see interactions/receiving-and-responding, "Resolved Data
  // Structure"
  const permissions = bits([...EVERYBODY, ...typist.permissions]);
  resolved.channels[channel.id] = { id, type: kind, name, parent_id, permissions };
}

/** The user of a command, and their permissions in addition to {@link EVERYBODY}. */
export interface Typist {
  readonly userId: string;
  readonly permissions: readonly Permission[];
}

/** Data of what was chosen, by id. */
export interface Resolved {
  readonly attachments: Record<string, Json>;
  readonly users: Record<string, Json>;
  readonly roles: Record<string, Json>;
  readonly channels: Record<string, Json>;
}

/** @throws Error for a value that Discord's client does not accept */
function checkValue(option: Option, value: Given[string]): void {
  const { name, type, choices, min_value, max_value, min_length, max_length } = option;
  const wanted = {
    3: 'string',
    4: 'number',
    5: 'boolean',
    6: 'string',
    7: 'string',
    9: 'string',
    10: 'number',
    11: 'object',
  }[type];
  if (typeof value !== wanted) throw new Error(`${name} wants a ${wanted}, not ${typeof value}.`);
  if (type === 4 && !Number.isInteger(value)) throw new Error(`${name} wants an integer.`);
  if (choices !== undefined && choices.length > 0 && !choices.some((one) => one.value === value)) {
    throw new Error(`${name} does not offer ${JSON.stringify(value)}.`);
  }
  const size = typeof value === 'string' ? value.length : Number(value);
  const [least, most] = typeof value === 'string' ? [min_length, max_length ?? 6000] : [min_value, max_value];
  if (typeof value === 'object' || typeof value === 'boolean') return;
  if (size < (least ?? Number.NEGATIVE_INFINITY) || size > (most ?? Number.POSITIVE_INFINITY)) {
    throw new Error(`${name} does not take ${String(value).slice(0, 40)} (${size}).`);
  }
}
