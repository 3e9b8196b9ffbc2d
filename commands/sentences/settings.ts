import { formatPrice, priceOf, timesPrice } from '#src/tasks/index.ts';
import {
  allowedStyles,
  type Catalog,
  clipsRefused,
  defaultSeconds,
  isOffered,
  lengthOf,
  listed,
  MAX_TAKES,
  MEDIA_KINDS,
  type MediaKind,
  type Model,
  offerInWords,
  type RequestSettings,
  SETTINGS,
  type Setting,
  type SettingName,
} from '#src/videos/index.ts';
import type { FieldChoice, FormField, Suggestion } from '../bot-port.ts';
import { count, either, formatCount, formatRange, shorten } from './format.ts';

/** Maximum length of a choice's label and description on the platforms. */
const CHOICE_LENGTH = 100;

interface SettingWords {
  /** Description of the option, at most 100 characters. */
  readonly description: string;
  /** Name of the setting in tables and labels. */
  readonly label: string;
  /** Label of a form field with choices. Default: `label`. */
  readonly fieldLabel?: string;
}

/** Words of the settings of `/video create`; the settings themselves are rows of `src/videos/model.ts`. */
export const SETTING_WORDS: Readonly<Record<SettingName, SettingWords>> = {
  seconds: { description: 'Length in seconds', label: 'Length', fieldLabel: 'Length and price' },
  aspect: { description: 'Aspect ratio, such as 16:9', label: 'Aspect' },
  resolution: { description: 'Resolution, such as 720p', label: 'Resolution' },
};

/** Words for reference media: one file, an option's link, and several files (after “reference”). */
export const MEDIA_WORDS: Readonly<Record<MediaKind, { readonly one: string; readonly link: string; many: string }>> = {
  image: { one: 'reference image', link: 'a reference image', many: 'images' },
  audio: { one: 'reference audio file', link: 'reference audio', many: 'audio' },
  video: { one: 'reference video', link: 'a reference video', many: 'videos' },
};

/** Counts reference media by kind: `2 reference images`; nothing for kinds without any. */
export function referenceWords(media: Partial<Readonly<Record<MediaKind, readonly unknown[]>>>): readonly string[] {
  return MEDIA_KINDS.flatMap((kind) => {
    const number = media[kind]?.length ?? 0;
    return number === 0 ? [] : [count(number, MEDIA_WORDS[kind].one)];
  });
}

/** Labels of an order's other form fields. */
export const ORDER_LABELS = {
  prompt: 'Prompt',
  channel: 'Channel',
  model: 'Model',
  takes: 'Takes',
  style: 'Style',
} as const;

export function fieldLabel({ name }: Setting): string {
  const { label, fieldLabel: own = label } = SETTING_WORDS[name];
  return own;
}

/** Returns the label of the field for reference files: `Reference images`. */
export function filesLabel(kind: MediaKind): string {
  return `Reference ${MEDIA_WORDS[kind].many}`;
}

/** Returns the label of the field for links to reference files: `Links to reference images`. */
export function linksLabel(kind: MediaKind): string {
  return `Links to reference ${MEDIA_WORDS[kind].many}`;
}

/** Formats a value of a setting: `6 s`, `16:9`. */
export function valueWords({ unit }: Setting, value: number | string): string {
  return unit === '' ? String(value) : `${value} ${unit}`;
}

/** Formats the settings of a request: `6 s`, `16:9`, `720p`, `style house`. */
export function requestWords(request: RequestSettings): readonly string[] {
  const settings = SETTINGS.flatMap((setting) => {
    const value = request[setting.field];
    return value === undefined ? [] : [valueWords(setting, value)];
  });
  return request.style === undefined ? settings : [...settings, `style ${request.style}`];
}

/** Returns the choices of a style; undefined where there is nothing to choose. */
export function styleChoices(catalog: Catalog): FormField['choices'] {
  const all = allowedStyles(catalog).map(({ name }) => ({ value: name, label: name }));
  if (all.length === 0 || catalog.policy?.style !== undefined) return undefined;
  return { title: ORDER_LABELS.style, placeholder: 'None', all };
}

/**
 * Describes the values of a setting that a model offers, with the default: `4, 6 or 8 s (default 4 s)`,
 * `5 to 15 s in steps of 5 (default 5 s)`, `16:9, 9:16 (default 16:9)`; empty if it does not take the setting.
 */
export function offerWords(setting: Setting, model: Model): string {
  const usual = setting.defaultOf(model);
  return withDefault(offeredValues(setting, model), usual === undefined ? undefined : valueWords(setting, usual));
}

function offeredValues(setting: Setting, model: Model): string {
  const words = offerInWords(setting.offerOf(model));
  if (setting.kind === 'choice') return words.join(', ');
  const [range = '', step] = either(words).split(' in steps of ');
  return step === undefined ? valueWords(setting, range) : `${valueWords(setting, range)} in steps of ${step}`;
}

/** Labels a value of a setting, with the price of a length: `6 s · $0.30 (default)`, `16:9`. */
export function choiceLabel(setting: Setting, model: Model, value: number | string): string {
  const label = withDefaultMark(pricedValue(setting, model, value), value === setting.defaultOf(model));
  return shorten(label, CHOICE_LENGTH);
}

function pricedValue(setting: Setting, model: Model, value: number | string): string {
  const words = valueWords(setting, value);
  return setting.name === 'seconds' ? `${words} · ${formatPrice(priceOf(model, Number(value)))}` : words;
}

/**
 * Returns the choices of a setting across all models; undefined if there are too many to list. A form cannot change
 * with the chosen model, so each choice names its models, and each length its prices.
 */
export function formChoices({ models, defaultModel }: Catalog, setting: Setting): FormField['choices'] {
  const lists = models.map((model) => listed(setting.offerOf(model)));
  if (lists.includes(null)) return undefined;
  const values = [...new Set(lists.flatMap((list) => list ?? []))];
  const sorted = setting.kind === 'number' ? values.toSorted((one, other) => Number(one) - Number(other)) : values;
  const usual = setting.defaultOf(defaultModel);
  return {
    title: fieldLabel(setting),
    placeholder: placeholder(usual === undefined ? undefined : pricedValue(setting, defaultModel, usual)),
    all: sorted.map((value) => formChoice(models, setting, value)),
  };
}

/** Returns the numbers of takes that an order may have, one first; each of them is charged. */
export function takesChoices({ policy = {} }: Pick<Catalog, 'policy'>): NonNullable<FormField['choices']> {
  const allowed = Array.from({ length: MAX_TAKES }, (_, index) => index + 1).filter(
    (takes) => clipsRefused(policy, takes) === null,
  );
  return {
    title: ORDER_LABELS.takes,
    placeholder: placeholder(takesLabel(1)),
    all: (allowed.length === 0 ? [1] : allowed).map((takes) => ({ value: String(takes), label: takesLabel(takes) })),
  };
}

function takesLabel(takes: number): string {
  return takes === 1 ? 'One clip' : `${takes} takes, each charged`;
}

/** Returns the choices of the model, priced for a length. @param length the length chosen so far. Default: none. */
export function modelChoices(catalog: Catalog, length = ''): NonNullable<FormField['choices']> {
  const { defaultModel } = catalog;
  const all = modelSuggestions(catalog, length);
  return {
    title: ORDER_LABELS.model,
    placeholder: placeholder(defaultModel.title),
    all: all.map(({ value, label }) => ({ value, label })),
  };
}

/** Names the default model's default; other models have their own. */
function placeholder(usual: string | undefined): string {
  return shorten(usual === undefined ? 'Default' : `Default (${usual})`, CHOICE_LENGTH);
}

function formChoice(models: readonly Model[], setting: Setting, value: number | string): FieldChoice {
  const offering = models.filter((model) => isOffered(setting.offerOf(model), value));
  const isPriced = setting.name === 'seconds';
  const [only] = models;
  if (models.length === 1 && only !== undefined)
    return { value: String(value), label: pricedValue(setting, only, value) };
  const label = valueWords(setting, value);
  if (offering.length === models.length && !isPriced) return { value: String(value), label };
  const described = isPriced
    ? offering.map((model) => `${model.title} ${formatPrice(priceOf(model, Number(value)))}`).join(' · ')
    : offering.map(({ title }) => title).join(', ');
  return { value: String(value), label, description: shorten(described, CHOICE_LENGTH) };
}

/**
 * Suggests the models with the price of a clip: `Swift 1 · $0.05/s · 6 s = $0.30 (default)`; without a length the price of
 * the default one: `Swift 1 · $0.05/s · 4, 6 or 8 s · 4 s = $0.20`.
 * @param length the length entered so far. Default: none.
 */
export function modelSuggestions(catalog: Catalog, length = ''): readonly Suggestion[] {
  return catalog.models.map((model) => modelSuggestion(catalog, model, length));
}

function modelSuggestion(catalog: Catalog, model: Model, length: string): Suggestion {
  const lengths = lengthsOf(model);
  const seconds = lengthOf(model, length);
  const figures = seconds === null ? [`only ${lengths}`] : [...(length === '' ? [lengths] : []), sum(model, seconds)];
  const label = choiceOf(catalog, model, [rateWords(model), ...figures]);
  return { value: model.name, label: shorten(label, CHOICE_LENGTH), terms: [model.name, model.title] };
}

/** Labels a model of a form that shows the price elsewhere: `Swift 1 · $0.05/s · 4, 6 or 8 s (default)`. */
export function modelChoice(catalog: Pick<Catalog, 'models' | 'defaultModel'>, model: Model): FieldChoice {
  const label = choiceOf(catalog, model, [rateWords(model), lengthsOf(model)]);
  return { value: model.name, label: shorten(label, CHOICE_LENGTH) };
}

/** Names a model among others, with its service where these have several. */
function choiceOf(
  { models, defaultModel }: Pick<Catalog, 'models' | 'defaultModel'>,
  model: Model,
  facts: readonly string[],
): string {
  const { title, service = '' } = model;
  const named = models.some((other) => other.service !== model.service) && service !== '' ? [service] : [];
  return withDefaultMark([title, ...named, ...facts].join(' · '), model === defaultModel);
}

/** Suggests a length with the price of a clip: `Swift 1 · $0.05/s · 6 s = $0.30`. */
export function lengthSuggestion(model: Model, seconds: number): Suggestion {
  const label = withDefaultMark(clipPriceWords(model, seconds), seconds === defaultSeconds(model));
  return { value: String(seconds), label: shorten(label, CHOICE_LENGTH) };
}

/** Describes the price of an order: `Swift 1 · $0.05/s · 6 s = $0.30`, `Swift 1 · $0.05/s · 6 s · 4 takes = $1.20`. */
export function clipPriceWords(model: Model, seconds: number, takes = 1): string {
  return [model.title, rateWords(model), sum(model, seconds, takes)].join(' · ');
}

function lengthsOf(model: Model): string {
  const [lengths = ''] = SETTINGS.filter(({ name }) => name === 'seconds').map((one) => offeredValues(one, model));
  return lengths;
}

function rateWords({ billing, price, currency }: Model): string {
  return `${formatPrice({ amount: price, currency })}/${billing === 'per_second' ? 's' : 'clip'}`;
}

function sum(model: Model, seconds: number, takes = 1): string {
  const price = timesPrice(priceOf(model, seconds), takes);
  return `${seconds} s${takes === 1 ? '' : ` · ${takes} takes`} = ${formatPrice(price)}`;
}

/** Describes a model's price: `$0.05 per second`. */
export function priceWords({ billing, price, currency }: Model): string {
  return `${formatPrice({ amount: price, currency })} ${billing === 'per_second' ? 'per second' : 'per clip'}`;
}

/** Describes a model's reference media by kind: `images: up to 2`; empty if it takes none. */
export function mediaWords({ media }: Model): readonly string[] {
  return MEDIA_KINDS.filter((kind) => media[kind].max > 0).map(
    (kind) => `${MEDIA_WORDS[kind].many}: ${formatRange(media[kind])}`,
  );
}

export function promptWords({ promptMaxLength }: Model): string {
  return Number.isFinite(promptMaxLength) ? `up to ${formatCount(promptMaxLength)} characters` : 'any length';
}

/** Describes a model's price and limits: `$0.05 per second · images: up to 2 · prompt: up to 2000 characters`. */
export function modelFacts(model: Model): string {
  return [priceWords(model), ...mediaWords(model), `prompt: ${promptWords(model)}`].join(' · ');
}

/** Adds the default to a range: `480p, 720p (default 720p)`; returns the range alone if there is no choice. */
export function withDefault(range: string, standard: string | undefined): string {
  return standard === undefined || range === standard ? range : `${range} (default ${standard})`;
}

function withDefaultMark(label: string, isDefault: boolean): string {
  return isDefault ? `${label} (default)` : label;
}
