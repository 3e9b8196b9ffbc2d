export { Chaining, isInProgress, shotBefore } from './chaining.ts';
export { type CutObserver, Cuts } from './cuts/cuts.ts';
export { Reviews } from './reviews.ts';
