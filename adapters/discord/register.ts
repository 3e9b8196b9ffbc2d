import { declarations } from '#commands/registry.ts';
import { systemClock } from '#src/clock.ts';
import { ConfigError, readConfig } from '#src/config.ts';
import { loadEnvFile } from '#src/env-file.ts';
import { asDailiesError } from '#src/errors.ts';
import { ownIdentity, registerCommands } from './registration.ts';
import { DiscordRest } from './rest.ts';
import { DiscordTime } from './time.ts';

// `npm run commands`: registers the commands now, whether they changed or not.

/** Registers what there is. @returns a line for whoever ran it. */
async function register(): Promise<string> {
  const problems = loadEnvFile();
  if (problems.length > 0) throw new ConfigError(problems);
  const { discord } = readConfig(process.env);
  if (discord === undefined) return 'Discord: DISCORD_TOKEN is not set, so there is nothing to register.';
  const rest = new DiscordRest({ ...discord, time: new DiscordTime(systemClock) });
  const { application } = await ownIdentity(rest);
  const guild = discord.guildId ?? null;
  const count = await registerCommands({ rest, application, guild, commands: declarations });
  return `Discord: ${count} commands are registered ${guild === null ? 'for all servers' : `in server ${guild}`}.`;
}

try {
  process.stdout.write(`${await register()}\n`);
} catch (thrown) {
  const problems = thrown instanceof ConfigError ? thrown.problems : [asDailiesError(thrown, 'registering').message];
  process.stderr.write(problems.map((problem) => `${problem}\n`).join(''));
  process.exitCode = 1;
}
