import type { MessageToken } from './messages/message-store.ts';

/**
 * Location of an interaction as the adapter needs it later: the parsed form of `Origin.address` and `Place.address`.
 */
export interface Address {
  /** The interaction's token, if its response is public. */
  readonly token: MessageToken | null;
  /** True if the bot itself is a member there; false if it is only available through a user install. */
  readonly hasBot: boolean;
  /** Server id, for links; `null` in direct messages. */
  readonly guild: string | null;
  /** True outside of servers: in a direct message or a group. */
  readonly isDirect: boolean;
  readonly isThread: boolean;
  /** True for a private thread, which only its own members see. */
  readonly isPrivate: boolean;
  /** The message whose button was pressed: the response is a reply to it. */
  readonly source: string | null;
  /** The bot's permissions there, from the interaction; `null` if it had none. */
  readonly permissions: bigint | null;
}

/** Serialises an address, to be stored with a task. */
export function writeAddress(address: Address): Readonly<Record<string, string>> {
  const { token, hasBot, guild, isDirect, isThread, isPrivate, source, permissions } = address;
  return {
    access: hasBot ? 'bot' : 'user',
    ...(token === null
      ? {}
      : { application: token.application, token: token.token, expiresAtMs: `${token.expiresAtMs}` }),
    ...(guild === null ? {} : { guild }),
    ...(isDirect ? { direct: 'yes' } : {}),
    ...(isThread ? { thread: isPrivate ? 'private' : 'yes' } : {}),
    ...(source === null ? {} : { source }),
    ...(permissions === null ? {} : { permissions: `${permissions}` }),
  };
}

/** Parses the output of {@link writeAddress}; an empty address means that the bot itself is a member there. */
export function readAddress(address: Readonly<Record<string, string>>): Address {
  const { application, token, expiresAtMs, access, guild, direct, thread, source, permissions } = address;
  return {
    token:
      application === undefined || token === undefined
        ? null
        : { application, token, expiresAtMs: Number(expiresAtMs) },
    hasBot: access !== 'user',
    guild: guild ?? null,
    isDirect: direct !== undefined,
    isThread: thread !== undefined,
    isPrivate: thread === 'private',
    source: source ?? null,
    permissions: permissions === undefined ? null : BigInt(permissions),
  };
}
