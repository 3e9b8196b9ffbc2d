import { withoutDirection } from '../ui/bidi.ts';
import { all, count, shorten } from './format.ts';

// Descriptions of the platform connections for the operator's terminal and log: plain text without line breaks.

const NAME_LENGTH = 60;
const MAX_NAMES = 5;

/** Discord bot with its servers. */
export interface DiscordConnection {
  readonly bot: string;
  /** Names of the servers that may use it. */
  readonly servers: readonly string[];
  /** Number of servers that it is in but that may not use it. */
  readonly refused: number;
  readonly inviteLink: string;
}

/** Describes a Discord connection: `Dailies in 2 servers: Acme and Test`, or the link to invite the bot. */
export function discordConnection({ bot, servers, refused, inviteLink }: DiscordConnection): string {
  const who = named(bot);
  if (servers.length === 0 && refused === 0) return `${who}, in no server yet. Invite it: ${inviteLink}`;
  const some = servers.slice(0, MAX_NAMES).map(named);
  const more = servers.length - some.length;
  const names = all([...some, ...(more > 0 ? [`${more} more`] : [])]);
  const where = `${who} in ${count(servers.length, 'server')}${names === '' ? '' : `: ${names}`}`;
  return refused === 0 ? where : `${where} (not allowed to use it: ${count(refused, 'server')}; see ALLOW_TEAMS)`;
}

/** Slack bot with its workspace and transport. */
export interface SlackConnection {
  /** The single workspace; `null` for all that installed the app. */
  readonly workspace: { readonly name: string; readonly bot: string } | null;
  readonly mode: 'socket' | 'http';
}

/** Describes a Slack connection: `@dailies in Acme, Socket Mode`. */
export function slackConnection({ workspace, mode }: SlackConnection): string {
  const how = mode === 'socket' ? 'Socket Mode' : 'HTTP at /slack/events';
  if (workspace === null) return `every workspace that installs it at /slack/install, ${how}`;
  return `@${named(workspace.bot)} in ${named(workspace.name)}, ${how}`;
}

/** Sanitises an external name for a terminal: removes control and directional characters, and shortens it. */
function named(name: string): string {
  return shorten(
    withoutDirection(name)
      .replace(/\p{Cc}+/gu, ' ')
      .trim(),
    NAME_LENGTH,
  );
}
