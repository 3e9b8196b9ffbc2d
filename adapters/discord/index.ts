import { type APIMessage, ComponentType } from 'discord.js';
import type { Adapter, AdapterDeps } from '#commands/adapter.ts';
import type { Bot } from '#commands/bot-port.ts';
import { originalLabel } from '#commands/sentences/attachments.ts';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { capitalised } from '#commands/sentences/format.ts';
import { memberName } from '#commands/sentences/ordered.ts';
import {
  type AlsoRecorded,
  type Attached,
  type CardView,
  isCardView,
  isPending,
  type MessageRef,
  type Notice,
  type Opened,
  type PlatformLimits,
  type RemovedView,
  type Upload,
  type View,
} from '#src/chat/index.ts';
import type { Clock } from '#src/clock.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import { isSought, type Origin, type TaskId } from '#src/tasks/index.ts';
import type { AccessConfig } from '#src/teams/index.ts';
import type { DiscordSettings } from './config.ts';
import { Gateway } from './gateway/gateway.ts';
import { Access } from './interactions/access.ts';
import { PLATFORM } from './interactions/caller.ts';
import { InteractionHandler } from './interactions/handler.ts';
import { ReferenceMedia } from './interactions/options.ts';
import { Reactions } from './interactions/reactions.ts';
import type { PendingResponses } from './interactions/response.ts';
import { clipsOf, type MessageRecord, MessageStore, readAddress } from './messages/message-store.ts';
import { TaskPosts } from './messages/posts.ts';
import { altText, type Body, renderCard, storedName, TEXT_LENGTH } from './messages/render.ts';
import { Threads } from './messages/threads.ts';
import { TokenRenewal } from './messages/token-renewal.ts';
import { type Identity, inviteLink, keepRegistering, ownIdentity } from './registration/register.ts';
import { DiscordRest, DiscordTime } from './rest/client.ts';
import { Permissions } from './rest/permissions.ts';
import { discordConnection } from './status-line.ts';

export interface DiscordOptions
  extends DiscordSettings,
    Pick<AdapterDeps, 'store' | 'clock' | 'random' | 'logger' | 'relay' | 'withMessageLock'> {
  readonly access: AccessConfig;
  /** Clock for the gateway and caches, whose timing depends on Discord. Default: {@link clock}. */
  readonly gatewayClock?: Clock;
  /** Called when a task's message can be edited again, so that an undelivered clip can be retried now. */
  readonly reachable: (task: TaskId) => void;
  /** Maximum number of interactions in flight. Default 5,000. */
  readonly mostInHand?: number | undefined;
}

/** Interval between progress edits of a message; within the tightest bucket for one message. */
const EDIT_INTERVAL_MS = 2_000;
/** @see https://discord.com/developers/docs/reference#uploading-files */
const UPLOAD_BYTES = 10 * 1024 ** 2;

export function openDiscord(settings: DiscordSettings, { config, ...deps }: AdapterDeps): Adapter {
  const reachable = (task: TaskId): void => deps.reachable(task, PLATFORM);
  return new Discord({ ...deps, ...settings, access: config.access, reachable });
}

type Clips = ReturnType<typeof clipsOf>;

/** What is to be in a message. */
interface Showing {
  readonly view: View;
  /** One without an id is that of `file`. */
  readonly clips: Clips;
  readonly record: MessageRecord | undefined;
  readonly urgency: 'progress' | 'final';
  /** File to upload. Default: none. */
  readonly file?: Upload;
  /** It has fewer clips than before. Default: false. */
  readonly isRemoval?: boolean;
}

/** Parts that receive events from Discord. */
interface Incoming {
  readonly gateway: Gateway;
  readonly handler: InteractionHandler;
}

export class Discord implements Adapter {
  readonly name = PLATFORM;
  readonly limits: PlatformLimits = {
    uploadBytes: UPLOAD_BYTES,
    editIntervalMs: EDIT_INTERVAL_MS,
    textLength: TEXT_LENGTH,
    showsState: false,
    hasDirectMessages: true,
    mentionsWithFile: false,
    drawsCharts: false,
  };
  readonly channels: Permissions;
  readonly jobs: Adapter['jobs'];
  readonly #options: DiscordOptions;
  readonly #records: MessageStore;
  readonly #rest: DiscordRest;
  readonly #time: DiscordTime;
  readonly #pending: PendingResponses = new Map();
  readonly #messages: TaskPosts;
  readonly #threads: Threads;
  readonly #renewal: TokenRenewal;
  readonly #access: Access;
  /** `null` before {@link serve}. */
  #incoming: Incoming | null = null;
  readonly #shutdown = new AbortController();
  /** Setup after connecting; does not count towards the limit of interactions in flight. */
  #setup: Promise<void> = Promise.resolve();
  #identity: Promise<Identity> | null = null;

  constructor(options: DiscordOptions) {
    const { store, clock, gatewayClock = clock, logger, access: config, guildId } = options;
    this.#options = options;
    this.#time = new DiscordTime(clock);
    this.#rest = new DiscordRest({ ...options, time: this.#time });
    this.#records = new MessageStore(store);
    const parts = { rest: this.#rest, records: this.#records, clock, logger, self: () => this.#self() };
    this.channels = new Permissions({ ...parts, clock: gatewayClock });
    this.#access = new Access({ ...parts, clock: gatewayClock, config, guildId });
    this.#threads = new Threads(parts);
    this.#messages = new TaskPosts({ ...parts, threads: this.#threads, pending: this.#pending, time: this.#time });
    this.#renewal = new TokenRenewal({ ...options, ...parts });
    this.jobs = [this.#renewal.job];
  }

  serve(bot: Bot): void {
    const { clock, gatewayClock = clock, logger, relay, mostInHand } = this.#options;
    const shared = {
      bot,
      rest: this.#rest,
      records: this.#records,
      threads: this.#threads,
      access: this.#access,
      logger,
    };
    const reactions = new Reactions({
      ...shared,
      permissions: this.channels,
      messages: this.#messages,
      self: () => this.#self(),
    });
    const handler = new InteractionHandler({
      ...shared,
      pending: this.#pending,
      time: this.#time,
      clock,
      renewal: this.#renewal,
      messages: this.#messages,
      media: new ReferenceMedia(relay, clock),
      mostInHand,
      isMemberOf: (...of) => this.channels.isMemberOf(...of),
    });
    const gateway = new Gateway({
      ...this.#options,
      rest: this.#rest,
      clock: gatewayClock,
      events: {
        interaction: (interaction, connectedForMs) => handler.take(interaction, connectedForMs),
        reaction: (reaction) => {
          const what = `a reaction to ${reaction.message_id}`;
          return handler.hasRoom ? handler.run(reactions.take(reaction), what) : Promise.resolve();
        },
      },
      reached: () => {
        const setup = [this.#setup, this.#prepare(bot.commands)];
        this.#setup = Promise.all(setup).then(() => undefined);
      },
    });
    this.#incoming = { gateway, handler };
  }

  async open(task: TaskId, origin: Origin, view: View, also?: AlsoRecorded): Promise<Opened> {
    const body = this.#render(view, origin);
    const sinceMs = isCardView(view) ? requestedAtMs(view) : this.#options.clock.now();
    const message = await this.#messages.open(task, origin, { body, sinceMs }, also);
    await this.#renewable(message, origin, view, body);
    return message;
  }

  async edit(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    const { guild } = readAddress(origin.address);
    // A notice is no response of its own, and may have been posted as text.
    if (!isCardView(view)) return this.#messages.replace(message, renderCard(cardOf(view), { guild }));
    const record = await this.#records.message(message.message);
    const before = clipsOf(record);
    const named = clipsIn(view, before);
    const others = before.filter(({ name }) => !named.some((clip) => clip.name === name));
    // A late progress edit may name fewer.
    const clips = urgency === 'final' ? named : [...named, ...others];
    const isRemoval = clips.length < before.length;
    try {
      await this.#show(message, origin, { view, clips, record, urgency, isRemoval });
      if (isRemoval) await this.#records.change(message.message, { clips });
    } catch (thrown) {
      // What stays in a message that cannot be edited any more is forgotten, as by a retraction.
      if (isRemoval && !asDailiesError(thrown, 'removing a clip').retryable)
        await this.#records.removeContent(message.message, { clips });
      throw thrown;
    }
  }

  async attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<Attached> {
    const limitBytes = await this.#limitBytes(message, origin);
    if (file.bytes > limitBytes) {
      const code = { code: 'too_large', retryable: false, limitBytes } as const;
      throw new DailiesError(`attaching ${file.bytes} bytes: at most ${limitBytes}`, code);
    }
    const record = await this.#records.message(message.message);
    const recorded = clipsOf(record);
    const name = storedName(file.name);
    const before = recorded.find((clip) => clip.name === name);
    const uploaded =
      record?.isUploading === true || before !== undefined
        ? (filesIn(await this.#messages.fetch(message, origin)).get(name) ?? null)
        : null;
    // Discord does not tell the size of a file that a component shows.
    const isOther = before?.bytes !== undefined && before.bytes !== file.bytes && before.id === uploaded;
    const id = isOther ? null : uploaded;
    const own = { name, description: altText(file.description), bytes: file.bytes, id };
    const others = view.kind === 'set' ? recorded.filter((clip) => clip !== before && clip.id !== null) : [];
    const clips = clipsIn(view, [...others, own]);
    // A retry, in any process, first checks whether the clip arrived.
    if (id === null) await this.#records.change(message.message, { isUploading: true });
    const showing = { view, clips, record, urgency: 'final', ...(id === null ? { file } : {}) } as const;
    const ids = filesIn(await this.#show(message, origin, showing));
    const attached = clips.map((clip) => ({ ...clip, id: clip.id ?? ids.get(clip.name) ?? null }));
    await this.#records.change(message.message, { clips: attached, isUploading: false });
    // An edit pings no user: the mention is a message of its own.
    return { isAnnounced: false };
  }

  async notify(notice: Notice): Promise<MessageRef> {
    const posted = await this.#messages.notify(notice);
    // Users react to the newest message of a channel.
    if (notice.view.kind === 'end') await this.#records.noticed(posted.message, notice.view.task);
    return posted;
  }

  /** Replaces a message, without its attachments, and removes what is stored of its content. */
  async retract(message: MessageRef, _origin: Origin, view: RemovedView): Promise<void> {
    const id = message.message;
    if ((await this.#records.message(id))?.isRetracted === true) return;
    const failure = await this.#messages.replace(message, renderCard(cardOf(view), { guild: null })).then(
      () => null,
      (thrown: unknown) => asDailiesError(thrown, `retracting message ${id}`),
    );
    if (failure?.retryable === true) throw failure;
    const isDone = failure === null || failure.code === 'message_gone';
    await this.#records.removeContent(id, isDone ? { isRetracted: true } : {});
    if (!isDone) throw failure;
  }

  /**
   * Removes the prompt from the record of an expired message, which needed it for edits alone: none follows. From that of a
   * set's card, it removes the clips that the view no longer names.
   */
  async expire({ message }: MessageRef, view: CardView | RemovedView): Promise<void> {
    if (view.kind === 'removed') await this.#records.removeContent(message);
    if (view.kind !== 'set') return;
    const before = clipsOf(await this.#records.message(message));
    const clips = clipsIn(view, before);
    if (clips.length < before.length) await this.#records.removeContent(message, { clips });
  }

  async forget(): Promise<void> {}

  find(what: 'task' | 'notice', key: string): Promise<MessageRef | undefined> {
    return this.#records.posted(what, key);
  }

  notReady(): string | null {
    if (this.#rest.isRefused) return 'Discord does not accept DISCORD_TOKEN any more.';
    if (this.#incoming === null) return 'Discord is not connected yet.';
    return this.#incoming.gateway.problem ?? this.#access.problem;
  }

  async connection(): Promise<string> {
    const [{ application, name: bot }, { allowed, refused }] = await Promise.all([this.#self(), this.#access.spread()]);
    return discordConnection({
      bot,
      servers: allowed.map(({ name }) => name),
      refused: refused.length,
      inviteLink: inviteLink(application),
    });
  }

  async start(): Promise<void> {
    if (this.#incoming === null) throw new TypeError('starting Discord: no bot handles its interactions');
    await this.#incoming.gateway.start();
  }

  async stop(): Promise<void> {
    this.#shutdown.abort();
    await this.#incoming?.gateway.stop();
    await Promise.all([this.#incoming?.handler.settled(), this.#setup]);
  }

  /** Replaces the content of a message; Discord removes attachments that an edit does not list. @returns it as Discord does */
  async #show(
    message: MessageRef,
    origin: Origin,
    { view, clips, record, urgency, file, isRemoval = false }: Showing,
  ): Promise<APIMessage> {
    const plain = this.#render(view, origin, clips);
    const { hasBot } = readAddress(origin.address);
    const body = hasBot ? plain : this.#renewal.withPrompt(record, plain, isOpen(view));
    const attachments = clips.map(({ id, name, description }) =>
      id === null ? { id: 0, filename: name, description } : { id },
    );
    const isListed = file !== undefined || clips.every(({ id }) => id !== null);
    const changed = await this.#messages.edit(message, origin, {
      body:
        isListed && (view.kind === 'set' ? urgency === 'final' : clips.length > 0) ? { ...body, attachments } : body,
      urgency,
      ...(file === undefined ? {} : { files: [{ ...file, name: storedName(file.name) }] }),
      isRemoval,
    });
    await this.#renewable(message, origin, view, plain);
    return changed;
  }

  /** Logs the servers that may use the bot, and registers the commands. */
  async #prepare(commands: Bot['commands']): Promise<void> {
    await this.#access.prepare().catch((thrown: unknown) => {
      // The first interaction loads them again.
      const error = asDailiesError(thrown, 'finding out which servers may use the bot');
      this.#options.logger.warn(
        { event: 'discord_access_unknown', err: error },
        'failed to load the servers that may use the bot',
      );
    });
    await this.#register(commands);
  }

  async #register(commands: Bot['commands']): Promise<void> {
    const { store, clock, gatewayClock = clock, random, guildId, access, logger } = this.#options;
    const registration = async () => {
      const { application } = await this.#self();
      const hasUserInstall = access.admits.includes('user_install');
      return { rest: this.#rest, application, guild: guildId ?? null, hasUserInstall, commands };
    };
    const { signal } = this.#shutdown;
    const servers = () => this.#access.servers();
    const once = { records: this.#records, leases: store.leases, clock: gatewayClock, random, logger, servers, signal };
    await keepRegistering(registration, once);
  }

  /** Returns the owner of the token; fetched once. */
  #self(): Promise<Identity> {
    this.#identity ??= ownIdentity(this.#rest).catch((thrown: unknown) => {
      this.#identity = null;
      throw thrown;
    });
    return this.#identity;
  }

  #render(view: View, { address, channel, replyTo }: Origin, clips: Clips = []): Body {
    const phase = isCardView(view) ? view.phase : undefined;
    const { guild, source } = readAddress(address);
    // The response to a button is a reply to the button's message.
    const repeats =
      replyTo === undefined || replyTo === source ? null : { channel, message: replyTo, label: originalLabel(view) };
    return renderCard(cardOf(view), { guild, clips, phase, repeats });
  }

  /** Stores the contents of a message that only a token can edit, and schedules its renewal. */
  async #renewable(message: MessageRef, { address }: Origin, view: View, body: Body): Promise<void> {
    if (!readAddress(address).hasBot) await this.#renewal.shown(message.message, body, isOpen(view));
  }

  /** Returns the upload limit: the interaction's, and without its token also the server's. */
  async #limitBytes({ message }: MessageRef, { uploadLimitBytes = UPLOAD_BYTES, address }: Origin): Promise<number> {
    const record = await this.#records.message(message);
    const isByToken = (record?.token?.expiresAtMs ?? 0) > this.#options.clock.now();
    const { guild } = readAddress(address);
    return isByToken ? uploadLimitBytes : Math.min(uploadLimitBytes, await this.channels.uploadLimitBytes(guild));
  }
}

/** Returns the clips that a message is to show: on the card of a set those that its view names, in its order. */
function clipsIn(view: View, clips: Clips): Clips {
  if (view.kind !== 'set') return clips;
  return view.members.flatMap(({ file, view: { task } }, index) => {
    const clip = clips.find(({ name }) => file !== undefined && name === storedName(file.name));
    if (file === undefined || clip === undefined) return [];
    const member = capitalised(memberName(view.set.kind, task.set?.at ?? index + 1));
    return [{ ...clip, description: altText(`${member}: ${file.description}`) }];
  });
}

/**
 * Returns the ids of the files of a message, by their names. Those that components show are not among its attachments.
 * @see https://discord.com/developers/docs/resources/message#message-object
 * @see https://discord.com/developers/docs/components/reference#unfurled-media-item
 */
function filesIn({ attachments = [], components = [] }: Partial<APIMessage>): ReadonlyMap<string, string> {
  const media = components
    .flatMap((top) => (top.type === ComponentType.Container ? top.components : []))
    .flatMap((one) => (one.type === ComponentType.MediaGallery ? one.items.map((item) => item.media) : []));
  return new Map([
    ...attachments.map(({ filename, id }) => [filename, id] as const),
    ...media.map(({ url, attachment_id: given }): readonly [string, string] => {
      const [id = '', name = ''] = new URL(url).pathname.split('/').slice(-2);
      return [name, given ?? id];
    }),
  ]);
}

function requestedAtMs(view: CardView): number {
  if (view.kind === 'cut') return view.createdAtMs;
  return (view.kind === 'set' ? view.first : view).task.createdAtMs;
}

/** Returns whether a message will change by itself. */
function isOpen(view: View): boolean {
  if (!isCardView(view)) return false;
  return isPending(view.phase) || (view.kind === 'task' && isSought(view.task));
}
