import { randomBytes } from 'node:crypto';
import type { Clock } from '#src/clock.ts';
import type { Manifest } from './manifest.ts';
import type { Channel, Envelope, Json, Message, Ping, RecordedCall, SlackFile, Team, User, View } from './records.ts';
import { Refusal } from './refusal.ts';

/** What the world is made from. */
export interface WorldParts {
  readonly clock: Clock;
  readonly manifest: Manifest;
  readonly appToken: string;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: () => string;
  /** As in `FakeSlackOptions`. */
  readonly shortlyMs: number;
  /** Sends something to the app. */
  readonly send: (envelope: Envelope) => void;
}

/** A `trigger_id` that was given out. */
interface Trigger {
  readonly userId: string;
  readonly teamId: string;
  /** The modal in which it was got; null elsewhere. */
  readonly viewId: string | null;
  readonly atMs: number;
  isUsed: boolean;
  /** Ended by a test: using it is no fault of the app. */
  isEnded: boolean;
}

/** All that is on the fake Slack, and the record of what the app did wrong. */
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
  readonly channels = new Map<string, Channel>();
  readonly messages = new Map<string, Message>();
  readonly files = new Map<string, SlackFile>();
  readonly views = new Map<string, View>();
  readonly triggers = new Map<string, Trigger>();
  readonly envelopes: Envelope[] = [];
  readonly calls: RecordedCall[] = [];
  readonly violations: string[] = [];
  readonly pings: Ping[] = [];
  /** Every GET of a `url_private`. */
  readonly fetches: { readonly fileId: string; readonly isAllowed: boolean }[] = [];
  /** Tells the app of a message of its own in a direct message: `message.im` is sent for those as well. */
  ownMessage: (message: Message) => void = () => undefined;
  /** How many calls of files.info a new file is not processed for. */
  slowFiles = 0;
  /** Codes of OAuth that wait to be exchanged, each for a workspace. */
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

  /** A new message id of the present moment, later than every other. */
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

  /** The DM between the app and somebody, opened where there is none. */
  dmWith(userId: string): Channel {
    const open = this.channels.values().find(({ recipientId }) => recipientId === userId);
    if (open !== undefined) return open;
    const { teamId } = this.user(userId);
    const members = new Set([userId, this.team(teamId).botUserId]);
    return this.addChannel({ name: '', kind: 'dm', teamId, recipientId: userId, members });
  }

  /** Records what the app did wrong. */
  violate(what: string): void {
    this.violations.push(what);
    this.changed();
  }

  /** @throws Error a mistake of the test */
  team(teamId: string): Team {
    return present(this.teams.get(teamId), `team ${teamId}`);
  }

  /** @throws Error a mistake of the test */
  user(userId: string): User {
    return present(this.users.get(userId), `user ${userId}`);
  }

  /** @throws Error a mistake of the test */
  message(ts: string): Message {
    return present(this.messages.get(ts), `message ${ts}`);
  }

  /** @throws Error a mistake of the test */
  channel(channelId: string): Channel {
    return present(this.channels.get(channelId), `channel ${channelId}`);
  }

  /**
   * A conversation as a workspace's app sees it.
   * @throws Refusal channel_not_found; private ones are told to members alone
   * @see docs.slack.dev/reference/methods/conversations.info
   */
  reachable(team: Team, channelId: string): Channel {
    const channel = this.channels.get(channelId);
    const isSeen = channel?.teamId === team.id && (channel.kind === 'public' || channel.members.has(team.botUserId));
    if (channel === undefined || !isSeen) throw new Refusal('channel_not_found');
    return channel;
  }

  /** Gives out a trigger. */
  trigger(holder: Pick<Trigger, 'userId' | 'teamId' | 'viewId'>): string {
    const triggerId = `${this.clock.now()}.${parseInt(randomBytes(4).toString('hex'), 16)}.${randomBytes(16).toString('hex')}`;
    this.triggers.set(triggerId, { ...holder, atMs: this.clock.now(), isUsed: false, isEnded: false });
    return triggerId;
  }

  /** Sends something to the app. */
  tell(envelope: Envelope): Envelope {
    this.envelopes.push(envelope);
    this.#send(envelope);
    this.changed();
    return envelope;
  }

  /** Something happened: whoever waits looks again. */
  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Calls `look` after every call and acknowledgement until the returned function is called. */
  watch(look: () => void): () => void {
    this.#waiting.add(look);
    return () => this.#waiting.delete(look);
  }
}

/** An id as Slack forms them: capitals and digits, the first letter telling the kind. */
export function id(prefix: string): string {
  return `${prefix}0${randomBytes(5).toString('hex').toUpperCase()}`;
}

/** Adds fields where there is something to say. */
export const given = (name: string, value: unknown): Json =>
  value === null || value === undefined ? {} : { [name]: value };

/** @throws Error naming what is missing: a mistake of the test, not of the app. */
export function present<Value>(value: Value | undefined | null, what: string): Value {
  if (value === undefined || value === null) throw new Error(`There is no ${what} on the fake Slack.`);
  return value;
}
