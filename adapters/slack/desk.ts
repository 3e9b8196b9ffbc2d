import type { types } from '@slack/bolt';
import { parseForm } from '#commands/buttons.ts';
import type { Bot, Caller, Form, GivenOptions, Reply } from '#commands/command.ts';
import { ANIMATE_TITLE, NO_IMAGE } from '#commands/sentences/animate.ts';
import { PRESS_AGAIN } from '#commands/sentences/following.ts';
import { FORM_WORDS } from '#commands/sentences/forms.ts';
import { FILES_STAY_PRIVATE } from '#commands/sentences/private-files.ts';
import { promptKept } from '#commands/sentences/refusals.ts';
import { sentenceOf } from '#commands/sentences.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import { readAddress } from './address.ts';
import type { Clients, TeamRef } from './clients.ts';
import { slackCodeOf } from './errors.ts';
import type { ReferenceMedia, SlackFile } from './media.ts';
import { MODEL_FIELD, renderOrderForm } from './order-form.ts';
import { renderCard, renderSentence } from './render.ts';
import { errorsOf, readFilledIn, readMemory, renderForm, type SentView, type ViewMemory } from './views.ts';
import type { Voice } from './voice.ts';
import type { Workspaces } from './workspaces.ts';

/** What the desk works with. */
export interface DeskOptions {
  readonly bot: () => Bot;
  readonly catalog: () => Catalog;
  readonly clients: Clients;
  readonly workspaces: Workspaces;
  readonly media: ReferenceMedia;
  readonly logger: Logger;
}

/** Something that somebody did. */
export interface Deed {
  readonly caller: Caller;
  readonly to: TeamRef;
  readonly voice: Voice;
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
export interface Submission {
  readonly deed: Deed;
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

/** Takes what people do on Slack to the bot, and its answers back. */
export class Desk {
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Somebody typed a command, in one way or another; `files` stand in the same message. */
  async command(deed: Deed, text: string, files: readonly SlackFile[] = []): Promise<void> {
    await this.#answer(deed, async () => {
      const taken = await this.#options.media.take(deed.to, 'image', files);
      if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
      const addresses = Object.entries(taken.addresses).flatMap(([option, values]) =>
        values.map((value) => ` --${option} ${value}`),
      );
      return this.#options.bot().text(deed.caller, `${text}${addresses.join('')}`);
    });
  }

  /** Somebody pressed a button. */
  async press(deed: Deed, button: string): Promise<void> {
    await this.#answer(deed, () => this.#options.bot().press(deed.caller, button));
  }

  /** Somebody reacted to a message; most reactions mean nothing to the bot. */
  async react(deed: Deed, message: MessageRef, emoji: string): Promise<void> {
    await this.#answer(deed, () => this.#options.bot().react(deed.caller, message, emoji));
  }

  /** Somebody wants a message's image to move. */
  async animate(deed: Deed, image: FoundImage | null): Promise<void> {
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
  async submit({ deed, memory, view, accept, refuse }: Submission): Promise<boolean> {
    const { values, files } = readFilledIn(view);
    const reply = await this.#asked(deed, () => this.#submitted(deed, memory, values, files));
    if (reply?.kind !== 'refused') {
      await accept();
      await this.#show(deed, reply);
      return false;
    }
    const typed = values['prompt']?.trim() ?? '';
    // What was typed still stands in the form.
    const sentence = reply.sentence.replace(`\n${promptKept(typed)}`, '');
    if (!(await refuse(errorsOf(view, sentence)))) await this.#show(deed, reply);
    return true;
  }

  async #submitted(
    deed: Deed,
    memory: ViewMemory,
    values: Readonly<Record<string, string>>,
    files: readonly SlackFile[],
  ): Promise<Reply> {
    const bot = this.#options.bot();
    const isOrder = memory.form === ANIMATE_FORM || parseForm(memory.form)?.form === 'create';
    if (!isOrder) return bot.submit(deed.caller, memory.form, values);
    const { image } = memory;
    const given = image !== undefined && image.address === undefined ? [image, ...files] : files;
    const taken = await this.#options.media.take(deed.to, 'image', given);
    if (taken.wrong.length > 0) return { kind: 'refused', sentence: taken.wrong.join('\n') };
    const addresses = [...(image?.address === undefined ? [] : [image.address]), ...(taken.addresses['image'] ?? [])];
    return bot.command(deed.caller, 'create', orderOf(values, addresses));
  }

  /** Finds the answer and shows it; what goes wrong is said to the caller alone. */
  async #answer(deed: Deed, ask: () => Promise<Reply | null>): Promise<void> {
    await this.#show(deed, await this.#asked(deed, ask));
  }

  async #asked(deed: Deed, ask: () => Promise<Reply | null>): Promise<Reply | null> {
    try {
      return await ask();
    } catch (thrown) {
      const error = asDailiesError(thrown, `answering ${deed.caller.interaction}`);
      this.#options.logger.warn({ err: error, code: error.code }, 'an interaction could not be answered');
      return { kind: 'refused', sentence: sentenceOf(error) };
    }
  }

  async #show(deed: Deed, reply: Reply | null): Promise<void> {
    const { voice } = deed;
    switch (reply?.kind) {
      case undefined:
        return;
      case 'task':
        // A message that cannot be posted now is posted with the task's next news.
        await this.#options.bot().show(reply.task);
        return;
      case 'private': {
        const body = renderCard(reply.card, { workspaceUrl: await this.#workspaceUrl(deed) });
        return deed.inPlace === true ? voice.inPlace(body) : voice.privately(body);
      }
      case 'public':
        return voice.publicly(renderCard(reply.card, { workspaceUrl: await this.#workspaceUrl(deed) }));
      case 'refused':
        return voice.privately(renderSentence(reply.sentence));
      case 'form':
        return this.#open(deed, this.#viewOf(deed, reply.form));
    }
  }

  async #open(deed: Deed, view: types.ModalView): Promise<void> {
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
  async #help(deed: Deed): Promise<void> {
    const reply = await this.#options.bot().command(deed.caller, 'help', {});
    if (reply.kind !== 'form') await this.#show(deed, reply);
  }

  #viewOf(deed: Deed, form: Form): types.ModalView {
    const memory = memoryOf(deed, form.id);
    const isOrder = parseForm(form.id)?.form !== 'lookup';
    if (!isOrder) return renderForm(form, memory);
    return this.#order(form, memory, Object.fromEntries(form.fields.map(({ name, value }) => [name, value])));
  }

  #order(form: Pick<Form, 'title' | 'submit'>, memory: ViewMemory, values: Readonly<Record<string, string>>) {
    const isNew = parseForm(memory.form)?.form === 'create';
    const media = isNew ? (this.#options.media.canKeep ? 'files' : 'address') : 'none';
    return renderOrderForm({ form, memory, catalog: this.#options.catalog(), values, media });
  }

  /** The model for images, where nobody chose one. */
  #animating(): Model {
    const { models, defaultModel } = this.#options.catalog();
    if (defaultModel.media.image.max > 0) return defaultModel;
    return models.find(({ media }) => media.image.max > 0) ?? defaultModel;
  }

  async #workspaceUrl({ to }: Deed): Promise<string | null> {
    return (await this.#options.workspaces.of(to.team, to.enterprise)).url;
  }
}

/** Title and button of a form that is shown already. */
function titleOf(id: string): Pick<Form, 'title' | 'submit'> {
  if (id === ANIMATE_FORM) return { ...FORM_WORDS.create, title: ANIMATE_TITLE };
  return parseForm(id)?.form === 'edit' ? FORM_WORDS.edit : FORM_WORDS.create;
}

function memoryOf({ caller }: Deed, form: string): ViewMemory {
  const { thread, enterprise } = readAddress(caller.address);
  return { form, channel: caller.channel, thread, enterprise };
}

/** What was filled in, as options. */
function orderOf(values: Readonly<Record<string, string>>, images: readonly string[]): GivenOptions {
  const options: Record<string, readonly string[]> = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, [value]]),
  );
  const image = [...(options['image'] ?? []), ...images];
  return image.length === 0 ? options : { ...options, image };
}
