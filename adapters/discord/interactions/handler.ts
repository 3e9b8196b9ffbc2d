import {
  type APIApplicationCommandAutocompleteInteraction,
  type APIApplicationCommandInteraction,
  type APIChatInputApplicationCommandInteraction,
  type APIInteraction,
  type APIMessageApplicationCommandInteraction,
  type APIMessageComponentInteraction,
  type APIModalSubmitInteraction,
  ApplicationCommandType,
  InteractionType,
} from 'discord.js';
import type { Bot, Caller, GivenOptions, Reply } from '#commands/bot-port.ts';
import { accessSentence, NOT_KNOWN } from '#commands/sentences/access.ts';
import { expiringFile } from '#commands/sentences/attachments.ts';
import { PRESS_AGAIN } from '#commands/sentences/following.ts';
import { beginning } from '#commands/sentences/format.ts';
import { IMAGE_FORGOTTEN, NO_IMAGE } from '#commands/sentences/forms/animate.ts';
import { sentenceOf } from '#commands/sentences.ts';
import { parseForm } from '#commands/ui/buttons.ts';
import { type Clock, within } from '#src/clock.ts';
import { asDailiesError, overloaded } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { MessageRecord, MessageStore, MessageToken } from '../messages/message-store.ts';
import type { TaskPosts } from '../messages/posts.ts';
import { renderCard, renderOffer, renderParts, renderSentence } from '../messages/render.ts';
import { asBody, RENEWAL_BUTTON, type TokenRenewal } from '../messages/token-renewal.ts';
import { readAddress } from '../origin.ts';
import type { DiscordRest } from '../rest/client.ts';
import type { DiscordTime } from '../rest/clock-skew.ts';
import { type Access, accessRequestOf } from './access.ts';
import { AnimateForms, imageIn } from './animate.ts';
import { merged, type ReferenceMedia, type TakenMedia } from './attachments.ts';
import { callerOf, isBroughtAlong } from './caller.ts';
import { deferModeOf, isInPlace } from './defer-mode.ts';
import { orderOf, readFilledIn, renderForm } from './modals.ts';
import { readGiven } from './options.ts';
import type { PendingResponses } from './pending-responses.ts';
import { type DeferMode, InteractionResponse } from './response.ts';

/** What the desk works with. */
export interface InteractionHandlerOptions {
  readonly bot: () => Bot;
  readonly rest: DiscordRest;
  readonly memory: MessageStore;
  readonly answered: PendingResponses;
  readonly following: TokenRenewal;
  readonly messages: Pick<TaskPosts, 'offer'>;
  readonly media: ReferenceMedia;
  readonly time: DiscordTime;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the bot is a member of a server. Never rejects. */
  readonly isMemberOf: (guild: string) => Promise<boolean>;
  readonly access: Pick<Access, 'of'>;
  /** Most of what people do that is being answered at once. Default 5,000. */
  readonly mostInHand?: number | undefined;
}

/** An interaction on its way to its answer. */
interface AccessRequest {
  readonly answer: InteractionResponse;
  readonly caller: Caller;
  readonly token: MessageToken;
  /** Whether a private answer takes the place of the message whose button was pressed, as turning a page does. */
  readonly inPlace: boolean;
}

/** How long an answer may wait for whether somebody may use the bot. */
const ADMITTED_WITHIN_MS = 1_500;
/** Suggestions that take longer are left out: an empty list is an answer too. */
const SUGGESTIONS_AFTER_MS = 2_000;
/** How long the answer to a press may wait for the store to say whose message it is under. */
const BORROWED_WITHIN_MS = 1_000;
/** What hangs because Discord's own API hangs must not take the memory of the rest. */
const MOST_IN_HAND = 5_000;
/** Of so many latest interactions it is known that they came before. */
const MOST_SEEN = 10_000;

/** Takes what people do on Discord to the bot, and its answers back. Each interaction is taken once. */
export class InteractionHandler {
  readonly #options: InteractionHandlerOptions;
  readonly #animate: AnimateForms;
  readonly #seen = new Set<string>();
  /** Interactions that a resumed session told of: an earlier process may have answered them. */
  readonly #replayed = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  /** On whose account each interaction is done that is being answered. */
  readonly #teams = new Map<string, string>();

  constructor(options: InteractionHandlerOptions) {
    this.#options = options;
    this.#animate = new AnimateForms(options.memory, options.logger);
  }

  /**
   * Somebody did something. The same interaction, delivered again, is left alone; delivered to another replica, it does
   * no harm: Discord takes one first answer, and a task is claimed once.
   */
  take(interaction: APIInteraction, isReplayed = false): Promise<void> {
    const { id } = interaction;
    if (this.#seen.has(id)) return Promise.resolve();
    this.#seen.add(id);
    if (isReplayed) this.#replayed.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > MOST_SEEN && oldest !== undefined) this.#seen.delete(oldest);
    const inHand = this.#running.size / (this.#options.mostInHand ?? MOST_IN_HAND);
    if (inHand < 1) {
      const admitted = this.#admit(interaction).finally(() => this.#teams.delete(id));
      return this.run(admitted, `interaction ${id}`);
    }
    // To say so takes a call as well: past twice as many, Discord says that nobody answered.
    return inHand < 2 ? this.run(this.#turnAway(interaction), `interaction ${id}`) : Promise.resolve();
  }

  /** Lets something run, so that a stop waits for it. @returns what never rejects. */
  run(work: Promise<void>, what: string): Promise<void> {
    const running = work
      .catch((thrown: unknown) => {
        const error = asDailiesError(thrown, `answering ${what}`);
        this.#options.logger.warn({ err: error }, 'something people did could not be answered');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** Whether nothing else would be turned away now. */
  get hasRoom(): boolean {
    return this.#running.size < (this.#options.mostInHand ?? MOST_IN_HAND);
  }

  /** Resolves once nothing is being answered any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Nothing is begun: it can be asked for again. */
  async #turnAway(interaction: APIInteraction): Promise<void> {
    if (interaction.type === InteractionType.ApplicationCommandAutocomplete) return;
    await this.#answer(interaction, 'private', () => Promise.reject(overloaded('taking an interaction')));
  }

  /** The one gate: nothing of the bot runs for somebody who may not use it. */
  async #admit(interaction: APIInteraction): Promise<void> {
    const { access, clock, logger } = this.#options;
    const deed = accessRequestOf(interaction);
    if (deed.user === '') return; // Malformed: a person is behind every interaction.
    const asked = access.of(deed).catch((thrown: unknown) => {
      const error = asDailiesError(thrown, `admitting interaction ${interaction.id}`);
      logger.warn({ err: error }, 'could not find out whether somebody may use the bot');
      return null;
    });
    const admission = await within(clock, ADMITTED_WITHIN_MS, asked, null);
    if (admission === null) return this.#refuse(interaction, NOT_KNOWN);
    if (admission.refusal !== null) return this.#refuse(interaction, accessSentence(admission.refusal));
    this.#teams.set(interaction.id, admission.team);
    return this.#route(interaction);
  }

  /** Says one sentence to whoever may not use the bot. */
  async #refuse(interaction: APIInteraction, sentence: string): Promise<void> {
    const isTyping = interaction.type === InteractionType.ApplicationCommandAutocomplete;
    const { answer } = this.#begin(interaction, isTyping ? 'never' : 'private');
    await (isTyping ? answer.suggestions([]) : answer.privately(renderSentence(sentence)));
  }

  #route(interaction: APIInteraction): Promise<void> {
    switch (interaction.type) {
      case InteractionType.ApplicationCommand:
        return this.#command(interaction);
      case InteractionType.ApplicationCommandAutocomplete:
        return this.#suggest(interaction);
      case InteractionType.MessageComponent:
        return this.#press(interaction);
      case InteractionType.ModalSubmit:
        return this.#submit(interaction);
      default:
        return Promise.resolve();
    }
  }

  #command(interaction: APIApplicationCommandInteraction): Promise<void> {
    // Typed as given, and not there in a malformed one.
    switch ((interaction.data as typeof interaction.data | undefined)?.type) {
      case ApplicationCommandType.ChatInput:
        return this.#slash(interaction as APIChatInputApplicationCommandInteraction);
      case ApplicationCommandType.Message:
        return this.#openAnimate(interaction as APIMessageApplicationCommandInteraction);
      default:
        return Promise.resolve();
    }
  }

  async #slash(interaction: APIChatInputApplicationCommandInteraction): Promise<void> {
    const bot = this.#options.bot();
    const given = readGiven(interaction.data.options, interaction.data.resolved);
    const command = bot.commands.find(({ name }) => name === given?.command);
    await this.#answer(interaction, command?.visibility ?? 'private', async (deed) => {
      const taken = this.#options.media.take(given?.attachments ?? []);
      if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
      const reply = await bot.command(deed.caller, given?.command ?? '', merged(given?.options ?? {}, taken.addresses));
      this.#warn(deed, reply, taken);
      return reply;
    });
  }

  /** The form of "Animate this". */
  async #openAnimate(interaction: APIMessageApplicationCommandInteraction): Promise<void> {
    await this.#answer(interaction, 'form', async ({ caller }) => {
      const image = imageIn(interaction.data);
      if (image === null) return { kind: 'refused', sentence: NO_IMAGE };
      const address =
        'url' in image
          ? image.url
          : this.#options.media.take([{ option: 'image', attachment: image.attachment }]).addresses['image']?.[0];
      // A bare `/video` opens the form of a new clip.
      const create = await this.#options.bot().text(caller, '');
      if (address === undefined || create.kind !== 'form') return create;
      return { kind: 'form', form: this.#animate.open(interaction.id, address, create.form) };
    });
  }

  async #press(interaction: APIMessageComponentInteraction): Promise<void> {
    const { custom_id: button } = interaction.data;
    if (button === RENEWAL_BUTTON) return this.#follow(interaction);
    const putting = deferModeOf(button);
    // Where the bot itself is not, each press under a task's message is a chance to go on changing it.
    const isBorrowed = putting === 'private' && isBroughtAlong(interaction);
    const followed = isBorrowed ? await this.#borrowed(interaction.message.id) : undefined;
    await this.#answer(interaction, followed === undefined ? putting : 'update', async (deed) => {
      if (followed !== undefined) {
        const outcome = await deed.answer.defer();
        if (outcome === 'taken') await this.#options.following.refreshed(followed.message, deed.token);
      }
      return this.#options.bot().press(deed.caller, button);
    });
  }

  /** A task's message that only tokens can change. Never rejects: where that is not known in time, it is none. */
  async #borrowed(message: string): Promise<MessageRecord | undefined> {
    const { memory, clock } = this.#options;
    const known = memory.message(message).catch(() => undefined);
    const record = await within(clock, BORROWED_WITHIN_MS, known, undefined);
    return record?.shown === null ? undefined : record;
  }

  /** Somebody lets a message be changed for longer. */
  async #follow(interaction: APIMessageComponentInteraction): Promise<void> {
    const { memory, following } = this.#options;
    const { answer, token } = this.#begin(interaction, 'update');
    const record = await memory.message(interaction.message.id);
    if (record !== undefined)
      await following.inTurn(record, async ({ shown }) => {
        if (shown !== null) await answer.inPlace(asBody(shown));
      });
    // Whoever is changing it just now shows what comes next.
    await answer.defer();
    if ((await answer.outcome) === 'taken') await following.refreshed(interaction.message.id, token);
  }

  async #submit(interaction: APIModalSubmitInteraction): Promise<void> {
    const { custom_id: form, components, resolved } = interaction.data;
    const { values, attachments } = readFilledIn(components, resolved);
    const putting = parseForm(form)?.form === 'lookup' ? 'private' : 'public';
    await this.#answer(interaction, putting, async (deed) => {
      const { caller } = deed;
      const image = await this.#animate.imageOf(form);
      if (image === null) {
        const taken = this.#options.media.take(attachments);
        if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
        const reply = await this.#options.bot().submit(caller, form, { ...values, ...joined(taken.addresses) });
        this.#warn(deed, reply, taken);
        return reply;
      }
      if (image === undefined) return { kind: 'refused', sentence: IMAGE_FORGOTTEN };
      return this.#options.bot().command(caller, 'create', orderOf(values, image));
    });
  }

  async #suggest(interaction: APIApplicationCommandAutocompleteInteraction): Promise<void> {
    const { clock, bot } = this.#options;
    const given = readGiven(interaction.data.options, interaction.data.resolved);
    if (given === null || given.focused === null) return;
    const { command, options, focused } = given;
    const { answer } = this.#begin(interaction, 'never');
    const found = this.#callerOf(interaction, null)
      .then((caller) => bot().suggest(caller, command, focused.name, focused.typed, options))
      .catch(() => []);
    const inTime = await within(clock, SUGGESTIONS_AFTER_MS, found, []);
    const option = bot()
      .commands.find(({ name }) => name === command)
      ?.options.find(({ name }) => name === focused.name);
    const isNumber = option?.kind === 'integer';
    await answer.suggestions(
      inTime.map(({ value, label }) => ({ name: beginning(label, 100), value: isNumber ? Number(value) : value })),
    );
  }

  /** Finds the answer to an interaction and shows it; what goes wrong is said to the caller alone. */
  async #answer(
    interaction: APIInteraction,
    putting: DeferMode,
    ask: (deed: AccessRequest) => Promise<Reply>,
  ): Promise<void> {
    const { answer, token } = this.#begin(interaction, putting);
    const { answered, logger } = this.#options;
    const known = await this.#callerOf(interaction, putting === 'public' ? token : null);
    const caller: Caller = { ...known, acknowledged: (isRepeated) => answer.accepted(isRepeated) };
    const deed: AccessRequest = { answer, caller, token, inPlace: putting === 'update' && isInPlace(interaction) };
    try {
      // Where the bot itself is not, there is no other message to show a clip in: without this one, none is bought.
      if (putting === 'public' && !readAddress(caller.address).hasBot && !(await answer.stands())) return;
      const reply = await ask(deed).catch((thrown: unknown): Reply => {
        const error = asDailiesError(thrown, `answering interaction ${interaction.id}`);
        logger.warn({ err: error, code: error.code }, 'an interaction could not be answered');
        return { kind: 'refused', sentence: sentenceOf(error) };
      });
      await this.#show(deed, reply);
    } finally {
      // Whatever happened, nobody waits for this answer for ever.
      await answer.defer();
      answered.forget(interaction.id);
    }
  }

  async #show({ answer, caller, inPlace }: AccessRequest, reply: Reply): Promise<void> {
    const { guild } = readAddress(caller.address);
    switch (reply.kind) {
      case 'task':
        // An earlier delivery got as far as the task's message: there is nothing left to acknowledge.
        if (answer.isRepeated && (await this.#options.memory.ofTask(reply.task)) !== undefined) answer.adopt();
        await answer.defer();
        await this.#options.bot().show(reply.task);
        return;
      case 'private': {
        if (inPlace) return answer.inPlace(renderCard(reply.card, { guild }));
        const [body, ...more] = renderParts(reply.card, { guild });
        if (body !== undefined) await answer.privately(body);
        for (const part of more) await answer.whisper(part);
        return;
      }
      case 'offer':
        return this.#offer({ answer, caller }, reply);
      case 'public':
        return answer.publicly(renderCard(reply.card, { guild }));
      case 'refused':
        return answer.privately(renderSentence(reply.sentence, reply.buttons));
      case 'form':
        return answer.takesForms ? answer.form(renderForm(reply.form)) : answer.privately(renderSentence(PRESS_AGAIN));
    }
  }

  #callerOf(interaction: APIInteraction, token: MessageToken | null): Promise<Caller> {
    const { isMemberOf } = this.#options;
    return callerOf(interaction, { token, isMemberOf, team: this.#teams.get(interaction.id) ?? '' });
  }

  /** Offers what Discord reported as failed: in a message of the bot's own, unless it can still be answered. */
  async #offer(
    { answer, caller }: Pick<AccessRequest, 'answer' | 'caller'>,
    { id, card }: Extract<Reply, { readonly kind: 'offer' }>,
  ): Promise<void> {
    const { guild, hasBot } = readAddress(caller.address);
    if (await answer.takesAnswers()) {
      await answer.privately(renderCard(card, { guild }));
      if ((await answer.outcome) !== 'lost') return;
    }
    const { messages, logger } = this.#options;
    if (hasBot) await messages.offer(id, caller.channel, renderOffer(card, caller.user, guild));
    else logger.info({ channel: caller.channel }, 'what came too late cannot be offered where the bot is not');
  }

  #begin(interaction: APIInteraction, putting: DeferMode): Pick<AccessRequest, 'answer' | 'token'> {
    const { time, answered, rest, clock, logger, memory } = this.#options;
    const { id, application_id: application, token: secret } = interaction;
    const token = { application, token: secret, expiresAtMs: time.tokenExpiryMs(id) };
    const isReplayed = this.#replayed.delete(id);
    const age = { ageMs: time.ageMs(id), isFresh: time.isFresh(id), isReplayed };
    const answer = new InteractionResponse({ interaction, token, putting, ...age, rest, memory, clock, logger });
    if (putting === 'public') answered.expect(id, answer.outcome);
    return { answer, token };
  }

  /** Tells of a file that cannot be reached for long, after everything else. */
  #warn({ answer, caller }: AccessRequest, reply: Reply, { expiresAtMs }: TakenMedia): void {
    if (reply.kind !== 'task' || expiresAtMs === null || !this.#options.media.shouldWarn(caller.user.id)) return;
    const card = { lines: [expiringFile(expiresAtMs)], progress: null, buttons: [] };
    const said = this.#options
      .bot()
      .show(reply.task)
      .then(() => answer.whisper(renderCard(card, { guild: null })));
    void this.run(said, 'a warning');
  }
}

/** Addresses as a form's fields hold them. */
function joined(addresses: GivenOptions): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(addresses).map(([kind, all]) => [kind, all.join('\n')]));
}
