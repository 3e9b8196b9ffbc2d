import { hash } from 'node:crypto';
import { type APIMessage, Routes } from 'discord.js';
import { taskButtonId } from '#commands/ui/buttons.ts';
import { type MessageRef, taskOfKey } from '#src/chat/platform.ts';
import type { Clock } from '#src/clock.ts';
import { DailiesError } from '#src/errors.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import type { PendingResponses, ResponseOutcome } from '../interactions/pending-responses.ts';
import { readAddress } from '../origin.ts';
import type { Call, DiscordRest } from '../rest/client.ts';
import type { DiscordTime } from '../rest/clock-skew.ts';
import { answerBehind, isDeadToken, translate } from '../rest/errors.ts';
import type { SentFile } from '../rest/upload.ts';
import type { MessageStore, MessageToken } from './message-store.ts';
import type { Body } from './render.ts';
import { findMessage, type SearchQuery } from './search.ts';

/** Collaborators of {@link TaskPosts}. */
export interface TaskPostsOptions {
  readonly rest: DiscordRest;
  readonly memory: MessageStore;
  readonly answered: PendingResponses;
  readonly time: DiscordTime;
  readonly clock: Clock;
  /** The bot's own user. @throws DailiesError */
  readonly self: () => Promise<string>;
}

/** What a message of the bot's own is to say for the first time. */
export interface First {
  readonly body: Body;
  /** Since when an earlier try may have posted it, ms since the epoch. */
  readonly sinceMs: number;
}

/** What is told besides a task's message. */
export interface Notice {
  readonly content: string;
  /** The message that it answers. */
  readonly replyTo: string | null;
  readonly allowed_mentions: object;
  /** @see https://discord.com/developers/docs/resources/message#message-object-message-flags */
  readonly flags?: number;
}

/** How a message is to change. */
export interface Edit {
  readonly body: Body;
  readonly urgency: 'progress' | 'final';
  readonly file?: SentFile;
}

/** How soon to try again what only a press makes possible. */
const WAIT_FOR_PRESS_MS = 15_000;
/** How soon to look again for an answer that another replica may be giving. */
const WAIT_FOR_ANSWER_MS = 1_000;
/** What Discord says of an interaction's token before the first answer. @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const UNANSWERED = 10015;
const NONCE_LENGTH = 25;
/** For so long at the least Discord keeps what is posted under one nonce to one: "a few minutes". */
const NONCE_HOLDS_MS = 60_000;
/** @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const ARCHIVED_THREAD = 50083;

/**
 * The messages of tasks. Each is the answer to an interaction: changed by the interaction's token while that lives, and
 * by the bot's own token from then on, where the bot is. A token that Discord refused once is not used again, not even
 * after a restart.
 */
export class TaskPosts {
  readonly #options: TaskPostsOptions;
  readonly #opening = new Map<TaskId, Promise<MessageRef>>();

  constructor(options: TaskPostsOptions) {
    this.#options = options;
  }

  /** Shows a task's message for the first time, or finds it; many callers at once show one. */
  open(task: TaskId, origin: Origin, first: First): Promise<MessageRef> {
    const opening =
      this.#opening.get(task) ?? this.#open(task, origin, first).finally(() => this.#opening.delete(task));
    this.#opening.set(task, opening);
    return opening;
  }

  /** Changes a task's message. @returns what Discord made of it. @throws DailiesError */
  edit(ref: MessageRef, origin: Pick<Origin, 'address'>, edit: Edit): Promise<APIMessage> {
    return this.#reach(ref, origin, { method: 'PATCH', doing: `editing message ${ref.message}`, ...edit });
  }

  /** A task's message as it stands. @throws DailiesError */
  look(ref: MessageRef, origin: Pick<Origin, 'address'>): Promise<APIMessage> {
    return this.#reach(ref, origin, { method: 'GET', doing: `looking at message ${ref.message}` });
  }

  /**
   * Posts a message by the bot's own token, or finds it: it is written down before, and looked for where an earlier try
   * was too long ago for {@link #post}.
   */
  async postOnce(key: string, channel: string, { content, replyTo, ...rest }: Notice): Promise<MessageRef> {
    // Discord takes white space off the ends. Two clips of one prompt are told of in the same words, each under its message.
    const isIt = ({ content: words, message_reference: reference }: APIMessage): boolean =>
      words.trim() === content.trim() && (reference?.message_id ?? replyTo) === replyTo;
    return this.#once(key, channel, { message: { content, ...rest, ...replyingTo(replyTo) }, isIt });
  }

  /** Offers something in a message of the bot's own, once per `id`. */
  offer(id: string, channel: string, body: Body): Promise<MessageRef> {
    const [button] = JSON.stringify(body.components).match(/"custom_id":"[^"]*"/u) ?? [];
    const isIt = ({ components }: APIMessage): boolean =>
      button !== undefined && JSON.stringify(components ?? []).includes(button);
    return this.#once(`offer:${id}`, channel, { message: body, isIt });
  }

  async #once(
    key: string,
    channel: string,
    { message, isIt }: { readonly message: object; readonly isIt: (message: APIMessage) => boolean },
  ): Promise<MessageRef> {
    const { memory, clock } = this.#options;
    const known = await memory.recall<MessageRef | { readonly sinceMs: number }>(key);
    if (known !== undefined && 'message' in known) return known;
    const { sinceMs } = known ?? { sinceMs: clock.now() };
    if (known === undefined) await memory.remember(key, { sinceMs });
    const found = this.#isLongAgo(sinceMs) ? await this.#find({ channel, sinceMs, isIt }) : null;
    const posted = found ?? (await this.#post(channel, key, message));
    await memory.remember(key, posted);
    return posted;
  }

  /** Under the same `key`, Discord keeps it to one for a few minutes. */
  async #post(channel: string, key: string, message: object): Promise<MessageRef> {
    const nonce = { nonce: nonceOf(key), enforce_nonce: true };
    const doing = `posting in channel ${channel}`;
    const call = {
      method: 'POST',
      route: Routes.channelMessages(channel),
      body: { ...message, ...nonce },
      doing,
    } as const;
    const posted = await this.#options.rest.call<APIMessage>(call);
    return { channel: posted.channel_id, message: posted.id };
  }

  /** Posts a message beside a task's, where only the task's interaction may. */
  async followUp(ref: MessageRef, message: object): Promise<MessageRef> {
    const doing = `following up message ${ref.message}`;
    const token = this.#alive((await this.#options.memory.message(ref.message))?.token ?? null);
    if (token === null) throw waitingForPress(doing);
    try {
      const route = Routes.webhook(token.application, token.token);
      const posted = await this.#options.rest.answer<APIMessage>({ route, body: message, doing });
      return { channel: posted.channel_id, message: posted.id };
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (!isDeadToken(error)) throw error;
      await this.#options.memory.change(ref.message, { token: null });
      throw waitingForPress(doing);
    }
  }

  /** Calls for a task's message: by its token while that lives, else by the bot's own. */
  async #reach(ref: MessageRef, { address }: Pick<Origin, 'address'>, call: Omit<Call, 'route'>): Promise<APIMessage> {
    const { rest, memory } = this.#options;
    const { hasBot } = readAddress(address);
    const token = this.#alive((await memory.message(ref.message))?.token ?? null);
    if (token !== null) {
      try {
        return await rest.call<APIMessage>({ ...call, route: originalOf(token), isOurs: false });
      } catch (thrown) {
        const error = translate(thrown, call.doing);
        if (isDeadToken(error)) await memory.change(ref.message, { token: null });
        // Only the bot itself can wake a thread.
        else if (!isAsleep(error) || !hasBot) throw error;
      }
    }
    if (!hasBot) throw waitingForPress(call.doing);
    return this.#byBot(ref.channel, { ...call, route: Routes.channelMessage(ref.channel, ref.message) });
  }

  async #open(task: TaskId, origin: Origin, first: First): Promise<MessageRef> {
    const { memory, answered } = this.#options;
    const known = await memory.ofTask(task);
    if (known !== undefined) return { channel: known.channel, message: known.message };
    const { token: given, hasBot, source } = readAddress(origin.address);
    const outcome = await answered.outcome(origin.interaction);
    const token = await this.#usable(this.#alive(given), origin.interaction, outcome);
    // A button's answer is a reply to the button's message, and a command's to none.
    const mustReply = hasBot && origin.replyTo !== undefined && origin.replyTo !== source;
    const answer = token === null || mustReply ? null : await this.#answerWith(token, first.body);
    const ref = answer ?? (await this.#postInstead(task, origin, first));
    if (token !== null && mustReply) await this.#removeAnswer(token);
    await memory.opened({
      task,
      ...ref,
      token: answer === null ? null : token,
      clip: null,
      shown: hasBot ? null : first.body.components,
    });
    return (await memory.ofTask(task)) ?? ref;
  }

  /** The token where there is an answer to change: of what broke off, or another replica answers, only Discord knows. */
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
      const isUnanswered = answerBehind(error)?.code === UNANSWERED;
      const isOnItsWay = outcome !== 'lost' && this.#options.time.mayBeAnsweredYet(interaction);
      // A message beside the answer that is still to come would be a second one.
      if (isUnanswered && isOnItsWay) throw waiting(`${doing}: it may be on its way`, WAIT_FOR_ANSWER_MS);
      return null;
    }
  }

  /** Puts a body into the interaction's answer. @returns `null` where its token is of no use. */
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

  /** Shows a task in a message of its own, unless an earlier try, of which nothing was written down, showed it. */
  async #postInstead(task: TaskId, { channel, replyTo, address }: Origin, first: First): Promise<MessageRef> {
    if (!readAddress(address).hasBot) {
      throw new DailiesError(`showing task ${task}: the bot itself is not in channel ${channel}`, {
        code: 'missing_permission',
        retryable: false,
      });
    }
    const { body, sinceMs } = first;
    // All messages of tasks have this one.
    const button = JSON.stringify(taskButtonId('details', taskOfKey(task), 0));
    const isIt = ({ components }: APIMessage): boolean => JSON.stringify(components ?? []).includes(button);
    const found = this.#isLongAgo(sinceMs) ? await this.#find({ channel, sinceMs, isIt }) : null;
    return found ?? this.#post(channel, `task:${task}`, { ...body, ...replyingTo(replyTo ?? null) });
  }

  /** Looks for a message of the bot's own. */
  async #find({ isIt, ...sought }: SearchQuery): Promise<MessageRef | null> {
    const { rest, self } = this.#options;
    const user = await self();
    return findMessage(rest, { ...sought, isIt: (message) => message.author.id === user && isIt(message) });
  }

  /** Whether Discord may have forgotten the nonce of an earlier try. */
  #isLongAgo(sinceMs: number): boolean {
    return this.#options.clock.now() - sinceMs > NONCE_HOLDS_MS;
  }

  /** Takes away the answer that something else stands for. */
  async #removeAnswer(token: MessageToken): Promise<void> {
    const call = { method: 'DELETE', route: originalOf(token), isOurs: false, doing: 'removing an answer' } as const;
    // It may be gone, or never have been there.
    await this.#options.rest.call(call).catch(() => undefined);
  }

  /** Calls with the bot's own token; a thread that fell asleep is woken up first. */
  async #byBot(channel: string, call: Call): Promise<APIMessage> {
    const { rest } = this.#options;
    try {
      return await rest.call<APIMessage>(call);
    } catch (thrown) {
      const error = translate(thrown, call.doing);
      if (!isAsleep(error)) throw error;
      const doing = `waking thread ${channel}`;
      await rest.call({ method: 'PATCH', route: Routes.channel(channel), body: { archived: false }, doing });
      return rest.call<APIMessage>(call);
    }
  }

  #alive(token: MessageToken | null): MessageToken | null {
    const { clock, memory } = this.#options;
    return token !== null && token.expiresAtMs > clock.now() && !memory.isRefused(token.token) ? token : null;
  }
}

function isAsleep(error: DailiesError): boolean {
  return answerBehind(error)?.code === ARCHIVED_THREAD;
}

/** What makes a message a reply; also to one that is no longer there. */
function replyingTo(message: string | null): object {
  return message === null ? {} : { message_reference: { message_id: message, fail_if_not_exists: false } };
}

/** @see https://discord.com/developers/docs/interactions/receiving-and-responding#edit-original-interaction-response */
function originalOf({ application, token }: MessageToken): `/webhooks/${string}/${string}/messages/${string}` {
  return Routes.webhookMessage(application, token);
}

function nonceOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, NONCE_LENGTH);
}

function waitingForPress(doing: string): DailiesError {
  return waiting(`${doing}: only somebody’s press makes that possible now`, WAIT_FOR_PRESS_MS);
}

function waiting(doing: string, retryAfterMs: number): DailiesError {
  return new DailiesError(doing, { code: 'platform_unavailable', retryable: true, retryAfterMs });
}
