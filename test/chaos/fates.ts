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
  | 'refused'
  /** Rejects it, since the key is withdrawn; not drawn, but the fate of each create in that time. */
  | 'withdrawn';

/** Fault in the response to a poll. */
export type PollFate = 'right' | 'error' | 'busy' | 'unknown' | 'half' | 'silent' | 'missing' | 'reset';

/** Service's response to a request that cancels a queued task. */
export type CancelFate =
  /** Cancels it and confirms. */
  | 'right'
  /** Cancels it, and the answer is lost. */
  | 'lost'
  /** Does not cancel it, and the answer is lost: it completes all the same. */
  | 'ignored'
  /** It starts a moment before. */
  | 'started'
  /** It is completed a moment before; not at a service where the same call deletes what has ended. */
  | 'completed';

/** Task of a stranger that is in the list beside a lost one: alike, different in a setting, or one that says less of itself. */
export type Stranger = 'alike' | 'unlike' | 'vague';

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
  /** Number of correct poll responses that report it as queued, at a service that has a queue. */
  readonly queued: number;
  /** One per request to cancel; later ones are right. */
  readonly cancels: readonly CancelFate[];
  /** Stranger's task beside its lost creates, at a service with a list. */
  readonly stranger: Stranger | null;
  /** Cost in USD that the service reports of its tasks, as a decimal string; `null`: it reports none. */
  readonly cost: string | null;
  /** The service bills it although it fails, where it says what it has cost. */
  readonly isFailureBilled: boolean;
}

/** Fate of a service without faults. */
export const NO_FATE: Fate = {
  creates: [],
  ends: 'completed',
  polls: 2,
  pollFaults: [],
  contentFaults: [],
  isGone: false,
  queued: 0,
  cancels: [],
  stranger: null,
  cost: null,
  isFailureBilled: false,
};

/** Fates after which the bot knows whether the service accepted the create. */
export const TOLD: ReadonlySet<CreateFate> = new Set(['right', 'slow', 'busy', 'refused', 'withdrawn']);

/** Fates by which the service says that it did not take the create. */
export const TURNED_AWAY: ReadonlySet<CreateFate> = new Set(['busy', 'refused', 'withdrawn']);

/** Fates after which a task exists and is billed. */
export const TAKEN: ReadonlySet<CreateFate> = new Set(['right', 'slow', 'silent', 'reset', 'half', 'gateway']);

const CREATES: Readonly<Record<Exclude<CreateFate, 'withdrawn'>, number>> = {
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

const CANCELS: Readonly<Record<CancelFate, number>> = { right: 40, lost: 20, ignored: 15, started: 15, completed: 10 };

/** Share of the prompts whose tasks wait in a queue, and longest wait in looks. */
const QUEUED_SHARE = 0.5;
const MAX_QUEUED = 12;

/**
 * Costs in USD of a clip that has a price of 0.20 at first: below it, the same, above it, above any budget that is drawn, with
 * more decimals than the books have, and none.
 */
const COSTS: Readonly<Record<string, number>> = {
  '0.13': 4,
  '0.2': 2,
  '0.31': 5,
  '12.5': 1,
  '0.1234567891': 2,
  '0': 1,
};
const SILENT_SHARE = 0.1;

/** Draws the fate of one prompt. @param ofCapable generator for what only some services can do */
export function drawFate(random: Random, ofCapable: Random): Fate {
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
    ...drawCapable(ofCapable),
  };
}

/** Draws the behaviour of services that can do more than ours has to. */
function drawCapable(random: Random): Pick<Fate, 'queued' | 'cancels' | 'stranger' | 'cost' | 'isFailureBilled'> {
  return {
    queued: random.chance(QUEUED_SHARE) ? random.between(1, MAX_QUEUED) : 0,
    cancels: [random.weighed(CANCELS), random.weighed(CANCELS)],
    stranger: null,
    cost: random.chance(SILENT_SHARE) ? null : random.weighed(COSTS),
    isFailureBilled: random.chance(0.5),
  };
}

/** Fates that lose the answer to a create that the service took. */
const LOSSES = ['silent', 'reset', 'half', 'gateway'] as const;

/** Draws the fate of a prompt, of all others in its run the only one whose answer is lost. */
export function drawLoss(random: Random, fate: Fate, stranger: Stranger | null): Fate {
  return { ...fate, creates: [random.pick(LOSSES)], stranger };
}

/** Returns a fate without any lost answer to a create. */
export function withoutLoss(fate: Fate): Fate {
  return { ...fate, creates: fate.creates.map((create) => (TOLD.has(create) ? create : 'right')) };
}

/**
 * Shares of storyboards and comparisons of which a clip fails, in general and where one is to be made again blind; share whose
 * creates are answered well.
 */
const FAILED_CLIP_SHARE = 0.4;
const REMADE_CLIP_SHARE = 0.8;
const ACCEPTED_SHARE = 0.6;

/**
 * Draws the fate of a set that is to become something: most of its clips are made, one may fail.
 * @param isRemade whether somebody is to make a blind clip again, which only a failed one can be
 */
export function drawStudioFate(random: Random, fate: Fate, isRemade: boolean): Fate {
  return {
    ...fate,
    ends: 'completed',
    isGone: false,
    ...(random.chance(ACCEPTED_SHARE) ? { creates: [] } : {}),
    ...(random.chance(isRemade ? REMADE_CLIP_SHARE : FAILED_CLIP_SHARE) ? { failsFirst: true } : {}),
  };
}
