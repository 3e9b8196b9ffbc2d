import type { AspectRatio, MediaKind, Resolution } from './request.ts';

/** The lengths a model makes: a list, or a range with a step (all in whole seconds). */
export type Seconds = readonly number[] | { readonly min: number; readonly max: number; readonly step: number };

/** One model of the catalog. @see README.md "Configuration": the model catalog */
export interface Model {
  /** Full name, as the video service wants it. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  readonly billing: 'per_call' | 'per_second';
  /** Decimal string: per second or per call. */
  readonly price: string;
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
  readonly seconds: Seconds;
  /** Empty: the model takes no aspect ratio. The first is the default. */
  readonly aspectRatios: readonly AspectRatio[];
  /** Empty: the model takes no resolution. The first is the default unless 720p is offered. */
  readonly resolutions: readonly Resolution[];
  /** How many reference files of each kind it needs and takes. */
  readonly media: Readonly<Record<MediaKind, { readonly min: number; readonly max: number }>>;
  /** In characters (Unicode code points). `Infinity` where the catalog names no limit. */
  readonly promptMaxLength: number;
}

/** Every model that can be asked for, in the catalog file's order, at least one. */
export interface Catalog {
  readonly models: readonly Model[];
  /** What is used when nobody names a model. */
  readonly defaultModel: Model;
}

/** Whether the model makes clips of this length. */
export function offersSeconds({ seconds }: Model, wanted: number): boolean {
  if (isList(seconds)) return seconds.includes(wanted);
  return wanted >= seconds.min && wanted <= seconds.max && (wanted - seconds.min) % seconds.step === 0;
}

/** Every length the model makes, in the catalog's order; the first is the default. */
export function secondsOffered({ seconds }: Model): readonly number[] {
  if (isList(seconds)) return seconds;
  const { min, max, step } = seconds;
  return Array.from({ length: Math.floor((max - min) / step) + 1 }, (_, index) => min + index * step);
}

/** The lengths as a person chooses from them: `["4", "6", "8"]`, or `["5 to 15 in steps of 5"]`. */
export function secondsInWords({ seconds }: Model): readonly string[] {
  if (isList(seconds)) return seconds.map(String);
  const { min, max, step } = seconds;
  const last = max - ((max - min) % step);
  if (last === min) return [String(min)];
  return [step === 1 ? `${min} to ${last}` : `${min} to ${last} in steps of ${step}`];
}

/** The length of a clip for which nobody named one. */
export function defaultSeconds({ seconds }: Model): number {
  return isList(seconds) ? (seconds[0] ?? 1) : seconds.min;
}

/** 720p where it is offered, else the first; undefined where the model takes no resolution. */
export function defaultResolution({ resolutions }: Model): Resolution | undefined {
  return resolutions.includes('720p') ? '720p' : resolutions[0];
}

function isList(seconds: Seconds): seconds is readonly number[] {
  return Array.isArray(seconds);
}
