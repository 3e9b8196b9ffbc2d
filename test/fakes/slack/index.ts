import { type Clock, systemClock } from '#src/clock.ts';
import { ACK_WITHIN_MS, Courier } from './courier.ts';
import { Faults } from './faults.ts';
import { Forms } from './forms.ts';
import { type Forgery, Requests } from './http.ts';
import { LIMITS, type Limits, RateLimits, waitingTime } from './limits.ts';
import { MANIFEST, readManifest } from './manifest.ts';
import { type Parsed, parse } from './mrkdwn.ts';
import { authorize, CLIENT, endToken, restoreToken } from './oauth.ts';
import { People } from './people.ts';
import type { Channel, Envelope, Message, Ping, RecordedCall, SlackFile, User } from './records.ts';
import { ResponseUrls } from './response-urls.ts';
import { listen, type MethodName } from './server.ts';
import { type DisconnectReason, Sockets } from './socket.ts';
import { Telling } from './telling.ts';
import { fileJson } from './wire.ts';
import { present, World } from './world.ts';

export type { Forgery } from './http.ts';
export type { Limits } from './limits.ts';
export type { Channel, Envelope, Message, Ping, RecordedCall, SlackFile, View } from './records.ts';
export type { MethodName } from './server.ts';

export interface FakeSlackOptions {
  /** Clock of the 3 s deadline, retries, triggers, response_urls and message ids. Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Deadline of an acknowledgement and lifetime of a `trigger_id`. Default: Slack's 3 s on a test's own clock. The
   * system clock also measures the machine's load, so the default there is one minute.
   */
  readonly shortlyMs?: number;
  /** Clock by which the app's libraries wait. Default: the system clock. */
  readonly libraryClock?: Clock;
  /** App manifest, as pasted into Slack. Default {@link MANIFEST}. */
  readonly manifest?: unknown;
  /** Rate limits of the methods. Default {@link LIMITS}; see {@link waitingTime} for the clock they use. */
  readonly limits?: Partial<Limits>;
}

/** The fake as tests see and control it. Actions of users are in {@link People} and {@link Forms}. */
export interface FakeSlack {
  /** Value of `SLACK_API_URL`. */
  readonly apiUrl: string;
  /** Value of `SLACK_BOT_TOKEN`; empty once the app is uninstalled. */
  readonly botToken: string;
  readonly appToken: string;
  /** Variables of a program that uses this workspace in Socket Mode. */
  readonly env: Readonly<Record<string, string>>;
  readonly signingSecret: string;
  /** The app's `client_id` and `client_secret`. */
  readonly client: { readonly id: string; readonly secret: string };
  readonly appId: string;
  readonly team: { readonly id: string; readonly botUserId: string };
  /** A second workspace, without the app until {@link authorize}. */
  readonly otherTeam: { readonly id: string; readonly botUserId: string };
  /**
   * Channel ids. The app is a member of `general`, `clips` and `secret` (private), but not of `lobby` (public),
   * `hidden` (private) and `group` (a group message). `foreign` belongs to the other workspace.
   */
  readonly channels: Readonly<
    Record<'general' | 'clips' | 'secret' | 'lobby' | 'hidden' | 'group' | 'foreign', string>
  >;
  /**
   * User ids. `dave` is in the other workspace; so is `erin`, who shares `general` by Slack Connect; `gwen` is a guest.
   */
  readonly users: Readonly<Record<'alice' | 'bob' | 'carol' | 'dave' | 'erin' | 'gwen', string>>;
  /** Actions of the app that Slack's documentation forbids, in order. Empty for a correct app. */
  readonly violations: readonly string[];
  /** Every notification that a new message caused. */
  readonly pings: readonly Ping[];
  readonly calls: readonly RecordedCall[];
  /** Every envelope sent to the app, oldest first. */
  readonly envelopes: readonly Envelope[];
  readonly files: readonly SlackFile[];
  /** Every GET of a `url_private`. */
  readonly fetches: readonly { readonly fileId: string; readonly isAllowed: boolean }[];
  /** Every `url_private` of a file: the app must not pass on any of them. */
  readonly privateUrls: readonly string[];
  readonly people: People;
  readonly forms: Forms;
  readonly socket: { readonly isConnected: boolean; readonly open: number; readonly opened: number };
  /** Number of calls that wait by {@link hold}. */
  readonly held: number;
  /** Number of calls that the rate limits (not faults) answered with 429. */
  readonly rateLimited: number;
  /** Returns the messages of a channel that are not deleted, oldest first, ephemeral ones included. */
  messages(channelId: string): readonly Message[];
  message(ts: string): Message;
  /** Parses a message's text like Slack: the notified users and the links. */
  parsed(message: Message): Parsed;
  /** Returns the DM between the app and a user; opens it if there is none. */
  dm(userId: string): string;
  channel(channelId: string): Channel;
  /** Returns the status that a thread of the assistant pane shows: `''` after two minutes, and for none. */
  status(threadTs: string): string;
  /** Resolves once `isTrue`, which is checked after every call; rejects after `withinMs` (5 min) of real time. */
  until(isTrue: () => boolean, what: string, withinMs?: number): Promise<void>;
  /** Resolves once the app is connected by Socket Mode: what is sent to it earlier is lost. */
  botReady(): Promise<void>;
  /** Resolves to the app's acknowledgement. */
  acknowledged(envelope: Envelope): Promise<NonNullable<Envelope['answer']>>;

  /**
   * Switches from Socket Mode to HTTP and verifies the app's address by url_verification first. With several addresses,
   * a load balancer distributes the requests round-robin.
   */
  useHttp(...urls: readonly string[]): Promise<void>;
  /**
   * Switches to HTTP where replicas come and go: the load balancer uses the current addresses. Sends no
   * url_verification.
   */
  useBalancer(urls: () => readonly string[]): void;
  /** Adds a public channel that the app is a member of. @returns its id. */
  addChannel(name: string): string;
  /** Sends a forged request to the app's address; resolves to the app's status. */
  forge(forgery: Forgery): Promise<number>;
  /** Approves the app in a workspace; returns the redirect for the user's browser. */
  authorize(authorizeUrl: string, teamId: string): string;
  /** Uninstalls the app: tokens_revoked and app_uninstalled. */
  uninstall(teamId?: string): void;
  /** Sends a late app_uninstalled event: the app was installed again since. */
  tellUninstalled(teamId?: string): Envelope | null;
  /** Revokes the app's token without an event. */
  revokeToken(teamId?: string): void;
  /** Makes a revoked token valid again. */
  restoreToken(teamId?: string): void;
  /** Refuses messages with pictures from an origin, which Slack cannot fetch. */
  loseImages(origin: string): void;
  /** Removes scopes from the installation. */
  removeScopes(scopes: readonly string[]): void;
  /** Adds scopes to the installation, as by installing the app again. */
  grantScopes(scopes: readonly string[]): void;
  /** Sets a user's right to administer the workspace. */
  setAdmin(userId: string, admin: User['admin']): void;
  /** Sets the members of a user group. */
  setGroup(groupId: string, users: readonly string[]): void;
  /** Deactivates a user, who left the workspace. */
  deactivate(userId: string): void;
  archive(channelId: string): void;
  /** Removes the app from a channel. */
  kick(channelId: string): void;
  /** Removes a user from a channel, if a member. */
  leave(channelId: string, userId: string): void;
  /** Deletes a message on behalf of a user. */
  deleteMessage(ts: string): void;

  /** Returns the number of responses by the request's own response_url. */
  answersTo(envelope: Envelope): number;
  /** Returns the messages of these responses, in their order. */
  repliesTo(envelope: Envelope): readonly Message[];

  /** Expires every trigger_id. */
  expireTriggers(): void;
  /** Expires every response_url. */
  expireResponseUrls(): void;
  /** Redelivers an envelope: an event with its retry number and reason. */
  redeliver(envelope: Envelope, retry?: { readonly number?: number; readonly reason?: string }): void;
  /** Executes the next call of `method`, then closes the connection. */
  dropNextAnswer(method: MethodName): void;
  /** Rejects the next call of `method`; with `acts` it is executed nevertheless. */
  fail(method: MethodName, error: string, options?: { readonly acts?: boolean }): void;
  /** Answers the next call of `method` without Slack's JSON. */
  failHttp(method: MethodName, status: number, options?: { readonly acts?: boolean }): void;
  /** Answers 429 from the next call of `method` on; an earlier retry is a violation. */
  rateLimit(method: MethodName, seconds: number): void;
  /** Holds the next call of `method` until the returned function is called. */
  hold(method: MethodName): () => void;
  /** Delays the processing of new files by this many calls of files.info. */
  processSlowly(calls: number): void;
  /** Requests that the app replace its sockets, or at most `most` of them, the oldest first. */
  disconnect(reason: DisconnectReason, most?: number): void;
  /** Closes the sockets; with `refuse`, rejects that many new ones first. */
  closeSocket(options?: { readonly refuse?: number }): void;
  /** Breaks the sockets without a close frame. */
  breakSocket(): void;
  close(): Promise<void>;
}

/** Deadline on the system clock: tolerates a slow machine. */
const SYSTEM_CLOCK_DEADLINE_MS = 60_000;

/** Starts a strict Slack (Web API, Socket Mode, signed requests, files, OAuth) on a free port of 127.0.0.1. */
export async function startSlack(options: FakeSlackOptions = {}): Promise<FakeSlack> {
  const { clock = systemClock, libraryClock = systemClock, manifest = MANIFEST } = options;
  const { shortlyMs = clock === systemClock ? SYSTEM_CLOCK_DEADLINE_MS : ACK_WITHIN_MS } = options;
  const signingSecret = 'fake-signing-secret';
  let port = 0;
  const world: World = new World({
    clock,
    manifest: readManifest(manifest),
    appToken: 'xapp-1-fake-app-token',
    origin: () => `http://127.0.0.1:${port}`,
    shortlyMs,
    send: (envelope) => courier.send(envelope),
  });
  const sockets: Sockets = new Sockets(world, () => courier);
  const courier: Courier = new Courier(world, sockets);
  const violate = (what: string): void => world.violate(what);
  const now = waitingTime(clock, libraryClock);
  const faults = new Faults(now, violate);
  const limits = new RateLimits({ ...LIMITS, ...options.limits }, now, violate);
  const responseUrls = new ResponseUrls(world);
  const { team, otherTeam, channels, users } = populate(world);
  const { server, port: opened } = await listen({ world, sockets, limits, faults, responseUrls });
  port = opened;
  const telling = new Telling(world, responseUrls);
  world.ownMessage = (message) => telling.said(message, world.channel(message.channelId));
  const forms = new Forms(world, telling);
  let requests: Requests | null = null;
  const apiUrl = `http://127.0.0.1:${port}/api/`;
  const balance = (urls: () => readonly string[]): Requests => {
    requests = new Requests(world, () => courier, { secret: signingSecret, urls });
    courier.use(requests);
    return requests;
  };

  return {
    apiUrl,
    get botToken() {
      return team.botToken ?? '';
    },
    appToken: world.appToken,
    get env() {
      return { SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: team.botToken ?? '', SLACK_APP_TOKEN: world.appToken };
    },
    signingSecret,
    client: CLIENT,
    appId: world.appId,
    team,
    otherTeam,
    channels,
    users,
    violations: world.violations,
    pings: world.pings,
    calls: world.calls,
    envelopes: world.envelopes,
    get files() {
      return [...world.files.values()];
    },
    fetches: world.fetches,
    get privateUrls() {
      return [...world.files.values()].flatMap((file) => {
        const json = fileJson(world, file);
        return [String(json['url_private']), String(json['url_private_download'])];
      });
    },
    people: new People(world, responseUrls, { user: users.alice, channel: channels.general }),
    forms,
    socket: {
      get isConnected() {
        return sockets.open > 0;
      },
      get open() {
        return sockets.open;
      },
      get opened() {
        return sockets.opened;
      },
    },
    get held() {
      return faults.held;
    },
    get rateLimited() {
      return limits.refused;
    },
    messages: (channelId) =>
      [...world.messages.values()].filter((one) => one.channelId === channelId && !one.isDeleted),
    message: (ts) => world.message(ts),
    parsed: ({ text, blocks }) => parse(text, blocks),
    dm: (userId) => world.dmWith(userId).id,
    channel: (channelId) => world.channel(channelId),
    status(threadTs) {
      const { status, atMs } = present(world.panes.get(threadTs), `thread ${threadTs}`);
      // "A two minute timeout applies": reference/methods/assistant.threads.setStatus
      return clock.now() - atMs < 120_000 ? status : '';
    },
    until: (isTrue, what, withinMs) => until(world, isTrue, what, withinMs),
    botReady: () => until(world, () => sockets.open > 0, 'the connection of the app'),
    async acknowledged(envelope) {
      await until(world, () => envelope.answer !== null, `an acknowledgement of ${envelope.type}`);
      return present(envelope.answer, 'answer');
    },
    addChannel: (name) =>
      world.addChannel({
        name,
        kind: 'public',
        teamId: team.id,
        members: new Set([...Object.values(users), team.botUserId]),
      }).id,
    async useHttp(...urls) {
      await balance(() => urls).verify();
    },
    useBalancer: (urls) => void balance(urls),
    forge: (forgery) => present(requests, 'request URL').forge({ type: 'event_callback', event: {} }, forgery),
    authorize: (authorizeUrl, teamId) => authorize(world, authorizeUrl, teamId),
    uninstall(teamId = team.id) {
      const removed = world.team(teamId);
      telling.event(teamId, 'tokens_revoked', { tokens: { oauth: [], bot: [removed.botUserId] } });
      telling.event(teamId, 'app_uninstalled', {});
      endToken(removed, 'account_inactive');
    },
    tellUninstalled: (teamId = team.id) => telling.event(teamId, 'app_uninstalled', {}),
    revokeToken: (teamId = team.id) => endToken(world.team(teamId), 'token_revoked'),
    restoreToken: (teamId = team.id) => restoreToken(world.team(teamId)),
    loseImages: (origin) => void world.unreachable.push(origin),
    removeScopes(scopes) {
      team.scopes = team.scopes.difference(new Set(scopes));
    },
    grantScopes(scopes) {
      team.scopes = team.scopes.union(new Set(scopes));
    },
    setAdmin(userId, admin) {
      const { admin: _before, ...user } = world.user(userId);
      world.users.set(userId, admin === undefined ? user : { ...user, admin });
    },
    setGroup: (groupId, users) => void world.groups.set(groupId, users),
    deactivate(userId) {
      world.users.set(userId, { ...world.user(userId), hasLeft: true });
    },
    archive(channelId) {
      world.channel(channelId).isArchived = true;
    },
    kick: (channelId) => void world.channel(channelId).members.delete(team.botUserId),
    leave: (channelId, userId) => void world.channel(channelId).members.delete(userId),
    deleteMessage(ts) {
      world.message(ts).isDeleted = true;
    },
    answersTo: ({ responseUrl }) => (responseUrl === null ? 0 : responseUrls.usesOf(responseUrl)),
    repliesTo: ({ responseUrl }) => (responseUrl === null ? [] : responseUrls.messagesOf(responseUrl)),
    expireTriggers() {
      for (const trigger of world.triggers.values()) trigger.isEnded = true;
    },
    expireResponseUrls: () => responseUrls.end(),
    redeliver: (envelope, { number = 1, reason = 'timeout' } = {}) => courier.send(envelope, number, reason),
    dropNextAnswer: (method) => faults.add(method, { kind: 'drop' }),
    fail: (method, error, { acts = false } = {}) => faults.add(method, { kind: 'fail', error, acts }),
    failHttp: (method, status, { acts = false } = {}) => faults.add(method, { kind: 'status', status, acts }),
    rateLimit: (method, seconds) => faults.add(method, { kind: 'limit', seconds, untilMs: null }),
    hold(method) {
      const { promise, resolve } = Promise.withResolvers<void>();
      faults.add(method, { kind: 'hold', until: promise });
      return resolve;
    },
    processSlowly(calls) {
      world.slowFiles = calls;
    },
    disconnect: (reason, most) => sockets.disconnect(reason, most),
    closeSocket({ refuse = 0 } = {}) {
      sockets.refusals = refuse;
      sockets.closeSockets();
    },
    breakSocket: () => sockets.break(),
    close: () =>
      new Promise((done) => {
        sockets.close();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function populate(world: World) {
  const team = world.addTeam('Acme', 'xoxb-fake-bot-token');
  const otherTeam = world.addTeam('Globex', null);
  const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((name) => world.addUser(name, team.id).id) as [
    string,
    string,
    string,
  ];
  const dave = world.addUser('dave', otherTeam.id).id;
  const erin = world.addUser('erin', otherTeam.id).id;
  const gwen = world.addUser('gwen', team.id, { isGuest: true }).id;
  const teammates = [alice, bob, carol];
  const add = (name: string, kind: 'public' | 'private', isAppIn: boolean): string => {
    const members = new Set([...teammates, ...(isAppIn ? [team.botUserId] : [])]);
    // "is_ext_shared: … shared with another organization": docs.slack.dev/reference/objects/conversation-object
    const isShared = name === 'general';
    return world.addChannel({ name, kind, teamId: team.id, members, isShared }).id;
  };
  const general = add('general', 'public', true);
  for (const id of [erin, gwen]) world.channel(general).members.add(id);
  const foreign = { name: 'abroad', kind: 'public', teamId: otherTeam.id } as const;
  return {
    team,
    otherTeam,
    users: { alice, bob, carol, dave, erin, gwen },
    channels: {
      general,
      clips: add('clips', 'public', true),
      secret: add('secret', 'private', true),
      lobby: add('lobby', 'public', false),
      hidden: add('hidden', 'private', false),
      group: add('mpdm-alice--bob--carol-1', 'private', false),
      foreign: world.addChannel({ ...foreign, members: new Set([dave, otherTeam.botUserId]) }).id,
    },
  };
}

function until(world: World, isTrue: () => boolean, what: string, withinMs = 300_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = world.watch(look);
    const cancel = systemClock.after(withinMs, () => {
      stop();
      reject(new Error(`Still waiting for ${what}; violations: ${world.violations.join('; ') || 'none'}.`));
    });
    function look(): void {
      if (!isTrue()) return;
      stop();
      cancel();
      resolve();
    }
    look();
  });
}
