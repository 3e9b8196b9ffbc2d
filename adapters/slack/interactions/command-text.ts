import { declarations } from '#commands/registry.ts';
import { unescapeText } from '../messages/mrkdwn.ts';

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

/** A message event, as far as it is read. @see https://docs.slack.dev/reference/events/message */
export interface MessageEvent {
  readonly user?: string | undefined;
  readonly bot_id?: string | undefined;
  readonly subtype?: string | undefined;
  readonly edited?: unknown;
  readonly text?: string | undefined;
  /** `im` in a direct message to the app; absent in mentions. */
  readonly channel_type?: string | undefined;
  readonly ts?: string | undefined;
  readonly thread_ts?: string | undefined;
}

/** What a person says to the app, in a mention or in a direct message. */
export interface SaidToApp {
  readonly user: string;
  readonly text: string;
  /** Where the answer belongs: the thread of a mention; in a direct message, `null` outside a thread. */
  readonly thread: string | null;
}

/** Tells whether a message is new and a person's: edits, deletions and messages of apps ask for nothing. */
export function isNewMessage({ user, bot_id, subtype, edited }: MessageEvent): boolean {
  const isPlain = subtype === undefined || subtype === 'file_share';
  return isPlain && user !== undefined && bot_id === undefined && edited === undefined;
}

/** Reads what was said to the app; `null` where it is not addressed, or the message is not new. */
export function saidToApp(event: MessageEvent, botUserId: string): SaidToApp | null {
  const { user, text = '', ts = null, thread_ts: thread = null } = event;
  if (user === undefined || user === botUserId || !isNewMessage(event)) return null;
  const mentioned = mentionedText(text, botUserId);
  // Slack sends no app_mention for a direct message: there, everything is said to the app.
  if (event.channel_type === 'im') return { user, text: mentioned ?? typedText(text), thread };
  return mentioned === null ? null : { user, text: mentioned, thread: thread ?? ts };
}
