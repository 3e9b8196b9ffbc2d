import type { Origin } from '../task.ts';

/** How a team reviews its clips, as part of its settings. */
export interface ReviewRules {
  /** Ids of the channels whose clips are reviewed, with their threads; sorted. Default: none. */
  readonly reviewIn?: readonly string[];
  /** Whether people may sign off their own clips. Default: true. */
  readonly signOffOwn?: boolean;
  /** Id of the channel in which each signed-off clip is posted. Default: none. */
  readonly signedOffChannel?: string;
  /** Whether signed-off clips are kept beyond the team's and the operator's retention. Default: false. */
  readonly keepSignedOff?: boolean;
}

/** Returns whether the clips of a channel, or of the channel of a thread, are reviewed. */
export function hasReview(
  { reviewIn = [] }: Pick<ReviewRules, 'reviewIn'>,
  { channel, parentChannel }: Pick<Origin, 'channel' | 'parentChannel'>,
): boolean {
  return reviewIn.includes(channel) || (parentChannel !== undefined && reviewIn.includes(parentChannel));
}
