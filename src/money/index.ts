export { type ApprovalOutcome, Approvals, type ApprovalTasks } from './approvals.ts';
export { booksCheck, lastDisagreements } from './books/bookkeeper.ts';
export {
  type Budget,
  type BudgetChange,
  BudgetRepository,
  type BudgetScope,
  type ChangedBudget,
  type Spend,
  usedOf,
} from './budgets.ts';
export { CarriedSpend } from './carried-spend.ts';
export { momentOf } from './moments.ts';
export { createMoney, type Money } from './money.ts';
export { Notices } from './notices.ts';
export { type Pace, paceOf } from './pace.ts';
export {
  type SpendGroup,
  SpendGroups,
  type SpendKey,
  type SpendState,
} from './reports/spend-groups.ts';
export { Statements } from './statement/decisions.ts';
export type { Discrepancy } from './statement/findings.ts';
export type { Resolution, TeamStatement } from './statement/imports.ts';
export { monthLine, signed } from './statement/sentences.ts';
export { createTeamNotices, type TeamNotices } from './team-notices.ts';
