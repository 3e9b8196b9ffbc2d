export { Chaining, isInProgress, shotBefore } from './chaining.ts';
export { type CutObserver, Cuts } from './cuts/cuts.ts';
export { createReviews, type Reviews } from './reviews.ts';
