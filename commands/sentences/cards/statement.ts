import type { Decided, Resolution } from '#src/money/index.ts';

const DECISIONS: Readonly<Record<Resolution, string>> = {
  ours: 'our books stay as they are',
  billed: 'it was billed',
  not_billed: 'it was not billed',
  same: 'both are the same clip, and its ID is entered',
  apart: 'they are not the same clip',
};

/** Describes a logged decision; one of another version as it is. */
export function decisionWords(as: string): string {
  return Object.hasOwn(DECISIONS, as) ? DECISIONS[as as Resolution] : as;
}

/** Reports the decision that the caller has made. */
export function decidedLine(as: Resolution): string {
  return `Decided: ${DECISIONS[as]}.`;
}

/** Reports a decision that someone else made before. */
export function decidedBefore({ as, by }: Decided): string {
  return `${by.name} decided this already: ${DECISIONS[as]}.`;
}
