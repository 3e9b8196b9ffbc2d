import type { types } from '@slack/bolt';
import type { Form } from '#commands/bot-port.ts';
import { beginning } from '#commands/sentences/format.ts';
import { PROMPT_EXAMPLE } from '#commands/sentences/forms.ts';
import {
  choiceLabel,
  clipPriceWords,
  fieldLabel,
  filesLabel,
  linksLabel,
  modelChoice,
  modelFacts,
  ORDER_LABELS,
  styleChoices,
  takesChoices,
} from '#commands/sentences/settings.ts';
import { priceId } from '#commands/ui/buttons.ts';
import { parseForm } from '#commands/ui/form-ids.ts';
import { formatPrice, type Price, priceOf, timesPrice } from '#src/tasks/index.ts';
import {
  type Catalog,
  defaultSeconds,
  isOffered,
  lengthOf,
  listed,
  MEDIA_KINDS,
  type MediaKind,
  type Model,
  priceFingerprint,
  readableExtensions,
  SETTINGS,
  type Setting,
} from '#src/videos/index.ts';
import { plain } from '../messages/render.ts';
import { CHANNEL_FIELD, MOST_OPTIONS, modal, staticSelect, TITLE_LENGTH, type ViewMetadata } from './modals.ts';

/** Name of the model field, whose value determines the other fields. */
export const MODEL_FIELD = 'model';
/** Matches the fields whose values determine the price. */
export const PRICED_FIELDS = /^(?:model|seconds|takes)$/u;

const LABEL_LENGTH = 75;
/** @see https://docs.slack.dev/reference/block-kit/block-elements/file-input-element */
const MOST_FILES = 10;
const MOST_TYPED = 3000;

export interface OrderForm {
  readonly form: Pick<Form, 'title' | 'submit'>;
  readonly metadata: ViewMetadata;
  readonly catalog: Catalog;
  readonly values: Readonly<Record<string, string>>;
  /** Hints about adjusted values, by field. */
  readonly notes?: Readonly<Record<string, string | undefined>>;
  /** Inputs for reference media: file uploads, URLs, or none. */
  readonly media: 'files' | 'address' | 'none';
}

/** Renders the order modal with the options of the selected model, and the price of the present choice. */
export function renderOrderForm({ form, metadata, catalog, values, notes = {}, media }: OrderForm): types.ModalView {
  const model = catalog.models.find(({ name }) => name === values[MODEL_FIELD]) ?? catalog.defaultModel;
  const seconds = lengthOf(model, values['seconds']) ?? defaultSeconds(model);
  const takes = takesChoices(catalog).all.find(({ value }) => value === values['takes'])?.value ?? '1';
  const price = timesPrice(priceOf(model, seconds), Number(takes));
  const blocks: types.KnownBlock[] = [
    promptBlock(values['prompt']),
    ...channelBlock(metadata),
    modelBlock(catalog, model),
    { type: 'context', block_id: 'facts', elements: [plain(modelFacts(model), MOST_TYPED)] },
    ...SETTINGS.flatMap((setting) => settingBlock(setting, model, values[setting.name])),
    ...(parseForm(metadata.form)?.form === 'insert' ? [] : takesBlock(catalog, takes)),
    ...styleBlock(catalog, values['style']),
    ...mediaBlocks(model, media, values),
    ...keptBlock(metadata),
    {
      type: 'context',
      block_id: 'price',
      elements: [plain(clipPriceWords(model, seconds, Number(takes)), MOST_TYPED)],
    },
  ];
  return modal(
    { ...form, submit: pricedLabel(form.submit, price) },
    { ...metadata, price: priceId(price), prices: priceFingerprint(catalog) },
    blocks.map((block) => withHint(block, notes)),
  );
}

/** Adds the price to a button's label, unless it does not fit; the line above the button shows it as well. */
function pricedLabel(label: string, price: Price): string {
  const priced = `${label} · ${formatPrice(price)}`;
  return priced.length > TITLE_LENGTH ? label : priced;
}

/** @see https://docs.slack.dev/reference/block-kit/blocks/input-block */
function withHint(block: types.KnownBlock, notes: NonNullable<OrderForm['notes']>): types.KnownBlock {
  if (block.type !== 'input') return block;
  const note = notes[block.block_id?.split(':')[0] ?? ''];
  return note === undefined ? block : { ...block, hint: plain(note, MOST_TYPED) };
}

/** Builds an input, whose block has the id of its field unless its value holds for one model alone. */
function inputBlock(
  id: string,
  label: string,
  input: Pick<types.InputBlock, 'element' | 'optional' | 'dispatch_action'>,
): types.InputBlock {
  return { type: 'input', block_id: id, label: plain(label, LABEL_LENGTH), ...input };
}

function promptBlock(value: string | undefined): types.InputBlock {
  const element: types.PlainTextInput = {
    type: 'plain_text_input',
    action_id: 'prompt',
    multiline: true,
    max_length: MOST_TYPED,
    placeholder: plain(PROMPT_EXAMPLE, LABEL_LENGTH),
    ...(value === undefined || value === '' ? {} : { initial_value: beginning(value, MOST_TYPED) }),
  };
  return inputBlock('prompt', ORDER_LABELS.prompt, { element });
}

/** Renders the field for the clip's channel, if the modal was opened outside a channel. */
function channelBlock({ asksChannel = false }: ViewMetadata): readonly types.InputBlock[] {
  if (!asksChannel) return [];
  const element: types.ConversationsSelect = {
    type: 'conversations_select',
    action_id: CHANNEL_FIELD,
    default_to_current_conversation: true,
    filter: { include: ['public', 'private', 'im'] },
  };
  return [inputBlock(CHANNEL_FIELD, ORDER_LABELS.channel, { element })];
}

/** Renders the models with their rates alone: Slack keeps the label of a chosen option when a modal is updated. */
function modelBlock(catalog: Catalog, chosen: Model): types.InputBlock {
  const all = catalog.models.map((one) => modelChoice(catalog, one));
  const element = staticSelect(MODEL_FIELD, all, chosen.name);
  return inputBlock(MODEL_FIELD, ORDER_LABELS.model, { dispatch_action: true, element });
}

/**
 * Renders the field of a setting that the model takes. Its block id contains the model, so that Slack drops the value
 * chosen for another one.
 */
function settingBlock(setting: Setting, model: Model, value: string | undefined): readonly types.InputBlock[] {
  const offer = setting.offerOf(model);
  const offered = listed(offer);
  if (offered?.length === 0) return [];
  const { name, kind } = setting;
  const typed = kind === 'number' && value !== undefined ? Number(value) : value;
  const chosen = typed !== undefined && isOffered(offer, typed) ? typed : setting.defaultOf(model);
  const choices = offered?.map((one) => ({ value: String(one), label: choiceLabel(setting, model, one) }));
  const element =
    choices === undefined || choices.length > MOST_OPTIONS
      ? numberInput(setting, model, chosen)
      : staticSelect(name, choices, String(chosen));
  const input = { dispatch_action: PRICED_FIELDS.test(name), optional: true, element };
  return [inputBlock(`${name}:${model.name}`, fieldLabel(setting), input)];
}

/** Renders the field of the number of takes, unless there is nothing to choose. */
function takesBlock(catalog: Catalog, chosen: string): readonly types.InputBlock[] {
  const { all } = takesChoices(catalog);
  if (all.length === 1) return [];
  const element = staticSelect('takes', all, chosen);
  return [inputBlock('takes', ORDER_LABELS.takes, { dispatch_action: true, optional: true, element })];
}

/** Renders the field of the style, where there is one to choose. */
function styleBlock(catalog: Catalog, chosen = ''): readonly types.InputBlock[] {
  const choices = styleChoices(catalog);
  if (choices === undefined) return [];
  const placeholder = plain(choices.placeholder, LABEL_LENGTH);
  const element = { ...staticSelect('style', choices.all, chosen), placeholder };
  return [inputBlock('style', choices.title, { optional: true, element })];
}

function numberInput({ name, offerOf }: Setting, model: Model, chosen: number | string | undefined): types.NumberInput {
  const offer = offerOf(model);
  const [min, max] =
    'min' in offer ? [offer.min, offer.max] : [Math.min(...offer.map(Number)), Math.max(...offer.map(Number))];
  return {
    type: 'number_input',
    action_id: name,
    is_decimal_allowed: false,
    dispatch_action_config: { trigger_actions_on: ['on_character_entered'] },
    min_value: String(min),
    max_value: String(max),
    ...(chosen === undefined ? {} : { initial_value: String(chosen) }),
  };
}

/** Renders a field for each kind of reference media that the model accepts. */
function mediaBlocks(
  model: Model,
  media: OrderForm['media'],
  values: OrderForm['values'],
): readonly types.InputBlock[] {
  if (media === 'none') return [];
  return MEDIA_KINDS.filter((kind) => model.media[kind].max > 0).map((kind) =>
    media === 'files' ? filesBlock(model, kind) : addressesBlock(model, kind, values[kind]),
  );
}

function addressesBlock({ media }: Model, kind: MediaKind, typed: string | undefined): types.InputBlock {
  const initial = typed === undefined ? {} : { initial_value: typed };
  const element = { type: 'plain_text_input', action_id: kind, ...initial } as const;
  return inputBlock(kind, linksLabel(kind), { optional: media[kind].min === 0, element });
}

function filesBlock({ name, media }: Model, kind: MediaKind): types.InputBlock {
  const element: types.FileInput = {
    type: 'file_input',
    action_id: `${kind}_files`,
    filetypes: [...readableExtensions(kind)],
    max_files: Math.min(media[kind].max, MOST_FILES),
  };
  return inputBlock(`${kind}:${name}`, filesLabel(kind), { optional: media[kind].min === 0, element });
}

function keptBlock({ kept }: ViewMetadata): readonly types.ContextBlock[] {
  return kept === undefined ? [] : [{ type: 'context', block_id: 'kept', elements: [plain(kept, MOST_TYPED)] }];
}
