import {
  choiceLabel,
  clipPriceWords,
  fieldLabel,
  filesLabel,
  modelChoice,
  valueWords,
} from '#commands/sentences/settings.ts';
import { priceId } from '#commands/ui/buttons.ts';
import { formatPrice, priceOf, timesPrice } from '#src/tasks/index.ts';
import { type Catalog, listed, MAX_TAKES, MEDIA_KINDS, type Model, SETTINGS, type Setting } from '#src/videos/index.ts';

/** Returns the models of the catalog as sent to the page, for the price of an order and the choices of its form. */
export function wireModels(catalog: Catalog) {
  return catalog.models.map((model) => wireModel(catalog, model));
}

function wireModel(catalog: Catalog, model: Model) {
  const { name, title, media } = model;
  return {
    name,
    title,
    /** With price and lengths, as in the suggestions. */
    label: modelChoice(catalog, model).label,
    isDefault: model === catalog.defaultModel,
    settings: SETTINGS.map((setting) => wireSetting(setting, model)).filter(({ choices }) => choices?.length !== 0),
    media: MEDIA_KINDS.map((kind) => ({ name: kind, label: filesLabel(kind), ...media[kind] })).filter(
      ({ max }) => max > 0,
    ),
  };
}

/** Returns a setting with its choices: the default first; `null` where there are too many to list. */
function wireSetting(setting: Setting, model: Model) {
  const usual = setting.defaultOf(model);
  const offered = listed(setting.offerOf(model));
  const ordered = offered?.filter((value) => value !== usual) ?? [];
  const choices = [...(usual === undefined ? [] : [usual]), ...ordered].map((value) =>
    wireChoice(setting, model, value),
  );
  return { name: setting.name, label: fieldLabel(setting), choices: offered === null ? null : choices };
}

function wireChoice(setting: Setting, model: Model, value: number | string) {
  return {
    value: String(value),
    /** With its price and mark of the default; `text` is the value alone, such as `6 s`. */
    label: choiceLabel(setting, model, value),
    text: valueWords(setting, value),
    ...(setting.name === 'seconds' ? pricesOf(model, Number(value)) : {}),
  };
}

/** Returns the price of a clip of this length, and those of several takes, from two on. */
function pricesOf(model: Model, seconds: number) {
  const several = Array.from({ length: MAX_TAKES - 1 }, (_, index) => wirePrice(model, seconds, index + 2));
  return { ...wirePrice(model, seconds, 1), ofTakes: several };
}

/** Returns a price: for a button, as the form sends it back, and in full: `Swift 1 · $0.05/s · 6 s = $0.30`. */
function wirePrice(model: Model, seconds: number, takes: number) {
  const price = timesPrice(priceOf(model, seconds), takes);
  return { price: formatPrice(price), priceId: priceId(price), priceInFull: clipPriceWords(model, seconds, takes) };
}
