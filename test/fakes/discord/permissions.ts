import { Refusal } from './refusal.ts';

/** The permissions that the fake knows. @see discord docs: topics/permissions, "Bitwise Permission Flags" */
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
  SEND_MESSAGES_IN_THREADS: 1n << 38n,
} as const;

export type Permission = keyof typeof BITS;

/** What @everyone, and so the bot, may do where nothing is denied. It does not moderate. */
export const BASE_PERMISSIONS: readonly Permission[] = [
  'ADD_REACTIONS',
  'VIEW_CHANNEL',
  'SEND_MESSAGES',
  'EMBED_LINKS',
  'ATTACH_FILES',
  'READ_MESSAGE_HISTORY',
  'MENTION_EVERYONE',
  'USE_APPLICATION_COMMANDS',
  'SEND_MESSAGES_IN_THREADS',
];

/** Permissions as Discord sends them: a decimal string of bits. */
export const bits = (permissions: Iterable<Permission>): string =>
  [...permissions].reduce((sum, one) => sum | BITS[one], 0n).toString();

/**
 * Throws where one of `needed` is among `denied`.
 * @throws Refusal 403: 50001 where the channel cannot be seen, 50013 where something else is missing. A bot cannot always
 *   know: no violation.
 * @see discord docs: topics/permissions, "Implicit Permissions": without View Channel nothing else counts; without Send
 *   Messages neither do Attach Files and Embed Links
 */
export function demand(denied: ReadonlySet<Permission>, needed: readonly Permission[]): void {
  if (denied.has('VIEW_CHANNEL')) throw new Refusal(403, 50001);
  if (needed.some((one) => denied.has(one))) throw new Refusal(403, 50013);
}
