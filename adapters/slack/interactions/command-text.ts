import { declarations } from '#commands/registry.ts';
import { unescapeText } from '../messages/mrkdwn.ts';

const MENTIONED: ReadonlySet<string> = new Set(['person', 'approver', 'channel']);

/** Commands with options for people or channels, whose mentions are kept; in a prompt, a mention becomes a name. */
const KEEPS_MENTIONS: ReadonlySet<string> = new Set(
  declarations.filter(({ options }) => options.some(({ kind }) => MENTIONED.has(kind))).map(({ name }) => name),
);

/** Returns the text after `/video` without Slack's markup; a bare command may have none. */
export function typedText(text = ''): string {
  const [first = ''] = text.trim().toLowerCase().split(/\s/u, 1);
  return unescapeText(text, { keepsMentions: KEEPS_MENTIONS.has(first) }).trim();
}

/**
 * Returns a message without its leading mention of the bot; `null` if the mention is elsewhere, since an order, which
 * costs money, must be intentional.
 */
export function mentionedText(text: string, botUserId: string): string | null {
  const [, rest] = new RegExp(`^\\s*<@${botUserId}(?:\\|[^>]*)?>[\\s,:]*([\\s\\S]*)$`, 'u').exec(text) ?? [];
  return rest === undefined ? null : typedText(rest);
}

/** The fields used of a message event. @see https://docs.slack.dev/reference/events/message */
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

/** A message to the app, in a mention or a direct message. */
interface AddressedMessage {
  readonly user: string;
  readonly text: string;
  /** The thread for the reply: that of a mention, or a new one below it; `null` for a direct message in none. */
  readonly thread: string | null;
}

/** Returns whether a message is a person's new one: edits, deletions and messages of apps are ignored. */
function isNewMessage({ user, bot_id, subtype, edited }: MessageEvent): boolean {
  const isPlain = subtype === undefined || subtype === 'file_share';
  return isPlain && user !== undefined && bot_id === undefined && edited === undefined;
}

/** Parses a message to the app; `null` if the app is not addressed, or the message is not new. */
export function readAddressedMessage(event: MessageEvent, botUserId: string): AddressedMessage | null {
  const { user, text = '', ts = null, thread_ts: thread = null } = event;
  if (user === undefined || user === botUserId || !isNewMessage(event)) return null;
  const mentioned = mentionedText(text, botUserId);
  // Slack sends no app_mention for a direct message; there, every message is for the app.
  if (event.channel_type === 'im') return { user, text: mentioned ?? typedText(text), thread };
  return mentioned === null ? null : { user, text: mentioned, thread: thread ?? ts };
}
