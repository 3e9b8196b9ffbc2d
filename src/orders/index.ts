export {
  type Board,
  type BoardEdit,
  Boards,
  boardRecords,
  clipsOf,
  insertionRecords,
  isReplaced,
  outdatedIn,
  type Shot,
} from './board.ts';
export type { CutFacts, CutFailure } from './cut.ts';
export { type Cut, CutRepository, cutIdOf, isCutId, OPEN_CUTS } from './cut.ts';
export { declinedOf, readSet, type TaskSet } from './task-set.ts';
