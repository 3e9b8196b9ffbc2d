import type { APIMessageTopLevelComponent } from 'discord.js';
import { BoundedMap } from '#src/bounded-map.ts';
import { isAskedOf, type MessageRef } from '#src/chat/index.ts';
import { collection, type RecordWrite, type Store } from '#src/engine/index.ts';
import type { TaskId } from '#src/tasks/index.ts';
import type { ShownClip } from './render.ts';

/** Token of the interaction whose original response a message is. */
export interface MessageToken {
  readonly application: string;
  readonly token: string;
  /** Expiry, in ms since the epoch. */
  readonly expiresAtMs: number;
}

interface AttachedClip extends ShownClip {
  /** Discord's id of the attachment; `null` if its response did not include it. */
  readonly id: string | null;
  /** Absent: version 1.0.0 recorded none. */
  readonly bytes?: number;
}

export interface MessageRecord {
  readonly revision: number;
  readonly task: TaskId;
  readonly channel: string;
  readonly message: string;
  /** Token to edit it with; `null` if there was none, or Discord rejected it. */
  readonly token: MessageToken | null;
  /** `null`: it has none. */
  readonly clip: AttachedClip | null;
  /** Those beside it, on the card of a set. Default: none. */
  readonly others?: readonly AttachedClip[];
  /** True while an upload has an unknown outcome: the clip may be attached already. */
  readonly isUploading?: boolean;
  /** Current components, if only the token can edit it: the renewal button is added to them. */
  readonly shown: readonly APIMessageTopLevelComponent[] | null;
  /** True once its content was removed. */
  readonly isRetracted?: boolean;
}

/** Thread that was started at a card. */
interface ThreadRecord {
  /** False: there can be none, or it is gone. */
  readonly isOpen: boolean;
}

/** Returns the clips of a message; none without a record. */
export function clipsOf({ clip, others = [] }: Partial<MessageRecord> = {}): readonly AttachedClip[] {
  return clip === undefined || clip === null ? [] : [clip, ...others];
}

const KEPT = 'kept; what is made of a prompt, such as the name of a clip’s file, until that is removed or expires';

/** By their ids. */
const discordMessages = collection<string, MessageRecord>({
  name: 'discord_messages',
  holds: 'messages of Discord by id, with the names of their clips’ files and a token to edit them',
  kept: `${KEPT}; the token, of use for 15 minutes, until it is rejected`,
  personal: 'with its task',
});

/** Small values, such as the message that was posted under a key. */
const discordValues = collection<string, object>({
  name: 'discord_values',
  holds:
    'messages of Discord by the key that they were posted under, which names whom a request for approval asked; the hash of the commands, the servers of the first start',
  kept: KEPT,
  personal: { forget: (value, of, key) => (isAskedOf(key, of) ? null : value) },
});

/** The task that a notice is about, by the id of its message. */
const discordNotices = collection<string, { readonly task: TaskId }>({
  name: 'discord_notices',
  holds: 'the task of a notice on Discord',
  kept: 'a year',
  personal: 'nobody',
});

/** Threads of storyboards, by the ids of the messages that they begin at, which are theirs as well. */
const discordThreads = collection<string, ThreadRecord>({
  name: 'discord_threads',
  holds: 'the threads of storyboards on Discord',
  kept: 'kept',
  personal: 'nobody',
});

/** The token of a follow-up, by the id of its message. */
const discordFollowUps = collection<string, MessageToken>({
  name: 'discord_follow_ups',
  holds: 'tokens that edit a Discord message',
  kept: '15 minutes',
  personal: 'nobody',
});

/** Number of rejected tokens remembered; each expires by itself after 15 minutes. */
const MAX_REFUSED = 10_000;
/** Time for which reactions to a notice count. */
const NOTICE_MS = 365 * 24 * 3_600_000;
/** Index of the messages that get a renewal button, by its time. */
export const RENEWALS = 'discord-following';

interface Changes extends Partial<Pick<MessageRecord, 'token' | 'isUploading' | 'shown' | 'isRetracted'>> {
  readonly clips?: readonly AttachedClip[];
}

/** Records of the adapter in the store, which survive a restart. */
export class MessageStore {
  readonly #store: Store;
  /** Rejected tokens, per process: another process finds out by itself. */
  readonly #refused = new BoundedMap<string, true>(MAX_REFUSED);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Remembers that Discord rejected an interaction's token. */
  refused(token: string): void {
    this.#refused.set(token, true);
  }

  /** Returns whether Discord rejected an interaction's token. */
  isRefused(token: string): boolean {
    return this.#refused.has(token);
  }

  async posted(what: 'task' | 'notice', key: string): Promise<MessageRef | undefined> {
    // Before it is posted, the record of a notice has only the time of the attempt.
    const found = await this.recall<Partial<MessageRef>>(`${what}:${key}`);
    const { channel, message } = found ?? {};
    return channel === undefined || message === undefined ? undefined : { channel, message };
  }

  async taskOfNotice(message: string): Promise<TaskId | undefined> {
    return (await discordNotices.get(this.#store, message))?.task;
  }

  /** Stores the task that a notice is about, for reactions to it. */
  async noticed(message: string, task: TaskId): Promise<void> {
    await discordNotices.set(this.#store, message, { task }, NOTICE_MS);
  }

  /** Stores the token that a follow-up was posted with, the only one that can edit it, until it expires. */
  async followedUp(message: string, token: MessageToken, ttlMs: number): Promise<void> {
    await discordFollowUps.set(this.#store, message, token, ttlMs);
  }

  /** Returns the token of a follow-up; `undefined` once it has expired. */
  followUpToken(message: string): Promise<MessageToken | undefined> {
    return discordFollowUps.get(this.#store, message);
  }

  /** @param card the id of the message that it begins at */
  thread(card: string): Promise<ThreadRecord | undefined> {
    return discordThreads.get(this.#store, card);
  }

  async threaded(card: string, thread: ThreadRecord): Promise<void> {
    await discordThreads.set(this.#store, card, thread);
  }

  message(id: string): Promise<MessageRecord | undefined> {
    return discordMessages.get(this.#store, id);
  }

  /** Creates the record of a task's message. @returns `false`: another replica already did */
  opened(record: Omit<MessageRecord, 'revision'>, also: readonly RecordWrite[] = []): Promise<boolean> {
    const { task, channel, message } = record;
    return this.#store.commit({
      records: [
        discordMessages.replacing(message, undefined, record),
        discordValues.replacing(`task:${task}`, undefined, { channel, message }),
        ...also,
      ],
    });
  }

  /**
   * Updates the record of a message; no-op if there is none.
   * @param renewAtMs returns the time of the renewal button, or `null` for none. Default: it stays as it is.
   */
  async change(
    id: string,
    { clips, ...changes }: Changes,
    renewAtMs?: (changed: MessageRecord) => number | null,
  ): Promise<void> {
    await discordMessages.change<undefined>(this.#store, id, (current) => {
      if (current === undefined) return { result: undefined };
      const [clip = null, ...others] = clips ?? [];
      const value = { ...current, ...changes, ...(clips === undefined ? {} : { clip, others }) };
      const index = renewAtMs === undefined ? [] : [{ index: RENEWALS, member: id, score: renewAtMs(value) }];
      return { value, index, result: undefined };
    });
  }

  /** Removes what is stored of the content of a message, with its renewal. */
  async removeContent(id: string, changes: Pick<Changes, 'clips' | 'isRetracted'> = {}): Promise<void> {
    // The record goes on telling whether only a token can edit the message.
    const shown = ((await this.message(id))?.shown ?? null) === null ? null : [];
    await this.change(id, { clips: [], shown, ...changes }, () => null);
  }

  /** Cancels the renewal button of a message without a record. */
  async cancelRenewal(message: string): Promise<void> {
    await this.#store.commit({ records: [], index: [{ index: RENEWALS, member: message, score: null }] });
  }

  /** Returns a small value stored by {@link remember}, such as the hash of the registered commands. */
  recall<Value>(key: string): Promise<Value | undefined> {
    return discordValues.get(this.#store, key) as Promise<Value | undefined>;
  }

  async remember(key: string, value: object): Promise<void> {
    await discordValues.set(this.#store, key, value);
  }

  /** Deletes a value stored by {@link remember}. */
  async forget(key: string): Promise<void> {
    await discordValues.delete(this.#store, key);
  }
}

/**
 * Location of an interaction as the adapter needs it later: the parsed form of `Origin.address` and `Place.address`.
 */
interface Address {
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
  /** The message of the card that it belongs below; `null` for none but that of the thread that it came from. */
  readonly below: string | null;
  /** The thread of a card that the interaction was in; `null` if it was in none. */
  readonly within: string | null;
  /** The bot's permissions there, from the interaction; `null` if it had none. */
  readonly permissions: bigint | null;
}

/** Serialises an address, to be stored with a task. */
export function writeAddress(address: Address): Readonly<Record<string, string>> {
  const { token, hasBot, guild, isDirect, isThread, isPrivate, source, below, within, permissions } = address;
  return {
    access: hasBot ? 'bot' : 'user',
    ...(token === null
      ? {}
      : { application: token.application, token: token.token, expiresAtMs: `${token.expiresAtMs}` }),
    ...(guild === null ? {} : { guild }),
    ...(isDirect ? { direct: 'yes' } : {}),
    ...(isThread ? { thread: isPrivate ? 'private' : 'yes' } : {}),
    ...(source === null ? {} : { source }),
    ...(below === null ? {} : { below }),
    ...(within === null ? {} : { within }),
    ...(permissions === null ? {} : { permissions: `${permissions}` }),
  };
}

/** Parses the output of {@link writeAddress}; an empty address means that the bot itself is a member there. */
export function readAddress(address: Readonly<Record<string, string>>): Address {
  const { application, token, expiresAtMs, access, guild, direct, thread, source, below, within, permissions } =
    address;
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
    below: below ?? null,
    within: within ?? null,
    permissions: permissions === undefined ? null : BigInt(permissions),
  };
}
