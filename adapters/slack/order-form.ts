import type { types } from '@slack/bolt';
import type { Form } from '#commands/command.ts';
import { beginning } from '#commands/sentences/format.ts';
import { lengthLabel, modelFacts, ORDER_LABELS, PROMPT_EXAMPLE } from '#commands/sentences/order-form.ts';
import { modelSuggestion, withDefaultMark } from '#commands/sentences/suggestions.ts';
import { type Catalog, defaultResolution, defaultSeconds, type Model, secondsOffered } from '#src/videos/model.ts';
import { plain } from './render.ts';
import { modal, type ViewMemory } from './views.ts';

/** The field whose choice changes the others. */
export const MODEL_FIELD = 'model';
/** The field that takes files. */
const FILES_FIELD = 'image_files';

/** @see https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
const MOST_OPTIONS = 100;
/** @see https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const OPTION_LENGTH = 75;
/** @see https://docs.slack.dev/reference/block-kit/block-elements/file-input-element */
const MOST_FILES = 10;
const IMAGE_TYPES = ['png', 'jpg', 'jpeg', 'webp', 'gif', 'heic'];
const MOST_TYPED = 3000;

/** What an order's form is made of. */
export interface OrderForm {
  readonly form: Pick<Form, 'title' | 'submit'>;
  readonly memory: ViewMemory;
  readonly catalog: Catalog;
  /** What is filled in so far, by field. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether files are asked for, only their address, or neither. */
  readonly media: 'files' | 'address' | 'none';
}

/** The form of an order, with what the chosen model offers and what it costs. */
export function renderOrderForm({ form, memory, catalog, values, media }: OrderForm): types.ModalView {
  const model = catalog.models.find(({ name }) => name === values[MODEL_FIELD]) ?? catalog.defaultModel;
  const blocks: types.KnownBlock[] = [
    promptBlock(values['prompt']),
    modelBlock(catalog, model),
    { type: 'context', block_id: 'facts', elements: [plain(modelFacts(model), MOST_TYPED)] },
    lengthBlock(model, values['seconds']),
    ...choiceBlock(model, 'aspect', values['aspect']),
    ...choiceBlock(model, 'resolution', values['resolution']),
    ...mediaBlock(model, media, values['image']),
  ];
  return modal(form, memory, blocks);
}

function promptBlock(value: string | undefined): types.InputBlock {
  return {
    type: 'input',
    block_id: 'prompt',
    label: plain(ORDER_LABELS.prompt, OPTION_LENGTH),
    element: {
      type: 'plain_text_input',
      action_id: 'prompt',
      multiline: true,
      max_length: MOST_TYPED,
      placeholder: plain(PROMPT_EXAMPLE, OPTION_LENGTH),
      ...(value === undefined || value === '' ? {} : { initial_value: beginning(value, MOST_TYPED) }),
    },
  };
}

function modelBlock({ models, defaultModel }: Catalog, chosen: Model): types.InputBlock {
  const options = models
    .map((model) => optionOf(model.name, modelSuggestion(model, model === defaultModel).label))
    .slice(0, MOST_OPTIONS);
  return {
    type: 'input',
    block_id: MODEL_FIELD,
    dispatch_action: true,
    label: plain(ORDER_LABELS.model, OPTION_LENGTH),
    element: { type: 'static_select', action_id: MODEL_FIELD, options, ...chosenOf(options, chosen.name) },
  };
}

/** A block id of its own for each model: what was chosen for another one is not kept. */
function lengthBlock(model: Model, value: string | undefined): types.InputBlock {
  const offered = secondsOffered(model);
  const label = plain(ORDER_LABELS.seconds, OPTION_LENGTH);
  const block = { type: 'input', block_id: `seconds:${model.name}`, label, optional: true } as const;
  const chosen = value !== undefined && offered.includes(Number(value)) ? Number(value) : defaultSeconds(model);
  if (offered.length > MOST_OPTIONS) {
    const range = { min_value: String(Math.min(...offered)), max_value: String(Math.max(...offered)) };
    const initial = { initial_value: String(chosen) };
    return {
      ...block,
      element: { type: 'number_input', action_id: 'seconds', is_decimal_allowed: false, ...range, ...initial },
    };
  }
  const options = offered.map((seconds) => optionOf(String(seconds), lengthLabel(model, seconds)));
  return {
    ...block,
    element: { type: 'static_select', action_id: 'seconds', options, ...chosenOf(options, String(chosen)) },
  };
}

function choiceBlock(
  model: Model,
  field: 'aspect' | 'resolution',
  value: string | undefined,
): readonly types.InputBlock[] {
  const offered: readonly string[] = field === 'aspect' ? model.aspectRatios : model.resolutions;
  const standard = field === 'aspect' ? model.aspectRatios[0] : defaultResolution(model);
  if (standard === undefined) return [];
  const options = offered.map((one) => optionOf(one, withDefaultMark(one, one === standard)));
  const chosen = value !== undefined && offered.includes(value) ? value : standard;
  return [
    {
      type: 'input',
      block_id: `${field}:${model.name}`,
      label: plain(ORDER_LABELS[field], OPTION_LENGTH),
      optional: true,
      element: { type: 'static_select', action_id: field, options, ...chosenOf(options, chosen) },
    },
  ];
}

function mediaBlock(
  { name, media: { image } }: Model,
  media: OrderForm['media'],
  address: string | undefined,
): readonly types.InputBlock[] {
  if (media === 'none' || image.max === 0) return [];
  const optional = image.min === 0;
  if (media === 'address') {
    const initial = address === undefined ? {} : { initial_value: address };
    const element = { type: 'plain_text_input', action_id: 'image', ...initial } as const;
    const label = plain(ORDER_LABELS.imageAddress, OPTION_LENGTH);
    return [{ type: 'input', block_id: 'image', label, optional, element }];
  }
  return [
    {
      type: 'input',
      block_id: `image:${name}`,
      label: plain(ORDER_LABELS.image, OPTION_LENGTH),
      optional,
      element: {
        type: 'file_input',
        action_id: FILES_FIELD,
        filetypes: IMAGE_TYPES,
        max_files: Math.min(image.max, MOST_FILES),
      },
    },
  ];
}

function optionOf(value: string, label: string): types.PlainTextOption {
  return { text: plain(label, OPTION_LENGTH), value };
}

function chosenOf(
  options: readonly types.PlainTextOption[],
  value: string,
): { initial_option?: types.PlainTextOption } {
  const chosen = options.find((option) => option.value === value);
  return chosen === undefined ? {} : { initial_option: chosen };
}
