import {
  type APIInteraction,
  type APIMessage,
  InteractionResponseType,
  MessageFlags,
  RESTJSONErrorCodes,
  Routes,
} from 'discord.js';
import type { CancelTimer, Clock } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { MessageStore, MessageToken } from '../messages/message-store.ts';
import { type Body, IS_EPHEMERAL } from '../messages/render.ts';
import { type Call, type DiscordRest, FIRST_RESPONSE_MS } from '../rest/client.ts';
import { errorResponseOf, translate } from '../rest/errors.ts';

/**
 * Mode in which a slow interaction is deferred: `public` and `private` show "thinking…", `update` shows nothing; `form`
 * is deferred last, since a modal must be the initial response; `never` is for suggestions.
 */
export type DeferMode = 'public' | 'private' | 'update' | 'form' | 'never';

export type ResponseOutcome =
  | 'taken'
  /** Too late, or rejected: there is no response to edit. */
  | 'lost'
  /** The request broke off: it may still arrive, or have arrived. */
  | 'unknown';

/**
 * Outcomes of the initial responses in flight in this process, by interaction, so that no response is edited before it
 * exists. A response of another replica is looked up at Discord.
 */
export type PendingResponses = Map<string, Promise<ResponseOutcome>>;

/** Response of an earlier delivery, as Discord has it: `form` leaves no `@original`; `null`: there is none. */
type FoundResponse = 'thinking' | 'message' | 'form' | null;

interface InitialResponse {
  readonly type: InteractionResponseType;
  readonly data?: object;
}

/** Types of initial responses with an `@original`, which can be looked up: a message of their own, or the button's. */
const HAS_ORIGINAL: ReadonlySet<InteractionResponseType> = new Set([
  InteractionResponseType.ChannelMessageWithSource,
  InteractionResponseType.DeferredChannelMessageWithSource,
  InteractionResponseType.DeferredMessageUpdate,
  InteractionResponseType.UpdateMessage,
]);

interface InteractionResponseOptions {
  readonly interaction: Pick<APIInteraction, 'id'>;
  readonly token: MessageToken;
  readonly mode: DeferMode;
  /** Age of the interaction on arrival, in milliseconds. */
  readonly ageMs: number;
  /** True if it arrived within 3 s; false if unknown. */
  readonly isFresh: boolean;
  /** True if a resumed session delivered it. */
  readonly isReplayed: boolean;
  readonly rest: DiscordRest;
  /** Store of the tokens that Discord rejected. */
  readonly records: Pick<MessageStore, 'refused' | 'isRefused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Delay before deferring: enough for the store, with time left for the request to Discord. */
const DEFER_AFTER_MS = 1_500;
/** Delay before deferring a form, which must be the initial response: as long as possible. */
const DEFER_FORM_AFTER_MS = 2_300;
/** Age on arrival from which an interaction may already have a response by a process that is gone. */
const MAYBE_REPEATED_MS = 1_000;
/** @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const ALREADY_ANSWERED = 40060;

/**
 * Response to one interaction: sends the initial response in time and exactly once, and edits it from then on. A timer
 * defers a slow interaction.
 */
export class InteractionResponse {
  readonly #options: InteractionResponseOptions;
  readonly #timer: CancelTimer;
  /** Time of its arrival by {@link Clock.monotonic}. */
  readonly #receivedAtMs: number;
  readonly #first = Promise.withResolvers<ResponseOutcome>();
  #outcome = this.#first.promise;
  /** False once there is an initial response, or an attempt at one. */
  #isOpen = true;

  constructor(options: InteractionResponseOptions) {
    this.#options = options;
    const { clock, ageMs, mode } = options;
    this.#receivedAtMs = clock.monotonic();
    const afterMs = mode === 'form' ? DEFER_FORM_AFTER_MS : DEFER_AFTER_MS;
    this.#timer = mode === 'never' ? () => undefined : clock.after(afterMs - ageMs, () => void this.defer());
  }

  get outcome(): Promise<ResponseOutcome> {
    return this.#outcome;
  }

  /** True while a modal can still be shown, which must be the initial response. */
  get takesForms(): boolean {
    return this.#isOpen;
  }

  /**
   * Acknowledges the interaction at Discord, right before an order is placed. One that is too late for it counts where an
   * earlier delivery was acknowledged in time, and still shows "thinking…": its process died before it claimed the order.
   * @returns whether the user saw the acknowledgement; `false` once Discord has reported the interaction as failed.
   */
  async accepted(): Promise<boolean> {
    if (!this.#options.isFresh || (this.#isOpen && this.#ageMs > FIRST_RESPONSE_MS)) {
      if ((await this.#find()) !== 'thinking') return false;
      this.adopt();
      return true;
    }
    const outcome = await this.defer();
    return outcome === 'taken' || (outcome === 'unknown' && (await this.#exists()));
  }

  /** Returns whether the interaction can still be responded to. */
  async takesAnswers(): Promise<boolean> {
    return this.#isOpen ? this.#ageMs <= FIRST_RESPONSE_MS : (await this.outcome) === 'taken';
  }

  /** Defers the interaction, unless it already has a response. */
  async defer(): Promise<ResponseOutcome> {
    if (!this.#isOpen) return this.outcome;
    this.#isOpen = false;
    if (this.#mode === 'update') return this.#send({ type: InteractionResponseType.DeferredMessageUpdate });
    const data = this.#mode === 'public' ? {} : { flags: IS_EPHEMERAL };
    return this.#send({ type: InteractionResponseType.DeferredChannelMessageWithSource, data });
  }

  /** Defers the interaction. @returns whether the response exists, so that it can be edited later. */
  async stands(): Promise<boolean> {
    return (await this.defer()) === 'taken' || this.#exists();
  }

  /** Responds ephemerally, to the caller only. */
  async privately(body: Body): Promise<void> {
    const data = { ...body, flags: body.flags | IS_EPHEMERAL };
    if (await this.#initially({ type: InteractionResponseType.ChannelMessageWithSource, data })) return;
    if (this.#mode === 'private' || this.#mode === 'form') return this.#replace(body);
    // Deletes the public "thinking…" first: otherwise the next message would only replace it.
    if (this.#mode === 'public') await this.#remove();
    await this.#followUp(data);
  }

  /** Responds publicly, to everyone in the channel. */
  async publicly(body: Body): Promise<void> {
    if (await this.#initially({ type: InteractionResponseType.ChannelMessageWithSource, data: body })) return;
    if (this.#mode === 'public') return this.#replace(body);
    await this.#followUp(body);
  }

  /** Replaces the message whose button was pressed. */
  async inPlace(body: Body): Promise<void> {
    if (await this.#initially({ type: InteractionResponseType.UpdateMessage, data: body })) return;
    await this.#replace(body);
  }

  /** Opens a modal; only while {@link takesForms}. */
  async form(modal: object): Promise<void> {
    await this.#initially({ type: InteractionResponseType.Modal, data: modal });
  }

  async suggestions(choices: readonly object[]): Promise<void> {
    await this.#initially({ type: InteractionResponseType.ApplicationCommandAutocompleteResult, data: { choices } });
  }

  async followUpEphemeral(body: Body): Promise<void> {
    if ((await this.outcome) === 'taken') await this.#followUp({ ...body, flags: body.flags | IS_EPHEMERAL });
  }

  get #mode(): DeferMode {
    return this.#options.mode;
  }

  /** Sends the initial response, if none was sent yet. @returns whether nothing is left to do. */
  async #initially(response: InitialResponse): Promise<boolean> {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#timer();
      const earlier = this.#ageMs <= FIRST_RESPONSE_MS ? await this.#earlier() : null;
      if (earlier !== null) {
        this.#first.resolve('taken');
        return earlier === 'form';
      }
      await this.#send(response);
      return true;
    }
    const outcome = await this.outcome;
    return outcome === 'lost' || (outcome === 'unknown' && !(await this.#exists()));
  }

  async #send(response: InitialResponse): Promise<ResponseOutcome> {
    const outcome = await this.#tryToSend(response).catch((thrown: unknown): ResponseOutcome => {
      const { logger, interaction } = this.#options;
      const error = asDailiesError(thrown, `answering interaction ${interaction.id}`);
      logger.warn(
        { event: 'discord_response_rejected', err: error, interaction: interaction.id },
        'failed to send an initial response',
      );
      return error.retryable ? 'unknown' : 'lost';
    });
    this.#first.resolve(outcome);
    return outcome;
  }

  async #tryToSend(response: InitialResponse): Promise<ResponseOutcome> {
    const { interaction, token, rest, records } = this.#options;
    if (this.#ageMs > FIRST_RESPONSE_MS) return 'lost';
    if ((await this.#earlier()) !== null) return 'taken';
    if (records.isRefused(token.token)) return 'lost';
    const doing = `answering interaction ${interaction.id}`;
    const route = Routes.interactionCallback(interaction.id, token.token);
    try {
      await rest.respond({ route, body: response, doing });
      return 'taken';
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (errorResponseOf(error)?.code === ALREADY_ANSWERED) return 'taken';
      if (!error.retryable || !HAS_ORIGINAL.has(response.type)) throw error;
      // It may have arrived: look it up before the retry.
      if (await this.#exists()) return 'taken';
      if (this.#ageMs > FIRST_RESPONSE_MS) throw error;
      await rest.respond({ route, body: response, doing });
      return 'taken';
    }
  }

  /** Returns the response to an earlier delivery; `null` if there is none. */
  async #earlier(): Promise<FoundResponse> {
    return this.isRepeated ? this.#find() : null;
  }

  /** True if an earlier delivery may have a response, by a process that is gone. */
  get isRepeated(): boolean {
    return this.#options.isReplayed || this.#options.ageMs >= MAYBE_REPEATED_MS;
  }

  /** Adopts the response to an earlier delivery, also where this one came too late for its own. */
  adopt(): void {
    this.#isOpen = false;
    this.#timer();
    this.#first.resolve('taken');
    this.#outcome = Promise.resolve('taken');
  }

  get #ageMs(): number {
    const { ageMs, clock } = this.#options;
    return ageMs + clock.monotonic() - this.#receivedAtMs;
  }

  async #exists(): Promise<boolean> {
    const found = await this.#find();
    return found === 'thinking' || found === 'message';
  }

  async #find(): Promise<FoundResponse> {
    const { records, token } = this.#options;
    if (records.isRefused(token.token)) return null;
    return this.#original('GET').then(
      (message) => (isThinking(message) ? 'thinking' : 'message'),
      (thrown: unknown) => {
        const { status, code } = errorResponseOf(translate(thrown, 'looking for an answer')) ?? {};
        // Not for a 404, which Discord also sends before the initial response, as an unknown webhook.
        if (status === 401) records.refused(token.token);
        return code === RESTJSONErrorCodes.UnknownMessage ? 'form' : null;
      },
    );
  }

  async #replace(body: Body): Promise<void> {
    // Its visibility was fixed by the deferral.
    await this.#original('PATCH', { ...body, flags: body.flags & ~IS_EPHEMERAL });
  }

  /** Deletes "thinking…"; if it shows more by now, another replica turned it into a task's message. */
  async #remove(): Promise<void> {
    if (isThinking(await this.#original('GET'))) await this.#original('DELETE');
  }

  #original(method: Call['method'], body?: object): Promise<APIMessage> {
    const { application, token } = this.#options.token;
    const route = Routes.webhookMessage(application, token);
    const doing = `changing the answer to interaction ${this.#options.interaction.id}`;
    return this.#options.rest.call({ method, route, isOurs: false, doing, ...(body === undefined ? {} : { body }) });
  }

  async #followUp(body: object): Promise<void> {
    const { token, rest, interaction } = this.#options;
    const doing = `following up interaction ${interaction.id}`;
    await rest.respond({ route: Routes.webhook(token.application, token.token), body, doing });
  }
}

function isThinking({ flags }: Pick<APIMessage, 'flags'>): boolean {
  return ((flags ?? 0) & MessageFlags.Loading) !== 0;
}
