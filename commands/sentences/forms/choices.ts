import { formatPrice, priceOf } from '#src/tasks/price.ts';
import {
  type Catalog,
  defaultResolution,
  defaultSeconds,
  type Model,
  offersSeconds,
  secondsOffered,
} from '#src/videos/model.ts';
import type { FieldChoice, FormField } from '../../bot-port.ts';
import { shorten } from '../format.ts';
import { ORDER_LABELS } from './order-form.ts';
import { modelSuggestion } from './suggestions.ts';

const DESCRIPTION_LENGTH = 100;
const LABEL_LENGTH = 45;

/** Setting of an order that is chosen from the catalog. */
export type ChosenSetting = 'model' | 'seconds' | 'aspect' | 'resolution';

/**
 * Returns the choices for each setting of an order, across all models. A form cannot change with the chosen model, so
 * each choice names its models, and each length its prices.
 */
export function formChoices(catalog: Catalog): Readonly<Record<ChosenSetting, NonNullable<FormField['choices']>>> {
  const { models, defaultModel } = catalog;
  const seconds = new Set(models.flatMap(secondsOffered).toSorted((one, other) => one - other));
  const aspects = new Set(models.flatMap(({ aspectRatios }) => aspectRatios));
  const resolutions = new Set(models.flatMap((model) => model.resolutions));
  return {
    model: choices(
      'model',
      defaultModel.title,
      models.map((one) => modelChoice(one, one === defaultModel)),
    ),
    seconds: choices(
      'seconds',
      `${defaultSeconds(defaultModel)} s`,
      [...seconds].map((one) => lengthChoice(catalog, one)),
    ),
    aspect: choices(
      'aspect',
      defaultModel.aspectRatios[0],
      [...aspects].map((one) => heldFor(catalog, one, ({ aspectRatios }) => aspectRatios.includes(one))),
    ),
    resolution: choices(
      'resolution',
      defaultResolution(defaultModel),
      [...resolutions].map((one) => heldFor(catalog, one, (model) => model.resolutions.includes(one))),
    ),
  };
}

/** Builds the choices of a setting; the placeholder names the default model's default, other models have their own. */
function choices(setting: ChosenSetting, standard: string | undefined, all: readonly FieldChoice[]) {
  const placeholder = standard === undefined ? 'Default' : `Default (${standard})`;
  return {
    title: shorten(ORDER_LABELS[setting], LABEL_LENGTH),
    placeholder: shorten(placeholder, DESCRIPTION_LENGTH),
    all,
  };
}

function modelChoice(model: Model, isDefault: boolean): FieldChoice {
  const { value, label } = modelSuggestion(model, isDefault);
  return { value, label };
}

/** Builds the choice of a length: `6 s`, with its price for each model that offers it. */
function lengthChoice({ models }: Catalog, seconds: number): FieldChoice {
  const offering = models.filter((model) => offersSeconds(model, seconds));
  const value = String(seconds);
  const [only] = offering;
  if (models.length === 1 && only !== undefined) return { value, label: `${seconds} s · ${priceLabel(only, seconds)}` };
  const prices = offering.map((model) => `${model.title} ${priceLabel(model, seconds)}`);
  return { value, label: `${seconds} s`, description: shorten(prices.join(' · '), DESCRIPTION_LENGTH) };
}

function priceLabel(model: Model, seconds: number): string {
  return formatPrice(priceOf(model, seconds));
}

function heldFor({ models }: Catalog, value: string, isOffered: (model: Model) => boolean): FieldChoice {
  const offering = models.filter(isOffered);
  if (offering.length === models.length) return { value, label: value };
  return {
    value,
    label: value,
    description: shorten(offering.map(({ title }) => title).join(', '), DESCRIPTION_LENGTH),
  };
}
