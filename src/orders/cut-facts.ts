import type { ShotDifference } from '../media/index.ts';

/** Why clips could not be joined. Numbers of shots count from 1. */
export type CutFailure =
  /** These shots have no clip any more. */
  | { readonly code: 'clip_missing'; readonly shots: readonly number[] }
  /** They cannot be copied into one file, and there is no ffmpeg. */
  | { readonly code: 'shots_differ'; readonly differences: readonly ShotDifference[] }
  /** `hdr`: its colours cannot be converted here; `not_converted`: ffmpeg failed at it. */
  | { readonly code: 'not_a_video' | 'hdr' | 'not_converted'; readonly shot: number }
  | { readonly code: 'timed_out' | 'disk_full' | 'failed' };

/** What the message of a cut shows besides what every message of a task does. */
export interface CutFacts {
  /** Its clips in their order; `null` for a prompt that was removed. `seconds`: as ordered. */
  readonly shots: readonly { readonly prompt: string | null; readonly seconds: number }[];
  /** The file; `null` while it is being made, and where it could not be. */
  readonly file: { readonly bytes: number; readonly seconds: number } | null;
  /** `null` unless it failed. */
  readonly failure: CutFailure | null;
}
