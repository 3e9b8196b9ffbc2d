import type { types } from '@slack/bolt';
import type { Addressing, Bot, Caller, Form, GivenOptions, Reply } from '#commands/bot-port.ts';
import { keptFiles } from '#commands/sentences/attachments.ts';
import { PRESS_AGAIN } from '#commands/sentences/following.ts';
import { shorten } from '#commands/sentences/format.ts';
import { ANIMATE_TITLE, NO_IMAGE } from '#commands/sentences/forms/animate.ts';
import { FORM_WORDS } from '#commands/sentences/forms/forms.ts';
import { FILES_STAY_PRIVATE } from '#commands/sentences/private-files.ts';
import { sentenceOf } from '#commands/sentences.ts';
import { isOrderButton, parseForm } from '#commands/ui/buttons.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import type { MessageStore } from '../messages/message-store.ts';
import { renderCard, renderSentence } from '../messages/render.ts';
import { readAddress } from '../origin.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { slackCodeOf } from '../web-api/errors.ts';
import type { ReferenceMedia, SlackFile } from './attachments.ts';
import { errorsOf, readFilledIn, readMemory, renderForm, type SentView, type ViewMemory } from './modals.ts';
import { MODEL_FIELD, type OrderForm, renderOrderForm } from './order-modal.ts';
import type { Responder } from './responder.ts';

/** What the desk works with. */
export interface InteractionHandlerOptions {
  readonly bot: () => Bot;
  readonly catalog: () => Catalog;
  readonly clients: Clients;
  readonly workspaces: Workspaces;
  readonly media: ReferenceMedia;
  readonly memory: Pick<MessageStore, 'standsFor'>;
  readonly logger: Logger;
}

/** Something that somebody did. */
export interface Interaction {
  readonly caller: Caller;
  readonly to: TeamRef;
  readonly voice: Responder;
  /** Opens a form within 3 s; absent where forms cannot be opened. */
  readonly trigger?: string | undefined;
  /** Whether a private answer takes the place of the message whose button was pressed, as turning a page does. */
  readonly inPlace?: boolean | undefined;
}

/** An image in a message. */
export interface FoundImage extends SlackFile {
  /** Where everybody can fetch it; absent for files of Slack. */
  readonly address?: string | undefined;
}

/** A form that was sent. */
export interface ModalSubmission {
  readonly deed: Interaction;
  readonly memory: ViewMemory;
  readonly view: SentView;
  /** Closes the form: what it was for is safe. */
  readonly accept: () => Promise<void>;
  /** Says what is wrong, in the form itself. @returns whether the form is still open. */
  readonly refuse: (errors: Readonly<Record<string, string>>) => Promise<boolean>;
}

/** A trigger that came too late, or was used. @see https://docs.slack.dev/reference/methods/views.open#errors */
const TOO_LATE: ReadonlySet<string> = new Set([
  'expired_trigger_id',
  'exchanged_trigger_id',
  'invalid_trigger_id',
  'trigger_expired',
]);
const ANIMATE_FORM = 'animate';
/** A form carries at most 3,000 characters of ours. @see https://docs.slack.dev/reference/views/modal-views */
const KEPT_LENGTH = 500;

/** Takes what people do on Slack to the bot, and its answers back. */
export class InteractionHandler {
  readonly #options: InteractionHandlerOptions;

  constructor(options: InteractionHandlerOptions) {
    this.#options = options;
  }

  /** Somebody typed a command, in one way or another; `files` stand in the same message. */
  async command(
    deed: Interaction,
    text: string,
    addressing: Addressing = 'command',
    files: readonly SlackFile[] = [],
  ): Promise<void> {
    await this.#answer(deed, async () => {
      const taken = await this.#options.media.take(deed.to, files);
      if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
      return this.#options.bot().text(deed.caller, text, addressing, taken.addresses);
    });
  }

  /** Somebody pressed a button. */
  async press(deed: Interaction, button: string): Promise<void> {
    await this.#answer(deed, () => this.#options.bot().press(deed.caller, button));
  }

  /** Somebody reacted to a task's message, its clip or its notice; most reactions mean nothing to the bot. */
  async react(deed: Interaction, message: MessageRef, emoji: string): Promise<void> {
    const { bot, memory } = this.#options;
    await this.#answer(deed, async () => bot().react(deed.caller, await memory.standsFor(message), emoji));
  }

  /** Somebody wants a message's image to move. */
  async animate(deed: Interaction, image: FoundImage | null): Promise<void> {
    await this.#answer(deed, async () => {
      if (image === null) return { kind: 'refused', sentence: NO_IMAGE };
      if (image.address === undefined && !this.#options.media.canKeep)
        return { kind: 'refused', sentence: FILES_STAY_PRIVATE };
      // A bare `/video` opens the form of a new clip.
      const create = await this.#options.bot().text(deed.caller, '');
      if (create.kind !== 'form') return create;
      const { id, name, address } = image;
      const memory = { ...memoryOf(deed, ANIMATE_FORM), image: { id, name, address } };
      const values = { [MODEL_FIELD]: this.#animating().name };
      await this.#open(deed, this.#order({ ...create.form, title: ANIMATE_TITLE }, memory, values));
      return null;
    });
  }

  /** Somebody chose another model in a form: the rest of it follows. */
  async choose(to: TeamRef, view: SentView, model: string): Promise<void> {
    const memory = readMemory(view.private_metadata);
    if (memory === null) return;
    const { values } = readFilledIn(view);
    const form = titleOf(memory.form);
    const changed = this.#order(form, memory, { ...values, [MODEL_FIELD]: model });
    await this.#options.clients
      .call({
        to,
        lane: 'answer',
        doing: 'changing a form',
        run: (client) =>
          client.views.update({
            view_id: view.id,
            view: changed,
            ...(view.hash === undefined ? {} : { hash: view.hash }),
          }),
      })
      .catch((thrown: unknown) => {
        // Somebody closed it, or chose once more: a later choice is on its way.
        this.#options.logger.debug({ err: thrown }, 'a form could not be changed');
      });
  }

  /** Somebody sent a form. @returns whether it was refused, so that the very same may be sent again. */
  async submit({ deed, memory, view, accept, refuse }: ModalSubmission): Promise<boolean> {
    const { values, files } = readFilledIn(view);
    const reply = await this.#asked(deed, () => this.#submitted(deed, memory, values, files));
    // A request that was kept is sent again by its button, not by the form.
    if (reply?.kind !== 'refused' || reply.buttons?.some(isOrderButton) === true) {
      await accept();
      await this.#show(deed, reply);
      return false;
    }
    // What was typed still stands in the form.
    if (!(await refuse(errorsOf(view, reply.sentence)))) await this.#show(deed, reply);
    return true;
  }

  async #submitted(
    deed: Interaction,
    memory: ViewMemory,
    values: Readonly<Record<string, string>>,
    files: readonly SlackFile[],
  ): Promise<Reply> {
    const bot = this.#options.bot();
    const isOrder = memory.form === ANIMATE_FORM || parseForm(memory.form)?.form === 'create';
    if (!isOrder) return bot.submit(deed.caller, memory.form, values);
    const { image } = memory;
    const given = image !== undefined && image.address === undefined ? [image, ...files] : files;
    const taken = await this.#options.media.take(deed.to, given);
    if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
    const animated: GivenOptions = image?.address === undefined ? {} : { image: [image.address] };
    return bot.command(deed.caller, 'create', joined(filledIn(values), animated, taken.addresses));
  }

  /** Finds the answer and shows it; what goes wrong is said to the caller alone. */
  async #answer(deed: Interaction, ask: () => Promise<Reply | null>): Promise<void> {
    await this.#show(deed, await this.#asked(deed, ask));
  }

  async #asked(deed: Interaction, ask: () => Promise<Reply | null>): Promise<Reply | null> {
    try {
      return await ask();
    } catch (thrown) {
      const error = asDailiesError(thrown, `answering ${deed.caller.interaction}`);
      this.#options.logger.warn({ err: error, code: error.code }, 'an interaction could not be answered');
      return { kind: 'refused', sentence: sentenceOf(error) };
    }
  }

  async #show(deed: Interaction, reply: Reply | null): Promise<void> {
    const { voice } = deed;
    switch (reply?.kind) {
      case undefined:
        return;
      case 'task':
        // A message that cannot be posted now is posted with the task's next news.
        await this.#options.bot().show(reply.task);
        return;
      case 'private':
      case 'offer': {
        const body = renderCard(reply.card, { workspaceUrl: await this.#workspaceUrl(deed) });
        return deed.inPlace === true ? voice.inPlace(body) : voice.privately(body);
      }
      case 'public':
        return voice.publicly(renderCard(reply.card, { workspaceUrl: await this.#workspaceUrl(deed) }));
      case 'refused':
        return voice.privately(renderSentence(reply.sentence, reply.buttons));
      case 'form':
        return this.#open(deed, await this.#viewOf(deed, reply.form));
    }
  }

  async #open(deed: Interaction, view: types.ModalView): Promise<void> {
    const { to, trigger, voice } = deed;
    if (trigger === undefined) return this.#help(deed);
    try {
      await this.#options.clients.call({
        to,
        lane: 'answer',
        doing: 'opening a form',
        run: (client) => client.views.open({ trigger_id: trigger, view }),
      });
    } catch (thrown) {
      const code = slackCodeOf(thrown);
      if (code === null || !TOO_LATE.has(code)) throw thrown;
      await voice.privately(renderSentence(PRESS_AGAIN));
    }
  }

  /** Where no form can be opened, what can be written instead is shown. */
  async #help(deed: Interaction): Promise<void> {
    const reply = await this.#options.bot().command(deed.caller, 'help', {});
    if (reply.kind !== 'form') await this.#show(deed, reply);
  }

  async #viewOf(deed: Interaction, form: Form): Promise<types.ModalView> {
    const kept = await Promise.all(
      Object.values(form.media ?? {})
        .flat()
        .map((url) => this.#options.media.nameOf(url)),
    );
    const memory = memoryOf(deed, form.id, kept);
    const isOrder = parseForm(form.id)?.form !== 'lookup';
    if (!isOrder) return renderForm(form, memory);
    const values = Object.fromEntries(form.fields.map(({ name, value }) => [name, value]));
    const notes = Object.fromEntries(form.fields.map(({ name, note }) => [name, note]));
    return this.#order(form, memory, values, notes);
  }

  #order(
    form: Pick<Form, 'title' | 'submit'>,
    memory: ViewMemory,
    values: Readonly<Record<string, string>>,
    notes: OrderForm['notes'] = {},
  ) {
    const isNew = parseForm(memory.form)?.form === 'create';
    const media = isNew ? (this.#options.media.canKeep ? 'files' : 'address') : 'none';
    return renderOrderForm({ form, memory, catalog: this.#options.catalog(), values, notes, media });
  }

  /** The model for images, where nobody chose one. */
  #animating(): Model {
    const { models, defaultModel } = this.#options.catalog();
    if (defaultModel.media.image.max > 0) return defaultModel;
    return models.find(({ media }) => media.image.max > 0) ?? defaultModel;
  }

  async #workspaceUrl({ to }: Interaction): Promise<string | null> {
    return (await this.#options.workspaces.of(to.team, to.enterprise)).url;
  }
}

/** Title and button of a form that is shown already. */
function titleOf(id: string): Pick<Form, 'title' | 'submit'> {
  if (id === ANIMATE_FORM) return { ...FORM_WORDS.create, title: ANIMATE_TITLE };
  const { form } = parseForm(id) ?? { form: 'create' };
  return form === 'lookup' ? FORM_WORDS.create : FORM_WORDS[form];
}

function memoryOf({ caller }: Interaction, form: string, kept: readonly string[] = []): ViewMemory {
  const { thread, enterprise, isGroup } = readAddress(caller.address);
  const media = kept.length === 0 ? {} : { kept: shorten(keptFiles(kept), KEPT_LENGTH) };
  // A global shortcut comes from no channel; the listener puts the person in its place.
  const asks = caller.channel === caller.user.id ? { asksChannel: true } : {};
  return { form, channel: caller.channel, thread, enterprise, ...(isGroup ? { isGroup } : {}), ...asks, ...media };
}

/** What was filled in, as options. */
function filledIn(values: Readonly<Record<string, string>>): GivenOptions {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}

/** Joins options that were given in several ways. */
function joined(...parts: readonly GivenOptions[]): GivenOptions {
  const options: Record<string, readonly string[]> = {};
  for (const [name, values] of parts.flatMap((part) => Object.entries(part)))
    options[name] = [...(options[name] ?? []), ...values];
  return options;
}
