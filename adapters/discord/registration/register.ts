import { hash } from 'node:crypto';
import {
  type APIApplication,
  type APIApplicationCommand,
  ApplicationCommandType,
  PermissionFlagsBits,
  type RESTPostAPIApplicationCommandsJSONBody,
  Routes,
} from 'discord.js';
import type { Command } from '#commands/bot-port.ts';
import { type Leases, withLease } from '#src/engine/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { retry } from '#src/retry.ts';
import type { Parts } from '../parts.ts';
import type { DiscordRest } from '../rest/client.ts';
import { commandDefinitions } from './commands.ts';

interface Registration {
  readonly rest: DiscordRest;
  readonly application: string;
  /** Id of the only server that gets the commands; `null` for all. */
  readonly guild: string | null;
  /** Commands to register; an empty list removes the registered ones. */
  readonly commands: readonly Command[];
  /** True if users may install the app for themselves. */
  readonly hasUserInstall: boolean;
}

/** Registers the commands, replacing all others of the scope. @returns their number. @throws DailiesError */
export async function registerCommands(registration: Registration): Promise<number> {
  const { rest } = registration;
  const body = definitionsOf(registration);
  await rest.call({ method: 'PUT', route: routeOf(registration), body, doing: 'registering commands' });
  return body.length;
}

/** Interval at which a replica checks whether another one has finished registering. */
const CHECK_EVERY_MS = 500;
const LEASE_MS = 15_000;

/** Dependencies to register once across all replicas. */
interface RegisteringOnce extends Pick<Parts, 'records' | 'clock' | 'logger'> {
  readonly leases: Leases;
  /** Resolves to the names of the bot's servers, by id. @throws DailiesError */
  readonly servers: () => Promise<ReadonlyMap<string, string>>;
  /** Aborted on shutdown. */
  readonly signal: AbortSignal;
}

/** Initial and maximum backoff after a failed registration. */
const FIRST_REGISTERING_MS = 1_000;
const MAX_REGISTERING_MS = 5 * 60_000;

/**
 * Registers the commands unless exactly these are registered, retrying until shutdown: without them the bot is unusable.
 * A lease serialises the replicas: later ones find it done. Never rejects.
 */
export async function keepRegistering(
  registration: () => Promise<Registration>,
  once: RegisteringOnce & { readonly random: () => number },
): Promise<void> {
  const { leases, clock, logger, signal, random } = once;
  const failed = (thrown: unknown, _failures: number, delayMs: number): void => {
    const error = asDailiesError(thrown, 'registering commands');
    logger.warn({ event: 'discord_commands_failed', err: error, delayMs }, 'failed to register the commands, retrying');
  };
  const pace = { firstMs: FIRST_REGISTERING_MS, maxMs: MAX_REGISTERING_MS };
  const lease = { leases, clock, name: 'discord:commands', ttlMs: LEASE_MS, retryMs: CHECK_EVERY_MS, signal };
  const registering = retry({ ...pace, clock, random, signal, failed }, async () => {
    const wanted = await registration();
    const isNew = await withLease(lease, async () => {
      const isRegistered = await registerChanged(wanted, once);
      await removeElsewhere(wanted, once);
      return isRegistered;
    });
    if (isNew === true)
      logger.info({ event: 'discord_commands_registered', guild: wanted.guild ?? 'all' }, 'registered the commands');
  });
  // Rejects only when aborted.
  await registering.catch(() => undefined);
}

/** @returns whether this call registered them. @throws DailiesError */
async function registerChanged(registration: Registration, { records }: RegisteringOnce): Promise<boolean> {
  const { guild } = registration;
  const wanted = definitionsOf(registration);
  const digest = hash('sha256', JSON.stringify(wanted), 'hex');
  const key = recordKey(registration, guild);
  const isKnown = (await records.recall<{ digest: string }>(key))?.digest === digest;
  const current = await registered(registration);
  // If Discord does not return them, the stored digest decides.
  const isCurrent = current === null ? isKnown : areRegistered(wanted, current, guild === null);
  if (!isCurrent) await registerCommands(registration);
  if (!isCurrent || !isKnown) await records.remember(key, { digest });
  return !isCurrent;
}

/** Compares the registered commands with the wanted ones. Changes nothing. */
export async function stateOfCommands(registration: Registration): Promise<'current' | 'other' | 'none' | 'unknown'> {
  const current = await registered(registration);
  if (current === null) return 'unknown';
  if (areRegistered(definitionsOf(registration), current, registration.guild === null)) return 'current';
  return current.length === 0 ? 'none' : 'other';
}

/** Fetches the registered commands; `null` if Discord does not return them. */
async function registered(registration: Registration): Promise<readonly APIApplicationCommand[] | null> {
  const { rest } = registration;
  const query = { with_localizations: 'true' };
  return rest
    .get<readonly APIApplicationCommand[]>(routeOf(registration), 'looking at the commands', query)
    .catch(() => null);
}

/**
 * Removes the commands registered under another `DISCORD_GUILD_ID`, or without one: users would see every command
 * twice. After a failure, the next start retries.
 */
async function removeElsewhere(registration: Registration, once: RegisteringOnce): Promise<void> {
  const { records, servers, logger } = once;
  const guilds = await servers().catch(() => new Map<string, string>());
  const elsewhere = [null, ...guilds.keys()].filter((scope) => scope !== registration.guild);
  for (const scope of elsewhere) {
    const key = recordKey(registration, scope);
    if ((await records.recall(key)) === undefined) continue;
    const where = scope === null ? 'all servers' : `${guilds.get(scope)} (discord:${scope})`;
    try {
      await registerCommands({ ...registration, guild: scope, commands: [] });
      await records.forget(key);
      logger.info({ event: 'discord_commands_removed', where }, 'removed the commands of an earlier DISCORD_GUILD_ID');
    } catch (thrown) {
      const error = asDailiesError(thrown, 'removing commands');
      logger.warn({ event: 'discord_commands_remain', where, err: error }, 'failed to remove commands');
    }
  }
}

function recordKey({ application }: Registration, guild: string | null): string {
  return `commands:${application}:${guild ?? 'global'}`;
}

function definitionsOf({ commands, guild, hasUserInstall }: Registration) {
  if (commands.length === 0) return [];
  return commandDefinitions({ commands, isGlobal: guild === null, hasUserInstall });
}

function routeOf({ application, guild }: Registration) {
  return guild === null ? Routes.applicationCommands(application) : Routes.applicationGuildCommands(application, guild);
}

/** Application and user that a bot's token belongs to. */
export interface Identity {
  readonly application: string;
  /** Id of the bot's user. */
  readonly user: string;
  readonly name: string;
  /** True if anyone may add the bot to a server (“Public Bot”). */
  readonly isPublic: boolean;
}

/** Fetches the application that a bot's token belongs to, and its user. @throws DailiesError */
export async function ownIdentity(rest: DiscordRest): Promise<Identity> {
  const found = await rest.get<APIApplication>(Routes.currentApplication(), 'looking up the application');
  const { id, bot, name, bot_public: isPublic } = found;
  // Both ids are the same since 2016.
  return { application: id, user: bot?.id ?? id, name: bot?.username ?? name, isPublic };
}

/** Permissions: View Channel, Send Messages, Send Messages in Threads, Create Public Threads, Attach Files and Read Message History. */
const PERMISSIONS =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.SendMessagesInThreads |
  PermissionFlagsBits.CreatePublicThreads |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.ReadMessageHistory;

/**
 * Returns the link that adds the bot to a server, with only the permissions it needs.
 * @see https://docs.discord.com/developers/topics/oauth2#bot-authorization-flow
 */
export function inviteLink(application: string): string {
  return `https://discord.com/oauth2/authorize?client_id=${application}&scope=bot+applications.commands&permissions=${PERMISSIONS}`;
}

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
function areRegistered(
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
