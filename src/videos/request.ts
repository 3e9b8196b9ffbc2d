/** The five aspect ratios of the specification. @see docs/video-service.md "Creation request" */
export const ASPECT_RATIOS = ['16:9', '9:16', '4:3', '3:4', '1:1'] as const;
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

/** The three resolutions of the specification. */
export const RESOLUTIONS = ['480p', '720p', '1080p'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** The three kinds of reference media. */
export const MEDIA_KINDS = ['image', 'audio', 'video'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** What a person asked for, checked against the catalog: only what the model offers, defaults filled in. */
export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  /** Length of the clip in seconds. */
  readonly seconds: number;
  /** Absent where the model does not take one. */
  readonly aspectRatio?: AspectRatio;
  /** Absent where the model does not take one. */
  readonly resolution?: Resolution;
  /** Addresses of reference media, each `http://` or `https://`. */
  readonly media: Readonly<Record<MediaKind, readonly string[]>>;
}

/** What a person typed, option by option; nothing is checked yet. Absent: not given. */
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

/** Why a draft is no request: which option, what was given, what is allowed. Worded in `commands/sentences.ts`. */
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
      /** What the model offers, in words a person can choose from ("4", "6", "8", or "5 to 15 in steps of 5"). Empty: the model does not take the option. */
      readonly allowed: readonly string[];
    }
  | {
      readonly reason: 'address_too_long';
      readonly option: MediaKind;
      /** In characters. */
      readonly given: number;
      readonly max: number;
    }
  | { readonly reason: 'not_an_address'; readonly option: MediaKind; readonly given: string }
  | {
      /** Of a host that does not exist, or that the video service cannot reach. */
      readonly reason: 'unknown_host' | 'private_address';
      readonly option: MediaKind;
      /** The host. */
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
