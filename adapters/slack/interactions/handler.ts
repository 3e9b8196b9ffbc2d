import type { types } from '@slack/bolt';
import type { Addressing, Bot, Caller, Form, GivenOptions, Reply } from '#commands/bot-port.ts';
import { filledIn, mergeOptions } from '#commands/input/options.ts';
import { refusedWith } from '#commands/input/subcommand.ts';
import { type Placement, type Responder, runInteraction } from '#commands/run-interaction.ts';
import { FILES_STAY_PRIVATE, keptFiles } from '#commands/sentences/attachments.ts';
import { shorten } from '#commands/sentences/format.ts';
import { ANIMATE_TITLE, FORM_WORDS, NO_IMAGE, NO_SCRIPT, PRESS_AGAIN } from '#commands/sentences/forms.ts';
import { isOrderButton, parsePriceId } from '#commands/ui/buttons.ts';
import type { Card } from '#commands/ui/card.ts';
import { isOrderForm, parseForm } from '#commands/ui/form-ids.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { MessageRef } from '#src/chat/index.ts';
import type { Logger } from '#src/logger.ts';
import { isTextFile } from '#src/media/index.ts';
import type { Catalog, Model } from '#src/videos/index.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import type { MessageStore } from '../messages/message-store.ts';
import { renderCard, renderSentence } from '../messages/render.ts';
import { readAddress } from '../origin.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { slackCodeOf } from '../web-api/errors.ts';
import type { Profiles } from '../web-api/profiles.ts';
import type { UserGroups } from '../web-api/user-groups.ts';
import type { FoundImage, ReferenceMedia, SlackFile } from './attachments.ts';
import {
  errorsOf,
  type ModalChoice,
  readFilledIn,
  readMetadata,
  renderForm,
  type SentView,
  shownPeople,
  type ViewMetadata,
} from './modals.ts';
import { MODEL_FIELD, type OrderForm, renderOrderForm } from './order-modal.ts';
import type { ReplySender } from './reply-sender.ts';

interface InteractionHandlerOptions {
  readonly bot: Bot;
  readonly catalog: () => Catalog;
  readonly clients: Clients;
  readonly workspaces: Workspaces;
  readonly media: ReferenceMedia;
  readonly messageStore: Pick<MessageStore, 'standsFor'>;
  readonly profiles: Pick<Profiles, 'person'>;
  readonly groups: Pick<UserGroups, 'list'>;
  readonly logger: Logger;
}

export interface Interaction {
  readonly caller: Caller;
  readonly to: TeamRef;
  readonly replies: ReplySender;
  /** Acknowledges the interaction; otherwise it is acknowledged once handled. */
  readonly acknowledge: () => Promise<void>;
  /** Trigger id that can open a modal for 3 s; absent if the interaction cannot open one. */
  readonly trigger?: string | undefined;
  /** True if an ephemeral reply replaces the message whose button was pressed, as paging does. */
  readonly inPlace?: boolean | undefined;
  /** True in the assistant pane: a question about an order stays there, since an ephemeral message would not. Default: false. */
  readonly isInPane?: boolean | undefined;
}

interface ModalSubmission {
  readonly interaction: Interaction;
  readonly metadata: ViewMetadata;
  readonly view: SentView;
  /** Shows validation errors in the modal. @returns whether the modal was still open. */
  readonly refuse: (errors: Readonly<Record<string, string>>) => Promise<boolean>;
}

/** Errors of an expired or used trigger id. @see https://docs.slack.dev/reference/methods/views.open#errors */
const EXPIRED_TRIGGER: ReadonlySet<string> = new Set([
  'expired_trigger_id',
  'exchanged_trigger_id',
  'invalid_trigger_id',
  'trigger_expired',
]);
const ANIMATE_FORM = 'animate';
/** Keeps the metadata of a modal below its limit of 3,000 characters. @see https://docs.slack.dev/reference/views/modal-views */
const KEPT_LENGTH = 500;
/** Number of modals whose latest choice is remembered. */
const MAX_MODALS = 1_000;

/** Passes interactions on Slack to the bot, and shows its replies. */
export class InteractionHandler {
  readonly #options: InteractionHandlerOptions;
  /** Time of the latest choice by modal, as in {@link ModalChoice}. */
  readonly #chosenAt = new BoundedMap<string, number>(MAX_MODALS);

  constructor(options: InteractionHandlerOptions) {
    this.#options = options;
  }

  /** Handles a command, typed or implied. @param files attachments of the same message */
  async command(
    interaction: Interaction,
    text: string,
    addressing: Addressing = 'command',
    files: readonly SlackFile[] = [],
  ): Promise<void> {
    await this.#run(interaction, async () => {
      const { media, bot } = this.#options;
      const [texts, others] = textFilesOf(text, files);
      const [taken, written] = await Promise.all([
        media.take(interaction.to, others),
        this.#readTexts(interaction.to, texts),
      ]);
      const wrong = [...taken.wrong, ...written.wrong];
      if (wrong.length > 0) return refusedWith(wrong);
      return bot.text(interaction.caller, [text, ...written.lines].join('\n'), addressing, taken.addresses);
    });
  }

  /** Handles “Make a storyboard”: opens the form of a storyboard with the words of a message and of its text files. */
  async storyboard(interaction: Interaction, text: string, files: readonly SlackFile[] = []): Promise<void> {
    await this.#run(interaction, async () => {
      const { wrong, lines } = await this.#readTexts(interaction.to, files.filter(mayBeText));
      if (wrong.length > 0) return refusedWith(wrong);
      const script = [text, ...lines].join('\n').trim();
      return script === ''
        ? { kind: 'refused', sentence: NO_SCRIPT }
        : this.#options.bot.form(interaction.caller, script);
    });
  }

  /** Reads text files as lines; a problem for each that cannot be read. */
  async #readTexts(to: TeamRef, files: readonly SlackFile[]) {
    const read = await Promise.all(files.map((file) => this.#options.media.textOf(to, file)));
    return {
      wrong: read.flatMap((one) => ('wrong' in one ? [one.wrong] : [])),
      lines: read.flatMap((one) => ('text' in one ? [one.text] : [])),
    };
  }

  async press(interaction: Interaction, button: string): Promise<void> {
    await this.#run(interaction, () => this.#options.bot.press(interaction.caller, button));
  }

  /** Handles a reaction to a task's message, its clip or its notification; most reactions have no effect. */
  async react(interaction: Interaction, message: MessageRef, emoji: string): Promise<void> {
    const { bot, messageStore } = this.#options;
    await this.#run(interaction, async () =>
      bot.react(interaction.caller, await messageStore.standsFor(message), emoji),
    );
  }

  /** Handles “Animate this”: opens the order modal for a message's image. */
  async animate(interaction: Interaction, image: FoundImage | null): Promise<void> {
    await this.#run(interaction, async () => {
      if (image === null) return { kind: 'refused', sentence: NO_IMAGE };
      if (image.address === undefined && !this.#options.media.canKeep)
        return { kind: 'refused', sentence: FILES_STAY_PRIVATE };
      const create = await this.#options.bot.form(interaction.caller);
      if (create.kind !== 'form') return create;
      const { id, name, address } = image;
      const metadata = { ...metadataOf(interaction, ANIMATE_FORM), image: { id, name, address } };
      const catalog = await this.#catalogFor(interaction.caller);
      const values = imageValues(catalog, valuesOf(create.form));
      const modal = this.#orderModal({ ...create.form, title: ANIMATE_TITLE }, metadata, { catalog, values });
      await this.#openModal(interaction, modal);
      return null;
    });
  }

  /**
   * Updates an order modal for a newly chosen model or length, with its price. Without the view's hash if this is the
   * latest choice, but another update came between: the modal would otherwise go on showing the price before it.
   */
  async choose(to: TeamRef, user: string, view: SentView, { field, value, atSeconds }: ModalChoice): Promise<void> {
    const metadata = readMetadata(view.private_metadata);
    if (metadata === null) return;
    this.#chosenAt.set(view.id, Math.max(atSeconds, this.#chosenAt.get(view.id) ?? 0));
    const { values } = readFilledIn(view);
    const catalog = await this.#catalogFor(personIn(to, metadata.channel, user));
    const changed = this.#orderModal(titleOf(metadata.form), metadata, {
      catalog,
      values: { ...values, [field]: value },
    });
    const update = (hash: { readonly hash?: string }): Promise<unknown> =>
      this.#options.clients.answer(to, 'changing a form', (client) =>
        client.views.update({ view_id: view.id, view: changed, ...hash }),
      );
    try {
      await update(view.hash === undefined ? {} : { hash: view.hash }).catch((thrown: unknown) => {
        const isLatest = this.#chosenAt.get(view.id) === atSeconds;
        if (slackCodeOf(thrown) !== 'hash_conflict' || !isLatest) throw thrown;
        return update({});
      });
    } catch (thrown) {
      // The user closed the modal, or made another choice.
      this.#options.logger.debug({ event: 'slack_modal_update_failed', err: thrown }, 'failed to update a modal');
    }
  }

  async submit(submission: ModalSubmission): Promise<void> {
    const { interaction, metadata, view } = submission;
    const { values, files } = readFilledIn(view);
    const submit = async (): Promise<Reply> =>
      this.#submit(interaction, metadata, await this.#withNames(interaction.to, view, values), files);
    await this.#run(interaction, submit, submission);
  }

  /** Adds the names of the people that were newly chosen in a modal, which Slack does not send. */
  async #withNames(to: TeamRef, view: SentView, values: ModalValues): Promise<ModalValues> {
    const form = readMetadata(view.private_metadata)?.form ?? '';
    if (parseForm(form)?.form !== 'panel') return values;
    const shown = shownPeople(view);
    const named = async (line: string): Promise<string> => {
      const [, id = ''] = /^<@(\w+)>$/u.exec(line) ?? [];
      if (id === '' || shown.has(id)) return line;
      const { name } = await this.#options.profiles.person(to, id);
      return `<@${id}|${name.replace(/[<>|\n]/gu, '')}>`;
    };
    const entries = Object.entries(values).map(async ([field, value]): Promise<readonly [string, string]> => {
      if (!value.startsWith('<@')) return [field, value];
      return [field, (await Promise.all(value.split('\n').map(named))).join('\n')];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  async #submit(
    interaction: Interaction,
    metadata: ViewMetadata,
    values: Readonly<Record<string, string>>,
    files: readonly SlackFile[],
  ): Promise<Reply> {
    const bot = this.#options.bot;
    const caller = { ...interaction.caller, ...shownBy(metadata) };
    const isOrder = metadata.form === ANIMATE_FORM || parseForm(metadata.form)?.form === 'create';
    if (!isOrder) return bot.submit(caller, metadata.form, values);
    const { image } = metadata;
    const given = image !== undefined && image.address === undefined ? [image, ...files] : files;
    const taken = await this.#options.media.take(interaction.to, given);
    if (taken.wrong.length > 0) return refusedWith(taken.wrong);
    const animated: GivenOptions = image?.address === undefined ? {} : { image: [image.address] };
    return bot.command(caller, 'create', mergeOptions(filledIn(values), animated, taken.addresses));
  }

  async #run(interaction: Interaction, ask: () => Promise<Reply | null>, modal?: ModalSubmission): Promise<void> {
    const { bot, logger } = this.#options;
    const { caller, inPlace = false } = interaction;
    await runInteraction({ bot, logger, caller, inPlace, ask }, this.#responderOf(interaction, modal));
  }

  #responderOf(interaction: Interaction, modal?: ModalSubmission): Responder {
    const { to, replies, acknowledge, isInPane = false } = interaction;
    /** Closes the modal before anything is shown, once its request is safe. */
    const close = async () => (modal === undefined ? undefined : acknowledge());
    const show = async (card: Card, placement: Placement): Promise<void> => {
      await close();
      const { url: workspaceUrl } = await this.#options.workspaces.of(to.team, to.enterprise);
      const isQuestion = isInPane && placement === 'private' && card.buttons.some(isOrderButton);
      const placed = isQuestion ? 'public' : placement;
      const send = (hasPictures: boolean) => replies.send(renderCard(card, { workspaceUrl, hasPictures }), placed);
      await send(true).catch((thrown: unknown) => {
        if (slackCodeOf(thrown) !== 'invalid_blocks') throw thrown;
        return send(false);
      });
    };
    return {
      acknowledge,
      show,
      offer: ({ card, private: own = card }) => show(own, 'private'),
      showForm: async (form) => {
        await close();
        await this.#openModal(interaction, await this.#viewOf(interaction, form));
      },
      refuse: async (refusal) => {
        // A rejected modal keeps the user's input. A saved request is submitted again with its button instead.
        if (refusal.buttons?.some(isOrderButton) === true) await close();
        else if ((await modal?.refuse(errorsOf(modal.view, refusal))) === true) return;
        await replies.send(renderSentence(refusal.sentence, refusal.buttons), 'private');
      },
    };
  }

  async #openModal(interaction: Interaction, view: types.ModalView): Promise<void> {
    const { to, trigger, replies } = interaction;
    if (trigger === undefined) return this.#help(interaction);
    try {
      await this.#options.clients.answer(to, 'opening a form', (client) =>
        client.views.open({ trigger_id: trigger, view }),
      );
    } catch (thrown) {
      const code = slackCodeOf(thrown);
      if (code === null || !EXPIRED_TRIGGER.has(code)) throw thrown;
      await replies.send(renderSentence(PRESS_AGAIN), 'private');
    }
  }

  /** Shows the help, with the commands to type, where no modal can be opened. */
  async #help(interaction: Interaction): Promise<void> {
    const reply = await this.#options.bot.command(interaction.caller, 'help', {});
    if (reply.kind === 'private') await this.#responderOf(interaction).show(reply.card, 'private');
  }

  async #viewOf(interaction: Interaction, form: Form): Promise<types.ModalView> {
    const kept = await Promise.all(
      Object.values(form.media ?? {})
        .flat()
        .map((url) => this.#options.media.nameOf(url)),
    );
    const metadata = metadataOf(interaction, form.id, kept);
    if (!isOrderForm(form.id)) {
      const takesGroups = form.fields.some(({ control }) => control === 'approver');
      return renderForm(form, metadata, takesGroups ? await this.#options.groups.list(interaction.to) : []);
    }
    const values = valuesOf(form);
    const notes = Object.fromEntries(form.fields.map(({ name, note }) => [name, note]));
    const catalog = await this.#catalogFor(interaction.caller);
    return this.#orderModal(form, metadata, { catalog, values, notes });
  }

  /** Returns the catalog as the policy allows it to a person where they are; the whole one if that cannot be read. */
  #catalogFor(caller: Caller): Promise<Catalog> {
    return this.#options.bot.catalogFor(caller).catch(() => this.#options.catalog());
  }

  #orderModal(
    form: Pick<Form, 'title' | 'submit'>,
    metadata: ViewMetadata,
    { catalog, values, notes = {} }: Pick<OrderForm, 'catalog' | 'values' | 'notes'>,
  ) {
    const isNew = parseForm(metadata.form)?.form === 'create';
    const media = isNew ? (this.#options.media.canKeep ? 'files' : 'address') : 'none';
    return renderOrderForm({ form, metadata, catalog, values, notes, media });
  }
}

/** Separates the text files of a storyboard from reference files. @param text the command that they were attached to */
function textFilesOf(
  text: string,
  files: readonly SlackFile[],
): readonly [texts: readonly SlackFile[], others: readonly SlackFile[]] {
  const isStoryboard = /^(?:\/video\s+)?storyboard\b/iu.test(text.trim());
  if (!isStoryboard) return [[], files];
  return [files.filter(mayBeText), files.filter((file) => !mayBeText(file))];
}

/** Of a file from another workspace, only the id is known. */
function mayBeText({ name = '', mimetype: contentType }: SlackFile): boolean {
  return contentType === undefined || isTextFile({ name, contentType });
}

/** Returns the prices that a modal showed, for the caller who submits it; nothing if it showed none. */
function shownBy({ price, prices }: ViewMetadata): Pick<Caller, 'shown'> {
  if (price === undefined || prices === undefined) return {};
  return { shown: { price: parsePriceId(price), prices } };
}

/** Returns the preselected values for image input: the user's defaults, if their model takes one. */
function imageValues({ models, defaultModel }: Catalog, own: ModalValues): ModalValues {
  const takesImage = ({ media }: Model): boolean => media.image.max > 0;
  const model = models.find(({ name }) => name === own[MODEL_FIELD]);
  if (model !== undefined && takesImage(model)) return own;
  const other = takesImage(defaultModel) ? defaultModel : (models.find(takesImage) ?? defaultModel);
  return { [MODEL_FIELD]: other.name };
}

/** Returns a person in a channel as a caller without any right. */
function personIn({ team }: TeamRef, channel: string, user: string): Caller {
  const person = { id: user, name: user };
  const nothing = { interaction: '', mayManage: false, mayAdminister: false, address: {} };
  return { platform: 'slack', team, channel, user: person, ...nothing };
}

type ModalValues = Readonly<Record<string, string>>;

function valuesOf({ fields }: Form): ModalValues {
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
}

/** Returns title and button label of an open modal. */
function titleOf(id: string): Pick<Form, 'title' | 'submit'> {
  if (id === ANIMATE_FORM) return { ...FORM_WORDS.create, title: ANIMATE_TITLE };
  const { form } = parseForm(id) ?? { form: 'create' };
  return form === 'edit' || form === 'fix' || form === 'insert' ? FORM_WORDS[form] : FORM_WORDS.create;
}

function metadataOf({ caller }: Interaction, form: string, kept: readonly string[] = []): ViewMetadata {
  const { thread, enterprise, isGroup } = readAddress(caller.address);
  const media = kept.length === 0 ? {} : { kept: shorten(keptFiles(kept), KEPT_LENGTH) };
  // A global shortcut has no channel; its listener sets the user's id instead.
  const asks = caller.channel === caller.user.id ? { asksChannel: true } : {};
  return { form, channel: caller.channel, thread, enterprise, ...(isGroup ? { isGroup } : {}), ...asks, ...media };
}
