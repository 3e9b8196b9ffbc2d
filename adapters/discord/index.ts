import { type APIDMChannel, Routes } from 'discord.js';
import type { Bot } from '#commands/bot-port.ts';
import { discordConnection } from '#commands/sentences/connections.ts';
import { beginning } from '#commands/sentences/format.ts';
import { cardOf } from '#commands/sentences.ts';
import type { MessageRef, Place, Platform, PlatformLimits, Upload } from '#src/chat/platform.ts';
import type { Phase, View } from '#src/chat/view.ts';
import type { Clock } from '#src/clock.ts';
import type { AccessConfig } from '#src/config/access.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Relay } from '#src/media/relay.ts';
import type { Store } from '#src/store/store.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { Gateway } from './gateway/gateway.ts';
import { Access } from './interactions/access.ts';
import { ReferenceMedia } from './interactions/attachments.ts';
import { PLATFORM } from './interactions/caller.ts';
import { InteractionHandler } from './interactions/handler.ts';
import { PendingResponses } from './interactions/pending-responses.ts';
import { Reactions } from './interactions/reactions.ts';
import { TEXT_LENGTH } from './messages/layout.ts';
import { type MessageRecord, MessageStore } from './messages/message-store.ts';
import { TaskPosts } from './messages/posts.ts';
import { type Body, cardText, renderCard, type ShownClip, SUPPRESS_EMBEDS, storedName } from './messages/render.ts';
import { TokenRenewal } from './messages/token-renewal.ts';
import { readAddress } from './origin.ts';
import { type Identity, inviteLink, keepRegistering, ownIdentity } from './registration/register.ts';
import { DiscordRest } from './rest/client.ts';
import { DiscordTime } from './rest/clock-skew.ts';
import { Permissions } from './rest/permissions.ts';
import { rateLimitTopic } from './rest/rate-limit-topic.ts';

/** What the Discord adapter is made of. */
export interface DiscordOptions {
  /** The bot's token. */
  readonly token: string;
  /** REST base without the version; absent: Discord's own. The gateway's address is always asked for there. */
  readonly apiUrl?: string | undefined;
  /** The one server that gets the commands; absent: all. */
  readonly guildId?: string | undefined;
  /** Who may use the bot. */
  readonly access: AccessConfig;
  readonly store: Store;
  readonly clock: Clock;
  /** For the connection, whose pace is Discord's. Default: {@link clock}. */
  readonly gatewayClock?: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The bot behind it; asked for at each call, since bot and platform need each other. */
  readonly bot: () => Bot;
  /** Keeps the files that people give. */
  readonly relay: Relay;
  /** Told when a task's message can be changed again that could not: what is undelivered may be tried now. */
  readonly reachable: (task: TaskId) => void;
  /** Most of what people do that is being answered at once. Default 5,000. */
  readonly mostInHand?: number | undefined;
}

/** Half a minute of the tightest bucket is enough for one message. */
const EDIT_INTERVAL_MS = 2_000;
/** @see https://discord.com/developers/docs/reference#uploading-files */
const UPLOAD_BYTES = 10 * 1024 ** 2;
/** @see https://discord.com/developers/docs/resources/message#attachment-object */
const DESCRIPTION_LENGTH = 1024;

/** Phases in which a message is still going to change. */
const OPEN: ReadonlySet<Phase> = new Set<Phase>(['queued', 'running', 'fetching']);

/** Discord as a platform. */
export function createDiscord(options: DiscordOptions): Platform {
  return new Discord(options);
}

/** A clip on its way to a message. */
interface Attaching {
  readonly file: Upload;
  readonly clip: ShownClip;
  readonly body: Body;
}

class Discord implements Platform {
  readonly name = PLATFORM;
  readonly limits: PlatformLimits = {
    uploadBytes: UPLOAD_BYTES,
    editIntervalMs: EDIT_INTERVAL_MS,
    textLength: TEXT_LENGTH,
    showsState: false,
    hasDirectMessages: true,
    mentionsWithFile: false,
  };
  readonly #options: DiscordOptions;
  readonly #memory: MessageStore;
  readonly #rest: DiscordRest;
  readonly #gateway: Gateway;
  readonly #desk: InteractionHandler;
  readonly #messages: TaskPosts;
  readonly #following: TokenRenewal;
  readonly #permissions: Permissions;
  readonly #access: Access;
  readonly #reactions: Reactions;
  readonly #stopping = new AbortController();
  /** Not among what people do: it takes none of their room. */
  #arriving: Promise<void> = Promise.resolve();
  #identity: Promise<Identity> | null = null;

  constructor(options: DiscordOptions) {
    const { store, clock, gatewayClock = clock, random, logger, bot, token, apiUrl, relay, reachable } = options;
    const time = new DiscordTime(clock);
    const answered = new PendingResponses();
    const memory = new MessageStore(store);
    const rest = new DiscordRest({ token, apiUrl, time, news: rateLimitTopic(store) });
    this.#options = options;
    this.#memory = memory;
    this.#rest = rest;
    this.#gateway = new Gateway({
      token,
      rest,
      store,
      clock: gatewayClock,
      random,
      logger,
      events: {
        interaction: (interaction, isReplayed) => this.#desk.take(interaction, isReplayed),
        reaction: (reaction) => {
          const what = `a reaction to ${reaction.message_id}`;
          return this.#desk.hasRoom ? this.#desk.run(this.#reactions.take(reaction), what) : Promise.resolve();
        },
      },
      reached: () => {
        const arriving = [this.#arriving, this.#arrive()];
        this.#arriving = Promise.all(arriving).then(() => undefined);
      },
    });
    const self = async (): Promise<string> => (await this.#self()).user;
    this.#permissions = new Permissions({ rest, clock: gatewayClock, self });
    const { access: config, guildId } = options;
    this.#access = new Access({ config, guildId, rest, memory, clock: gatewayClock, logger, self: () => this.#self() });
    const { permissions, access } = { permissions: this.#permissions, access: this.#access };
    this.#reactions = new Reactions({ bot, rest, memory, access, permissions, self, logger });
    this.#messages = new TaskPosts({ rest, memory, answered, time, clock, self });
    this.#following = new TokenRenewal({ rest, memory, store, clock, logger, reachable });
    this.#desk = new InteractionHandler({
      bot,
      rest,
      memory,
      answered,
      time,
      clock,
      logger,
      following: this.#following,
      messages: this.#messages,
      media: new ReferenceMedia(relay, clock),
      mostInHand: options.mostInHand,
      isMemberOf: (guild) => this.#permissions.isMemberOf(guild),
      access: this.#access,
    });
  }

  async open(task: TaskId, origin: Origin, view: View): Promise<MessageRef> {
    const body = this.#bodyOf(view, origin, undefined);
    const sinceMs = view.kind === 'task' ? view.createdAtMs : this.#options.clock.now();
    const message = await this.#messages.open(task, origin, { body, sinceMs });
    await this.#followed(message, origin, view, body);
    return message;
  }

  async edit(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void> {
    const record = await this.#memory.message(message.message);
    const plain = this.#bodyOf(view, origin, record?.clip);
    const { hasBot } = readAddress(origin.address);
    const body = hasBot ? plain : this.#following.asking(record, plain, isOpen(view));
    await this.#messages.edit(message, origin, { body: { ...body, ...kept(record) }, urgency });
    await this.#followed(message, origin, view, plain);
  }

  async attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<boolean> {
    const limitBytes = await this.#limitBytes(message, origin);
    if (file.bytes > limitBytes) {
      const code = { code: 'too_large', retryable: false, limitBytes } as const;
      throw new DailiesError(`attaching ${file.bytes} bytes: at most ${limitBytes}`, code);
    }
    const clip = { name: storedName(file.name), description: beginning(file.description, DESCRIPTION_LENGTH) };
    const body = this.#bodyOf(view, origin, clip);
    const there = await this.#isThere(message, origin, { ...file, name: clip.name });
    const id = there ?? (await this.#upload(message, origin, { file, clip, body }));
    if (there !== null)
      await this.#messages.edit(message, origin, { body: { ...body, ...keeping(there) }, urgency: 'final' });
    await this.#memory.change(message.message, { clip: { id, ...clip }, isUploading: false });
    await this.#followed(message, origin, view, body);
    // An edit pings nobody: the mention is a message of its own.
    return false;
  }

  async notify(notice: Parameters<Platform['notify']>[0]): Promise<MessageRef> {
    const posted = await this.#postNotice(notice);
    // The newest message of a channel is what people react to.
    await this.#memory.noticed(posted.message, notice.view.task);
    return posted;
  }

  async missingRight(place: Place, what?: 'clip' | 'words') {
    // Interactions are answered by tokens of their own: without this one, nothing of a clip could be posted later.
    if (this.#rest.isRefused) await ownIdentity(this.#rest);
    return this.#permissions.missing(place, what);
  }

  audience(place: Place) {
    return this.#permissions.audience(place);
  }

  rights(place: Place, user: string) {
    return this.#permissions.rights(place, user);
  }

  /** @see https://discord.com/developers/docs/resources/user#create-dm */
  async directChannel(_place: Place, user: string): Promise<string> {
    const call = { route: Routes.userChannels(), body: { recipient_id: user }, doing: 'opening a direct message' };
    return (await this.#rest.call<APIDMChannel>({ method: 'POST', ...call })).id;
  }

  notReady(): string | null {
    if (this.#rest.isRefused) return 'Discord does not accept DISCORD_TOKEN any more.';
    return this.#gateway.problem ?? this.#access.problem;
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
    this.#following.start();
    await this.#gateway.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#gateway.stop(), this.#following.stop()]);
    await Promise.all([this.#desk.settled(), this.#arriving]);
  }

  /** Posts a notice, or finds it: by the bot itself, or where it is not, beside the task's message. */
  async #postNotice({ key, place, replyTo, mention, view }: Parameters<Platform['notify']>[0]): Promise<MessageRef> {
    const { guild, hasBot, isDirect } = readAddress(place.address);
    const message = {
      content: beginning(cardText(cardOf(view, mention), isDirect ? null : (guild ?? guildOf(place.team))), 2000),
      allowed_mentions: { parse: [], users: mention === null ? [] : [mention.id], replied_user: false },
      flags: SUPPRESS_EMBEDS,
    };
    if (hasBot || replyTo === null) {
      const notice = { ...message, replyTo: replyTo?.message ?? null };
      return this.#messages.postOnce(`notice:${key}`, place.channel, notice);
    }
    const known = await this.#memory.recall<MessageRef>(`notice:${key}`);
    if (known !== undefined) return known;
    const posted = await this.#messages.followUp(replyTo, message);
    await this.#memory.remember(`notice:${key}`, posted);
    return posted;
  }

  /** Sends a clip in place of whatever is attached. @returns its id, where Discord says it. */
  async #upload(message: MessageRef, origin: Origin, { file, clip, body }: Attaching): Promise<string | null> {
    // The first file of the form.
    const attachments = [{ id: 0, filename: clip.name, description: clip.description }];
    const edit = { body: { ...body, attachments }, urgency: 'final', file: { ...file, name: clip.name } } as const;
    // Whoever tries again, here or elsewhere, looks first whether it arrived.
    await this.#memory.change(message.message, { isUploading: true });
    const changed = await this.#messages.edit(message, origin, edit);
    return changed.attachments?.find(({ filename }) => filename === clip.name)?.id ?? null;
  }

  /** The id of a clip that an earlier try attached, though nobody heard of it; `null` where none did. */
  async #isThere(message: MessageRef, origin: Origin, file: Pick<Upload, 'name' | 'bytes'>): Promise<string | null> {
    const record = await this.#memory.message(message.message);
    if (record?.isUploading !== true && (record?.clip ?? null) === null) return null;
    const { attachments } = await this.#messages.look(message, origin);
    return attachments.find(({ filename, size }) => filename === file.name && size === file.bytes)?.id ?? null;
  }

  /** Names the servers that may use the bot, and registers the commands. */
  async #arrive(): Promise<void> {
    await this.#access.prepare().catch((thrown: unknown) => {
      // Whoever asks first has it found out.
      const error = asDailiesError(thrown, 'finding out which servers may use the bot');
      this.#options.logger.warn({ err: error }, 'the servers that may use the bot are not known yet');
    });
    await this.#register();
  }

  async #register(): Promise<void> {
    const { store, clock, gatewayClock = clock, random, bot, guildId, access, logger } = this.#options;
    const registration = async () => {
      const { application } = await this.#self();
      const hasUserInstall = access.admits.includes('user_install');
      return { rest: this.#rest, application, guild: guildId ?? null, hasUserInstall, commands: bot().commands };
    };
    const { signal } = this.#stopping;
    const servers = () => this.#access.servers();
    const once = { memory: this.#memory, leases: store.leases, clock: gatewayClock, random, logger, servers, signal };
    await keepRegistering(registration, once);
  }

  /** Whom the token belongs to; asked for once. */
  #self(): Promise<Identity> {
    this.#identity ??= ownIdentity(this.#rest).catch((thrown: unknown) => {
      this.#identity = null;
      throw thrown;
    });
    return this.#identity;
  }

  #bodyOf(view: View, { address, channel, replyTo }: Origin, clip: Parameters<typeof renderCard>[1]['clip']): Body {
    const phase = view.kind === 'task' ? view.phase : undefined;
    const { guild, source } = readAddress(address);
    // The answer to a button stands as a reply to the button's message.
    const repeats = replyTo === undefined || replyTo === source ? null : { channel, message: replyTo };
    return renderCard(cardOf(view), { guild, clip: clip ?? null, phase, repeats });
  }

  /** Where only a token can change a message, what it shows and how long it can be changed is kept in mind. */
  async #followed(message: MessageRef, { address }: Origin, view: View, body: Body): Promise<void> {
    if (!readAddress(address).hasBot) await this.#following.shown(message.message, body, isOpen(view));
  }

  /** The interaction's own limit holds for its answer; what the bot posts itself, the server's holds for. */
  async #limitBytes({ message }: MessageRef, { uploadLimitBytes = UPLOAD_BYTES, address }: Origin): Promise<number> {
    const record = await this.#memory.message(message);
    const isByToken = (record?.token?.expiresAtMs ?? 0) > this.#options.clock.now();
    const { guild } = readAddress(address);
    return isByToken ? uploadLimitBytes : Math.min(uploadLimitBytes, await this.#permissions.uploadLimitBytes(guild));
  }
}

/** What is attached already has to be named in an edit, or it goes. */
function kept(record: MessageRecord | undefined): Pick<Body, 'attachments'> {
  const id = record?.clip?.id ?? null;
  return id === null ? {} : keeping(id);
}

function keeping(id: string): Pick<Body, 'attachments'> {
  return { attachments: [{ id }] };
}

function isOpen(view: View): boolean {
  return view.kind === 'task' && OPEN.has(view.phase);
}

function guildOf(team: string): string | null {
  return /^\d+$/.test(team) ? team : null;
}
