import type { AspectRatio, MediaKind, Resolution } from './request.ts';

/** Clip lengths of a model: a list, or a range with a step (all in whole seconds). */
export type Seconds = readonly number[] | { readonly min: number; readonly max: number; readonly step: number };

/** Model of the catalog. @see README.md "Configuration": the model catalog */
export interface Model {
  /** Full name, as the video service requires it. */
  readonly name: string;
  /** Display name. */
  readonly title: string;
  readonly billing: 'per_call' | 'per_second';
  /** Decimal string: per second or per call. */
  readonly price: string;
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
  readonly seconds: Seconds;
  /** Supported aspect ratios, the first being the default. Empty: the model takes none. */
  readonly aspectRatios: readonly AspectRatio[];
  /** Supported resolutions; the default is 720p, else the first. Empty: the model takes none. */
  readonly resolutions: readonly Resolution[];
  /** Minimum and maximum number of reference files of each kind. */
  readonly media: Readonly<Record<MediaKind, { readonly min: number; readonly max: number }>>;
  /** Longest prompt in characters (Unicode code points). `Infinity` where the catalog has no limit. */
  readonly promptMaxLength: number;
}

/** All available models, in the catalog file's order; at least one. */
export interface Catalog {
  readonly models: readonly Model[];
  /** Model of requests that name none. */
  readonly defaultModel: Model;
}

/** Returns whether the model offers clips of this length. */
export function offersSeconds({ seconds }: Model, wanted: number): boolean {
  if (isList(seconds)) return seconds.includes(wanted);
  return wanted >= seconds.min && wanted <= seconds.max && (wanted - seconds.min) % seconds.step === 0;
}

/** Returns all lengths of the model, in the catalog's order; the first is the default. */
export function secondsOffered({ seconds }: Model): readonly number[] {
  if (isList(seconds)) return seconds;
  const { min, max, step } = seconds;
  return Array.from({ length: Math.floor((max - min) / step) + 1 }, (_, index) => min + index * step);
}

/** Returns the lengths as choices for the user: `["4", "6", "8"]`, or `["5 to 15 in steps of 5"]`. */
export function secondsInWords({ seconds }: Model): readonly string[] {
  if (isList(seconds)) return seconds.map(String);
  const { min, max, step } = seconds;
  const last = max - ((max - min) % step);
  if (last === min) return [String(min)];
  return [step === 1 ? `${min} to ${last}` : `${min} to ${last} in steps of ${step}`];
}

/** Returns the default length, in seconds. */
export function defaultSeconds({ seconds }: Model): number {
  return isList(seconds) ? (seconds[0] ?? 1) : seconds.min;
}

/** Returns 720p where it is offered, else the first resolution; undefined where the model takes none. */
export function defaultResolution({ resolutions }: Model): Resolution | undefined {
  return resolutions.includes('720p') ? '720p' : resolutions[0];
}

function isList(seconds: Seconds): seconds is readonly number[] {
  return Array.isArray(seconds);
}
