import type { Origin } from '../task.ts';

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
