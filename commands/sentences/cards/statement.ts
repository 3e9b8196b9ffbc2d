import type { Resolution } from '#src/money/index.ts';

/** Decisions on a discrepancy of a statement, in words. */
export const RESOLUTION_WORDS: Readonly<Record<Resolution, string>> = {
  ours: 'our books stay as they are',
  billed: 'it was billed',
  not_billed: 'it was not billed',
  same: 'both are the same clip, and its ID is entered',
  apart: 'they are not the same clip',
};
