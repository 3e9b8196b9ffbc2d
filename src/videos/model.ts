import { z } from 'zod';
import type { FileModel } from './catalog.ts';
import type { NamedReference } from './references/names.ts';
import { ASPECT_RATIOS, type AspectRatio, RESOLUTIONS, type RequestSettings, type SettingName } from './request.ts';
import type { Style } from './styles.ts';
import type { ValueRules } from './value-rules.ts';

/** Range of whole numbers with a step. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** Values of a setting that a model offers: a list, or a range. */
export type Offer = readonly (number | string)[] | Range;

/** Model of the catalog, as its file describes it ({@link FileModel}). @see docs/configuration.md "Model catalog" */
export interface Model extends Omit<FileModel, 'default' | 'promptMaxLength'> {
  /** Longest prompt in characters (Unicode code points). `Infinity` where the catalog has no limit. */
  readonly promptMaxLength: number;
  /** Defaults of the person for whom the catalog is read, out of what the model offers. Default: the model's own. */
  readonly personal?: { readonly seconds?: number; readonly aspect?: AspectRatio };
  /** The model with all that it offers, where a policy allows a part of it. Default: the model is whole. */
  readonly whole?: Model;
}

/** All available models, in the catalog file's order; at least one. */
export interface Catalog {
  readonly models: readonly Model[];
  /** Model of requests that name none. */
  readonly defaultModel: Model;
  /** Rules that this catalog was narrowed by. Default: none. */
  readonly policy?: ValueRules;
  /** Images of the team's library. Default: none. */
  readonly references?: readonly NamedReference[];
  /** Styles of the team. Default: none. */
  readonly styles?: readonly Style[];
  /** Models that the policy does not allow. Default: none. */
  readonly withheld?: readonly Model[];
}

/** Returns what a model's service calls it. */
export function idOf({ name, id = name }: Pick<Model, 'name' | 'id'>): string {
  return id;
}

/** Setting of a clip: an option of `/video create` with one value, out of those that the model offers. */
export interface Setting {
  /** Name of the option, and of its value in a draft. */
  readonly name: SettingName;
  /** Field of a stored request. */
  readonly field: keyof RequestSettings;
  /** Field of the service's request body. @see docs/video-service.md "Creation request" */
  readonly wireName: string;
  readonly kind: 'number' | 'choice';
  /** Unit of a number; empty for none. */
  readonly unit: string;
  readonly min?: number;
  /** Valid values in the request body. */
  readonly schema: z.ZodType;
  /** Returns the values that the model offers. An empty list: the model does not take the setting. */
  readonly offerOf: (model: Model) => Offer;
  /** Returns the value of a request that names none; undefined: the field is left out. */
  readonly defaultOf: (model: Model) => number | string | undefined;
}

/**
 * The settings, in the order of options, forms and cards. The declaration, validation, forms, help, cards, request body
 * and the sandbox's check follow from these rows; the words are in `commands/sentences/settings.ts`.
 */
export const SETTINGS: readonly Setting[] = [
  {
    name: 'seconds',
    field: 'seconds',
    wireName: 'video_duration',
    kind: 'number',
    unit: 's',
    min: 1,
    schema: z.int('must be a whole number').min(1, 'must be at least 1'),
    offerOf: ({ seconds }) => seconds,
    defaultOf: defaultSeconds,
  },
  {
    name: 'aspect',
    field: 'aspectRatio',
    wireName: 'aspect_ratio',
    kind: 'choice',
    unit: '',
    schema: z.enum(ASPECT_RATIOS, `must be one of ${ASPECT_RATIOS.join(', ')}`).optional(),
    offerOf: ({ aspectRatios }) => aspectRatios,
    defaultOf: ({ aspectRatios, personal }) => personal?.aspect ?? aspectRatios[0],
  },
  {
    name: 'resolution',
    field: 'resolution',
    wireName: 'resolution',
    kind: 'choice',
    unit: '',
    schema: z.enum(RESOLUTIONS, `must be one of ${RESOLUTIONS.join(', ')}`).optional(),
    offerOf: ({ resolutions }) => resolutions,
    defaultOf: ({ resolutions }) => (resolutions.includes('720p') ? '720p' : resolutions[0]),
  },
];

/** Returns the setting of an option; undefined for any other option. */
export function settingNamed(option: string): Setting | undefined {
  return SETTINGS.find(({ name }) => name === option);
}

/** Collects a value of each setting that has one. */
export function collectSettings<T>(
  entryOf: (setting: Setting) => readonly [string, T | undefined],
): Readonly<Record<string, T>> {
  const entries = SETTINGS.map(entryOf).filter((entry): entry is readonly [string, T] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

/** Longest list of values; a range of more is entered as a number. The catalog allows lengths up to an hour. */
const MAX_LISTED = 3600;

/** Returns all values of an offer, in its order; `null` for a range that is too long to list. */
export function listed(offer: Offer): readonly (number | string)[] | null {
  if (isList(offer)) return offer;
  const { min, max, step } = offer;
  const count = Math.floor((max - min) / step) + 1;
  return count > MAX_LISTED ? null : Array.from({ length: count }, (_, index) => min + index * step);
}

/** Returns true if the offer contains a value. */
export function isOffered(offer: Offer, value: number | string): boolean {
  if (isList(offer)) return offer.includes(value);
  if (typeof value === 'string') return false;
  return value >= offer.min && value <= offer.max && (value - offer.min) % offer.step === 0;
}

/** Returns an offer as choices for the user: `["4", "6", "8"]`, or `["5 to 15 in steps of 5"]`. */
export function offerInWords(offer: Offer): readonly string[] {
  if (isList(offer)) return offer.map(String);
  const { min, max, step } = offer;
  const last = max - ((max - min) % step);
  if (last === min) return [String(min)];
  return [step === 1 ? `${min} to ${last}` : `${min} to ${last} in steps of ${step}`];
}

/** Returns the lengths that a model offers, in seconds and in the catalog's order. */
export function secondsOffered({ seconds }: Model): readonly number[] {
  return (listed(seconds) ?? []).map(Number);
}

/** Returns the default length, in seconds: the person's, else the first one. */
export function defaultSeconds({ seconds, personal }: Model): number {
  if (personal?.seconds !== undefined) return personal.seconds;
  return 'min' in seconds ? seconds.min : (seconds[0] ?? 1);
}

function isList(offer: Offer): offer is readonly (number | string)[] {
  return Array.isArray(offer);
}

/** Finds a model by its name; in another case, as phones begin a word, where one alone matches. */
export function modelNamed(models: readonly Model[], given: string): Model | undefined {
  const [alike, ...others] = models.filter(({ name }) => isAlike(name, given));
  return models.find(({ name }) => name === given) ?? (others.length === 0 ? alike : undefined);
}

/** Returns the title by which people read of a model; its name where the catalog has it no more. */
export function titleOf({ models }: Pick<Catalog, 'models'>, name: string): string {
  return models.find((model) => model.name === name)?.title ?? name;
}

/** Returns a task as people read it: with the title of its model in place of the name. */
export function titled<T extends { readonly request: { readonly model: string } }>(catalog: Catalog, task: T): T {
  return { ...task, request: { ...task.request, model: titleOf(catalog, task.request.model) } };
}

/** Returns whether two names differ in case at most. */
export function isAlike(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
