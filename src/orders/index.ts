export { type Board, clipsOf, outdatedIn, type Shot } from './board.ts';
export { type BoardEdit, Boards, boardRecords } from './boards.ts';
export { type Cut, cutIdOf, isCutId, OPEN_CUTS } from './cut.ts';
export type { CutFacts, CutFailure } from './cut-facts.ts';
export { CutRepository, cutRecords } from './cut-repository.ts';
