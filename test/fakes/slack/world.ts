import { randomBytes } from 'node:crypto';
import type { Clock } from '#src/clock.ts';
import type { Manifest } from './manifest.ts';
import type { Channel, Envelope, Json, Message, Ping, RecordedCall, SlackFile, Team, User, View } from './records.ts';
import { Refusal } from './refusal.ts';

/** Constructor arguments of {@link World}. */
export interface WorldParts {
  readonly clock: Clock;
  readonly manifest: Manifest;
  readonly appToken: string;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: () => string;
  /** As in `FakeSlackOptions`. */
  readonly shortlyMs: number;
  /** Sends an envelope to the app. */
  readonly send: (envelope: Envelope) => void;
}

/** An issued `trigger_id`. */
interface Trigger {
  readonly userId: string;
  readonly teamId: string;
  /** The modal that issued it; null elsewhere. */
  readonly viewId: string | null;
  readonly atMs: number;
  isUsed: boolean;
  /** Expired by a test: using it is not the app's error. */
  isEnded: boolean;
}

/** State of the fake Slack, and the record of the app's violations. */
export class World {
  readonly clock: Clock;
  readonly manifest: Manifest;
  readonly appToken: string;
  readonly origin: () => string;
  readonly shortlyMs: number;
  readonly #send: (envelope: Envelope) => void;
  readonly #waiting = new Set<() => void>();
  #lastTs = 0;

  readonly appId = id('A');
  readonly teams = new Map<string, Team>();
  readonly users = new Map<string, User>();
  /** Members of the user groups. */
  readonly groups = new Map<string, readonly string[]>();
  readonly channels = new Map<string, Channel>();
  readonly messages = new Map<string, Message>();
  readonly files = new Map<string, SlackFile>();
  readonly views = new Map<string, View>();
  readonly triggers = new Map<string, Trigger>();
  readonly envelopes: Envelope[] = [];
  readonly calls: RecordedCall[] = [];
  readonly violations: string[] = [];
  /** Origins of pictures that Slack cannot fetch. */
  readonly unreachable: string[] = [];
  readonly pings: Ping[] = [];
  /** Threads of the assistant pane by the `ts` of their first message, with the status that each shows. */
  readonly panes = new Map<string, { readonly status: string; readonly atMs: number }>();
  /** Every GET of a `url_private`. */
  readonly fetches: { readonly fileId: string; readonly isAllowed: boolean }[] = [];
  /** Sends the app its own messages in DMs: `message.im` is sent for those as well. */
  ownMessage: (message: Message) => void = () => undefined;
  /** Number of calls of files.info for which a new file stays unprocessed. */
  slowFiles = 0;
  /** OAuth codes not yet exchanged, each for a workspace. */
  readonly codes = new Map<
    string,
    { readonly teamId: string; readonly redirectUri: string; readonly scopes: string[] }
  >();

  constructor(parts: WorldParts) {
    this.clock = parts.clock;
    this.manifest = parts.manifest;
    this.appToken = parts.appToken;
    this.origin = parts.origin;
    this.shortlyMs = parts.shortlyMs;
    this.#send = parts.send;
  }

  /** Returns a new message id for the current time, later than every other. */
  freshTs(): string {
    this.#lastTs = Math.max(this.#lastTs + 1, this.clock.now() * 1000);
    return `${Math.floor(this.#lastTs / 1_000_000)}.${String(this.#lastTs % 1_000_000).padStart(6, '0')}`;
  }

  addTeam(name: string, botToken: string | null): Team {
    const teamId = id('T');
    const bot = this.addUser('dailies', teamId, { isBot: true });
    const scopes = new Set(botToken === null ? [] : this.manifest.scopes);
    const domain = name.toLowerCase();
    const team = { id: teamId, domain, name, botUserId: bot.id, botId: id('B'), botToken, ended: new Map() };
    const added = { ...team, scopes };
    this.teams.set(teamId, added);
    return added;
  }

  addUser(name: string, teamId: string, { isBot = false, isGuest = false } = {}): User {
    const user = { id: id('U'), teamId, name, isBot, isGuest, timeZone: 'Europe/Amsterdam' };
    this.users.set(user.id, user);
    return user;
  }

  addChannel(channel: Pick<Channel, 'name' | 'kind' | 'teamId'> & Partial<Channel>): Channel {
    const prefix = channel.kind === 'dm' ? 'D' : 'C';
    const added = { id: id(prefix), members: new Set<string>(), recipientId: null, isArchived: false, ...channel };
    this.channels.set(added.id, added);
    return added;
  }

  /** Returns the DM between the app and a user; opens it if there is none. */
  dmWith(userId: string): Channel {
    const open = this.channels.values().find(({ recipientId }) => recipientId === userId);
    if (open !== undefined) return open;
    const { teamId } = this.user(userId);
    const members = new Set([userId, this.team(teamId).botUserId]);
    return this.addChannel({ name: '', kind: 'dm', teamId, recipientId: userId, members });
  }

  /** Records a violation by the app. */
  violate(what: string): void {
    this.violations.push(what);
    this.changed();
  }

  /** @throws Error on a mistake in the test */
  team(teamId: string): Team {
    return present(this.teams.get(teamId), `team ${teamId}`);
  }

  /** @throws Error on a mistake in the test */
  user(userId: string): User {
    return present(this.users.get(userId), `user ${userId}`);
  }

  /** @throws Error on a mistake in the test */
  message(ts: string): Message {
    return present(this.messages.get(ts), `message ${ts}`);
  }

  /** @throws Error on a mistake in the test */
  channel(channelId: string): Channel {
    return present(this.channels.get(channelId), `channel ${channelId}`);
  }

  /**
   * Returns a conversation if it is visible to the workspace's app.
   * @throws Refusal channel_not_found; private ones are visible only to members
   * @see docs.slack.dev/reference/methods/conversations.info
   */
  reachable(team: Team, channelId: string): Channel {
    const channel = this.channels.get(channelId);
    const isSeen = channel?.teamId === team.id && (channel.kind === 'public' || channel.members.has(team.botUserId));
    if (channel === undefined || !isSeen) throw new Refusal('channel_not_found');
    return channel;
  }

  /** Issues a trigger id. */
  trigger(holder: Pick<Trigger, 'userId' | 'teamId' | 'viewId'>): string {
    const triggerId = `${this.clock.now()}.${parseInt(randomBytes(4).toString('hex'), 16)}.${randomBytes(16).toString('hex')}`;
    this.triggers.set(triggerId, { ...holder, atMs: this.clock.now(), isUsed: false, isEnded: false });
    return triggerId;
  }

  /** Records an envelope and sends it to the app. */
  tell(envelope: Envelope): Envelope {
    this.envelopes.push(envelope);
    this.#send(envelope);
    this.changed();
    return envelope;
  }

  /** Notifies all watchers of a change. */
  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Calls `look` after every call and acknowledgement until the returned function is called. */
  watch(look: () => void): () => void {
    this.#waiting.add(look);
    return () => this.#waiting.delete(look);
  }
}

/** Creates an id in Slack's format: capitals and digits, with the first letter as its kind. */
export function id(prefix: string): string {
  return `${prefix}0${randomBytes(5).toString('hex').toUpperCase()}`;
}

/** Returns an object with the field, or an empty one if the value is null or undefined. */
export const given = (name: string, value: unknown): Json =>
  value === null || value === undefined ? {} : { [name]: value };

/** Returns the value. @throws Error naming the missing value: a mistake in the test, not in the app */
export function present<Value>(value: Value | undefined | null, what: string): Value {
  if (value === undefined || value === null) throw new Error(`There is no ${what} on the fake Slack.`);
  return value;
}
