import { type APIInteraction, type APIMessage, InteractionResponseType, MessageFlags, Routes } from 'discord.js';
import type { CancelTimer, Clock } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { MessageStore, MessageToken } from '../messages/message-store.ts';
import { type Body, IS_EPHEMERAL } from '../messages/render.ts';
import type { Call, DiscordRest } from '../rest/client.ts';
import { FIRST_ANSWER_MS } from '../rest/clock-skew.ts';
import { answerBehind, translate } from '../rest/errors.ts';
import type { ResponseOutcome } from './pending-responses.ts';

/**
 * How an interaction is put off while its answer is being found: `public` and `private` show that somebody is thinking,
 * `update` shows nothing; `form` waits longest, since a form is a first answer or none; `never` is for suggestions.
 */
export type DeferMode = 'public' | 'private' | 'update' | 'form' | 'never';

/** A first answer, as Discord takes it. */
interface FirstAnswer {
  readonly type: InteractionResponseType;
  readonly data?: object;
}

/** First answers that make a message, so that it can be looked for. */
const MAKE_A_MESSAGE: ReadonlySet<InteractionResponseType> = new Set([
  InteractionResponseType.ChannelMessageWithSource,
  InteractionResponseType.DeferredChannelMessageWithSource,
]);

/** Collaborators of {@link InteractionResponse}. */
export interface InteractionResponseOptions {
  readonly interaction: Pick<APIInteraction, 'id'>;
  readonly token: MessageToken;
  readonly putting: DeferMode;
  /** How old the interaction was when it came. */
  readonly ageMs: number;
  /** Whether it came within 3 s; `false` where that is not known. */
  readonly isFresh: boolean;
  /** Whether a resumed session told of it. */
  readonly isReplayed: boolean;
  readonly rest: DiscordRest;
  /** Knows which tokens Discord refused. */
  readonly memory: Pick<MessageStore, 'refused' | 'isRefused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** After so long an answer is put off: enough for the store, and enough time left for the way to Discord. */
const PUT_OFF_AFTER_MS = 1_500;
/** A form has to be the first answer: it gets what time there is. */
const PUT_OFF_FORM_AFTER_MS = 2_300;
/** An interaction that is as old when it comes may have been answered by a process that is gone. */
const LOOK_FIRST_MS = 1_000;
/** @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const ALREADY_ANSWERED = 40060;

/**
 * The answer to one interaction: the first one in time and once, whatever comes after it in its place. Where the answer
 * takes long, the interaction is put off by a timer.
 */
export class InteractionResponse {
  readonly #options: InteractionResponseOptions;
  readonly #timer: CancelTimer;
  readonly #receivedAtMs: number;
  readonly #first = Promise.withResolvers<ResponseOutcome>();
  #state: 'open' | 'answered' | 'put_off' = 'open';

  constructor(options: InteractionResponseOptions) {
    this.#options = options;
    const { clock, ageMs, putting } = options;
    this.#receivedAtMs = clock.now();
    const afterMs = putting === 'form' ? PUT_OFF_FORM_AFTER_MS : PUT_OFF_AFTER_MS;
    this.#timer = putting === 'never' ? () => undefined : clock.after(afterMs - ageMs, () => void this.defer());
  }

  /** What became of the first answer. */
  get outcome(): Promise<ResponseOutcome> {
    return this.#first.promise;
  }

  /** Whether a form can still be shown: it is a first answer or none. */
  get takesForms(): boolean {
    return this.#state === 'open';
  }

  /**
   * Has Discord accept the first answer, right before something is bought.
   * @param isRepeated whether an earlier delivery may have been answered: then that answer is looked for.
   * @returns whether the person saw that it was accepted; `false` once Discord has reported the interaction as failed.
   */
  async accepted(isRepeated: boolean): Promise<boolean> {
    if (isRepeated && (await this.#isThere())) {
      this.adopt();
      return true;
    }
    const { isFresh } = this.#options;
    if (!isFresh || (this.#state === 'open' && this.#ageMs > FIRST_ANSWER_MS)) return false;
    const outcome = await this.defer();
    return outcome === 'taken' || (outcome === 'unknown' && (await this.#isThere()));
  }

  /** Whether something can be said in answer to the interaction. */
  async takesAnswers(): Promise<boolean> {
    return this.#state === 'open' ? this.#ageMs <= FIRST_ANSWER_MS : (await this.outcome) === 'taken';
  }

  /** Says that the answer is yet to come. */
  async defer(): Promise<ResponseOutcome> {
    if (this.#state !== 'open') return this.outcome;
    this.#state = 'put_off';
    if (this.#putting === 'update') return this.#send({ type: InteractionResponseType.DeferredMessageUpdate });
    const data = this.#putting === 'public' ? {} : { flags: IS_EPHEMERAL };
    return this.#send({ type: InteractionResponseType.DeferredChannelMessageWithSource, data });
  }

  /** Puts the answer off. @returns whether it is there, so that what comes of it can be shown in its place. */
  async stands(): Promise<boolean> {
    return (await this.defer()) === 'taken' || this.#isThere();
  }

  /** Shows something to the caller alone. */
  async privately(body: Body): Promise<void> {
    const data = { ...body, flags: body.flags | IS_EPHEMERAL };
    if (await this.#firstly({ type: InteractionResponseType.ChannelMessageWithSource, data })) return;
    if (this.#putting === 'private' || this.#putting === 'form') return this.#replace(body);
    // What everybody would have seen goes away first: until then, the next message would only fill it.
    if (this.#putting === 'public') await this.#remove();
    await this.#followUp(data);
  }

  /** Shows something to everybody, as far as they see the interaction. */
  async publicly(body: Body): Promise<void> {
    if (await this.#firstly({ type: InteractionResponseType.ChannelMessageWithSource, data: body })) return;
    if (this.#putting === 'public') return this.#replace(body);
    await this.#followUp(body);
  }

  /** Replaces the message whose button was pressed. */
  async inPlace(body: Body): Promise<void> {
    if (await this.#firstly({ type: InteractionResponseType.UpdateMessage, data: body })) return;
    await this.#replace(body);
  }

  /** Opens a form; only while {@link takesForms}. */
  async form(modal: object): Promise<void> {
    await this.#firstly({ type: InteractionResponseType.Modal, data: modal });
  }

  /** Offers what may be chosen. */
  async suggestions(choices: readonly object[]): Promise<void> {
    await this.#firstly({ type: InteractionResponseType.ApplicationCommandAutocompleteResult, data: { choices } });
  }

  /** Says something to the caller besides what was answered. */
  async whisper(body: Body): Promise<void> {
    if ((await this.outcome) === 'taken') await this.#followUp({ ...body, flags: body.flags | IS_EPHEMERAL });
  }

  get #putting(): DeferMode {
    return this.#options.putting;
  }

  /** Sends the first answer, if none was sent yet. @returns whether that is all there is to do. */
  async #firstly(response: FirstAnswer): Promise<boolean> {
    if (this.#state === 'open') {
      this.#state = 'answered';
      this.#timer();
      if (this.#ageMs <= FIRST_ANSWER_MS && (await this.#isAnswered(response))) {
        this.#first.resolve('taken');
        return false;
      }
      await this.#send(response);
      return true;
    }
    const outcome = await this.outcome;
    return outcome === 'lost' || (outcome === 'unknown' && !(await this.#isThere()));
  }

  async #send(response: FirstAnswer): Promise<ResponseOutcome> {
    const outcome = await this.#tryToSend(response).catch((thrown: unknown): ResponseOutcome => {
      const { logger, interaction } = this.#options;
      const error = asDailiesError(thrown, `answering interaction ${interaction.id}`);
      logger.warn({ err: error, interaction: interaction.id }, 'Discord did not take an answer');
      return error.retryable ? 'unknown' : 'lost';
    });
    this.#first.resolve(outcome);
    return outcome;
  }

  async #tryToSend(response: FirstAnswer): Promise<ResponseOutcome> {
    const { interaction, token, rest, memory } = this.#options;
    if (this.#ageMs > FIRST_ANSWER_MS) return 'lost';
    if (await this.#isAnswered(response)) return 'taken';
    if (memory.isRefused(token.token)) return 'lost';
    const doing = `answering interaction ${interaction.id}`;
    const route = Routes.interactionCallback(interaction.id, token.token);
    try {
      await rest.answer({ route, body: response, doing });
      return 'taken';
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (answerBehind(error)?.code === ALREADY_ANSWERED) return 'taken';
      if (!error.retryable || !MAKE_A_MESSAGE.has(response.type)) throw error;
      // Nobody knows whether it arrived: it is looked for before it is sent once more.
      if (await this.#isThere()) return 'taken';
      if (this.#ageMs > FIRST_ANSWER_MS) throw error;
      await rest.answer({ route, body: response, doing });
      return 'taken';
    }
  }

  /** Whether an earlier delivery was answered. */
  async #isAnswered({ type }: FirstAnswer): Promise<boolean> {
    return this.isRepeated && MAKE_A_MESSAGE.has(type) && this.#isThere();
  }

  /** Whether an earlier delivery may have been answered, by a process that is gone. */
  get isRepeated(): boolean {
    return this.#options.isReplayed || this.#options.ageMs >= LOOK_FIRST_MS;
  }

  /** Goes on with the answer that an earlier delivery was given. */
  adopt(): void {
    if (this.#state !== 'open') return;
    this.#state = 'put_off';
    this.#timer();
    this.#first.resolve('taken');
  }

  get #ageMs(): number {
    const { ageMs, clock } = this.#options;
    return ageMs + clock.now() - this.#receivedAtMs;
  }

  async #isThere(): Promise<boolean> {
    const { memory, token } = this.#options;
    if (memory.isRefused(token.token)) return false;
    return this.#original('GET').then(
      () => true,
      (thrown: unknown) => {
        // Not by 404, which is what Discord says before the first answer, too.
        if (answerBehind(asDailiesError(thrown, 'looking for an answer'))?.status === 401) memory.refused(token.token);
        return false;
      },
    );
  }

  async #replace(body: Body): Promise<void> {
    // Who sees it was settled when it was put off.
    await this.#original('PATCH', { ...body, flags: body.flags & ~IS_EPHEMERAL });
  }

  /** Takes "thinking…" away; what shows more by now is a task's message, which another replica may have made of it. */
  async #remove(): Promise<void> {
    const { flags = 0 } = await this.#original('GET');
    if ((flags & MessageFlags.Loading) !== 0) await this.#original('DELETE');
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
    await rest.answer({ route: Routes.webhook(token.application, token.token), body, doing });
  }
}
