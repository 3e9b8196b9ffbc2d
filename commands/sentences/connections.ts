import { withoutDirection } from '../ui/bidi.ts';
import { all, count, shorten } from './format.ts';

// What a platform is connected to, for the operator's terminal and log: plain text without line breaks.

const NAME_LENGTH = 60;
const MOST_NAMES = 5;

/** A bot on Discord, and where it is. */
export interface DiscordConnection {
  readonly bot: string;
  /** The names of the servers that may use it. */
  readonly servers: readonly string[];
  /** How many servers it is in that may not use it. */
  readonly refused: number;
  readonly inviteLink: string;
}

/** `Dailies in 2 servers: Acme and Test`, or how to invite the bot. */
export function discordConnection({ bot, servers, refused, inviteLink }: DiscordConnection): string {
  const who = named(bot);
  if (servers.length === 0 && refused === 0) return `${who}, in no server yet. Invite it: ${inviteLink}`;
  const some = servers.slice(0, MOST_NAMES).map(named);
  const more = servers.length - some.length;
  const names = all([...some, ...(more > 0 ? [`${more} more`] : [])]);
  const where = `${who} in ${count(servers.length, 'server')}${names === '' ? '' : `: ${names}`}`;
  return refused === 0 ? where : `${where} (not allowed to use it: ${count(refused, 'server')}; see ALLOW_TEAMS)`;
}

/** A bot on Slack, and how it is reached. */
export interface SlackConnection {
  /** The one workspace; `null`: every one that installed the app. */
  readonly workspace: { readonly name: string; readonly bot: string } | null;
  readonly mode: 'socket' | 'http';
}

/** `@dailies in Acme, Socket Mode`. */
export function slackConnection({ workspace, mode }: SlackConnection): string {
  const how = mode === 'socket' ? 'Socket Mode' : 'HTTP at /slack/events';
  if (workspace === null) return `every workspace that installs it at /slack/install, ${how}`;
  return `@${named(workspace.bot)} in ${named(workspace.name)}, ${how}`;
}

/** A name from outside on a terminal: nothing in it moves the cursor or turns the words around it. */
function named(name: string): string {
  return shorten(
    withoutDirection(name)
      .replace(/\p{Cc}+/gu, ' ')
      .trim(),
    NAME_LENGTH,
  );
}
