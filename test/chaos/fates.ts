import type { Random } from './random.ts';

/** Service's response to a POST. The first two are clear; the others leave the outcome open, or create nothing. */
export type CreateFate =
  /** Accepts it and confirms. */
  | 'right'
  /** Accepts it and confirms late, but within the timeout. */
  | 'slow'
  /** Accepts it and never responds. */
  | 'silent'
  /** Accepts it and resets the connection. */
  | 'reset'
  /** Accepts it and breaks off in the middle of the response. */
  | 'half'
  /** Accepts it, but the gateway responds with 504. */
  | 'gateway'
  /** Rejects it by resetting the connection. */
  | 'dropped'
  /** Rejects it with a 500. */
  | 'broken'
  /** Rejects it with a 429: retry later. */
  | 'busy'
  /** Rejects it for good. */
  | 'refused';

/** Fault in the response to a poll. */
export type PollFate = 'right' | 'error' | 'busy' | 'unknown' | 'half' | 'silent' | 'missing' | 'reset';

/** Fault in the response to a clip download. */
export type ContentFate = 'right' | 'early' | 'missing' | 'half' | 'page' | 'error' | 'elsewhere' | 'json';

/** Service's behaviour towards everything that results from one prompt. */
export interface Fate {
  /** One per POST; later ones are right. */
  readonly creates: readonly CreateFate[];
  readonly ends: 'completed' | 'failed';
  /** The first task fails, whatever `ends` says; default: no. For sets, of which some fail. */
  readonly failsFirst?: true;
  /** Number of correct poll responses that report it as running. */
  readonly polls: number;
  /** One per poll response; later ones are right. */
  readonly pollFaults: readonly PollFate[];
  readonly contentFaults: readonly ContentFate[];
  /** The clip can never be downloaded. */
  readonly isGone: boolean;
}

/** Fate of a service without faults. */
export const NO_FATE: Fate = {
  creates: [],
  ends: 'completed',
  polls: 2,
  pollFaults: [],
  contentFaults: [],
  isGone: false,
};

/** Fates after which the bot knows whether the service accepted the create. */
export const TOLD: ReadonlySet<CreateFate> = new Set(['right', 'slow', 'busy', 'refused']);

const CREATES: Readonly<Record<CreateFate, number>> = {
  right: 60,
  slow: 8,
  silent: 4,
  reset: 4,
  half: 3,
  gateway: 4,
  dropped: 3,
  broken: 3,
  busy: 8,
  refused: 3,
};
const POLLS: Readonly<Record<PollFate, number>> = {
  right: 80,
  error: 4,
  busy: 3,
  unknown: 4,
  half: 2,
  silent: 1,
  missing: 3,
  reset: 3,
};
const CONTENTS: Readonly<Record<ContentFate, number>> = {
  right: 70,
  early: 5,
  missing: 4,
  half: 6,
  page: 3,
  error: 4,
  elsewhere: 4,
  json: 4,
};

/** Draws the fate of one prompt. */
export function drawFate(random: Random): Fate {
  const several = <Item extends string>(most: number, weights: Readonly<Record<Item, number>>): readonly Item[] =>
    Array.from({ length: random.between(0, most) }, () => random.weighed(weights));
  return {
    creates: [random.weighed(CREATES), random.weighed(CREATES)],
    ends: random.chance(0.12) ? 'failed' : 'completed',
    // A stuck progress is one that takes many polls.
    polls: random.chance(0.1) ? random.between(8, 14) : random.between(0, 4),
    pollFaults: several(3, POLLS),
    contentFaults: several(2, CONTENTS),
    isGone: random.chance(0.03),
  };
}

/** Share of storyboards and comparisons of which a clip fails; share whose creates are answered well. */
const FAILED_CLIP_SHARE = 0.4;
const ACCEPTED_SHARE = 0.6;

/** Draws the fate of a set that is to become something: most of its clips are made, one may fail. */
export function drawStudioFate(random: Random, fate: Fate): Fate {
  return {
    ...fate,
    ends: 'completed',
    isGone: false,
    ...(random.chance(ACCEPTED_SHARE) ? { creates: [] } : {}),
    ...(random.chance(FAILED_CLIP_SHARE) ? { failsFirst: true } : {}),
  };
}
