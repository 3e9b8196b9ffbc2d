import { isolated } from '#commands/ui/bidi.ts';

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
