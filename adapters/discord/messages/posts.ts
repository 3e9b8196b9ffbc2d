import { hash } from 'node:crypto';
import { type APIMessage, RESTJSONErrorCodes, Routes, SnowflakeUtil } from 'discord.js';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import {
  type AlsoRecorded,
  type MessageRef,
  type Notice,
  type Opened,
  taskOfKey,
  type Upload,
} from '#src/chat/index.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Origin, TaskId } from '#src/tasks/index.ts';
import type { PendingResponses, ResponseOutcome } from '../interactions/response.ts';
import type { Parts } from '../parts.ts';
import type { Call, DiscordRest, DiscordTime, SentFile } from '../rest/client.ts';
import { errorResponseOf, isDeadToken, translate } from '../rest/errors.ts';
import { type MessageRecord, type MessageToken, readAddress } from './message-store.ts';
import { altText, type Body, noticeText, renderRequest, storedName } from './render.ts';
import type { PlaceBelow, Threads } from './threads.ts';

interface TaskPostsOptions extends Omit<Parts, 'logger'> {
  readonly threads: Threads;
  readonly pending: PendingResponses;
  readonly time: DiscordTime;
}

/** Initial contents of a task's message. */
interface First {
  readonly body: Body;
  /** Earliest time at which an earlier attempt may have posted it, in ms since the epoch. */
  readonly sinceMs: number;
}

/** Message that is posted once. */
interface Post {
  readonly channel: string;
  /** Discord deduplicates by the nonce of it for a few minutes. */
  readonly key: string;
  readonly message: object;
  /** Default: none. */
  readonly files?: readonly SentFile[];
  /** Recognises the message of an earlier attempt. */
  readonly isIt: (message: APIMessage) => boolean;
}

interface Edit {
  readonly body: Body;
  readonly urgency: 'progress' | 'final';
  readonly files?: readonly SentFile[];
  /** It removes content: it does not wait for a press that may never come. Default: false. */
  readonly isRemoval?: boolean;
}

/** Retry delay of an operation that needs a fresh token from a button press. */
const WAIT_FOR_PRESS_MS = 15_000;
/** Retry delay while another replica may be sending the initial response. */
const WAIT_FOR_ANSWER_MS = 1_000;
/**
 * Discord's error code for an interaction's token before the initial response.
 * @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
 */
const UNANSWERED = 10015;
const NONCE_LENGTH = 25;
/** Discord deduplicates by nonce for at least this long: "a few minutes". */
const NONCE_HOLDS_MS = 60_000;
/** Causes no push or desktop notification, not even of a mention. @see https://discord.com/developers/docs/resources/message#message-object-message-flags */
const IS_SILENT = 1 << 12;
/** @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const ARCHIVED_THREAD = 50083;
/** Error codes of a thread that is gone or takes no message. */
const CLOSED: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.MissingAccess,
  RESTJSONErrorCodes.MissingPermissions,
  RESTJSONErrorCodes.ThreadLocked,
  ARCHIVED_THREAD,
]);
/** @see https://discord.com/developers/docs/resources/message#message-object-message-flags */
const SUPPRESS_EMBEDS = 1 << 2;
/** Fields that have to be empty in a message which gets components. @see https://docs.discord.com/developers/resources/message#edit-message */
const NO_TEXT = { content: null, embeds: null } as const;

/**
 * Messages of tasks. Each is the response to an interaction: edited with the interaction's token until that expires,
 * and with the bot's own token from then on, if the bot is a member. A token that Discord rejected is not used again,
 * not even after a restart.
 */
export class TaskPosts {
  readonly #options: TaskPostsOptions;

  constructor(options: TaskPostsOptions) {
    this.#options = options;
  }

  /**
   * Posts a task's message, or finds it. Concurrent calls, of any replica, edit the same response or post under the same
   * nonce.
   */
  async open(task: TaskId, origin: Origin, first: First, also?: AlsoRecorded): Promise<Opened> {
    const { records, pending, threads } = this.#options;
    const known = await records.posted('task', task);
    if (known !== undefined) return known;
    const { token: given, hasBot, source, within, below: own } = readAddress(origin.address);
    const card = own ?? within;
    const outcome = (await pending.get(origin.interaction)) ?? null;
    const token = await this.#usable(this.#alive(given), origin.interaction, outcome);
    const below = hasBot && card !== null ? await threads.placeBelow(card, origin) : null;
    // A response is where its interaction was; a button's is a reply to the button's message, a command's is no reply.
    const isOther = hasBot && origin.replyTo !== undefined && origin.replyTo !== source;
    const mustPost = below?.isThread === true ? within !== below.channel : isOther;
    const answer = token === null || mustPost ? null : await this.#answerWith(token, first.body);
    const ref = answer ?? (await this.#postOwn(task, origin, { ...first, below }));
    if (token !== null && mustPost) await this.#removeAnswer(token);
    const record = {
      task,
      ...ref,
      token: answer === null ? null : token,
      clip: null,
      shown: hasBot ? null : first.body.components,
    };
    if (await records.opened(record, also?.(ref))) return also === undefined ? ref : { ...ref, isRecorded: true };
    return (await records.posted('task', task)) ?? ref;
  }

  /** Edits a task's message. @returns the message as Discord returns it. @throws DailiesError */
  edit(ref: MessageRef, origin: Pick<Origin, 'address'>, { isRemoval = false, ...edit }: Edit): Promise<APIMessage> {
    const call = { method: 'PATCH', doing: `editing message ${ref.message}`, ...edit } as const;
    return this.#callFor(ref, origin, call, isRemoval ? unreachable : waitingForPress);
  }

  /** Fetches a task's message. @throws DailiesError */
  fetch(ref: MessageRef, origin: Pick<Origin, 'address'>): Promise<APIMessage> {
    return this.#callFor(ref, origin, { method: 'GET', doing: `looking at message ${ref.message}` });
  }

  /**
   * Posts a notice, or finds it: as the bot itself, or where it is not a member, as a follow-up to the task's message.
   */
  async notify(notice: Notice): Promise<MessageRef> {
    const { key, place, replyTo, mention, view, files = [] } = notice;
    const { guild: own, hasBot, isDirect } = readAddress(place.address);
    const guild = own ?? (/^\d+$/.test(place.team) ? place.team : null);
    const id = `notice:${key}`;
    const above = replyTo?.message ?? null;
    const isOwn = hasBot || replyTo === null;
    if (view.kind === 'approval' && isOwn) return this.offer(id, place.channel, renderRequest(view, guild), above);
    const content = noticeText(cardOf(view, mention), isDirect ? null : guild);
    const message = {
      content,
      allowed_mentions: { parse: [], users: mention === null ? [] : [mention.id], replied_user: false },
      flags: SUPPRESS_EMBEDS | (isHeard(notice) ? 0 : IS_SILENT),
    };
    if (!isOwn) return this.#followUpOnce(id, replyTo, message);
    const sent = files.map((file) => ({ ...file, name: storedName(file.name) }));
    // Discord trims messages. Notices about two clips of one prompt have the same text, each as a reply to its own
    // message.
    const isIt = ({ content: words, message_reference: reference }: APIMessage): boolean =>
      words.trim() === content.trim() && (reference?.message_id ?? above) === above;
    const whole = { ...message, ...attaching(sent), ...replyingTo(above) };
    return this.#postRecorded({ key: id, channel: place.channel, message: whole, files: sent, isIt });
  }

  /** Posts an offer with the bot's own token, once per `id`. */
  offer(id: string, channel: string, body: Body, replyTo: string | null = null): Promise<MessageRef> {
    const [button] = JSON.stringify(body.components).match(/"custom_id":"[^"]*"/u) ?? [];
    const isIt = ({ components }: APIMessage): boolean =>
      button !== undefined && JSON.stringify(components ?? []).includes(button);
    return this.#postRecorded({ key: `offer:${id}`, channel, message: { ...body, ...replyingTo(replyTo) }, isIt });
  }

  /** Posts a message with the bot's own token, once per `key`, and records the attempt first. */
  async #postRecorded(post: Post): Promise<MessageRef> {
    const { records, clock } = this.#options;
    const known = await records.recall<MessageRef | { readonly sinceMs: number }>(post.key);
    if (known !== undefined && 'message' in known) return known;
    const { sinceMs } = known ?? { sinceMs: clock.now() };
    if (known === undefined) await records.remember(post.key, { sinceMs });
    const posted = await this.#findOrPost(post, sinceMs);
    await records.remember(post.key, posted);
    return posted;
  }

  /**
   * Posts a message; searches for that of an earlier attempt once Discord may have forgotten its nonce.
   * @param sinceMs earliest time of an earlier attempt, in ms since the epoch
   */
  async #findOrPost({ channel, key, message, files = [], isIt }: Post, sinceMs: number): Promise<MessageRef> {
    const { rest, clock, self } = this.#options;
    if (clock.now() - sinceMs > NONCE_HOLDS_MS) {
      const { user } = await self();
      const isOurs = (one: APIMessage): boolean => one.author.id === user && isIt(one);
      const found = await findMessage(rest, { channel, sinceMs, isIt: isOurs });
      if (found !== null) return found;
    }
    const posted = await rest.call<APIMessage>({
      method: 'POST',
      route: Routes.channelMessages(channel),
      body: { ...message, nonce: nonceOf(key), enforce_nonce: true },
      files,
      doing: `posting in channel ${channel}`,
    });
    return { channel: posted.channel_id, message: posted.id };
  }

  async #followUpOnce(key: string, replyTo: MessageRef, message: object): Promise<MessageRef> {
    const { records } = this.#options;
    const known = await records.recall<MessageRef>(key);
    if (known !== undefined) return known;
    const posted = await this.#followUp(replyTo, message);
    await records.remember(key, posted);
    return posted;
  }

  /** Posts a follow-up to a task's message with its interaction token, where the bot is not a member. */
  async #followUp(ref: MessageRef, message: object): Promise<MessageRef> {
    const doing = `following up message ${ref.message}`;
    const token = this.#alive((await this.#options.records.message(ref.message))?.token ?? null);
    if (token === null) throw waitingForPress(doing);
    try {
      const route = Routes.webhook(token.application, token.token);
      const posted = await this.#options.rest.respond<APIMessage>({ route, body: message, doing });
      await this.#options.records.followedUp(posted.id, token, token.expiresAtMs - this.#options.clock.now());
      return { channel: posted.channel_id, message: posted.id };
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (!isDeadToken(error)) throw error;
      await this.#options.records.change(ref.message, { token: null });
      throw waitingForPress(doing);
    }
  }

  /**
   * Replaces a task's message or notice, with its text and attachments; found by its record or that of its task.
   * @throws `missing_permission` where only an expired token could edit it
   */
  async replace(ref: MessageRef, shown: Body): Promise<void> {
    const { rest, records } = this.#options;
    const body = { ...shown, ...NO_TEXT, attachments: [] };
    const doing = `replacing message ${ref.message}`;
    const own = await records.message(ref.message);
    const hasBot = ((own ?? (await this.#ofNotice(ref)))?.shown ?? null) === null;
    const token = this.#alive(own?.token ?? (await records.followUpToken(ref.message)) ?? null);
    if (!hasBot && token === null) throw unreachable(doing);
    if (own !== undefined || token === null) {
      const origin = { address: hasBot ? {} : { access: 'user' } };
      await this.edit(ref, origin, { body, urgency: 'final' });
      return;
    }
    try {
      const route = Routes.webhookMessage(token.application, token.token, ref.message);
      await rest.call({ method: 'PATCH', route, body, isOurs: false, doing });
    } catch (thrown) {
      const error = translate(thrown, doing);
      throw isDeadToken(error) ? unreachable(doing) : error;
    }
  }

  async #ofNotice({ message }: MessageRef): Promise<MessageRecord | undefined> {
    const { records } = this.#options;
    const task = await records.taskOfNotice(message);
    const card = task === undefined ? undefined : await records.posted('task', task);
    return card === undefined ? undefined : records.message(card.message);
  }

  /** Makes a call for a task's message: with its interaction token until that expires, else with the bot's own. */
  async #callFor(
    ref: MessageRef,
    { address }: Pick<Origin, 'address'>,
    call: Omit<Call, 'route'>,
    withoutToken = waitingForPress,
  ): Promise<APIMessage> {
    const { rest, records } = this.#options;
    const { hasBot } = readAddress(address);
    const token = this.#alive((await records.message(ref.message))?.token ?? null);
    if (token !== null) {
      try {
        return await rest.call<APIMessage>({ ...call, route: originalOf(token), isOurs: false });
      } catch (thrown) {
        const error = translate(thrown, call.doing);
        if (isDeadToken(error)) await records.change(ref.message, { token: null });
        // Only the bot itself can unarchive a thread.
        else if (!isArchived(error) || !hasBot) throw error;
      }
    }
    if (!hasBot) throw withoutToken(call.doing);
    return this.#byBot(ref.channel, { ...call, route: Routes.channelMessage(ref.channel, ref.message) });
  }

  /**
   * Returns the token if there is a response to edit. Asks Discord after a failed request, or if another replica
   * responds.
   */
  async #usable(
    token: MessageToken | null,
    interaction: string,
    outcome: ResponseOutcome | null,
  ): Promise<MessageToken | null> {
    if (token === null || outcome === 'taken') return token;
    const doing = 'looking for an answer';
    try {
      await this.#options.rest.call({ method: 'GET', route: originalOf(token), isOurs: false, doing });
      return token;
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (!isDeadToken(error) && error.code !== 'message_gone') throw error;
      const isUnanswered = errorResponseOf(error)?.code === UNANSWERED;
      const isOnItsWay = outcome !== 'lost' && this.#options.time.mayBeAnsweredYet(interaction);
      // Posting now, with the response possibly in flight, would create a duplicate.
      if (isUnanswered && isOnItsWay) throw waiting(`${doing}: it may be on its way`, WAIT_FOR_ANSWER_MS);
      return null;
    }
  }

  /** Edits the interaction's response. @returns `null` if its token is dead. */
  async #answerWith(token: MessageToken, body: Body): Promise<MessageRef | null> {
    const doing = 'showing a task in its answer';
    try {
      const call = { method: 'PATCH', route: originalOf(token), body, isOurs: false, doing } as const;
      const message = await this.#options.rest.call<APIMessage>(call);
      return { channel: message.channel_id, message: message.id };
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (isDeadToken(error) || error.code === 'message_gone') return null;
      throw error;
    }
  }

  /** Posts a task as a message of its own, unless it finds one from an unrecorded earlier attempt. */
  async #postOwn(
    task: TaskId,
    { channel, replyTo, address }: Origin,
    { body, sinceMs, below }: First & { readonly below: PlaceBelow | null },
  ): Promise<MessageRef> {
    if (!readAddress(address).hasBot) {
      throw new DailiesError(`showing task ${task}: the bot itself is not in channel ${channel}`, {
        code: 'missing_permission',
        retryable: false,
      });
    }
    // Every task's message has this button.
    const button = JSON.stringify(buttonId({ action: 'details', task: taskOfKey(task) }));
    const isIt = ({ components }: APIMessage): boolean => JSON.stringify(components ?? []).includes(button);
    const key = `task:${task}`;
    const message = { ...body, flags: body.flags | IS_SILENT };
    if (below?.isThread === true) {
      try {
        return await this.#findOrPost({ key, channel: below.channel, message, isIt }, sinceMs);
      } catch (thrown) {
        // Someone deleted it, or the bot may not post in threads: the channel takes the message.
        if (!takesNoMessage(asDailiesError(thrown, 'posting in a thread'))) throw thrown;
        await this.#options.threads.close(below.channel);
      }
    }
    const there = {
      channel: below?.isThread === false ? below.channel : channel,
      message: { ...message, ...replyingTo(replyTo ?? null) },
    };
    return this.#findOrPost({ key, ...there, isIt }, sinceMs);
  }

  /** Deletes a response that another message replaces. */
  async #removeAnswer(token: MessageToken): Promise<void> {
    const call = { method: 'DELETE', route: originalOf(token), isOurs: false, doing: 'removing an answer' } as const;
    // It may be gone, or never have existed.
    await this.#options.rest.call(call).catch(() => undefined);
  }

  /** Makes a call with the bot's own token; unarchives an archived thread first. */
  async #byBot(channel: string, call: Call): Promise<APIMessage> {
    const { rest } = this.#options;
    try {
      return await rest.call<APIMessage>(call);
    } catch (thrown) {
      const error = translate(thrown, call.doing);
      if (!isArchived(error)) throw error;
      const doing = `waking thread ${channel}`;
      await rest.call({ method: 'PATCH', route: Routes.channel(channel), body: { archived: false }, doing });
      return rest.call<APIMessage>(call);
    }
  }

  #alive(token: MessageToken | null): MessageToken | null {
    const { clock, records } = this.#options;
    return token !== null && token.expiresAtMs > clock.now() && !records.isRefused(token.token) ? token : null;
  }
}

/** Returns whether a notice notifies: the mention at the end of an order, and what is for one person alone. */
function isHeard({ view, mention, onlyFor }: Notice): boolean {
  return (view.kind === 'end' && mention !== null) || onlyFor !== undefined;
}

/** Returns whether a thread is gone or takes no message at all, rather than not this one. */
function takesNoMessage(error: DailiesError): boolean {
  const answer = errorResponseOf(error);
  return answer !== null && CLOSED.has(answer.code);
}

function isArchived(error: DailiesError): boolean {
  return errorResponseOf(error)?.code === ARCHIVED_THREAD;
}

/** Returns the fields that make a message a reply, even to a deleted message. */
function replyingTo(message: string | null): object {
  return message === null ? {} : { message_reference: { message_id: message, fail_if_not_exists: false } };
}

/** Returns the attachments of a new message with these files, if any; an attachment's id is its position. */
function attaching(files: readonly Pick<Upload, 'name' | 'description'>[]): Pick<Body, 'attachments'> {
  if (files.length === 0) return {};
  const attachments = files.map(({ name, description }, id) => ({
    id,
    filename: name,
    description: altText(description),
  }));
  return { attachments };
}

/** @see https://discord.com/developers/docs/interactions/receiving-and-responding#edit-original-interaction-response */
function originalOf({ application, token }: MessageToken): `/webhooks/${string}/${string}/messages/${string}` {
  return Routes.webhookMessage(application, token);
}

function nonceOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, NONCE_LENGTH);
}

function waitingForPress(doing: string): DailiesError {
  return waiting(`${doing}: it can be edited only after a button press`, WAIT_FOR_PRESS_MS);
}

function unreachable(doing: string): DailiesError {
  return new DailiesError(`${doing}: only an expired token could edit it`, {
    code: 'missing_permission',
    retryable: false,
  });
}

function waiting(doing: string, retryAfterMs: number): DailiesError {
  return new DailiesError(doing, { code: 'platform_unavailable', retryable: true, retryAfterMs });
}

interface SearchQuery {
  readonly channel: string;
  /** Earliest time of posting, in ms since the epoch. */
  readonly sinceMs: number;
  readonly isIt: (message: APIMessage) => boolean;
}

/** Margin before {@link SearchQuery.sinceMs}, for clock skew. */
const CLOCK_MARGIN_MS = 60_000;
const PAGE_SIZE = 100;
const MAX_PAGES = 5;

/**
 * Searches a channel for a message of ours, from the earliest time of posting on.
 * @returns `null` if it is not found, or the bot lacks access for good.
 * @throws DailiesError if retryable: the search can be repeated later
 * @see https://discord.com/developers/docs/resources/message#get-channel-messages
 */
async function findMessage(rest: DiscordRest, { channel, sinceMs, isIt }: SearchQuery): Promise<MessageRef | null> {
  const doing = 'looking for a message of ours';
  let after = SnowflakeUtil.generate({ timestamp: sinceMs - CLOCK_MARGIN_MS, increment: 0n });
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = { after: `${after}`, limit: `${PAGE_SIZE}` };
      const messages = await rest.get<readonly APIMessage[]>(Routes.channelMessages(channel), doing, query);
      const found = messages.find(isIt);
      if (found !== undefined) return { channel, message: found.id };
      if (messages.length < PAGE_SIZE) return null;
      for (const { id } of messages) if (BigInt(id) > after) after = BigInt(id);
    }
    return null;
  } catch (thrown) {
    const error = asDailiesError(thrown, doing);
    if (error.retryable) throw error;
    return null;
  }
}
