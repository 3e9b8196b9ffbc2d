import { all, count, plainName } from '#commands/sentences/format.ts';

// One line for the operator's terminal and log: plain text without line breaks.

const MAX_NAMES = 5;

/** Discord bot with its servers. */
interface DiscordConnection {
  readonly bot: string;
  /** Names of the servers that may use it. */
  readonly servers: readonly string[];
  /** Number of servers that it is in but that may not use it. */
  readonly refused: number;
  readonly inviteLink: string;
}

/** Describes a Discord connection: `Dailies in 2 servers: Acme and Test`, or the link to invite the bot. */
export function discordConnection({ bot, servers, refused, inviteLink }: DiscordConnection): string {
  const who = plainName(bot);
  if (servers.length === 0 && refused === 0) return `${who}, in no server yet. Invite it: ${inviteLink}`;
  const some = servers.slice(0, MAX_NAMES).map(plainName);
  const more = servers.length - some.length;
  const names = all([...some, ...(more > 0 ? [`${more} more`] : [])]);
  const where = `${who} in ${count(servers.length, 'server')}${names === '' ? '' : `: ${names}`}`;
  return refused === 0 ? where : `${where} (not allowed to use it: ${count(refused, 'server')}; see ALLOW_TEAMS)`;
}
