import { hash } from 'node:crypto';
import { type APIApplication, type APIApplicationCommand, Routes } from 'discord.js';
import type { Command } from '#commands/command.ts';
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

/**
 * The same, unless just these were registered before and none of them is gone from Discord since.
 * @returns whether they were registered now.
 */
export async function registerChanged(registration: Registration, memory: DiscordMemory): Promise<boolean> {
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

/** The application that a bot's token belongs to. @throws DailiesError */
export async function ownApplication(rest: DiscordRest): Promise<string> {
  const route = Routes.currentApplication();
  const { id } = await rest.call<APIApplication>({ method: 'GET', route, doing: 'looking up the application' });
  return id;
}
