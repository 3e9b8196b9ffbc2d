import { type Component, walk } from './components.ts';
import type { MessageForm } from './message-form.ts';
import type { Ping } from './records.ts';

/** A mention that Discord parses. */
export type Mention = Omit<Ping, 'messageId'>;

/** Kind of endpoint, which determines the mentions parsed without `allowed_mentions`. */
export type MentionDefault = 'message' | 'webhook';

/** @see discord docs: resources/message, "Default Settings for Allowed Mentions" */
const DEFAULTS = {
  message: { parse: ['users', 'roles', 'everyone'], replied_user: true },
  webhook: { parse: ['users'], replied_user: true },
} as const;

/** Returns the text that can contain mentions: the content and the texts in components, not the embeds. */
export const mentionText = (content: string, components: readonly Component[]): string =>
  [content, ...walk(components).map((one) => one.content ?? '')].join('\n');

/**
 * Returns the mentions in the text under `allowed_mentions`. @see discord docs: resources/message, "Allowed Mentions
 * Object"
 */
export function mentionsIn(
  text: string,
  allowed: MessageForm['allowed_mentions'],
  missing: MentionDefault,
): readonly Mention[] {
  const {
    parse = [],
    users = [],
    roles = [],
  }: NonNullable<MessageForm['allowed_mentions']> = allowed ?? {
    parse: [...DEFAULTS[missing].parse],
  };
  const named = (pattern: RegExp): Set<string> => new Set(text.matchAll(pattern).map(([, id]) => id ?? ''));
  const may = (kind: 'users' | 'roles', ids: readonly string[], id: string): boolean =>
    parse.includes(kind) || ids.includes(id);
  return [
    ...[...named(/<@!?(\d+)>/g)].filter((id) => may('users', users, id)).map((id) => ({ kind: 'user' as const, id })),
    ...[...named(/<@&(\d+)>/g)].filter((id) => may('roles', roles, id)).map((id) => ({ kind: 'role' as const, id })),
    ...[...named(/@(everyone|here)\b/g)]
      .filter(() => parse.includes('everyone'))
      .map((id) => ({ kind: 'everyone' as const, id })),
  ];
}

/** Returns whether a reply notifies the author of the message it replies to. */
export const notifiesReplied = (allowed: MessageForm['allowed_mentions'], missing: MentionDefault): boolean =>
  allowed === undefined || allowed === null ? DEFAULTS[missing].replied_user : allowed.replied_user === true;
