import { hash } from 'node:crypto';
import { type APIApplication, type APIApplicationCommand, PermissionFlagsBits, Routes } from 'discord.js';
import type { Command } from '#commands/bot-port.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Leases } from '#src/cluster/leases.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { backoffMs } from '#src/pipeline/backoff.ts';
import type { MessageStore } from '../messages/message-store.ts';
import type { DiscordRest } from '../rest/client.ts';
import { commandDefinitions } from './commands.ts';
import { areRegistered } from './comparison.ts';

/** What is to be registered, and where. */
export interface Registration {
  readonly rest: DiscordRest;
  readonly application: string;
  /** The one server that gets the commands; `null`: all. */
  readonly guild: string | null;
  /** None: what is registered there is removed. */
  readonly commands: readonly Command[];
  /** Whether people may install the app for themselves. */
  readonly hasUserInstall: boolean;
}

/** Registers the commands, in place of all that were. @returns how many. @throws DailiesError */
export async function registerCommands(registration: Registration): Promise<number> {
  const { rest } = registration;
  const body = definitionsOf(registration);
  await rest.call({ method: 'PUT', route: routeOf(registration), body, doing: 'registering commands' });
  return body.length;
}

/** How soon a replica looks whether another one that registers is done. */
const LOOK_AGAIN_MS = 500;
const LEASE_MS = 15_000;

/** What it takes to register once, by however many replicas. */
export interface RegisteringOnce {
  readonly memory: MessageStore;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The servers of the bot: their names, by id. @throws DailiesError */
  readonly servers: () => Promise<ReadonlyMap<string, string>>;
  /** Aborted when nothing is to be begun any more. */
  readonly signal: AbortSignal;
}

/** How soon the commands are registered again after a failure, at first and in the end. */
const FIRST_REGISTERING_MS = 1_000;
const MAX_REGISTERING_MS = 5 * 60_000;

/** Registers the commands, and tries again until the stop: without them the bot is of no use. Never rejects. */
export async function keepRegistering(
  registration: () => Promise<Registration>,
  once: RegisteringOnce & { readonly random: () => number },
): Promise<void> {
  const { clock, logger, signal, random } = once;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const wanted = await registration();
      if (await registerOnce(wanted, once))
        logger.info({ guild: wanted.guild ?? 'all' }, 'the commands were registered');
      return;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'registering commands');
      const pace = { firstMs: FIRST_REGISTERING_MS, maxMs: MAX_REGISTERING_MS, random: random() };
      const delayMs = backoffMs(failures, { ...pace, askedMs: error.retryAfterMs });
      logger.warn({ err: error, delayMs }, 'the commands could not be registered; trying again');
      await sleep(clock, delayMs, signal).catch(() => undefined);
    }
  }
}

/**
 * Registers the commands, unless Discord has just these. One replica does so at a time: the ones after it find it done.
 * @returns whether they were registered now. @throws DailiesError
 */
async function registerOnce(registration: Registration, once: RegisteringOnce): Promise<boolean> {
  const { leases, clock, signal } = once;
  while (!signal.aborted) {
    const lease = await leases.take('discord:commands', LEASE_MS);
    if (lease !== null) {
      try {
        const isNew = await registerChanged(registration, once);
        await removeElsewhere(registration, once);
        return isNew;
      } finally {
        await lease.release();
      }
    }
    await sleep(clock, LOOK_AGAIN_MS, signal).catch(() => undefined);
  }
  return false;
}

async function registerChanged(registration: Registration, { memory }: RegisteringOnce): Promise<boolean> {
  const { guild } = registration;
  const wanted = definitionsOf(registration);
  const digest = hash('sha256', JSON.stringify(wanted), 'hex');
  const key = memoryKey(registration, guild);
  const isKnown = (await memory.recall<{ digest: string }>(key))?.digest === digest;
  const there = await registered(registration);
  // Where Discord does not say, what is remembered holds.
  const isThere = there === null ? isKnown : areRegistered(wanted, there, guild === null);
  if (!isThere) await registerCommands(registration);
  if (!isThere || !isKnown) await memory.remember(key, { digest });
  return !isThere;
}

/** The commands that Discord has; `null` where it does not say. */
async function registered(registration: Registration): Promise<readonly APIApplicationCommand[] | null> {
  const query = { with_localizations: 'true' };
  const call = { method: 'GET', route: routeOf(registration), query, doing: 'looking at the commands' } as const;
  return registration.rest.call<readonly APIApplicationCommand[]>(call).catch(() => null);
}

/**
 * Removes what was registered under another `DISCORD_GUILD_ID`, or without one: people would see every command twice.
 * What cannot be removed now is removed at the next start.
 */
async function removeElsewhere(registration: Registration, once: RegisteringOnce): Promise<void> {
  const { memory, servers, logger } = once;
  const guilds = await servers().catch(() => new Map<string, string>());
  const elsewhere = [null, ...guilds.keys()].filter((scope) => scope !== registration.guild);
  for (const scope of elsewhere) {
    const key = memoryKey(registration, scope);
    if ((await memory.recall(key)) === undefined) continue;
    const where = scope === null ? 'all servers' : `${guilds.get(scope)} (discord:${scope})`;
    try {
      await registerCommands({ ...registration, guild: scope, commands: [] });
      await memory.forget(key);
      logger.info({ event: 'discord_commands_removed', where }, 'commands of an earlier DISCORD_GUILD_ID were removed');
    } catch (thrown) {
      const error = asDailiesError(thrown, 'removing commands');
      logger.warn({ event: 'discord_commands_remain', where, err: error }, 'commands could not be removed');
    }
  }
}

function memoryKey({ application }: Registration, guild: string | null): string {
  return `commands:${application}:${guild ?? 'global'}`;
}

function definitionsOf({ commands, guild, hasUserInstall }: Registration) {
  if (commands.length === 0) return [];
  return commandDefinitions({ commands, isGlobal: guild === null, hasUserInstall });
}

function routeOf({ application, guild }: Registration) {
  return guild === null ? Routes.applicationCommands(application) : Routes.applicationGuildCommands(application, guild);
}

/** Whom a bot's token belongs to. */
export interface Identity {
  readonly application: string;
  /** The bot's user. */
  readonly user: string;
  readonly name: string;
  /** Whether anyone may add the bot to a server (“Public Bot”). */
  readonly isPublic: boolean;
}

/** The application that a bot's token belongs to, and its user. @throws DailiesError */
export async function ownIdentity(rest: DiscordRest): Promise<Identity> {
  const route = Routes.currentApplication();
  const {
    id,
    bot,
    name,
    bot_public: isPublic,
  } = await rest.call<APIApplication>({ method: 'GET', route, doing: 'looking up the application' });
  // They are the same since 2016.
  return { application: id, user: bot?.id ?? id, name: bot?.username ?? name, isPublic };
}

/** View Channel, Send Messages, Send Messages in Threads, Attach Files and Read Message History. */
const PERMISSIONS =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.SendMessagesInThreads |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.ReadMessageHistory;

/**
 * Returns the link that adds the bot to a server, with just the permissions it needs.
 * @see https://docs.discord.com/developers/topics/oauth2#bot-authorization-flow
 */
export function inviteLink(application: string): string {
  return `https://discord.com/oauth2/authorize?client_id=${application}&scope=bot+applications.commands&permissions=${PERMISSIONS}`;
}
