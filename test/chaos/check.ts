import { checkApprovals } from './check/approvals.ts';
import { checkAudit } from './check/audit.ts';
import { checkBoards } from './check/boards.ts';
import { checkComparisons } from './check/comparisons.ts';
import { checkCosts } from './check/costs.ts';
import { checkCreates } from './check/creates.ts';
import { checkCuts } from './check/cuts.ts';
import { checkDecisions } from './check/decisions.ts';
import { checkIndexes } from './check/indexes.ts';
import { checkLimits } from './check/limits.ts';
import { checkMessages } from './check/messages.ts';
import { checkMoney } from './check/money.ts';
import { checkOwners } from './check/owners.ts';
import { checkProcesses } from './check/processes.ts';
import { checkRemovals } from './check/removals.ts';
import { checkReviews } from './check/reviews.ts';
import { checkSetClips } from './check/set-clips.ts';
import { checkSets } from './check/sets.ts';
import { checkTasks } from './check/tasks.ts';
import { checkUncertain } from './check/uncertain.ts';
import { checkWithdrawals } from './check/withdrawals.ts';
import type { History, Violation } from './history.ts';

/** Returns every violation in a history, by name; pure. */
export function check(history: History): readonly Violation[] {
  const parts = [checkCreates, checkTasks, checkMoney, checkLimits, checkMessages, checkIndexes, checkProcesses];
  const studio = [checkSets, checkSetClips, checkBoards, checkCuts, checkComparisons, checkReviews];
  const people = [checkUncertain, checkApprovals, checkDecisions, checkAudit, checkRemovals];
  const profiles = [checkOwners, checkCosts, checkWithdrawals];
  return [...parts, ...people, ...studio, ...profiles].flatMap((part) => part(history));
}
