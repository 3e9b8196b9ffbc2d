import { hash } from 'node:crypto';
import { type APIApplication, type APIApplicationCommand, Routes } from 'discord.js';
import type { Command } from '#commands/command.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Leases } from '#src/store/leases.ts';
import { commandDefinitions } from './declarations.ts';
import type { DiscordMemory } from './memory.ts';
import type { DiscordRest } from './rest.ts';

/** What is to be registered, and where. */
export interface Registration {
  readonly rest: DiscordRest;
  readonly application: string;
  /** The one server that gets the commands; `null`: all. */
  readonly guild: string | null;
  readonly commands: readonly Command[];
}

/** Registers the commands, in place of all that were. @returns how many. @throws DailiesError */
export async function registerCommands(registration: Registration): Promise<number> {
  const { rest, guild, commands } = registration;
  const body = commandDefinitions({ commands, isGlobal: guild === null });
  await rest.call({ method: 'PUT', route: routeOf(registration), body, doing: 'registering commands' });
  return body.length;
}

/** How soon a replica looks whether another one that registers is done. */
const LOOK_AGAIN_MS = 500;
const LEASE_MS = 15_000;

/** What it takes to register once, by however many replicas. */
export interface RegisteringOnce {
  readonly memory: DiscordMemory;
  readonly leases: Leases;
  readonly clock: Clock;
  /** Aborted when nothing is to be begun any more. */
  readonly signal: AbortSignal;
}

/**
 * The same, unless just these were registered before and none of them is gone from Discord since. One replica does so at
 * a time: the ones after it find it done.
 * @returns whether they were registered now. @throws DailiesError
 */
export async function registerOnce(registration: Registration, once: RegisteringOnce): Promise<boolean> {
  const { leases, clock, memory, signal } = once;
  while (!signal.aborted) {
    const lease = await leases.take('discord:commands', LEASE_MS);
    if (lease !== null) {
      try {
        return await registerChanged(registration, memory);
      } finally {
        await lease.release();
      }
    }
    await sleep(clock, LOOK_AGAIN_MS, signal).catch(() => undefined);
  }
  return false;
}

async function registerChanged(registration: Registration, memory: DiscordMemory): Promise<boolean> {
  const { application, guild, commands } = registration;
  const digest = hash('sha256', JSON.stringify(commandDefinitions({ commands, isGlobal: guild === null })), 'hex');
  const key = `commands:${application}:${guild ?? 'global'}`;
  const isKnown = (await memory.recall<{ digest: string }>(key))?.digest === digest;
  if (isKnown && (await areThere(registration))) return false;
  await registerCommands(registration);
  await memory.remember(key, { digest });
  return true;
}

/** Whether Discord has a command by each name; where it does not say, what is remembered holds. */
async function areThere(registration: Registration): Promise<boolean> {
  const { rest, guild, commands } = registration;
  const call = { method: 'GET', route: routeOf(registration), doing: 'looking at the commands' } as const;
  const there = await rest.call<readonly APIApplicationCommand[]>(call).catch(() => null);
  const names = new Set(there?.map(({ name }) => name));
  return (
    there === null || commandDefinitions({ commands, isGlobal: guild === null }).every(({ name }) => names.has(name))
  );
}

function routeOf({ application, guild }: Registration) {
  return guild === null ? Routes.applicationCommands(application) : Routes.applicationGuildCommands(application, guild);
}

/** Whom a bot's token belongs to. */
export interface Identity {
  readonly application: string;
  /** The bot's user. */
  readonly user: string;
}

/** The application that a bot's token belongs to, and its user. @throws DailiesError */
export async function ownIdentity(rest: DiscordRest): Promise<Identity> {
  const route = Routes.currentApplication();
  const { id, bot } = await rest.call<APIApplication>({ method: 'GET', route, doing: 'looking up the application' });
  // They are the same since 2016.
  return { application: id, user: bot?.id ?? id };
}
