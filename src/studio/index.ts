export { type CutObserver, Cuts } from './cuts/cuts.ts';
export { createReviews, type Reviews } from './reviews.ts';
export { Chaining, isInProgress, shotBefore } from './storyboards/chaining.ts';
