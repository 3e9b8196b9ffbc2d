import type { PlannedDeed } from './deeds.ts';
import { OPERATOR, USERS } from './money.ts';
import type { Random } from './random.ts';

/** Share of the storyboards that are confirmed; shares of those of which shots are made again and that are edited. */
const CONFIRMED_SHARE = 0.9;
const SHOT_RETRY_SHARE = 0.7;
const CLIP_RETRY_SHARE = 0.6;
const EDIT_SHARE = 0.5;
/** Longest wait before another press, in which another take may be finished. */
const MAX_WAIT_MS = 6_000;
/** Share of the joins in the middle of which everything is killed, and the longest time until then. */
const JOIN_KILL_SHARE = 0.5;
const MAX_JOIN_MS = 1_500;
/** Share of the clips that are reviewed, where reviews are on. */
const REVIEW_SHARE = 0.4;

/** Options of the actions of a set's users. */
export interface StudioOptions {
  /** Number of its clips. */
  readonly clips: number;
  /** Whether a press may be followed by a kill of all replicas. */
  readonly mayKill: boolean;
}

/** Draws a press on the card of a set, of a message with the button of which there is one only. */
function onCard(random: Random, action: PlannedDeed['action']): PlannedDeed {
  const common = { when: 'ended', copies: random.between(1, 3), times: random.between(1, 2) } as const;
  return { ...common, on: 'card', action };
}

/**
 * Draws what the requester of a storyboard does with it: shots that failed, and clips, are made again, the board is edited, its
 * cut is made once, twice, of other takes, or in spite of a kill.
 */
export function drawBoardActions(random: Random, { clips, mayKill }: StudioOptions): readonly PlannedDeed[] {
  const order = (): PlannedDeed => ({ ...onCard(random, 'order'), when: 'asked' });
  const { on: _on, ...asked } = order();
  const join = (): PlannedDeed => ({
    ...onCard(random, 'join'),
    ...(mayKill && random.chance(JOIN_KILL_SHARE) ? { killsAfterMs: random.between(0, MAX_JOIN_MS) } : {}),
  });
  const ofClip = { ...onCard(random, 'retry'), on: 'clip' } as const;
  return [
    ...(random.chance(CONFIRMED_SHARE) ? [asked] : []),
    join(),
    ...(random.chance(SHOT_RETRY_SHARE) ? [onCard(random, 'retry')] : []),
    ...(random.chance(CLIP_RETRY_SHARE) ? [ofClip] : []),
    ...(random.chance(EDIT_SHARE) ? [drawEdit(random, clips)] : []),
    ...(random.chance(0.5) ? [{ ...join(), afterMs: random.between(0, MAX_WAIT_MS) }] : []),
  ];
}

/** Draws the menu of a shot, on which it is moved or skipped. */
function drawEdit(random: Random, clips: number): PlannedDeed {
  return { ...onCard(random, 'shot'), choice: random.between(1, clips), afterMs: random.between(0, MAX_WAIT_MS) };
}

/**
 * Draws who votes on a comparison, some of them twice at once for different clips, who makes a clip again that failed, and
 * who reveals it.
 */
export function drawComparisonActions(random: Random, { clips }: StudioOptions): readonly PlannedDeed[] {
  const votes = Array.from({ length: random.between(2, 6) }, () => ({
    ...onCard(random, 'vote'),
    // Mostly one press at one replica: a repeated one would give back a vote that another replica overwrote.
    copies: random.pick([1, 1, 2, 3]),
    times: random.pick([1, 1, 1, 2]),
    by: random.pick([OPERATOR, ...USERS]),
    choice: random.between(1, clips),
  }));
  const reveals = Array.from({ length: random.between(0, 2) }, () => ({
    ...onCard(random, 'reveal'),
    ...(random.chance(0.5) ? { by: random.pick(USERS) } : {}),
    // Not before votes, and a clip that is made again, had their time.
    afterMs: random.between(MAX_WAIT_MS / 6, MAX_WAIT_MS),
  }));
  return [...votes, ...(random.chance(SHOT_RETRY_SHARE) ? [onCard(random, 'remake')] : []), ...reveals];
}

/** Draws who signs a clip off or requests changes, some of them at the same time. */
export function drawReviews(random: Random): readonly PlannedDeed[] {
  if (!random.chance(REVIEW_SHARE)) return [];
  return Array.from({ length: random.between(1, 3) }, () => {
    const action = random.pick(['signoff', 'changes'] as const);
    return {
      ...onCard(random, action),
      on: 'clip',
      by: random.pick([OPERATOR, ...USERS]),
      ...(action === 'changes' ? { values: { at: '0:01', note: `too dark, ${random.between(1, 999)}` } } : {}),
      afterMs: random.pick([0, 0, random.between(0, MAX_WAIT_MS)]),
    };
  });
}
