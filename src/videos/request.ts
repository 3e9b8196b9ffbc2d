/** Aspect ratios of the specification. @see docs/video-service.md "Creation request" */
export const ASPECT_RATIOS = ['16:9', '9:16', '4:3', '3:4', '1:1'] as const;
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

/** Resolutions of the specification. */
export const RESOLUTIONS = ['480p', '720p', '1080p'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Kinds of reference media. */
export const MEDIA_KINDS = ['image', 'audio', 'video'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Request validated against the catalog: only options that the model offers, with defaults filled in. */
export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  /** Length of the clip in seconds. */
  readonly seconds: number;
  /** Absent where the model does not take one. */
  readonly aspectRatio?: AspectRatio;
  /** Absent where the model does not take one. */
  readonly resolution?: Resolution;
  /** URLs of reference media, each `http://` or `https://`. */
  readonly media: Readonly<Record<MediaKind, readonly string[]>>;
}

/** Unvalidated options as the user entered them. Absent: not given. */
export interface RequestDraft {
  readonly prompt?: string | undefined;
  readonly model?: string | undefined;
  readonly seconds?: string | number | undefined;
  readonly aspect?: string | undefined;
  readonly resolution?: string | undefined;
  readonly image?: readonly string[] | undefined;
  readonly audio?: readonly string[] | undefined;
  readonly video?: readonly string[] | undefined;
}

/**
 * Validation problem of a draft: the option, the given value and the allowed ones. Worded in `commands/sentences.ts`.
 */
export type Refusal =
  | { readonly reason: 'missing'; readonly option: 'prompt' }
  | {
      readonly reason: 'too_long';
      readonly option: 'prompt';
      readonly model: string;
      readonly given: number;
      readonly max: number;
    }
  | {
      readonly reason: 'unknown_model';
      readonly option: 'model';
      readonly given: string;
      readonly allowed: readonly string[];
    }
  | { readonly reason: 'not_a_number'; readonly option: 'seconds'; readonly given: string }
  | {
      readonly reason: 'not_offered';
      readonly option: 'seconds' | 'aspect' | 'resolution';
      readonly model: string;
      readonly given: string;
      /**
       * Choices of the model, worded for the user ("4", "6", "8", or "5 to 15 in steps of 5"). Empty: the model does
       * not take the option.
       */
      readonly allowed: readonly string[];
    }
  | {
      readonly reason: 'address_too_long';
      readonly option: MediaKind;
      /** Length in characters. */
      readonly given: number;
      readonly max: number;
    }
  | { readonly reason: 'not_an_address'; readonly option: MediaKind; readonly given: string }
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
    };
