import {
  type APIApplicationCommandAutocompleteInteraction,
  type APIApplicationCommandInteraction,
  type APIChatInputApplicationCommandInteraction,
  type APIInteraction,
  type APIMessageApplicationCommandInteraction,
  type APIMessageComponentInteraction,
  type APIModalSubmitInteraction,
  type APIUserApplicationCommandInteraction,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ComponentType,
  InteractionContextType,
  InteractionType,
  MessageFlags,
} from 'discord.js';
import type { Bot, Caller, GivenOptions, Reply } from '#commands/bot-port.ts';
import { filledIn, mergeOptions } from '#commands/input/options.ts';
import { type ReplyOf, type Responder, runInteraction } from '#commands/run-interaction.ts';
import { accessSentence, NOT_KNOWN } from '#commands/sentences/access.ts';
import { expiringFile } from '#commands/sentences/attachments.ts';
import { beginning } from '#commands/sentences/format.ts';
import {
  ACTIONS,
  ANIMATE_TITLE,
  IMAGE_FORGOTTEN,
  NO_CLIP,
  NO_IMAGE,
  NO_SCRIPT,
  PRESS_AGAIN,
} from '#commands/sentences/forms.ts';
import { actionOf, buttonId, isAnsweredInPlace, isOrderButton } from '#commands/ui/buttons.ts';
import { textCard } from '#commands/ui/card.ts';
import { isOrderForm, parseForm } from '#commands/ui/form-ids.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import { taskOfKey } from '#src/chat/index.ts';
import { type Clock, within } from '#src/clock.ts';
import { asDailiesError, overloaded } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { isCutId } from '#src/orders/index.ts';
import { type MessageRecord, type MessageStore, type MessageToken, readAddress } from '../messages/message-store.ts';
import type { TaskPosts } from '../messages/posts.ts';
import { renderCard, renderOffer, renderParts, renderSentence } from '../messages/render.ts';
import type { Threads } from '../messages/threads.ts';
import { asBody, RENEWAL_BUTTON, type TokenRenewal } from '../messages/token-renewal.ts';
import type { DiscordRest, DiscordTime } from '../rest/client.ts';
import type { Permissions } from '../rest/permissions.ts';
import type { Access, AccessRequest } from './access.ts';
import { callerOf, isBroughtAlong, isThread } from './caller.ts';
import { readFilledIn, readFormId, renderForm } from './modals.ts';
import { mentionValue, parseCommand, type ReferenceMedia, type ResolvedMedia, separated, textOf } from './options.ts';
import { type DeferMode, InteractionResponse, type PendingResponses } from './response.ts';
import { imageIn, scriptIn } from './target-message.ts';

interface InteractionHandlerOptions {
  readonly bot: Bot;
  readonly rest: DiscordRest;
  readonly records: MessageStore;
  readonly pending: PendingResponses;
  readonly renewal: TokenRenewal;
  readonly messages: Pick<TaskPosts, 'offer'>;
  readonly threads: Pick<Threads, 'cardChannelOf'>;
  readonly media: ReferenceMedia;
  readonly time: DiscordTime;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As {@link Permissions.isMemberOf}. */
  readonly isMemberOf: Permissions['isMemberOf'];
  readonly access: Pick<Access, 'of'>;
  /** Maximum number of interactions in flight. Default 5,000. */
  readonly mostInHand?: number | undefined;
}

interface Context {
  readonly answer: InteractionResponse;
  readonly caller: Caller;
  readonly token: MessageToken;
}

/** Timeout of the access check. */
const ACCESS_TIMEOUT_MS = 1_500;
/** Timeout of autocomplete suggestions; then the response is an empty list. */
const SUGGESTIONS_TIMEOUT_MS = 2_000;
/** Timeout for looking up the message of a pressed button in the store. */
const LOOKUP_TIMEOUT_MS = 1_000;
/** Default limit of interactions in flight: bounds memory use while Discord's API hangs. */
const MAX_IN_FLIGHT = 5_000;
/** Size of the deduplication window. */
const DEDUP_WINDOW = 10_000;

/** Handles interactions: passes them to the bot and sends its responses. Deduplicates by interaction id. */
export class InteractionHandler {
  readonly #options: InteractionHandlerOptions;
  readonly #seen = new BoundedMap<string, true>(DEDUP_WINDOW);
  /** Interactions delivered by a resumed session: an earlier process may have responded to them. */
  readonly #replayed = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  /** Teams whose account is charged, by interaction in flight. */
  readonly #teams = new Map<string, string>();

  constructor(options: InteractionHandlerOptions) {
    this.#options = options;
  }

  /**
   * Handles an interaction. A redelivery to this process is ignored; one to another replica is harmless: Discord
   * accepts a single initial response, and a task is claimed once.
   */
  take(interaction: APIInteraction, connectedForMs = Infinity): Promise<void> {
    const { id } = interaction;
    if (this.#seen.has(id)) return Promise.resolve();
    this.#seen.set(id, true);
    if (this.#options.time.ageMs(id) >= connectedForMs) this.#replayed.add(id);
    const load = this.#running.size / (this.#options.mostInHand ?? MAX_IN_FLIGHT);
    if (load < 1) {
      const admitted = this.#admit(interaction).finally(() => this.#teams.delete(id));
      return this.run(admitted, `interaction ${id}`);
    }
    // A rejection takes an API call, too: beyond twice the limit, Discord itself reports the interaction as failed.
    return load < 2 ? this.run(this.#rejectOverload(interaction), `interaction ${id}`) : Promise.resolve();
  }

  /** Tracks work in flight, so that a shutdown drains it. @returns a promise that never rejects. */
  run(work: Promise<void>, what: string): Promise<void> {
    const running = work
      .catch((thrown: unknown) => {
        const error = asDailiesError(thrown, `answering ${what}`);
        this.#options.logger.warn({ event: 'discord_work_failed', err: error }, 'failed to handle an event');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** True while below the limit of interactions in flight. */
  get hasRoom(): boolean {
    return this.#running.size < (this.#options.mostInHand ?? MAX_IN_FLIGHT);
  }

  /** Resolves once no interaction is in flight. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Rejects an interaction under overload. Nothing has been started, so the user can retry. */
  async #rejectOverload(interaction: APIInteraction): Promise<void> {
    if (interaction.type === InteractionType.ApplicationCommandAutocomplete) return;
    await this.#answer(interaction, 'private', () => Promise.reject(overloaded('taking an interaction')));
  }

  /** Checks access before any other part of the bot runs. */
  async #admit(interaction: APIInteraction): Promise<void> {
    const { access, clock, logger } = this.#options;
    const request = accessRequestOf(interaction);
    if (request.user === '') return; // Malformed: every interaction has a user.
    const asked = access.of(request).catch((thrown: unknown) => {
      const error = asDailiesError(thrown, `admitting interaction ${interaction.id}`);
      logger.warn({ event: 'discord_access_check_failed', err: error }, 'failed to check access to the bot');
      return null;
    });
    const admission = await within(clock, ACCESS_TIMEOUT_MS, asked, null);
    if (admission === null) return this.#refuse(interaction, NOT_KNOWN);
    if (admission.refusal !== null) return this.#refuse(interaction, accessSentence(admission.refusal, 'server'));
    this.#teams.set(interaction.id, admission.team);
    return this.#route(interaction);
  }

  /** Responds to a user without access: one sentence, or no suggestions. */
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
    // Typed as present, but missing in a malformed payload.
    switch ((interaction.data as typeof interaction.data | undefined)?.type) {
      case ApplicationCommandType.ChatInput:
        return this.#slash(interaction as APIChatInputApplicationCommandInteraction);
      case ApplicationCommandType.Message:
        return this.#onMessage(interaction as APIMessageApplicationCommandInteraction);
      case ApplicationCommandType.User:
        return this.#listClips(interaction as APIUserApplicationCommandInteraction);
      default:
        return Promise.resolve();
    }
  }

  async #slash(interaction: APIChatInputApplicationCommandInteraction): Promise<void> {
    const bot = this.#options.bot;
    const given = this.#parsed(interaction);
    const command = bot.commands.find(({ name }) => name === given?.command);
    await this.#answer(interaction, command?.visibility ?? 'private', async (ctx) => {
      const [texts, media] = separated(given?.attachments ?? []);
      const taken = this.#options.media.resolve(media);
      const written = await textOf(texts[0], this.#options.logger);
      const wrong = [...taken.wrong, ...('wrong' in written ? [written.wrong] : [])];
      if (wrong.length > 0 || !('options' in written)) return { kind: 'refused', sentence: wrong.join('\n') };
      const options = mergeOptions(given?.options ?? {}, written.options, taken.addresses);
      const reply = await bot.command(ctx.caller, given?.command ?? '', options);
      this.#warn(ctx, reply, taken);
      return reply;
    });
  }

  #parsed({ data }: APIChatInputApplicationCommandInteraction | APIApplicationCommandAutocompleteInteraction) {
    const aliased = this.#options.bot.commands.find(({ alias }) => alias?.name === data.name);
    return parseCommand(data.options, data.resolved, aliased?.name);
  }

  #onMessage(interaction: APIMessageApplicationCommandInteraction): Promise<void> {
    if (interaction.data.name === ACTIONS.storyboard) return this.#openStoryboard(interaction);
    return interaction.data.name === ACTIONS.retake ? this.#retake(interaction) : this.#openAnimate(interaction);
  }

  async #listClips(interaction: APIUserApplicationCommandInteraction): Promise<void> {
    const { target_id: id, resolved } = interaction.data;
    await this.#answer(interaction, 'private', ({ caller }) =>
      this.#options.bot.command(caller, 'list', { who: [mentionValue(id, resolved)] }),
    );
  }

  async #openStoryboard(interaction: APIMessageApplicationCommandInteraction): Promise<void> {
    await this.#answer(interaction, 'form', async ({ caller }) => {
      const { words, files } = scriptIn(interaction.data);
      const written = await Promise.all(files.map((file) => textOf(file, this.#options.logger)));
      const wrong = written.flatMap((one) => ('wrong' in one ? [one.wrong] : []));
      if (wrong.length > 0) return { kind: 'refused', sentence: wrong.join('\n') };
      const lines = written.flatMap((one) => ('options' in one ? (one.options['shots'] ?? []) : []));
      const script = [...words, ...lines].join('\n').trim();
      return script === '' ? { kind: 'refused', sentence: NO_SCRIPT } : this.#options.bot.form(caller, script);
    });
  }

  /** Presses **Retry** without its price, which is asked about then. */
  async #retake(interaction: APIMessageApplicationCommandInteraction): Promise<void> {
    const { bot, records } = this.#options;
    const { target_id: message } = interaction.data;
    await this.#answer(interaction, 'private', async ({ caller }) => {
      const task = (await records.message(message))?.task ?? (await records.taskOfNotice(message));
      if (task === undefined || isCutId(taskOfKey(task))) return { kind: 'refused', sentence: NO_CLIP };
      return bot.press(caller, buttonId({ action: 'retry', task: taskOfKey(task), price: null }));
    });
  }

  async #openAnimate(interaction: APIMessageApplicationCommandInteraction): Promise<void> {
    await this.#answer(interaction, 'form', async ({ caller }) => {
      const image = imageIn(interaction.data);
      if (image === null) return { kind: 'refused', sentence: NO_IMAGE };
      const address =
        'url' in image
          ? image.url
          : this.#options.media.resolve([{ option: 'image', attachment: image.attachment }]).addresses['image']?.[0];
      const create = await this.#options.bot.form(caller);
      if (address === undefined || create.kind !== 'form') return create;
      // A form's custom id is too short for a URL.
      await this.#options.records.remember(`image:${interaction.id}`, { image: address });
      return { kind: 'form', form: { ...create.form, id: `${PREFIX}${interaction.id}`, title: ANIMATE_TITLE } };
    });
  }

  async #press(interaction: APIMessageComponentInteraction): Promise<void> {
    const button = pressedIn(interaction);
    if (button === RENEWAL_BUTTON) return this.#renewToken(interaction);
    const { response } = actionOf(button);
    // Only a response of its own can show a clip where the bot is no member.
    const mode = isOrderButton({ id: button }) && isBroughtAlong(interaction) ? 'public' : response;
    // Without the bot as a member, each press under a task's message brings a fresh token to edit it with.
    const isByToken = mode === 'private' && isBroughtAlong(interaction);
    const followed = isByToken ? await this.#tokenMessage(interaction.message.id) : undefined;
    await this.#answer(interaction, followed === undefined ? mode : 'update', async (ctx) => {
      if (followed !== undefined) {
        const outcome = await ctx.answer.defer();
        if (outcome === 'taken') await this.#options.renewal.refreshed(followed.message, ctx.token);
      }
      return this.#options.bot.press(ctx.caller, button);
    });
  }

  /** Returns the record of a message that only tokens can edit; `undefined` on failure or timeout. Never rejects. */
  async #tokenMessage(message: string): Promise<MessageRecord | undefined> {
    const { records, clock } = this.#options;
    const known = records.message(message).catch(() => undefined);
    const record = await within(clock, LOOKUP_TIMEOUT_MS, known, undefined);
    return record?.shown === null ? undefined : record;
  }

  /** Handles the renewal button: stores the fresh token of its message. */
  async #renewToken(interaction: APIMessageComponentInteraction): Promise<void> {
    const { records, renewal } = this.#options;
    const { answer, token } = this.#begin(interaction, 'update');
    const record = await records.message(interaction.message.id);
    if (record !== undefined)
      await renewal.withLock(record, async ({ shown }) => {
        if (shown !== null && shown.length > 0) await answer.inPlace(asBody(shown));
      });
    // If another edit holds the lock, that edit shows the next state.
    await answer.defer();
    if ((await answer.outcome) === 'taken') await renewal.refreshed(interaction.message.id, token);
  }

  async #submit(interaction: APIModalSubmitInteraction): Promise<void> {
    const { custom_id: customId, components, resolved } = interaction.data;
    const { form, ...shown } = readFormId(customId);
    const { values, attachments } = readFilledIn(components, resolved);
    const mode = isOrderForm(form) ? 'public' : isPanelSubmission(interaction) ? 'update' : 'private';
    await this.#answer(interaction, mode, async (ctx) => {
      const caller = { ...ctx.caller, ...shown };
      const image = await imageOfForm(this.#options.records, form);
      if (image === null) {
        const taken = this.#options.media.resolve(attachments);
        if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
        const reply = await this.#options.bot.submit(caller, form, { ...values, ...joined(taken.addresses) });
        this.#warn(ctx, reply, taken);
        return reply;
      }
      if (image === undefined) return { kind: 'refused', sentence: IMAGE_FORGOTTEN };
      return this.#options.bot.command(caller, 'create', { ...filledIn(values), image: [image] });
    });
  }

  async #suggest(interaction: APIApplicationCommandAutocompleteInteraction): Promise<void> {
    const { clock, bot, logger } = this.#options;
    const given = this.#parsed(interaction);
    if (given === null || given.focused === null) return;
    const { command, options, focused } = given;
    const { answer } = this.#begin(interaction, 'never');
    const found = this.#callerOf(interaction, null)
      .then((caller) => bot.suggest(caller, command, focused.name, focused.typed, options))
      .catch((err: unknown) => {
        logger.warn({ event: 'discord_suggestions_failed', err, option: focused.name }, 'failed to find suggestions');
        return [];
      });
    const inTime = await within(clock, SUGGESTIONS_TIMEOUT_MS, found, []);
    const option = bot.commands.find(({ name }) => name === command)?.options.find(({ name }) => name === focused.name);
    const isNumber = option?.kind === 'integer';
    await answer.suggestions(
      inTime.map(({ value, label }) => ({ name: beginning(label, 100), value: isNumber ? Number(value) : value })),
    );
  }

  /** Runs an interaction, which gets an initial response in every case. */
  async #answer(interaction: APIInteraction, mode: DeferMode, ask: (ctx: Context) => Promise<Reply>): Promise<void> {
    const { answer, token } = this.#begin(interaction, mode);
    const { bot, pending, logger } = this.#options;
    const known = await this.#callerOf(interaction, mode === 'public' ? token : null);
    const caller: Caller = { ...known, acknowledged: () => answer.accepted() };
    const ctx: Context = { answer, caller, token };
    const inPlace = mode === 'update' && isPaged(interaction);
    try {
      // Without the bot as a member, the response is the only message for a clip: if it fails, nothing is ordered.
      if (mode === 'public' && !readAddress(caller.address).hasBot && !(await answer.stands())) return;
      await runInteraction({ bot, logger, caller, inPlace, ask: () => ask(ctx) }, this.#responderOf(ctx));
    } finally {
      await answer.defer();
      pending.delete(interaction.id);
    }
  }

  #responderOf({ answer, caller }: Pick<Context, 'answer' | 'caller'>): Responder {
    const { guild } = readAddress(caller.address);
    return {
      acknowledge: async (task) => {
        // An earlier delivery already showed the task's message: nothing is left to acknowledge.
        if (answer.isRepeated && (await this.#options.records.posted('task', task)) !== undefined) answer.adopt();
        await answer.defer();
      },
      show: async (card, placement) => {
        if (placement === 'in-place') return answer.inPlace(renderCard(card, { guild }));
        if (placement === 'public') return answer.publicly(renderCard(card, { guild }));
        const [body, ...more] = renderParts(card, { guild });
        if (body !== undefined) await answer.privately(body);
        for (const part of more) await answer.followUpEphemeral(part);
      },
      showForm: (form) =>
        answer.takesForms ? answer.form(renderForm(form)) : answer.privately(renderSentence(PRESS_AGAIN)),
      refuse: ({ sentence, buttons }) => answer.privately(renderSentence(sentence, buttons)),
      offer: (offer) => this.#offer({ answer, caller }, offer),
    };
  }

  async #callerOf(interaction: APIInteraction, token: MessageToken | null): Promise<Caller> {
    const { isMemberOf, threads } = this.#options;
    const { channel } = interaction;
    const cardChannel = channel !== undefined && isThread(channel) ? await threads.cardChannelOf(channel.id) : null;
    const team = this.#teams.get(interaction.id) ?? '';
    return callerOf(interaction, { token, isMemberOf, cardChannel, team });
  }

  /** Offers an order that Discord reported as failed: in the response if still possible, else in a new message. */
  async #offer(
    { answer, caller }: Pick<Context, 'answer' | 'caller'>,
    { id, card, private: own = card }: ReplyOf<'offer'>,
  ): Promise<void> {
    const { guild, hasBot, within } = readAddress(caller.address);
    if (await answer.takesAnswers()) {
      await answer.privately(renderCard(own, { guild }));
      if ((await answer.outcome) !== 'lost') return;
    }
    const { messages, logger } = this.#options;
    if (hasBot) await messages.offer(id, within ?? caller.channel, renderOffer(card, caller.user, guild));
    else logger.info({ event: 'discord_offer_dropped', channel: caller.channel }, 'bot not in channel, offer dropped');
  }

  #begin(interaction: APIInteraction, mode: DeferMode): Pick<Context, 'answer' | 'token'> {
    const { time, pending, rest, clock, logger, records } = this.#options;
    const { id, application_id: application, token: secret } = interaction;
    const token = { application, token: secret, expiresAtMs: time.tokenExpiryMs(id) };
    const isReplayed = this.#replayed.delete(id);
    const age = { ageMs: time.ageMs(id), isFresh: time.isFresh(id), isReplayed };
    const answer = new InteractionResponse({ interaction, token, mode, ...age, rest, records, clock, logger });
    if (mode === 'public') pending.set(id, answer.outcome);
    return { answer, token };
  }

  /** Warns of a reference file whose URL expires, once the task's message is shown. */
  #warn({ answer, caller }: Context, reply: Reply, { expiresAtMs }: ResolvedMedia): void {
    if (reply.kind !== 'task' || expiresAtMs === null || !this.#options.media.shouldWarn(caller.user.id)) return;
    const card = textCard(expiringFile(expiresAtMs));
    const said = this.#options.bot
      .show(reply.task)
      .then(() => answer.followUpEphemeral(renderCard(card, { guild: null })));
    void this.run(said, 'a warning');
  }
}

/** Extracts the requester, the server and the kind of installation from an interaction. */
function accessRequestOf(interaction: APIInteraction): AccessRequest {
  const { guild_id: guild, member, user, context, authorizing_integration_owners: owners } = interaction;
  const isByGuild = owners?.[ApplicationIntegrationType.GuildInstall] !== undefined;
  const isByUser = owners?.[ApplicationIntegrationType.UserInstall] !== undefined;
  const isGroup = guild === undefined && context === InteractionContextType.PrivateChannel;
  return { guild, user: (member?.user ?? user)?.id ?? '', isUserInstall: isGroup || (isByUser && !isByGuild) };
}

/** Returns true for the form of a panel that a button of its private card opened. */
function isPanelSubmission({ data, message }: APIModalSubmitInteraction): boolean {
  const isPrivate = ((message?.flags ?? 0) & MessageFlags.Ephemeral) !== 0;
  return isPrivate && parseForm(data.custom_id)?.form === 'panel';
}

/** Returns true if a private response replaces the message whose button was pressed. */
function isPaged(interaction: APIInteraction): boolean {
  if (interaction.type === InteractionType.ModalSubmit) return isPanelSubmission(interaction);
  return interaction.type === InteractionType.MessageComponent && isAnsweredInPlace(pressedIn(interaction));
}

/** Returns the id of the pressed button, or of the chosen option of a select. */
function pressedIn({ data }: APIMessageComponentInteraction): string {
  return data.component_type === ComponentType.StringSelect ? (data.values[0] ?? '') : data.custom_id;
}

/** Joins URLs by line, as in a form's fields. */
function joined(addresses: GivenOptions): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(addresses).map(([kind, all]) => [kind, all.join('\n')]));
}

const PREFIX = 'animate:';

/** Returns the image of a submitted form; `null` for another form, `undefined` if it is no longer stored. */
async function imageOfForm(records: MessageStore, form: string): Promise<string | null | undefined> {
  if (!form.startsWith(PREFIX)) return null;
  return (await records.recall<{ image: string }>(`image:${form.slice(PREFIX.length)}`))?.image;
}
