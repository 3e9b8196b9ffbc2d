import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Bot, Caller, Command, Form, Reply, Suggestion } from '#commands/bot-port.ts';
import { type Placement, type ReplyOf, type Responder, runInteraction } from '#commands/run-interaction.ts';
import { shorten } from '#commands/sentences/format.ts';
import { isAnsweredInPlace, isOrderButton, parsePriceId } from '#commands/ui/buttons.ts';
import { type Card, type CardButton, linesOf, pressesOn } from '#commands/ui/card.ts';
import { parseForm } from '#commands/ui/form-ids.ts';
import type { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Catalog } from '#src/videos/index.ts';
import { type InteractionKind, type Message, type MessageStore, maySee, wireCard } from './message-store.ts';
import type { CachedResponse, ResponseCache } from './response-cache.ts';
import {
  type commandsQuery,
  type dismissalBody,
  type formBody,
  type interactionBody,
  type pressBody,
  type reactionBody,
  type suggestionsQuery,
  TEAM,
} from './schema.ts';

/** User who administers the team and manages every channel: cancels, decides on and retries tasks of other users. */
const MANAGER = 'operator';

/** Commands whose cards the page Settings shows: the audit log, and those with panels, of the team and then of the user. */
const ON_SETTINGS = ['audit', 'settings', 'budget', 'approvers', 'policy', 'style', 'review', 'notify', 'defaults'];

/** Options of {@link InteractionHandler}. */
interface InteractionHandlerOptions {
  readonly bot: Bot;
  readonly messages: MessageStore;
  readonly responses: ResponseCache;
  readonly logger: Logger;
}

/** An interaction of a user, as it is handled and displayed. */
interface Interaction {
  readonly kind: InteractionKind;
  readonly caller: Caller;
  /** Short label of the interaction, such as `/video list`; default: none, since the response makes it clear. */
  readonly label?: string | undefined;
  /** Message with the button or form. Default: none. */
  readonly message?: Message | null;
  /** True: the response replaces `message`, as for pagination; or, without one, what the page Settings shows. Default: false. */
  readonly inPlace?: boolean;
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
    return this.#once({ kind: 'interaction', caller, label: this.#commandOf(body.text) }, () => {
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

  press({ id, user, button, ...place }: z.output<typeof pressBody>): Promise<CachedResponse> {
    return this.#at(place, user, (channel, message) => {
      const caller = callerOf(id, user, channel);
      const pressed = message === null ? undefined : pressesOn(message.card).find((offered) => offered.id === button);
      // The button id comes from the client: one that is not in the message replaces nothing.
      const inPlace = message === null || (pressed !== undefined && isAnsweredInPlace(pressed.id));
      const interaction: Interaction = { kind: 'press', caller, label: pressed?.label, message, inPlace };
      return this.#once(interaction, () => this.#options.bot.press(caller, button));
    });
  }

  react({ id, user, message, emoji }: z.output<typeof reactionBody>): Promise<CachedResponse> {
    return this.#at({ message }, user, (channel, found) => {
      const caller = callerOf(id, user, channel);
      return this.#once({ kind: 'reaction', caller, label: emoji, message: found }, async () => {
        await this.#options.messages.change(message, (current) => withReaction(current, user, emoji));
        return this.#options.bot.react(caller, { channel, message }, emoji);
      });
    });
  }

  submit({ id, user, form, price, values, ...place }: z.output<typeof formBody>): Promise<CachedResponse> {
    const shown = price === undefined ? {} : { shown: { price: parsePriceId(price) } };
    return this.#at(place, user, (channel, message) => {
      const caller = { ...callerOf(id, user, channel), ...shown };
      // The form of a panel changes its card, which is private; without a message, that on the page Settings.
      const isOwn = message === null || message.visibleTo === user;
      const inPlace = isOwn && parseForm(form)?.form === 'panel';
      return this.#once({ kind: 'form', caller, message, inPlace }, () =>
        this.#options.bot.submit(caller, form, values),
      );
    });
  }

  /** Returns the cards of the page Settings; the refusal of a user who may not see the audit log. */
  async settings({ user, channel = '' }: z.output<typeof commandsQuery>) {
    const caller = callerOf('settings', user, channel);
    const cards = [];
    for (const name of ON_SETTINGS) {
      const reply = await this.#options.bot.command(caller, name, {});
      if (reply.kind === 'refused') return { error: reply.sentence };
      if (reply.kind === 'private') cards.push({ name, card: wireCard(reply.card) });
    }
    return { cards };
  }

  commandsFor({ user, channel = '' }: z.output<typeof commandsQuery>): Promise<readonly Command[]> {
    return this.#options.bot.commandsFor(callerOf('commands', user, channel));
  }

  /** Returns the catalog as a channel's policy allows it, with a user's defaults, for an order that is being typed. */
  catalogFor({ user, channel = '' }: z.output<typeof commandsQuery>): Promise<Catalog> {
    return this.#options.bot.catalogFor(callerOf('commands', user, channel));
  }

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

  /** Returns the link of `/video gallery`, which the page redeems by a POST of its own; the refusal where there is none. */
  async galleryLink({ user, channel = '' }: z.output<typeof commandsQuery>) {
    const reply = await this.#options.bot.command(callerOf('gallery', user, channel), 'gallery', {});
    if (reply.kind === 'refused') return { error: reply.sentence };
    const parts = reply.kind === 'private' ? linesOf(reply.card).flat() : [];
    return { link: parts.flatMap((part) => (typeof part === 'object' && 'link' in part ? part.link : [])).at(0) };
  }

  /** Removes an ephemeral message of the user; leaves any other message alone. */
  async dismiss({ user, message }: z.output<typeof dismissalBody>): Promise<void> {
    const found = await this.#options.messages.get(message);
    if (found?.visibleTo === user) await this.#options.messages.remove(message);
  }

  /** Acts on a message that the user may see, or without one in a channel. */
  async #at(
    { message: id, channel = '' }: Pick<z.output<typeof pressBody>, 'message' | 'channel'>,
    user: string,
    act: (channel: string, message: Message | null) => Promise<CachedResponse>,
  ): Promise<CachedResponse> {
    if (typeof id !== 'string') return act(channel, null);
    const message = await this.#options.messages.get(id);
    if (message === undefined || !maySee(message, user)) {
      return { status: 400, body: { error: 'message: there is no such message.' } };
    }
    return act(message.channel, message);
  }

  #once(interaction: Interaction, ask: () => Promise<Reply | null>): Promise<CachedResponse> {
    const { bot, logger, responses } = this.#options;
    const { kind, caller, inPlace = false } = interaction;
    return responses.once(`${kind}:${caller.interaction}`, caller.user.id, async () => {
      const responder = new PageResponder(this.#options, interaction);
      const task = await runInteraction({ bot, logger, caller, inPlace, ask }, responder);
      return task === null ? responder.response : accepted(task.message);
    });
  }
}

/** Responds to an interaction by messages, and by the response to its HTTP request. */
class PageResponder implements Responder {
  readonly #options: Pick<InteractionHandlerOptions, 'messages' | 'logger'>;
  readonly #interaction: Interaction;
  response: CachedResponse = accepted(null);

  constructor(options: Pick<InteractionHandlerOptions, 'messages' | 'logger'>, interaction: Interaction) {
    this.#options = options;
    this.#interaction = interaction;
  }

  /** The HTTP response acknowledges the interaction. */
  acknowledge(): Promise<void> {
    return Promise.resolve();
  }

  async show(card: Card, placement: Placement): Promise<void> {
    const { message = null } = this.#interaction;
    if (placement !== 'in-place') {
      this.response = accepted(await this.#post(card, placement !== 'public'));
      return;
    }
    if (message === null) {
      this.response = { status: 202, body: { message: null, card: wireCard(card) } };
      return;
    }
    const change = (current: Message): Message => ({ ...current, card, edits: current.edits + 1 });
    const isThere = await this.#options.messages.changeIfThere(message.id, change);
    // The question whether to delete a clip quotes it, and goes with it.
    this.response = accepted(isThere ? message.id : await this.#post(card, true));
  }

  offer({ card, private: own = card }: ReplyOf<'offer'>): Promise<void> {
    return this.show(own, 'private');
  }

  async refuse({ sentence, buttons, problems = [] }: ReplyOf<'refused'>, error: DailiesError | null): Promise<void> {
    if (error !== null) return this.#fail(sentence, error);
    const { kind, message = null, inPlace = false } = this.#interaction;
    // A refused form stays open and shows the refusal itself, but it cannot show the buttons of a saved order.
    const isShownByForm = kind === 'form' && buttons?.some(isOrderButton) !== true;
    const isOnSettings = inPlace && message === null;
    if (!isShownByForm && !isOnSettings) await this.#post(sentenceCard(sentence, buttons), true);
    this.response = { status: 400, body: { error: sentence, ...(isShownByForm ? { problems } : {}) } };
  }

  async showForm(form: Form): Promise<void> {
    this.response = { status: 202, body: { message: null, form } };
  }

  /** Tries to post the sentence as an ephemeral message. The interaction may be retried. */
  async #fail(sentence: string, error: DailiesError): Promise<void> {
    const { messages, logger } = this.#options;
    const { kind, caller } = this.#interaction;
    this.response = { status: error.retryable ? 503 : 500, body: { error: sentence } };
    const id = messageIdOf('error', `${kind}:${caller.interaction}`);
    await messages
      .post({ id, channel: caller.channel, card: sentenceCard(sentence), visibleTo: caller.user.id })
      .catch((thrown: unknown) =>
        logger.warn({ event: 'playground_error_report_failed', err: thrown }, 'failed to report an error to the user'),
      );
  }

  /** Posts a response. @returns the id of its message, which is the same for the same interaction. */
  async #post(card: Card, isPrivate: boolean): Promise<string> {
    const { kind, caller, label, message = null } = this.#interaction;
    const posted = await this.#options.messages.post({
      id: messageIdOf(kind, caller.interaction),
      channel: caller.channel,
      card,
      visibleTo: isPrivate ? caller.user.id : null,
      asked: label === undefined ? null : { user: caller.user.name, what: label, how: kind },
      replyTo: message === null ? null : { channel: message.channel, message: message.id },
    });
    return posted.id;
  }
}

/** Returns a card of plain text, such as a refusal; keeps its line breaks. */
function sentenceCard(sentence: string, buttons: readonly CardButton[] = []): Card {
  return { lines: sentence.split('\n').map((line) => [line]), progress: null, buttons };
}

function accepted(message: string | null): CachedResponse {
  return { status: 202, body: { message } };
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
    mayAdminister: user === MANAGER,
    address: {},
  };
}

function withReaction(message: Message, user: string, emoji: string): Message {
  // An emoji may be named like a property of `Object.prototype`.
  const users = Object.hasOwn(message.reactions, emoji) ? (message.reactions[emoji] ?? []) : [];
  if (users.includes(user)) return message;
  return { ...message, reactions: { ...message.reactions, [emoji]: [...users, user] } };
}
