import { declarations } from '#commands/registry.ts';
import { systemClock } from '#src/clock.ts';
import { ConfigError, readConfig } from '#src/config/index.ts';
import { loadEnvFile } from '#src/env-file.ts';
import { asDailiesError } from '#src/errors.ts';
import { PLATFORM_CONFIGS } from '../../registry.ts';
import { type DiscordSettings, discordConfig } from '../config.ts';
import { DiscordRest, DiscordTime } from '../rest/client.ts';
import { inviteLink, ownIdentity, registerCommands } from './register.ts';

// First half of `npm run commands`: registers the commands, changed or not, and prints the invite link.

/** Registers the commands of the configured bot. @returns the text to print. */
async function register(): Promise<string> {
  const problems = loadEnvFile();
  if (problems.length > 0) throw new ConfigError(problems);
  const { platforms, access } = readConfig(process.env, PLATFORM_CONFIGS);
  const discord = platforms[discordConfig.name] as DiscordSettings | undefined;
  if (discord === undefined) {
    return 'Discord: DISCORD_TOKEN is not set, so no commands are registered. Create an application at https://discord.com/developers/applications › Bot › Reset Token.';
  }
  const rest = new DiscordRest({ ...discord, time: new DiscordTime(systemClock) });
  const { application } = await ownIdentity(rest);
  const guild = discord.guildId ?? null;
  const hasUserInstall = access.admits.includes('user_install');
  const count = await registerCommands({ rest, application, guild, commands: declarations, hasUserInstall });
  const where = guild === null ? 'for all servers' : `in server ${guild}`;
  return `Discord: ${count} commands are registered ${where}. Open this link to add the bot to a server:\n\n${inviteLink(application)}`;
}

try {
  process.stdout.write(`${await register()}\n`);
} catch (thrown) {
  const problems = thrown instanceof ConfigError ? thrown.problems : [asDailiesError(thrown, 'registering').message];
  process.stderr.write(problems.map((problem) => `${problem}\n`).join(''));
  process.exitCode = 1;
}
