import type { Random } from './random.ts';

/** What the service makes of a POST. The first two say so; after the others nobody can tell what happened, or nothing did. */
export type CreateFate =
  /** Takes it and says so. */
  | 'right'
  /** The same, late, but in time. */
  | 'slow'
  /** Takes it and never answers. */
  | 'silent'
  /** Takes it and resets the connection. */
  | 'reset'
  /** Takes it and breaks off in the middle of the answer. */
  | 'half'
  /** Takes it; the front says 502 or 504. */
  | 'gateway'
  /** Takes nothing and resets the connection. */
  | 'dropped'
  /** Takes nothing and says 500. */
  | 'broken'
  /** Takes nothing and says 429: come again. */
  | 'busy'
  /** Takes nothing, and never will. */
  | 'refused';

/** What is wrong with the answer to a poll. */
export type PollFate = 'right' | 'error' | 'busy' | 'unknown' | 'half' | 'silent' | 'missing' | 'reset';

/** What is wrong with the answer to a request for the clip. */
export type ContentFate = 'right' | 'early' | 'missing' | 'half' | 'page' | 'error' | 'elsewhere' | 'json';

/** What the service makes of everything that comes of one prompt. */
export interface Fate {
  /** POST by POST; those after are right. */
  readonly creates: readonly CreateFate[];
  readonly ends: 'completed' | 'failed';
  /** How many right answers say that it runs. */
  readonly polls: number;
  /** Answer by answer; those after are right. */
  readonly pollFaults: readonly PollFate[];
  readonly contentFaults: readonly ContentFate[];
  /** The clip is never handed over. */
  readonly isGone: boolean;
}

/** A service that does all it should. */
export const NO_FATE: Fate = {
  creates: [],
  ends: 'completed',
  polls: 2,
  pollFaults: [],
  contentFaults: [],
  isGone: false,
};

/** After these, whether the service took it is known to the bot. */
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

/** Draws what becomes of one prompt. */
export function drawFate(random: Random): Fate {
  const several = <Item extends string>(most: number, weights: Readonly<Record<Item, number>>): readonly Item[] =>
    Array.from({ length: random.between(0, most) }, () => random.weighed(weights));
  return {
    creates: [random.weighed(CREATES), random.weighed(CREATES)],
    ends: random.chance(0.12) ? 'failed' : 'completed',
    // A progress that is stuck is one that takes many polls.
    polls: random.chance(0.1) ? random.between(8, 14) : random.between(0, 4),
    pollFaults: several(3, POLLS),
    contentFaults: several(2, CONTENTS),
    isGone: random.chance(0.03),
  };
}
