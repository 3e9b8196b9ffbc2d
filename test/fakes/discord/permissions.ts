import { Refusal } from './refusal.ts';

/** Permissions implemented by the fake. @see discord docs: topics/permissions, "Bitwise Permission Flags" */
const BITS = {
  ADD_REACTIONS: 1n << 6n,
  MANAGE_GUILD: 1n << 5n,
  VIEW_CHANNEL: 1n << 10n,
  SEND_MESSAGES: 1n << 11n,
  MANAGE_MESSAGES: 1n << 13n,
  EMBED_LINKS: 1n << 14n,
  ATTACH_FILES: 1n << 15n,
  READ_MESSAGE_HISTORY: 1n << 16n,
  MENTION_EVERYONE: 1n << 17n,
  USE_APPLICATION_COMMANDS: 1n << 31n,
  CREATE_PUBLIC_THREADS: 1n << 35n,
  SEND_MESSAGES_IN_THREADS: 1n << 38n,
} as const;

export type Permission = keyof typeof BITS;

/** Permissions of @everyone, and so of the bot, where none are denied. Without moderation. */
export const BASE_PERMISSIONS: readonly Permission[] = [
  'ADD_REACTIONS',
  'VIEW_CHANNEL',
  'SEND_MESSAGES',
  'EMBED_LINKS',
  'ATTACH_FILES',
  'READ_MESSAGE_HISTORY',
  'MENTION_EVERYONE',
  'USE_APPLICATION_COMMANDS',
  'CREATE_PUBLIC_THREADS',
  'SEND_MESSAGES_IN_THREADS',
];

/** Encodes permissions like Discord: a decimal string of bits. */
export const bits = (permissions: Iterable<Permission>): string =>
  [...permissions].reduce((sum, one) => sum | BITS[one], 0n).toString();

/**
 * Throws if one of `needed` is in `denied`.
 * @throws Refusal 403: 50001 without View Channel, 50013 if another permission is missing. A bot cannot always know: no
 * violation.
 * @see discord docs: topics/permissions, "Implicit Permissions": without View Channel no other permission applies;
 * without Send Messages neither do Attach Files and Embed Links
 */
export function demand(denied: ReadonlySet<Permission>, needed: readonly Permission[]): void {
  if (denied.has('VIEW_CHANNEL')) throw new Refusal(403, 50001);
  if (needed.some((one) => denied.has(one))) throw new Refusal(403, 50013);
}
