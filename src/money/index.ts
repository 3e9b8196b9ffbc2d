export { armedAlerts } from './alerts/budget-alerts.ts';
export { creditIncidents } from './alerts/out-of-credit.ts';
export { type ApprovalOutcome, Approvals, type ApprovalTasks } from './approvals.ts';
export { bookChecks, booksCheck, lastDisagreements } from './books/bookkeeper.ts';
export {
  type Budget,
  type BudgetChange,
  BudgetRepository,
  type BudgetScope,
  budgets,
  type ChangedBudget,
  type Spend,
} from './budgets.ts';
export { CarriedSpend, carriedKinds } from './carried-spend.ts';
export { momentOf } from './moments.ts';
export { createMoney, environments, type Money } from './money.ts';
export { Notices, teamNotices } from './notices.ts';
export { type Pace, paceOf } from './pace.ts';
export { monthlyReports } from './reports/monthly-reports.ts';
export {
  type SpendGroup,
  SpendGroups,
  type SpendKey,
  type SpendState,
  type StateTotal,
} from './reports/spend-groups.ts';
export { createStatements, StatementDecisions, type Statements } from './statement/decisions.ts';
export type { Discrepancy } from './statement/findings.ts';
export {
  type Decided,
  type Resolution,
  StatementImports,
  statementKinds,
  type TeamStatement,
} from './statement/imports.ts';
export { monthLine, signed } from './statement/sentences.ts';
export { createTeamNotices, type TeamNotices } from './team-notices.ts';
