import { isolated } from '#commands/ui/bidi.ts';

/** Sits inside what Discord would otherwise read as a mention or a link; takes no room. */
const ZERO_WIDTH = '\u200B';

/**
 * Text from a person or a service so that Discord shows it as it was written: no formatting, no mention, no emoji, no
 * link, no invitation. What pings is decided by `allowed_mentions` besides.
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
      // Clients draw an invitation for these even without https://.
      .replace(/\b(discord(?:app)?|dsc|invite)\.(?=(?:gg|com|io|me)\b)/gi, `$1.${ZERO_WIDTH}`)
  );
}

/** Something to be copied, as code; a backtick would end it. */
export function codeText(text: string): string {
  return `\`${text.replaceAll('`', 'ˋ')}\``;
}
