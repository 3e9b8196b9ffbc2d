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

/** Value of a setting as sent to the page. */
interface WireChoice {
  readonly value: string;
  /** With its price and mark of the default. */
  readonly label: string;
  /** Value alone, such as `6 s`. */
  readonly text: string;
  /** Price of a clip of this length; absent for other settings. */
  readonly price?: string;
  /** The price as the form sends it back, and in full: `Swift 1 · $0.05/s · 6 s = $0.30`. */
  readonly priceId?: string;
  readonly priceInFull?: string;
  /** The same of several takes, from two on. */
  readonly ofTakes?: readonly WirePrice[];
}

/** Price of a clip, or of several takes: for a button, as the form sends it back, and in full. */
interface WirePrice {
  readonly price: string;
  readonly priceId: string;
  readonly priceInFull: string;
}

/** Setting that a model takes, as sent to the page. */
interface WireSetting {
  readonly name: string;
  readonly label: string;
  /** The default comes first; `null` where there are too many to list. */
  readonly choices: readonly WireChoice[] | null;
}

/** Reference media that a model takes, as sent to the page. */
interface WireMedia {
  readonly name: string;
  readonly label: string;
  readonly min: number;
  readonly max: number;
}

/** Model as sent to the page, for the price of an order and the choices of its form. */
interface WireModel {
  readonly name: string;
  readonly title: string;
  /** Title with price and lengths, as in the suggestions. */
  readonly label: string;
  readonly isDefault: boolean;
  readonly settings: readonly WireSetting[];
  /** The kinds of reference media that it takes. */
  readonly media: readonly WireMedia[];
}

/** Returns the models of the catalog as sent to the page, in the catalog's order. */
export function wireModels(catalog: Catalog): readonly WireModel[] {
  return catalog.models.map((model) => wireModel(catalog, model));
}

function wireModel(catalog: Catalog, model: Model): WireModel {
  const { name, title, media } = model;
  return {
    name,
    title,
    label: modelChoice(catalog, model).label,
    isDefault: model === catalog.defaultModel,
    settings: SETTINGS.map((setting) => wireSetting(setting, model)).filter(({ choices }) => choices?.length !== 0),
    media: MEDIA_KINDS.map((kind) => ({ name: kind, label: filesLabel(kind), ...media[kind] })).filter(
      ({ max }) => max > 0,
    ),
  };
}

function wireSetting(setting: Setting, model: Model): WireSetting {
  const usual = setting.defaultOf(model);
  const offered = listed(setting.offerOf(model));
  const ordered = offered?.filter((value) => value !== usual) ?? [];
  const choices = [...(usual === undefined ? [] : [usual]), ...ordered].map((value) =>
    wireChoice(setting, model, value),
  );
  return { name: setting.name, label: fieldLabel(setting), choices: offered === null ? null : choices };
}

function wireChoice(setting: Setting, model: Model, value: number | string): WireChoice {
  return {
    value: String(value),
    label: choiceLabel(setting, model, value),
    text: valueWords(setting, value),
    ...(setting.name === 'seconds' ? pricesOf(model, Number(value)) : {}),
  };
}

function pricesOf(model: Model, seconds: number): WirePrice & Pick<WireChoice, 'ofTakes'> {
  const several = Array.from({ length: MAX_TAKES - 1 }, (_, index) => wirePrice(model, seconds, index + 2));
  return { ...wirePrice(model, seconds, 1), ofTakes: several };
}

function wirePrice(model: Model, seconds: number, takes: number): WirePrice {
  const price = timesPrice(priceOf(model, seconds), takes);
  return { price: formatPrice(price), priceId: priceId(price), priceInFull: clipPriceWords(model, seconds, takes) };
}
