import type { AspectRatio, MediaKind, Resolution } from './request.ts';

/** The lengths a model makes: a list, or a range with a step (all in whole seconds). */
export type Seconds = readonly number[] | { readonly min: number; readonly max: number; readonly step: number };

/** One model of the catalog. @see ../../../shared/reference/interface.md "Model catalog" */
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
  /** In characters (Unicode code points). */
  readonly promptMaxLength: number;
}

/** Every model that can be asked for, in the catalog file's order, at least one. */
export interface Catalog {
  readonly models: readonly Model[];
  /** What is used when nobody names a model. */
  readonly defaultModel: Model;
}
