import { App, type Receiver } from '@slack/bolt';
import type { Adapter, AdapterDeps } from '#commands/adapter.ts';
import type { Bot } from '#commands/bot-port.ts';
import { originalLabel, WATCH_CLIP } from '#commands/sentences/attachments.ts';
import { type DirectReason, directClipCard } from '#commands/sentences/cards/notice.ts';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { capitalised, plainName } from '#commands/sentences/format.ts';
import { memberName } from '#commands/sentences/ordered.ts';
import { type Card, facts, type Line } from '#commands/ui/card.ts';
import {
  type AlsoRecorded,
  type Attached,
  type CardView,
  isCardView,
  isPending,
  type MessageRef,
  type Notice,
  type Opened,
  type Place,
  type PlatformLimits,
  type RemovedView,
  type SetView,
  type Upload,
  type View,
} from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import type { Origin, Person, TaskId } from '#src/tasks/index.ts';
import type { AccessConfig } from '#src/teams/index.ts';
import type { SlackSettings } from './config.ts';
import { Authentication, withTokenHint } from './installation/authentication.ts';
import { botScopes } from './installation/manifest.ts';
import { TokenHealth } from './installation/token-health.ts';
import { rulesFor, Workspaces } from './installation/workspaces.ts';
import { admissionOf, admit } from './interactions/admission.ts';
import { AssistantPane } from './interactions/assistant-pane.ts';
import { ReferenceMedia } from './interactions/attachments.ts';
import { InteractionHandler } from './interactions/handler.ts';
import { Home } from './interactions/home.ts';
import { PLATFORM, registerListeners } from './interactions/listeners.ts';
import { Broadcasts } from './messages/broadcast.ts';
import { Files } from './messages/file-delivery.ts';
import { LinkPreviews } from './messages/link-previews.ts';
import { type FileRecord, MessageStore } from './messages/message-store.ts';
import { Messages } from './messages/post-once.ts';
import { type Body, renderCard } from './messages/render.ts';
import { Retractions, UNCHANGEABLE } from './messages/retraction.ts';
import { readAddress, teamOf } from './origin.ts';
import { Dispatcher } from './transport/dispatcher.ts';
import { createHttpReceiver } from './transport/http.ts';
import { SocketPool } from './transport/socket-pool.ts';
import { Clients, createSdkLogger, type TeamRef } from './web-api/client.ts';
import { slackCodeOf } from './web-api/errors.ts';
import { Permissions } from './web-api/permissions.ts';
import { Profiles } from './web-api/profiles.ts';
import { answerAt } from './web-api/slack-urls.ts';
import { UserGroups } from './web-api/user-groups.ts';

type Deps = 'http' | 'store' | 'clock' | 'logger' | 'catalog' | 'relay' | 'readLink';

interface SlackOptions extends SlackSettings, Pick<AdapterDeps, Deps> {
  /** Configured access: admitted teams, guests and people of other organisations. */
  readonly access: AccessConfig;
  /** Public base URL of the HTTP server; absent: reference files cannot be relayed. */
  readonly publicUrl?: string | undefined;
  /** Detects dead replicas on this store, whose abandoned requests are taken over. */
  readonly membership: Pick<AdapterDeps['membership'], 'isGone'>;
}

/** `chat.update` allows 50 calls a minute, for all messages together. @see https://docs.slack.dev/apis/web-api/rate-limits */
const EDIT_INTERVAL_MS = 1_500;
/** @see https://slack.com/help/articles/201330736-Add-files-to-Slack */
const UPLOAD_BYTES = 1024 ** 3;
/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const TEXT_LENGTH = 3000;
const APP_PAGE = 'https://api.slack.com/apps (Install App)';

export function openSlack(settings: SlackSettings, { config, ...deps }: AdapterDeps): Adapter {
  return new Slack({ ...deps, ...settings, access: config.access, publicUrl: config.links?.publicUrl });
}

/** Parts that receive requests from Slack. */
interface Incoming {
  readonly dispatcher: Dispatcher;
  /** Absent in HTTP mode. */
  readonly sockets: SocketPool | undefined;
  readonly home: Home;
}

export class Slack implements Adapter {
  readonly name = PLATFORM;
  readonly limits: PlatformLimits = {
    uploadBytes: UPLOAD_BYTES,
    editIntervalMs: EDIT_INTERVAL_MS,
    textLength: TEXT_LENGTH,
    showsState: false,
    hasDirectMessages: true,
    mentionsWithFile: true,
    drawsCharts: true,
  };
  readonly channels: Permissions;
  readonly jobs = [];
  readonly #options: SlackOptions;
  readonly #messageStore: MessageStore;
  readonly #workspaces: Workspaces;
  readonly #health: TokenHealth;
  readonly #clients: Clients;
  readonly #authentication: Authentication;
  readonly #messages: Messages;
  readonly #files: Files;
  readonly #retractions: Retractions;
  readonly #broadcasts: Broadcasts;
  readonly #profiles: Profiles;
  readonly #pane: AssistantPane;
  /** `null` before {@link serve}. */
  #incoming: Incoming | null = null;
  #state: 'new' | 'open' | 'stopped' = 'new';

  constructor(options: SlackOptions) {
    const { store, clock, logger, apiUrl, botToken } = options;
    this.#options = options;
    this.#health = new TokenHealth(botScopes(options.publicUrl));
    this.#messageStore = new MessageStore(store);
    this.#workspaces = new Workspaces({ ...options, onRemoved: (id) => this.#health.forget(id) });
    const workspaces = this.#workspaces;
    options.relay.openBy(PLATFORM, ({ team = '', enterprise }) => this.#headersFor({ team, enterprise }));
    const health = this.#health;
    const clients = new Clients({ workspaces, store, apiUrl, clock, logger, health });
    this.#clients = clients;
    this.#authentication = new Authentication({ workspaces, clients, health, botToken, clock, logger });
    const shared = { clients, messageStore: this.#messageStore, leases: store.leases, clock, logger };
    this.#messages = new Messages(shared);
    this.#files = new Files(shared);
    this.#broadcasts = new Broadcasts({ messages: this.#messages, messageStore: this.#messageStore });
    this.#retractions = new Retractions({ ...shared, messages: this.#messages, files: this.#files });
    this.#pane = new AssistantPane({ clients, workspaces, health, clock, logger });
    const profiles = new Profiles(clients, clock);
    this.#profiles = profiles;
    const { publicUrl, installation } = options;
    const reinstallAt = installation === undefined ? APP_PAGE : `${publicUrl ?? ''}/slack/install`;
    this.channels = new Permissions({ clients, workspaces, profiles, health, reinstallAt, clock });
  }

  async #headersFor({ team, enterprise }: TeamRef): Promise<Readonly<Record<string, string>>> {
    const { botToken } = await this.#workspaces.of(team, enterprise);
    return { authorization: `Bearer ${botToken}` };
  }

  serve(bot: Bot): void {
    const { clock, logger } = this.#options;
    const home = this.#home(bot);
    const app = this.#app(bot, home);
    const process = app.processEvent.bind(app);
    const dispatcher = new Dispatcher({ clock, logger, answerAt, process });
    // Incoming requests pass through the dispatcher before Bolt handles them.
    const guarded: App = Object.create(app, { processEvent: { value: dispatcher.take.bind(dispatcher) } });
    const receivers = this.#receivers();
    const sockets = receivers.find((receiver) => receiver instanceof SocketPool);
    this.#incoming = { dispatcher, sockets, home };
    for (const receiver of receivers) receiver.init(guarded);
  }

  async open(task: TaskId, origin: Origin, view: View, also?: AlsoRecorded): Promise<Opened> {
    const to = teamOf(origin);
    const { channel, replyTo } = origin;
    const { thread } = readAddress(origin.address);
    const root = replyTo === undefined ? undefined : await this.#messageStore.rootOf({ channel, message: replyTo });
    // A repeat is posted in the thread of its original if that is in one, otherwise in the channel; a task of a set always in
    // that of its card.
    const isBelow = origin.address['below'] !== undefined;
    const originalThread = root === undefined || (root === replyTo && !isBelow) ? null : root;
    const body = await this.#bodyOf(view, origin, null);
    const message = await this.#messages.postOnce(`task:${task}`, {
      to,
      channel,
      thread: thread ?? originalThread,
      body,
      also,
    });
    this.#incoming?.home.changed(to, origin.user.id);
    this.#pane.follow(origin, message, view);
    return message;
  }

  async edit(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    const kept = view.kind === 'set' && urgency === 'final' ? await this.#takeOff(message, origin, view) : null;
    await this.#show(message, origin, view, urgency);
    if (kept !== null) throw kept;
  }

  async #show(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    const to = teamOf(origin);
    if (view.kind === 'approval') this.#incoming?.home.changed(to);
    else if (urgency === 'final') this.#incoming?.home.changed(to, origin.user.id);
    this.#pane.follow(origin, message, view);
    const body = await this.#bodyOf(view, origin, message);
    try {
      await this.#messages.update(to, message, body, urgency);
    } catch (thrown) {
      if (urgency === 'progress' || !UNCHANGEABLE.has(slackCodeOf(thrown) ?? '')) throw thrown;
      const { channel } = message;
      const thread = await this.#messageStore.rootOf(message);
      const end = await this.#messages.postOnce(endKey(message, view), { to, channel, thread, body });
      await this.#messageStore.rememberReply(message, end);
      await this.#messageStore.rememberStandIn(end, message);
    }
  }

  /** Deletes the files that the card of a set no longer names; that of an expired clip stays in the chat. */
  async #takeOff(message: MessageRef, origin: Origin, view: SetView): Promise<DailiesError | null> {
    const removals = new Map(view.members.map(({ view: { task } }) => [task.id, task.removal?.reason]));
    const reasonOf = ({ task }: FileRecord) => (task && removals.get(task)) ?? 'deleted';
    const unnamed = unnamedIn(view, await this.#messageStore.files(message));
    const [first, ...rest] = unnamed.filter((file) => reasonOf(file) !== 'expired');
    if (first === undefined) return null;
    const body = renderCard(cardOf({ kind: 'removed', reason: reasonOf(first) }), { workspaceUrl: null });
    return this.#retractions.retractFiles({ to: teamOf(origin), message, body }, [first, ...rest]);
  }

  async attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<Attached> {
    const limitBytes = Math.min(origin.uploadLimitBytes ?? UPLOAD_BYTES, UPLOAD_BYTES);
    if (file.bytes > limitBytes) {
      const code = { code: 'too_large', retryable: false, limitBytes } as const;
      throw new DailiesError(`attaching ${file.bytes} bytes: at most ${limitBytes}`, code);
    }
    const to = teamOf(origin);
    await this.#messages.assertExists(to, message);
    const clip = view.kind === 'set' ? clipsOf(view).find(({ file: name }) => name === file.name) : null;
    if (clip === undefined) {
      // It was removed meanwhile.
      await this.edit(message, origin, view, 'final');
      return { isAnnounced: false };
    }
    const root = await this.#messageStore.rootOf(message);
    const { notice, description: prompt } = file;
    const direct = (why: DirectReason): Card => directClipCard(why, { prompt, channel: message.channel });
    const comment = (why: DirectReason | null): string | null => {
      const told = why === null ? notice && cardOf(notice.view, notice.mention) : direct(why);
      const words = told === undefined ? [] : [renderCard(told, { workspaceUrl: null }).text];
      const lines = [...(clip === null ? [] : [clip.name]), ...words];
      return lines.length === 0 ? null : lines.join('\n');
    };
    const of = clip === null ? {} : { task: clip.task };
    const record = await this.#files.deliver({ to, message, root, user: origin.user.id, file, comment, ...of });
    const { channel, message: ts } = record;
    const own = clip === null || ts === undefined ? {} : { message: { channel, message: ts } };
    const attached = { isAnnounced: record.isAnnounced === true, ...own };
    try {
      await this.#show(message, origin, view, 'final');
      return attached;
    } catch (thrown) {
      if (!(thrown instanceof DailiesError)) throw thrown;
      const isRefused = thrown.code === 'missing_permission';
      // The channel is out of reach, and the requester already has the clip in a direct message.
      if (channel !== message.channel && (isRefused || thrown.code === 'message_gone')) return attached;
      if (!isRefused) throw thrown;
      return { ...attached, refusal: thrown };
    }
  }

  async notify({ key, place, replyTo, mention, view, files = [] }: Notice): Promise<MessageRef> {
    const to = teamOf(place);
    const workspaceUrl = await this.#workspaceUrl(place);
    const card = cardOf(view, mention);
    const chart = view.kind === 'report' ? view.chart : null;
    const body = renderCard(card, { workspaceUrl, hasTables: true, chart });
    const plain = view.kind === 'end' ? {} : { plainBody: renderCard(card, { workspaceUrl, hasPictures: false }) };
    const { thread } = readAddress(place.address);
    const root = replyTo === null ? thread : await this.#messageStore.rootOf(replyTo);
    const post = { to, channel: place.channel, thread: root, body, ...plain };
    const notice = await this.#messages.postOnce(`notice:${key}`, post);
    if (view.kind === 'approval') this.#incoming?.home.changed(to);
    if (view.kind === 'end') await this.#messageStore.rememberStandIn(notice, view.message);
    const [file] = files;
    if (file !== undefined) {
      const thread = await this.#messageStore.rootOf(notice);
      await this.#files.deliver({ to, message: notice, root: thread, user: null, file, comment: () => null });
    }
    return notice;
  }

  async retract(message: MessageRef, origin: Origin, view: RemovedView): Promise<void> {
    const to = teamOf(origin);
    // The tab lists the clips of its user.
    this.#incoming?.home.changed(to);
    await this.#retractions.retract({ to, message, body: renderCard(cardOf(view), { workspaceUrl: null }) });
  }

  /** Name and address of a clip's file are made of the prompt; its id is enough to delete it. */
  async expire(message: MessageRef, view: CardView | RemovedView): Promise<void> {
    if (view.kind !== 'removed' && view.kind !== 'set') return;
    const files = await this.#messageStore.files(message);
    const expired = view.kind === 'set' ? unnamedIn(view, files) : files;
    const nameless = expired.map((file) => ({ ...file, name: '', permalink: null }));
    if (expired.length > 0) await this.#messageStore.replaceFiles(message, expired, nameless);
  }

  async forget(team: string, { id }: Person): Promise<void> {
    await this.#incoming?.home.forget(teamOf({ team, address: {} }), id);
  }

  find(what: 'task' | 'notice', key: string): Promise<MessageRef | undefined> {
    return this.#messages.posted(`${what}:${key}`);
  }

  notReady(): string | null {
    if (this.#state !== 'open') return 'Slack is not connected yet.';
    return this.#authentication.problem ?? this.#incoming?.sockets?.problem ?? null;
  }

  async connection(): Promise<string> {
    const { botToken, appToken } = this.#options;
    const how = appToken === undefined ? 'HTTP at /slack/events' : 'Socket Mode';
    if (botToken === undefined) return `every workspace that installs it at /slack/install, ${how}`;
    const { id, url, name = url ?? id, botName = 'Dailies' } = await this.#workspaces.of('');
    return `@${plainName(botName)} in ${plainName(name)}, ${how}`;
  }

  async start(): Promise<void> {
    if (this.#incoming === null) throw new TypeError('Slack: no bot handles its interactions');
    const { sockets } = this.#incoming;
    await this.#authentication.start();
    this.#state = 'open';
    await sockets?.start().catch((thrown: unknown) => {
      throw withTokenHint(thrown, 'SLACK_APP_TOKEN');
    });
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#authentication.stop();
    if (this.#incoming === null) return;
    const { dispatcher, sockets, home } = this.#incoming;
    home.stop();
    // Slack treats a request as failed if its connection closes before the acknowledgement.
    await dispatcher.acknowledged();
    await sockets?.stop();
    await dispatcher.close();
  }

  #home(bot: Bot): Home {
    const { store, clock, logger } = this.#options;
    const [clients, workspaces, profiles] = [this.#clients, this.#workspaces, this.#profiles];
    const access = { rules: rulesFor(this.#options), profiles, workspaces };
    const admission = (to: TeamRef, user: string) => admissionOf(access, to, { user, team: undefined });
    return new Home({ bot, clients, workspaces, broadcast: store.broadcast, clock, logger, admission });
  }

  #app(bot: Bot, home: Home): App {
    const { catalog, clock, logger, relay, apiUrl } = this.#options;
    const [clients, profiles] = [this.#clients, this.#profiles];
    const app = new App({
      // A placeholder, since the App requires a receiver: the real ones are initialised by the constructor.
      receiver: { init: () => undefined, start: nothing, stop: nothing } satisfies Receiver,
      authorize: this.#workspaces.authorize,
      convoStore: false,
      logger: createSdkLogger(logger),
      ...(apiUrl === undefined ? {} : { clientOptions: { slackApiUrl: apiUrl } }),
    });
    const workspaces = this.#workspaces;
    const messageStore = this.#messageStore;
    const media = new ReferenceMedia({
      clients,
      relay,
      headersFor: (to) => this.#headersFor(to),
      apiUrl,
      logger,
    });
    const groups = new UserGroups(clients, clock);
    admit(app, { clients, clock, logger, workspaces, profiles, home, rules: rulesFor(this.#options) });
    registerListeners(app, {
      clients,
      clock,
      logger,
      workspaces,
      handler: new InteractionHandler({
        bot,
        catalog,
        clients,
        workspaces,
        media,
        messageStore,
        profiles,
        groups,
        logger,
      }),
      home,
      pane: this.#pane,
      broadcasts: this.#broadcasts,
      previews: new LinkPreviews({ ...this.#options, clients, permissions: this.channels, platform: PLATFORM }),
      bot,
      profiles,
      permissions: this.channels,
    });
    return app;
  }

  #receivers(): readonly Receiver[] {
    const { http, store, logger, clock, apiUrl, appToken, signingSecret, installation, publicUrl } = this.#options;
    const isSocket = appToken !== undefined;
    const paths = createHttpReceiver({
      http,
      logger,
      apiUrl,
      signingSecret: isSocket ? undefined : signingSecret,
      installation:
        installation === undefined
          ? undefined
          : { ...installation, publicUrl, scopes: botScopes(publicUrl), store: this.#workspaces },
      isOpen: () => this.#state === 'open',
      // The system clock, as in Bolt's own check for stale requests.
      nowMs: () => Date.now(),
    });
    return isSocket ? [new SocketPool({ appToken, apiUrl, leases: store.leases, clock, logger }), paths] : [paths];
  }

  async #bodyOf(view: View, origin: Origin, message: MessageRef | null): Promise<Body> {
    const hasFiles = view.kind === 'set' ? clipsOf(view).length > 0 : isCardView(view) && view.phase === 'done';
    const files = message === null || !hasFiles ? [] : await this.#messageStore.files(message);
    const repeats =
      origin.replyTo === undefined
        ? null
        : { channel: origin.channel, message: origin.replyTo, label: originalLabel(view) };
    const card = cardOf(view);
    const more = message === null ? [] : await this.#broadcasts.buttons(message, origin, view, files[0]);
    const whole = more.length === 0 ? card : { ...card, buttons: [...card.buttons, ...more] };
    const workspaceUrl = await this.#workspaceUrl(origin);
    return renderCard(whole, { workspaceUrl, hasPictures: false, clips: linksIn(view, files), repeats });
  }

  async #workspaceUrl(place: Pick<Place, 'team' | 'address'>): Promise<string | null> {
    const { team, enterprise } = teamOf(place);
    return (await this.#workspaces.of(team, enterprise)).url;
  }
}

/** Returns the idempotency key of the reply to a task's message that can no longer be edited: one per outcome. */
function endKey({ channel, message }: MessageRef, view: View): string {
  return ['end', channel, message, ...outcomeOf(view)].join(':');
}

function outcomeOf(view: View): readonly unknown[] {
  if (view.kind === 'approval') return ['decided'];
  if (view.kind === 'review') return ['erased'];
  if (view.kind === 'cut') return [view.phase, view.handover?.kind];
  if (view.kind === 'set') return [view.phase, view.members.reduce((sum, { view: one }) => sum + one.task.sends, 0)];
  if (view.kind !== 'task') return [view.phase];
  return [view.phase, view.task.sends, view.handover?.kind, view.task.lateOutcome];
}

/** Returns the clips that the card of a set has, as it names them, by the names of their files. */
function clipsOf({ set, members }: SetView): readonly { file: string; task: TaskId; name: string }[] {
  return members.flatMap(({ file, view: { task } }, index) => {
    const name = capitalised(memberName(set.kind, task.set?.at ?? index + 1));
    return file === undefined || task.removal !== undefined ? [] : [{ file: file.name, task: task.id, name }];
  });
}

/** Returns the files that the card of a set does not name. One that is being delivered is named once that is done. */
function unnamedIn(view: SetView, files: readonly FileRecord[]): readonly FileRecord[] {
  const named = clipsOf(view).map(({ file }) => file);
  const pending = view.members.flatMap(({ view: { phase, task } }) => (isPending(phase) ? [task.id] : []));
  return files.filter(({ name, task }) => !named.includes(name) && !(task && pending.includes(task)));
}

function linksIn(view: View, files: readonly FileRecord[]): Line {
  const clips = view.kind === 'set' ? clipsOf(view) : files.map(({ name }) => ({ file: name, name: WATCH_CLIP }));
  const shared = new Map(files.map(({ name, state, permalink }) => [name, state === 'shared' ? permalink : null]));
  const links = clips.map(({ file, name }) => ({ link: shared.get(file) ?? null, label: name }));
  return facts(...links.map(({ link, label }) => link !== null && [{ link, label }]));
}

async function nothing(): Promise<void> {}
