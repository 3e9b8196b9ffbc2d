import { declarations } from '#commands/registry.ts';
import { unescapeText } from './mrkdwn.ts';

/** Commands that take people and channels: there, a mention is one. In a prompt it is a name. */
const TAKES_MENTIONS: ReadonlySet<string> = new Set(
  declarations
    .filter(({ options }) => options.some(({ kind }) => kind === 'person' || kind === 'channel'))
    .map(({ name }) => name),
);

/** What somebody typed after `/video`, as the bot reads it; a bare command may come without any text. */
export function typedText(text = ''): string {
  const [first = ''] = text.trim().toLowerCase().split(/\s/u, 1);
  return unescapeText(text, { keepsMentions: TAKES_MENTIONS.has(first) }).trim();
}

/**
 * What was said to the bot: the message without the mention it begins with. `null` where the bot is only mentioned on
 * the way: what costs money is asked for on purpose.
 */
export function mentionedText(text: string, botUserId: string): string | null {
  const [, rest] = new RegExp(`^\\s*<@${botUserId}(?:\\|[^>]*)?>[\\s,:]*([\\s\\S]*)$`, 'u').exec(text) ?? [];
  return rest === undefined ? null : typedText(rest);
}
