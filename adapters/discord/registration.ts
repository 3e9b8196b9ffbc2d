import { hash } from 'node:crypto';
import { type APIApplication, Routes } from 'discord.js';
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
export async function registerCommands({ rest, application, guild, commands }: Registration): Promise<number> {
  const body = commandDefinitions({ commands, isGlobal: guild === null });
  const route =
    guild === null ? Routes.applicationCommands(application) : Routes.applicationGuildCommands(application, guild);
  await rest.call({ method: 'PUT', route, body, doing: 'registering commands' });
  return body.length;
}

/** The same, unless just these were registered before. @returns whether they were registered now. */
export async function registerChanged(registration: Registration, memory: DiscordMemory): Promise<boolean> {
  const { application, guild, commands } = registration;
  const digest = hash('sha256', JSON.stringify(commandDefinitions({ commands, isGlobal: guild === null })), 'hex');
  const key = `commands:${application}:${guild ?? 'global'}`;
  if ((await memory.recall<{ digest: string }>(key))?.digest === digest) return false;
  await registerCommands(registration);
  await memory.remember(key, { digest });
  return true;
}

/** The application that a bot's token belongs to. @throws DailiesError */
export async function ownApplication(rest: DiscordRest): Promise<string> {
  const route = Routes.currentApplication();
  const { id } = await rest.call<APIApplication>({ method: 'GET', route, doing: 'looking up the application' });
  return id;
}
