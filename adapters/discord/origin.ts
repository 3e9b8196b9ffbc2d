import type { MessageToken } from './messages/message-store.ts';

/** Where something was done, as the adapter finds it again: what `Origin.address` and `Place.address` carry. */
export interface Address {
  /** The interaction's token, where its answer is for everybody. */
  readonly token: MessageToken | null;
  /** Whether the bot itself is there, or was only brought along by a person who installed it. */
  readonly hasBot: boolean;
  /** The server, for links; `null` in direct messages. */
  readonly guild: string | null;
  /** Whether it is in no server at all: a direct message or a group. */
  readonly isDirect: boolean;
  readonly isThread: boolean;
  /** Whether it is a thread that only its own members see. */
  readonly isPrivate: boolean;
  /** The message whose button was pressed: the answer is a reply to it. */
  readonly source: string | null;
  /** What the bot may do there, as the interaction said. */
  readonly permissions: bigint | null;
}

/** An address as it is kept with a task. */
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

/** Reads what {@link writeAddress} wrote; an empty one is a place where only the bot itself can be. */
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
