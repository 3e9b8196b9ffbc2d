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

/** Options of {@link InteractionHandler}. */
export interface InteractionHandlerOptions {
  readonly bot: Bot;
  readonly messages: MessageStore;
  readonly responses: ResponseCache;
  readonly logger: Logger;
}

/** An interaction of a user, as it is handled and displayed. */
interface Interaction {
  readonly kind: DeedKind;
  readonly caller: Caller;
  /** Short label of the interaction, such as `/video list`; `null` where the response makes it clear. */
  readonly label: string | null;
  /** The message it applies to. */
  readonly message: Message | null;
  /** True: the response replaces `message`, as for pagination. */
  readonly inPlace: boolean;
}

/** Reports a failed interaction to its HTTP route; `sentence` is for the user. */
export class InteractionFailed extends Error {
  override readonly name = 'InteractionFailed';
  readonly sentence: string;
  /** True: a retry of the same request may succeed. */
  readonly retryable: boolean;

  constructor(sentence: string, error: DailiesError) {
    super(error.message, { cause: error });
    this.sentence = sentence;
    this.retryable = error.retryable;
  }
}

/** Passes interactions of the page to the bot and posts its responses. Deduplicates by interaction id. */
export class InteractionHandler {
  readonly #options: InteractionHandlerOptions;

  constructor(options: InteractionHandlerOptions) {
    this.#options = options;
  }

  /** Handles a command or plain text. */
  interact(body: z.output<typeof interactionBody>): Promise<CachedResponse> {
    const caller = callerOf(body.id, body.user, body.channel);
    const typed = /^\/video(?:\s+|$)([\s\S]*)$/i.exec(body.text.trim())?.[1];
    const interaction: Interaction = {
      kind: 'interaction',
      caller,
      label: this.#commandOf(body.text),
      message: null,
      inPlace: false,
    };
    return this.#once(interaction, () => {
      if (typed !== undefined) return this.#options.bot.text(caller, typed);
      // Plain text is offered as an order; text that looks like another command is not.
      if (/^\s*(?:\/|$)/u.test(body.text)) return Promise.resolve(NOT_A_COMMAND);
      return this.#options.bot.text(caller, body.text, 'plain');
    });
  }

  /** Returns a short label for the text: `/video list`, `/video` before a prompt, or the beginning of plain text. */
  #commandOf(text: string): string {
    const line = text.trim();
    if (!line.startsWith('/')) return shorten(line, 40);
    const [command = line, second = ''] = line.split(/\s+/);
    const isSubcommand = this.#options.bot.commands.some(({ name }) => name === second.toLowerCase());
    return shorten(isSubcommand ? `${command} ${second}` : command, 40);
  }

  /** Handles a button press. */
  press({ id, user, message, button }: z.output<typeof pressBody>): Promise<CachedResponse> {
    return this.#onMessage(message, user, (found) => {
      const caller = callerOf(id, user, found.channel);
      const pressed = buttonsIn(found.card).find((offered) => offered.id === button);
      // The button id comes from the client: one that is not in the message replaces nothing.
      const inPlace = pressed !== undefined && isAnsweredInPlace(pressed.id);
      const interaction: Interaction = {
        kind: 'press',
        caller,
        label: pressed?.label ?? null,
        message: found,
        inPlace,
      };
      return this.#once(interaction, () => this.#options.bot.press(caller, button));
    });
  }

  /** Adds a reaction to a message and passes it to the bot. */
  react({ id, user, message, emoji }: z.output<typeof reactionBody>): Promise<CachedResponse> {
    return this.#onMessage(message, user, (found) => {
      const caller = callerOf(id, user, found.channel);
      const interaction: Interaction = { kind: 'reaction', caller, label: emoji, message: found, inPlace: false };
      return this.#once(interaction, async () => {
        await this.#options.messages.change(message, (current) => withReaction(current, user, emoji));
        return this.#options.bot.react(caller, { channel: found.channel, message }, emoji);
      });
    });
  }

  /** Handles a form submission. */
  submit({ id, user, message, channel, form, values }: z.output<typeof formBody>): Promise<CachedResponse> {
    const send = (target: string, original: Message | null): Promise<CachedResponse> => {
      const caller = callerOf(id, user, target);
      const interaction: Interaction = { kind: 'form', caller, label: null, message: original, inPlace: false };
      return this.#once(interaction, () => this.#options.bot.submit(caller, form, values));
    };
    if (typeof message === 'string') return this.#onMessage(message, user, (found) => send(found.channel, found));
    return send(channel ?? '', null);
  }

  /** Returns autocomplete suggestions. */
  suggest({
    user,
    channel,
    command,
    option,
    typed,
    given,
  }: z.output<typeof suggestionsQuery>): Promise<readonly Suggestion[]> {
    const caller = callerOf('suggestion', user, channel);
    return this.#options.bot.suggest(caller, command, option, typed, given);
  }

  /** Removes an ephemeral message of the user; leaves any other message alone. */
  async dismiss({ user, message }: z.output<typeof dismissalBody>): Promise<void> {
    const found = await this.#options.messages.get(message);
    if (found?.visibleTo === user) await this.#options.messages.remove(message);
  }

  async #onMessage(
    id: string,
    user: string,
    act: (message: Message) => Promise<CachedResponse>,
  ): Promise<CachedResponse> {
    const message = await this.#options.messages.get(id);
    if (message === undefined || !maySee(message, user)) {
      return { status: 400, body: { error: 'message: there is no such message.' } };
    }
    return act(message);
  }

  #once(interaction: Interaction, run: () => Promise<Reply | null>): Promise<CachedResponse> {
    return this.#options.responses.once(`${interaction.kind}:${interaction.caller.interaction}`, async () => {
      try {
        return await this.#respond(interaction, await run());
      } catch (thrown) {
        throw await this.#reportFailure(interaction, asDailiesError(thrown, `answering a ${interaction.kind}`));
      }
    });
  }

  async #respond(interaction: Interaction, reply: Reply | null): Promise<CachedResponse> {
    switch (reply?.kind) {
      case undefined:
        return { status: 202, body: { message: null } };
      case 'task': {
        const shown = await this.#options.bot.show(reply.task);
        return { status: 202, body: { message: shown.message } };
      }
      case 'private':
      case 'offer':
        return {
          status: 202,
          body: { message: await this.#show(interaction, keptCard(reply.card), interaction.caller.user.id) },
        };
      case 'public':
        return { status: 202, body: { message: await this.#show(interaction, keptCard(reply.card), null) } };
      case 'refused':
        // A refused form stays open and shows the refusal itself, but it cannot show the buttons of a saved order.
        if (interaction.kind === 'form' && reply.buttons?.some(isOrderButton) !== true)
          return { status: 400, body: { error: reply.sentence, problems: reply.problems ?? [] } };
        await this.#show(
          { ...interaction, inPlace: false },
          sentenceCard(reply.sentence, reply.buttons),
          interaction.caller.user.id,
        );
        return { status: 400, body: { error: reply.sentence } };
      case 'form':
        return { status: 202, body: { message: null, form: reply.form } };
    }
  }

  /** Posts a response. @returns the id of its message, which is the same for the same interaction. */
  async #show(interaction: Interaction, card: KeptCard, visibleTo: string | null): Promise<string> {
    const { kind, caller, label, message, inPlace } = interaction;
    const { messages } = this.#options;
    if (inPlace && message !== null) {
      await messages.change(message.id, (current) => ({ ...current, card, edits: current.edits + 1 }));
      return message.id;
    }
    const posted = await messages.post({
      id: messageIdOf(kind, caller.interaction),
      channel: caller.channel,
      card,
      visibleTo,
      asked: label === null ? null : { user: caller.user.name, what: label, how: kind },
      replyTo: message === null ? null : { channel: message.channel, message: message.id },
    });
    return posted.id;
  }

  /** Logs the error and tries to post it as an ephemeral message. The interaction may be retried. */
  async #reportFailure(interaction: Interaction, error: DailiesError): Promise<InteractionFailed> {
    const { messages, logger } = this.#options;
    const { kind, caller } = interaction;
    logger.warn(
      { event: 'playground_interaction_failed', err: error, kind, code: error.code },
      'failed to handle an interaction',
    );
    const sentence = sentenceOf(error);
    const id = messageIdOf('error', `${kind}:${caller.interaction}`);
    await messages
      .post({ id, channel: caller.channel, card: sentenceCard(sentence), visibleTo: caller.user.id })
      .catch((thrown: unknown) =>
        logger.warn({ event: 'playground_error_report_failed', err: thrown }, 'failed to report an error to the user'),
      );
    return new InteractionFailed(sentence, error);
  }
}

/** Returns a deterministic message id, so that a retry does not post twice: equal arguments give equal ids. */
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
  // An emoji may be named like a property of `Object.prototype`.
  const users = Object.hasOwn(message.reactions, emoji) ? (message.reactions[emoji] ?? []) : [];
  if (users.includes(user)) return message;
  return { ...message, reactions: { ...message.reactions, [emoji]: [...users, user] } };
}
