export {
  APPROVAL_TTL_MS,
  type Approval,
  type ApprovalRequest,
  type Approver,
  asOf,
  type Declined,
  isExpired,
} from './approval.ts';
export { attemptOf, isBehind, isSought } from './attempt.ts';
export { comparisonOf, isBlind, labelAt, WAITS_FOR_OTHERS_MS } from './blind.ts';
export { awaitsFrame, boughtState, type Dropped, type ShotEnd } from './chain.ts';
export { DurationEstimates, type UsualDuration } from './duration-estimates.ts';
export { isPseudonym, newPseudonym, pseudonymsIn, withoutPerson } from './forgotten.ts';
export {
  boardTakesIndex,
  channelHistoryIndex,
  channelOpenIndex,
  FORGETTINGS,
  historyIndex,
  ledgerKey,
  ledgerOf,
  ledgerRecords,
  OUTBOX,
  openIndex,
  REMOVALS,
  sharedIndex,
  signedOffIndex,
  spendIndex,
  spendScopeOf,
  stateIndex,
  teamOfHistory,
  toChange,
  UPLOADS,
} from './indexes.ts';
export type { LedgerEntry, LedgerScope, LedgerState } from './ledger.ts';
export { boundsOf, type LimitReached, type Limits, NO_LIMITS, roomWithin } from './limits.ts';
export {
  amountOf,
  type BookedState,
  type BudgetLimit,
  budgetsOf,
  countedOf,
  everyoneBudget,
  type Grant,
  limitsOn,
  type Micros,
  microsOf,
  type Purchase,
  type Refunds,
  type SpendOrigin,
  type SpendScope,
  spendChannel,
  sumsOf,
} from './money.ts';
export { amountLeft, formatPrice, isAbove, isSamePrice, priceOf, sumOf, timesPrice, total } from './price.ts';
export { isTask, readEntries, readTask, readTasks, taskRecords } from './record-shape.ts';
export { recount } from './recount.ts';
export { isContentRemoved, type Removal, type RemovalReason } from './removal.ts';
export {
  hasReview,
  isSignedOff,
  lastDecision,
  MAX_DECISIONS,
  NOTE_LENGTH,
  type ReviewDecision,
  type ReviewKind,
  type ReviewNote,
} from './review/review.ts';
export { formatTimecode, leadingTimecode, parseTimecode } from './review/timecode.ts';
export { newerVersions, numbered, rootOf, versionOf } from './review/versions.ts';
export {
  isEnded,
  isFetching,
  isFollowedQuietly,
  phaseAtEnd,
  phaseOf,
  rowOf,
  statesWhere,
  transition,
} from './state-machine.ts';
export {
  isSoon,
  isWaitingFor,
  parsePause,
  type RetryObserver,
  retryFingerprint,
  retryOf,
  type StepRetry,
} from './step-retry.ts';
export {
  type Attempt,
  type Audience,
  byCreation,
  type Failure,
  failureOf,
  hasClip,
  holdsWords,
  MAX_SET_SIZE,
  type Origin,
  orderIdOf,
  type Person,
  type Phase,
  type Price,
  type SearchResult,
  type SetKind,
  type SetPlace,
  sinceMs,
  startedAtMs,
  type Task,
  type TaskEvent,
  type TaskId,
  type TaskState,
  typedPrompt,
} from './task.ts';
export { isVisible, type Viewer } from './visibility.ts';
