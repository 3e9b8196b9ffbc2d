import { z } from 'zod';
import type { PlatformConfig } from '#src/config/index.ts';
import { onOff, optional, serviceUrl, text } from '#src/variables.ts';

export interface DiscordSettings {
  readonly token: string;
  /** REST base URL without the version. Default: Discord's own. The gateway's URL is always fetched from there. */
  readonly apiUrl?: string | undefined;
  /** Id of the only server that gets the commands. Default: all. */
  readonly guildId?: string | undefined;
}

export const discordConfig: PlatformConfig<DiscordSettings> = {
  name: 'discord',
  title: 'Discord',
  variables: z.object({
    DISCORD_TOKEN: text.optional().meta({ description: 'turns Discord on', unset: 'off' }),
    DISCORD_API_URL: serviceUrl
      .optional()
      .meta({ description: 'REST base without the version', unset: 'Discord’s own' }),
    DISCORD_GUILD_ID: z
      .string()
      .regex(/^\d{5,20}$/, 'the id of a Discord server (digits)')
      .optional()
      .meta({
        description: 'the one server that may use the bot; the commands are registered there only',
        unset: 'globally',
      }),
    DISCORD_USER_INSTALL: onOff.describe(
      '`on`: people may install the app for themselves, and use it as members of an allowed server',
    ),
  }),
  teamId: /^\d{5,20}$/,
  teamExample: 'discord:123456789012345678',
  userId: /^\d{1,20}$/,
  userExample: 'discord:234567890123456789',
  tokens: { DISCORD_TOKEN: [] },
  isOn: (given) => given['DISCORD_TOKEN'] !== undefined,
  contradictions: (given) =>
    given['DISCORD_API_URL'] !== undefined && given['DISCORD_TOKEN'] === undefined
      ? ['DISCORD_TOKEN: not set; DISCORD_API_URL is of no use without it']
      : [],
  admits: (given) => (given['DISCORD_USER_INSTALL'] === 'on' ? ['user_install'] : []),
  settings: ({ DISCORD_TOKEN: token = '', DISCORD_API_URL: apiUrl, DISCORD_GUILD_ID: guildId }) => ({
    token,
    ...optional('apiUrl', apiUrl),
    ...optional('guildId', guildId),
  }),
};
