import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Bot, Caller, Reply, Suggestion } from '#commands/bot-port.ts';
import { shorten } from '#commands/sentences/format.ts';
import { sentenceOf } from '#commands/sentences.ts';
import { isAnsweredInPlace, isOrderButton } from '#commands/ui/buttons.ts';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { type DeedKind, type Message, type MessageStore, maySee } from './message-store.ts';
import { buttonsIn, type KeptCard, keptCard, sentenceCard } from './render.ts';
import type { CachedResponse, ResponseCache } from './response-cache.ts';
import {
  type dismissalBody,
  type formBody,
  type interactionBody,
  MANAGER,
  type pressBody,
  type reactionBody,
  type suggestionsQuery,
  TEAM,
} from './schema.ts';

/** What the desk works with. */
export interface InteractionHandlerOptions {
  readonly bot: () => Bot;
  readonly board: MessageStore;
  readonly answers: ResponseCache;
  readonly logger: Logger;
}

/** Something a person did, as it is answered and shown. */
interface Deed {
  readonly kind: DeedKind;
  readonly caller: Caller;
  /** What was done, in a few words; `null` where the answer says it. */
  readonly what: string | null;
  /** The message it was done to. */
  readonly message: Message | null;
  /** Whether the answer takes the place of `message`, as turning a page does. */
  readonly inPlace: boolean;
}

/** Thrown to the HTTP call when the bot could not do what was asked; `sentence` is for the person. */
export class InteractionFailed extends Error {
  override readonly name = 'CouldNot';
  readonly sentence: string;
  /** Whether the same call may work later. */
  readonly retryable: boolean;

  constructor(sentence: string, error: DailiesError) {
    super(error.message, { cause: error });
    this.sentence = sentence;
    this.retryable = error.retryable;
  }
}

/** Takes what people do on the page to the bot, and puts its answers on the board. Each id is done once. */
export class InteractionHandler {
  readonly #options: InteractionHandlerOptions;

  constructor(options: InteractionHandlerOptions) {
    this.#options = options;
  }

  /** Somebody entered a command. */
  interact(body: z.output<typeof interactionBody>): Promise<CachedResponse> {
    const caller = callerOf(body.id, body.user, body.channel);
    const typed = /^\/video(?:\s+|$)([\s\S]*)$/i.exec(body.text.trim())?.[1];
    const deed: Deed = { kind: 'interaction', caller, what: this.#commandOf(body.text), message: null, inPlace: false };
    return this.#once(deed, () => {
      if (typed !== undefined) return this.#options.bot().text(caller, typed);
      // Only words are offered as a clip; what looks like another command is not.
      if (/^\s*(?:\/|$)/u.test(body.text)) return Promise.resolve(NOT_A_COMMAND);
      return this.#options.bot().text(caller, body.text, 'plain');
    });
  }

  /** Shortens what was typed: `/video list`, `/video` with a prompt after it, or how plain text begins. */
  #commandOf(text: string): string {
    const line = text.trim();
    if (!line.startsWith('/')) return shorten(line, 40);
    const [command = line, second = ''] = line.split(/\s+/);
    const isSubcommand = this.#options.bot().commands.some(({ name }) => name === second.toLowerCase());
    return shorten(isSubcommand ? `${command} ${second}` : command, 40);
  }

  /** Somebody pressed a button. */
  press({ id, user, message, button }: z.output<typeof pressBody>): Promise<CachedResponse> {
    return this.#onMessage(message, user, (found) => {
      const caller = callerOf(id, user, found.channel);
      const pressed = buttonsIn(found.card).find((offered) => offered.id === button);
      // Whoever calls names the button: one that does not stand there replaces nothing.
      const inPlace = pressed !== undefined && isAnsweredInPlace(pressed.id);
      const deed: Deed = { kind: 'press', caller, what: pressed?.label ?? null, message: found, inPlace };
      return this.#once(deed, () => this.#options.bot().press(caller, button));
    });
  }

  /** Somebody reacted to a message: it shows there, and may mean something to the bot. */
  react({ id, user, message, emoji }: z.output<typeof reactionBody>): Promise<CachedResponse> {
    return this.#onMessage(message, user, (found) => {
      const caller = callerOf(id, user, found.channel);
      const deed: Deed = { kind: 'reaction', caller, what: emoji, message: found, inPlace: false };
      return this.#once(deed, async () => {
        await this.#options.board.change(message, (there) => withReaction(there, user, emoji));
        return this.#options.bot().react(caller, { channel: found.channel, message }, emoji);
      });
    });
  }

  /** Somebody sent a form. */
  submit({ id, user, message, channel, form, values }: z.output<typeof formBody>): Promise<CachedResponse> {
    const send = (place: string, original: Message | null): Promise<CachedResponse> => {
      const caller = callerOf(id, user, place);
      const deed: Deed = { kind: 'form', caller, what: null, message: original, inPlace: false };
      return this.#once(deed, () => this.#options.bot().submit(caller, form, values));
    };
    if (typeof message === 'string') return this.#onMessage(message, user, (found) => send(found.channel, found));
    return send(channel ?? '', null);
  }

  /** What to offer while somebody types. */
  suggest({
    user,
    channel,
    command,
    option,
    typed,
    given,
  }: z.output<typeof suggestionsQuery>): Promise<readonly Suggestion[]> {
    const caller = callerOf('suggestion', user, channel);
    return this.#options.bot().suggest(caller, command, option, typed, given);
  }

  /** Somebody has read what only they could see; nothing else can be taken away. */
  async dismiss({ user, message }: z.output<typeof dismissalBody>): Promise<void> {
    const found = await this.#options.board.get(message);
    if (found?.visibleTo === user) await this.#options.board.remove(message);
  }

  async #onMessage(
    id: string,
    user: string,
    act: (message: Message) => Promise<CachedResponse>,
  ): Promise<CachedResponse> {
    const message = await this.#options.board.get(id);
    if (message === undefined || !maySee(message, user)) {
      return { status: 400, body: { error: 'message: there is no such message.' } };
    }
    return act(message);
  }

  #once(deed: Deed, ask: () => Promise<Reply | null>): Promise<CachedResponse> {
    return this.#options.answers.once(`${deed.kind}:${deed.caller.interaction}`, async () => {
      try {
        return await this.#answer(deed, await ask());
      } catch (thrown) {
        throw await this.#apologise(deed, asDailiesError(thrown, `answering a ${deed.kind}`));
      }
    });
  }

  async #answer(deed: Deed, reply: Reply | null): Promise<CachedResponse> {
    switch (reply?.kind) {
      case undefined:
        return { status: 202, body: { message: null } };
      case 'task': {
        const shown = await this.#options.bot().show(reply.task);
        return { status: 202, body: { message: shown.message } };
      }
      case 'private':
      case 'offer':
        return { status: 202, body: { message: await this.#show(deed, keptCard(reply.card), deed.caller.user.id) } };
      case 'public':
        return { status: 202, body: { message: await this.#show(deed, keptCard(reply.card), null) } };
      case 'refused':
        // A form that was refused is still open, and says so itself; buttons for a request that was kept it has none.
        if (deed.kind === 'form' && reply.buttons?.some(isOrderButton) !== true)
          return { status: 400, body: { error: reply.sentence, problems: reply.problems ?? [] } };
        await this.#show({ ...deed, inPlace: false }, sentenceCard(reply.sentence, reply.buttons), deed.caller.user.id);
        return { status: 400, body: { error: reply.sentence } };
      case 'form':
        return { status: 202, body: { message: null, form: reply.form } };
    }
  }

  /** Puts an answer on the board. @returns its message's id, the same for the same deed. */
  async #show(deed: Deed, card: KeptCard, visibleTo: string | null): Promise<string> {
    const { kind, caller, what, message, inPlace } = deed;
    const { board } = this.#options;
    if (inPlace && message !== null) {
      await board.change(message.id, (there) => ({ ...there, card, edits: there.edits + 1 }));
      return message.id;
    }
    const posted = await board.post({
      id: messageIdOf(kind, caller.interaction),
      channel: caller.channel,
      card,
      visibleTo,
      asked: what === null ? null : { user: caller.user.name, what, how: kind },
      replyTo: message === null ? null : { channel: message.channel, message: message.id },
    });
    return posted.id;
  }

  /** Says privately what went wrong, where the board can still be written. The deed may be tried again. */
  async #apologise(deed: Deed, error: DailiesError): Promise<InteractionFailed> {
    const { board, logger } = this.#options;
    const { kind, caller } = deed;
    logger.warn({ err: error, kind, code: error.code }, 'an interaction could not be answered');
    const sentence = sentenceOf(error);
    const id = messageIdOf('error', `${kind}:${caller.interaction}`);
    await board
      .post({ id, channel: caller.channel, card: sentenceCard(sentence), visibleTo: caller.user.id })
      .catch((thrown: unknown) => logger.warn({ err: thrown }, 'an apology could not be shown'));
    return new InteractionFailed(sentence, error);
  }
}

/** The id of the message that has a reason to be there once: the same reason, the same id. */
export function messageIdOf(reason: string, of: string): string {
  return `m${createHash('sha256').update(`${reason}\n${of}`).digest('hex').slice(0, 23)}`;
}

const NOT_A_COMMAND: Reply = {
  kind: 'refused',
  sentence: 'Commands begin with /video, such as: /video create a red fox running through snow',
};

function callerOf(interaction: string, user: string, channel: string): Caller {
  return {
    platform: 'playground',
    team: TEAM,
    channel,
    user: { id: user, name: user },
    interaction,
    mayManage: user === MANAGER,
    address: {},
  };
}

function withReaction(message: Message, user: string, emoji: string): Message {
  // An emoji may be called as what every object has.
  const users = Object.hasOwn(message.reactions, emoji) ? (message.reactions[emoji] ?? []) : [];
  if (users.includes(user)) return message;
  return { ...message, reactions: { ...message.reactions, [emoji]: [...users, user] } };
}
