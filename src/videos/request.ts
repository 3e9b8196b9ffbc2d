/** Aspect ratios of the specification. @see docs/video-service.md "Creation request" */
export const ASPECT_RATIOS = ['16:9', '9:16', '4:3', '3:4', '1:1'] as const;
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

/** Resolutions of the specification. */
export const RESOLUTIONS = ['480p', '720p', '1080p'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const MEDIA_KINDS = ['image', 'audio', 'video'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Values of the options of `/video create` with one value, out of those that the model offers. @see model.ts */
export interface SettingValues {
  readonly seconds: number;
  readonly aspect: AspectRatio;
  readonly resolution: Resolution;
}
export type SettingName = keyof SettingValues;

/** Values of the settings; one that the model does not take is absent. */
export interface RequestSettings {
  /** Length of the clip in seconds. */
  readonly seconds: number;
  readonly aspectRatio?: AspectRatio;
  readonly resolution?: Resolution;
  /** Name of the style that the prompt has. Absent: none. */
  readonly style?: string;
}

/** Request validated against the catalog: only options that the model offers, with defaults filled in. */
export interface VideoRequest extends RequestSettings {
  readonly model: string;
  /** Name of the service of that model. Absent: the only one. */
  readonly service?: string;
  /** As it is sent, with the words of its style. */
  readonly prompt: string;
  /** The prompt as it was typed. Absent: without a style. */
  readonly typed?: string;
  /** URLs of reference media, each `http://` or `https://`. */
  readonly media: Readonly<Record<MediaKind, readonly string[]>>;
  /** Its first image is the last frame of the shot before it. Absent: it is not. */
  readonly chain?: Chain;
}

/** Start of a shot with the last frame of the one before. */
interface Chain {
  /** URL of that frame, which then is the first of the request's images. Absent: it is not taken yet. */
  readonly frame?: string;
}

/** Unvalidated options as the user entered them. Absent: not given. */
export type RequestDraft = {
  /** `models`: those of a comparison, separated by commas, in place of `model`. */
  readonly [Option in 'prompt' | 'model' | 'models' | 'style']?: string | undefined;
} & { readonly [Option in SettingName | 'takes']?: string | number | undefined } & {
  readonly [Kind in MediaKind]?: readonly string[] | undefined;
} & {
  /** The prompt as it was typed, where `prompt` has the words of `style` already. */
  readonly typed?: string | undefined;
  /** Shots of a storyboard, in place of a prompt. They inherit the options that they don't have themselves. */
  readonly shots?: readonly ShotDraft[] | undefined;
  /** The storyboard as it was written, for a form. */
  readonly script?: string | undefined;
  /** The storyboard was asked to be chained, for a form; its shots name {@link LAST_FRAME} themselves. */
  readonly chain?: boolean | undefined;
};

/** Options of one shot of a storyboard. */
export type ShotDraft = Omit<RequestDraft, 'shots' | 'script' | 'chain' | 'takes'> & {
  /** Line on which it was written, from 1. */
  readonly line?: number | undefined;
};

/** Fewest and most shots of a storyboard; the most is that of a set (`MAX_SET_SIZE` of `tasks`). */
export const SHOTS = { min: 2, max: 12 } as const;

/**
 * Validation problem of a draft: the option, the given value and the allowed ones. Worded in `commands/sentences.ts`.
 */
export type Refusal = RefusalReason & {
  /** Line of the storyboard. Absent: it is about the whole order. */
  readonly line?: number;
};

type RefusalReason =
  | { readonly reason: 'missing'; readonly option: 'prompt' }
  /** Control characters. */
  | { readonly reason: 'control'; readonly option: 'prompt' }
  /** Too few shots. */
  | { readonly reason: 'few_shots'; readonly option: 'shots'; readonly given: number }
  /** A shot beyond the most. */
  | { readonly reason: 'many_shots'; readonly option: 'shots' }
  /** A storyboard has one price, so the models of its shots need one currency. */
  | { readonly reason: 'currencies'; readonly option: 'shots'; readonly currencies: readonly string[] }
  | {
      readonly reason: 'too_long';
      readonly option: 'prompt';
      /** Title of the model, as in the refusals below. */
      readonly model: string;
      readonly given: number;
      readonly max: number;
      /** Name of the style whose words count, too. */
      readonly style?: string;
    }
  | {
      readonly reason: 'unknown_style';
      readonly option: 'style';
      readonly given: string;
      readonly allowed: readonly string[];
    }
  | {
      readonly reason: 'unknown_model';
      readonly option: 'model' | 'models';
      readonly given: string;
      readonly allowed: readonly string[];
    }
  /** A comparison of too few or too many models. */
  | {
      readonly reason: 'models_number';
      readonly option: 'models';
      readonly given: number;
      readonly allowed: readonly string[];
      readonly min: number;
      readonly max: number;
    }
  /** A comparison that names a model twice. */
  | { readonly reason: 'models_twice'; readonly option: 'models'; readonly given: string }
  /** A comparison of models with prices in several currencies: it would have no single price. */
  | { readonly reason: 'models_currency'; readonly option: 'models'; readonly given: readonly string[] }
  /** A value that not all models of a comparison offer; `given` is `null` where none was given and none is shared. */
  | {
      readonly reason: 'not_shared';
      readonly option: SettingName;
      readonly given: string | null;
      readonly offers: readonly { readonly model: string; readonly allowed: readonly string[] }[];
      readonly shared: readonly string[];
    }
  | { readonly reason: 'not_a_number'; readonly option: SettingName; readonly given: string }
  /** `takes` is no whole number from 1 to `max`. */
  | { readonly reason: 'takes'; readonly option: 'takes'; readonly given: string; readonly max: number }
  | {
      readonly reason: 'not_offered';
      readonly option: SettingName;
      readonly model: string;
      readonly given: string;
      /**
       * Choices of the model, worded for the user ("4", "6", "8", or "5 to 15 in steps of 5"). Empty: the model does
       * not take the option.
       */
      readonly allowed: readonly string[];
    }
  /** A policy does not allow what the catalog offers; `allowed`: choices, worded as in `not_offered`. */
  | {
      readonly reason: 'not_allowed';
      readonly option: 'model' | 'takes' | 'style' | SettingName;
      readonly given: string;
      readonly allowed: readonly string[];
    }
  /** `words`: those that a policy forbids, as it lists them. */
  | { readonly reason: 'forbidden_words'; readonly option: 'prompt'; readonly words: readonly string[] }
  | {
      readonly reason: 'address_too_long';
      readonly option: MediaKind;
      /** Length in characters. */
      readonly given: number;
      readonly max: number;
    }
  /** A name that is not in the team's library; `known`: those that are. */
  | {
      readonly reason: 'unknown_reference';
      readonly option: 'image';
      readonly given: string;
      readonly known: readonly string[];
    }
  | { readonly reason: 'not_an_address'; readonly option: MediaKind; readonly given: string }
  /** The first shot of a storyboard, which has none before it, names {@link LAST_FRAME}. */
  | { readonly reason: 'first_shot'; readonly option: 'image' }
  /** It can be given as bytes alone, of which the service takes `most`; 0: none. */
  | { readonly reason: 'kept_here'; readonly option: MediaKind; readonly most: number }
  | {
      /** `unknown_host`: the host does not exist; `private_address`: the video service cannot reach it. */
      readonly reason: 'unknown_host' | 'private_address';
      readonly option: MediaKind;
      /** Host name or IP address. */
      readonly given: string;
    }
  | {
      readonly reason: 'media_count';
      readonly option: MediaKind;
      readonly model: string;
      readonly given: number;
      readonly min: number;
      readonly max: number;
      /** One of them is the last frame of the shot before. Default: false. */
      readonly isChained?: boolean;
    };
