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
import type { Channel, Envelope, Message, Ping, RecordedCall, SlackFile } from './records.ts';
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
  /** For the 3 s, retries, triggers, response_urls and message ids. Default: the machine's. */
  readonly clock?: Clock;
  /**
   * How long an acknowledgement may take, and a `trigger_id` lives. Default: Slack's 3 s by a test's own clock. The machine's
   * clock measures its load as well, so by that one a minute.
   */
  readonly shortlyMs?: number;
  /** What the app's libraries wait by. Default: the machine's. */
  readonly libraryClock?: Clock;
  /** The app's configuration, as pasted into Slack. Default {@link MANIFEST}. */
  readonly manifest?: unknown;
  /** How often methods may be called. Default {@link LIMITS}; see {@link waitingTime} for the time they count by. */
  readonly limits?: Partial<Limits>;
}

/** Everything that a test sees and does. People's own doings are in {@link People} and {@link Forms}. */
export interface FakeSlack {
  /** For `SLACK_API_URL`. */
  readonly apiUrl: string;
  /** For `SLACK_BOT_TOKEN`; empty once the app is uninstalled. */
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
  /** The app's `client_id` and `client_secret`. */
  readonly client: { readonly id: string; readonly secret: string };
  readonly appId: string;
  readonly team: { readonly id: string; readonly botUserId: string };
  /** A second workspace, without the app until {@link authorize}. */
  readonly otherTeam: { readonly id: string; readonly botUserId: string };
  /**
   * Ids. The app is in `general`, `clips` and `secret` (private); not in `lobby` (public), `hidden` (private) and `group` (a group message). `foreign` is
   * the other workspace's.
   */
  readonly channels: Readonly<
    Record<'general' | 'clips' | 'secret' | 'lobby' | 'hidden' | 'group' | 'foreign', string>
  >;
  /** Ids. `dave` is in the other workspace, and `erin` too, who shares `general` by Slack Connect; `gwen` is a guest. */
  readonly users: Readonly<Record<'alice' | 'bob' | 'carol' | 'dave' | 'erin' | 'gwen', string>>;
  /** What the app did that Slack's documentation says it must not, in order. An app that behaves leaves it empty. */
  readonly violations: readonly string[];
  /** Everybody who was notified by a new message. */
  readonly pings: readonly Ping[];
  readonly calls: readonly RecordedCall[];
  /** Everything that was sent to the app, oldest first. */
  readonly envelopes: readonly Envelope[];
  readonly files: readonly SlackFile[];
  /** Every GET of a `url_private`. */
  readonly fetches: readonly { readonly fileId: string; readonly isAllowed: boolean }[];
  /** Every `url_private` there is: none of them may be passed on. */
  readonly privateUrls: readonly string[];
  readonly people: People;
  readonly forms: Forms;
  readonly socket: { readonly isConnected: boolean; readonly open: number; readonly opened: number };
  /** How many calls wait by {@link hold}. */
  readonly held: number;
  /** How many calls the limits (not faults) answered with 429. */
  readonly rateLimited: number;
  /** Messages of a channel that are not deleted, oldest first, those for one person alone included. */
  messages(channelId: string): readonly Message[];
  message(ts: string): Message;
  /** What Slack makes of a message's text: who would be notified, what can be opened. */
  parsed(message: Message): Parsed;
  /** The DM between the app and somebody; opened where there is none. */
  dm(userId: string): string;
  channel(channelId: string): Channel;
  /** Resolves once `isTrue`, which is asked after every call; rejects after `withinMs` (10 s) of real time. */
  until(isTrue: () => boolean, what: string, withinMs?: number): Promise<void>;
  /** Resolves with the app's acknowledgement. */
  acknowledged(envelope: Envelope): Promise<NonNullable<Envelope['answer']>>;

  /**
   * HTTP instead of Socket Mode: asks the app's address by url_verification first. With several, a load balancer stands
   * before the app and asks one after the other.
   */
  useHttp(...urls: readonly string[]): Promise<void>;
  /** The same where replicas come and go: the load balancer knows those of now. Nothing is asked first. */
  useBalancer(urls: () => readonly string[]): void;
  /** One more public channel in which the app is. @returns its id. */
  addChannel(name: string): string;
  /** A request to the app's address that is not Slack's; answers the app's status. */
  forge(forgery: Forgery): Promise<number>;
  /** Somebody of a workspace allows the app; answers where their browser is sent. */
  authorize(authorizeUrl: string, teamId: string): string;
  /** Somebody removes the app: tokens_revoked and app_uninstalled. */
  uninstall(teamId?: string): void;
  /** News of a removal that comes late: the app was installed again since. */
  tellUninstalled(teamId?: string): Envelope | null;
  /** The app's token stops working, without a word. */
  revokeToken(teamId?: string): void;
  /** A token that stopped working is accepted again. */
  restoreToken(teamId?: string): void;
  /** What the installation has no more. */
  removeScopes(scopes: readonly string[]): void;
  /** What the installation is given, as by installing the app again. */
  grantScopes(scopes: readonly string[]): void;
  archive(channelId: string): void;
  /** The app is thrown out of a channel. */
  kick(channelId: string): void;
  /** Somebody leaves a channel, or was never in it. */
  leave(channelId: string, userId: string): void;
  /** Somebody deletes a message. */
  deleteMessage(ts: string): void;

  /** How often the app answered by the request's own address. */
  answersTo(envelope: Envelope): number;

  /** Ends every trigger_id now. */
  expireTriggers(): void;
  /** Ends every response_url now. */
  expireResponseUrls(): void;
  /** The same thing comes again: an event with its retry number and reason. */
  redeliver(envelope: Envelope, retry?: { readonly number?: number; readonly reason?: string }): void;
  /** The next call of `method` is done; then the connection closes. */
  dropNextAnswer(method: MethodName): void;
  /** The next call of `method` is refused; with `acts` it was done nevertheless. */
  fail(method: MethodName, error: string, options?: { readonly acts?: boolean }): void;
  /** The next call of `method` is answered without Slack's JSON. */
  failHttp(method: MethodName, status: number, options?: { readonly acts?: boolean }): void;
  /** 429 from the next call of `method` on; calling again sooner is a violation. */
  rateLimit(method: MethodName, seconds: number): void;
  /** The next call of `method` waits until the returned function is called. */
  hold(method: MethodName): () => void;
  /** Files from now on are processed only after so many calls of files.info. */
  processSlowly(calls: number): void;
  /** Slack wants the sockets changed, or at most so many of them, the oldest first. */
  disconnect(reason: DisconnectReason, most?: number): void;
  /** Closes the sockets; with `refuse`, that many new ones are refused first. */
  closeSocket(options?: { readonly refuse?: number }): void;
  /** The sockets break without a close frame. */
  breakSocket(): void;
  close(): Promise<void>;
}

/** What is only slow is forgiven for so long. */
const PATIENCE_MS = 60_000;

/** A strict Slack (Web API, Socket Mode, signed requests, files, OAuth) on a free port of 127.0.0.1. */
export async function startSlack(options: FakeSlackOptions = {}): Promise<FakeSlack> {
  const { clock = systemClock, libraryClock = systemClock, manifest = MANIFEST } = options;
  const { shortlyMs = clock === systemClock ? PATIENCE_MS : ACK_WITHIN_MS } = options;
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
  const balance = (urls: () => readonly string[]): Requests => {
    requests = new Requests(world, () => courier, { secret: signingSecret, urls });
    courier.use(requests);
    return requests;
  };

  return {
    apiUrl: `http://127.0.0.1:${port}/api/`,
    get botToken() {
      return team.botToken ?? '';
    },
    appToken: world.appToken,
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
        const told = fileJson(world, file);
        return [String(told['url_private']), String(told['url_private_download'])];
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
    until: (isTrue, what, withinMs) => until(world, isTrue, what, withinMs),
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
    removeScopes(scopes) {
      team.scopes = team.scopes.difference(new Set(scopes));
    },
    grantScopes(scopes) {
      team.scopes = team.scopes.union(new Set(scopes));
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
  const everybody = [alice, bob, carol];
  const add = (name: string, kind: 'public' | 'private', isAppIn: boolean): string => {
    const members = new Set([...everybody, ...(isAppIn ? [team.botUserId] : [])]);
    return world.addChannel({ name, kind, teamId: team.id, members }).id;
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

function until(world: World, isTrue: () => boolean, what: string, withinMs = 60_000): Promise<void> {
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
