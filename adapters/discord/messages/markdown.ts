import { isolated, type Line, type Part } from '#commands/ui/card.ts';

/** Formats a line as subtext. @see https://discord.com/developers/docs/reference#message-formatting */
export function smallText(line: Line, guild: string | null): string {
  const text = lineText(line, guild).replace(/\s*\n\s*/gu, ' ');
  return text === '' ? '' : `-# ${text}`;
}

/** Formats a line in Discord's markup. @param guild server of its links to messages; `null` for direct messages */
export function lineText(line: Line, guild: string | null): string {
  return line
    .map((part) => partText(part, guild))
    .join('')
    .toWellFormed();
}

function partText(part: Part, guild: string | null): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return escapeText(part.untrusted);
  if ('strong' in part) return `**${escapeText(part.strong)}**`;
  if ('code' in part) return codeText(part.code);
  if ('timeMs' in part) return `<t:${Math.floor(part.timeMs / 1000)}:R>`;
  // A user whose name is unknown: Discord shows it, and `allowed_mentions` prevents a ping.
  if ('person' in part)
    return part.person.name === part.person.id ? `<@${part.person.id}>` : escapeText(part.person.name);
  if ('mention' in part) return `<@${part.mention.id}>`;
  if ('group' in part) return `<@&${part.group.id}>`;
  if ('channel' in part) return /^\d+$/.test(part.channel) ? `<#${part.channel}>` : escapeText(`#${part.channel}`);
  if ('message' in part) return `[${part.label}](${messageUrl(part, guild)})`;
  return `[${part.label}](${part.link})`;
}

export type Jump = Extract<Part, { readonly message: unknown }>;

/** Returns the address of a message. @param guild as in {@link lineText} */
export function messageUrl({ message: { channel, message } }: Jump, guild: string | null): string {
  return `https://discord.com/channels/${guild ?? '@me'}/${channel}/${message}`;
}

/** Zero-width space that breaks up text which Discord would otherwise parse as a mention or a link. */
const ZERO_WIDTH = '\u200B';

/**
 * Escapes untrusted text so that Discord shows it verbatim: no formatting, no mention, no emoji, no link, no
 * invitation. Pings are restricted by `allowed_mentions` as well.
 * @see https://discord.com/developers/docs/reference#message-formatting
 */
export function escapeText(text: string): string {
  return (
    isolated(text)
      .replace(/[\\*_~`|<>[\]()#:@-]/g, '\\$&')
      .replace(/^(\s*\d+)\./gm, '$1\\.')
      .replace(/\\@(?=everyone|here)/g, `\\@${ZERO_WIDTH}`)
      .replace(/(https?|discord|mailto|tel|steam)\\:/gi, `$1\\:${ZERO_WIDTH}`)
      .replace(/\b(www)\./gi, `$1.${ZERO_WIDTH}`)
      // Clients embed an invitation for these even without https://.
      .replace(/\b(discord(?:app)?|dsc|invite)\.(?=(?:gg|com|io|me)\b)/gi, `$1.${ZERO_WIDTH}`)
  );
}

/** Formats text as inline code, to be copied; replaces backticks, which would end it. */
export function codeText(text: string): string {
  return `\`${text.replaceAll('`', 'ˋ')}\``;
}
