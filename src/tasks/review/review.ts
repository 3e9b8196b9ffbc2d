import type { Origin, Person, Task } from '../task.ts';

/** Decision of a review; stored. */
export type ReviewKind = 'signed_off' | 'changes_requested';

/** What a reviewer wants changed. */
export interface ReviewNote {
  readonly text: string;
  /** Time in the clip that it is about, in seconds. Absent: the whole clip. */
  readonly atSeconds?: number;
}

/** A decision on a clip; the last one counts. */
export interface ReviewDecision {
  readonly kind: ReviewKind;
  readonly by: Person;
  /** In milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Set with `changes_requested`, unless its author was forgotten. */
  readonly note?: ReviewNote;
}

/** Decides on a finished clip; counts only after exactly that many decisions, which is what the reviewer saw. */
export interface ReviewEvent {
  readonly kind: 'review';
  readonly after: number;
  readonly decision: ReviewDecision;
}

/** Decisions on one clip at most. */
export const MAX_DECISIONS = 20;
/** Longest note, in UTF-16 units. */
export const NOTE_LENGTH = 1_000;

/** Returns the decision that counts. */
export function lastDecision({ review }: Pick<Task, 'review'>): ReviewDecision | undefined {
  return review?.at(-1);
}

/** Returns whether a clip is signed off. */
export function isSignedOff(task: Pick<Task, 'review'>): boolean {
  return lastDecision(task)?.kind === 'signed_off';
}

/** Where the reviews of a team are, as part of its settings. */
export interface ReviewRules {
  /** Ids of the channels whose clips are reviewed, with their threads; sorted. Default: none. */
  readonly reviewIn?: readonly string[];
  /** Id of the channel in which each signed-off clip is posted. Default: none. */
  readonly signedOffChannel?: string;
}

/** Returns whether the clips of a channel, or of the channel of a thread, are reviewed. */
export function hasReview(
  { reviewIn = [] }: Pick<ReviewRules, 'reviewIn'>,
  { channel, parentChannel }: Pick<Origin, 'channel' | 'parentChannel'>,
): boolean {
  return reviewIn.includes(channel) || (parentChannel !== undefined && reviewIn.includes(parentChannel));
}
