import { plainName } from '#commands/sentences/format.ts';

// One line for the operator's terminal and log: plain text without line breaks.

/** Slack bot with its workspace and transport. */
interface SlackConnection {
  /** The single workspace; `null` for all that installed the app. */
  readonly workspace: { readonly name: string; readonly bot: string } | null;
  readonly mode: 'socket' | 'http';
}

/** Describes a Slack connection: `@dailies in Acme, Socket Mode`. */
export function slackConnection({ workspace, mode }: SlackConnection): string {
  const how = mode === 'socket' ? 'Socket Mode' : 'HTTP at /slack/events';
  if (workspace === null) return `every workspace that installs it at /slack/install, ${how}`;
  return `@${plainName(workspace.bot)} in ${plainName(workspace.name)}, ${how}`;
}
