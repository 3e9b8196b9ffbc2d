import type { Clock } from '#src/clock.ts';
import type { Command } from './command-form.ts';
import type { Files } from './files.ts';
import type { Permission } from './permissions.ts';
import { BASE_PERMISSIONS } from './permissions.ts';
import type { Channel, Interaction, Message, Ping, User, Vanished } from './records.ts';
import { type Json, Refusal } from './refusal.ts';

/** Start of 2015, the epoch of Discord's ids. @see discord docs: reference, "Snowflake ID Format Structure" */
const EPOCH_MS = 1_420_070_400_000n;

/** An event for the connected bot. */
export interface Dispatch {
  readonly event: string;
  readonly data: Json;
  /** Sent only to sessions with this intent; 0: to all. @see discord docs: events/gateway, "List of Intents" */
  readonly intent: number;
}

/** Constructor arguments of {@link World}. */
export interface WorldParts {
  readonly clock: Clock;
  readonly files: Files;
  readonly token: string;
  /** Largest upload by the bot's own token, and default of `attachment_size_limit`. */
  readonly maxFileBytes: number;
  /** True if the Message Content intent is granted to the application. */
  readonly seesContent: boolean;
  /** Sends an event; returns the number of connected sessions that received it at once. */
  readonly send: (dispatch: Dispatch) => number;
}

/** State of the fake Discord, and the record of the bot's violations. */
export class World {
  readonly clock: Clock;
  readonly files: Files;
  readonly token: string;
  maxFileBytes: number;
  readonly seesContent: boolean;
  readonly #send: (dispatch: Dispatch) => number;
  #lastId = 0n;
  #waiting = new Set<() => void>();

  readonly applicationId: string;
  readonly bot: User;
  readonly guildId: string;
  /** A server without the bot. */
  readonly strangeGuildId: string;
  readonly users = new Map<string, User>();
  readonly channels = new Map<string, Channel>();
  readonly messages = new Map<string, Message>();
  readonly interactions = new Map<string, Interaction>();
  /** Interactions that were sent to the bot more than once: it cannot always know that it already responded. */
  readonly repeated = new Set<string>();
  /** Names of the roles of the bot's servers by id, besides @everyone. */
  readonly roles = new Map<string, string>();
  /** Commands by scope: `global` or a guild's id. */
  readonly commands = new Map<string, readonly (Command & Json)[]>();
  /** Number of times commands were written. */
  commandWrites = 0;
  /** Permissions of @everyone. */
  everyone = BASE_PERMISSIONS;
  /** True to reject the bot's token although it is valid. */
  isTokenRefused = false;
  readonly violations: string[] = [];
  readonly pings: Ping[] = [];
  readonly vanished: Vanished[] = [];

  constructor(parts: WorldParts) {
    this.clock = parts.clock;
    this.files = parts.files;
    this.token = parts.token;
    this.maxFileBytes = parts.maxFileBytes;
    this.seesContent = parts.seesContent;
    this.#send = parts.send;
    this.applicationId = this.freshId();
    // A bot's user id has been equal to the application id since 2016.
    this.bot = { id: this.applicationId, name: 'Dailies', isBot: true };
    this.users.set(this.bot.id, this.bot);
    this.guildId = this.freshId();
    this.strangeGuildId = this.freshId();
  }

  /** Returns a new snowflake for the current time. */
  freshId(): string {
    const now = (BigInt(this.clock.now()) - EPOCH_MS) << 22n;
    this.#lastId = now > this.#lastId ? now : this.#lastId + 1n;
    return this.#lastId.toString();
  }

  /** Users who are members of none of the bot's servers. */
  readonly outsiders = new Set<string>();
  /** True if any user may add the bot to a server. */
  isPublic = false;

  addUser(name: string): User {
    const user = { id: this.freshId(), name, isBot: false };
    this.users.set(user.id, user);
    return user;
  }

  /** @returns the role's id. */
  addRole(name: string): string {
    const id = this.freshId();
    this.roles.set(id, name);
    return id;
  }

  addChannel(channel: Pick<Channel, 'name' | 'kind'> & Partial<Channel>): Channel {
    const added: Channel = {
      id: this.freshId(),
      guildId: null,
      parentId: null,
      recipientId: null,
      isBotHere: true,
      isPrivate: false,
      isBotAdded: false,
      viewers: null,
      denied: new Set(),
      isDeleted: false,
      ...channel,
    };
    this.channels.set(added.id, added);
    return added;
  }

  /** Returns the DM between the bot and a user; opens it if there is none. */
  dmWith(userId: string): Channel {
    const open = this.channels.values().find(({ recipientId }) => recipientId === userId);
    return open ?? this.addChannel({ name: '', kind: 'dm', recipientId: userId });
  }

  /** Records a violation by the bot. */
  violate(what: string): void {
    this.violations.push(what);
  }

  dispatch(event: string, data: Json, intent = 0): number {
    return this.#send({ event, data, intent });
  }

  /** @throws Error on a mistake in the test: there is no such user. */
  user(id: string): User {
    return present(this.users.get(id), `user ${id}`);
  }

  /** @throws Refusal 404, 10003 */
  channel(id: string): Channel {
    const channel = this.channels.get(id);
    if (channel === undefined || channel.isDeleted) throw new Refusal(404, 10003);
    return channel;
  }

  /**
   * Returns a channel if the bot's own token has access to it.
   * @throws Refusal 404 10003; 403 50001 if the bot is not a member, or was not added to a private thread
   * @see discord docs: topics/threads, "Private Threads"
   */
  reachable(id: string): Channel {
    const channel = this.channel(id);
    if (!channel.isBotHere || isShut(channel)) throw new Refusal(403, 50001);
    return channel;
  }

  /**
   * Returns the permissions that the bot is denied in a channel; a thread also has its parent's denials. @see discord
   * docs: topics/threads, "Permissions"
   */
  deniedIn(channel: Channel): ReadonlySet<Permission> {
    const parent = channel.parentId === null ? undefined : this.channels.get(channel.parentId);
    return new Set([...channel.denied, ...(parent?.denied ?? [])]);
  }

  /**
   * Returns whether a user sees a channel; a thread is visible to those who see its parent. @see discord docs:
   * topics/permissions
   */
  isSeenBy(userId: string, channel: Channel): boolean {
    const parent = channel.parentId === null ? undefined : this.channels.get(channel.parentId);
    const isDenied = [channel, parent].some((one) => one !== undefined && one.viewers?.has(userId) === false);
    return !isDenied && (channel.recipientId === null || channel.recipientId === userId);
  }

  /** Returns whether the bot receives events of a channel. */
  isSeen(channel: Channel): boolean {
    return channel.isBotHere && !isShut(channel) && !this.deniedIn(channel).has('VIEW_CHANNEL');
  }

  /** Returns the bot's permissions in a channel. */
  allowedIn(channel: Channel): readonly Permission[] {
    const denied = this.deniedIn(channel);
    return this.everyone.filter((one) => !denied.has(one));
  }

  /** Notifies all watchers of a change. */
  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Calls `look` after every request until the returned function is called. */
  watch(look: () => void): () => void {
    this.#waiting.add(look);
    return () => this.#waiting.delete(look);
  }
}

const isShut = ({ isPrivate, isBotAdded }: Channel): boolean => isPrivate && !isBotAdded;

/** Returns the value. @throws Error naming the missing value: a mistake in the test, not in the bot. */
export function present<Value>(value: Value | undefined | null, what: string): Value {
  if (value === undefined || value === null) throw new Error(`There is no ${what} on the fake Discord.`);
  return value;
}
