import { amountOf } from '../../tasks/index.ts';
import type { AuditTrail } from '../../teams/index.ts';
import type { BooksReport } from './check.ts';

/** Audit logs that were changed, and noted heads that no log has any more. */
interface BrokenLogs {
  readonly logs: Awaited<ReturnType<AuditTrail['verifyAll']>>;
  readonly missing: readonly string[];
}

/** Returns whether nothing disagrees; sums that changed all the time are no disagreement. */
export function isRight({ disagreements, stale }: BooksReport, { logs, missing }: BrokenLogs): boolean {
  return disagreements.length + stale.length + logs.length + missing.length === 0;
}

/** Returns the outcome of a check as lines of text, with a table of the disagreements. */
export function tableOf(report: BooksReport, broken: BrokenLogs): string {
  const { tasks, sums, stale, disagreements, busy } = report;
  const columns = [
    ['sum', 'part', 'in the store', 'by the tasks'],
    ...disagreements.map(({ sum, part, stored, counted }) => [sum, part, amountOf(stored), amountOf(counted)]),
  ];
  return [
    `${tasks} tasks, ${sums} sums.`,
    ...(disagreements.length === 0 ? [] : aligned(columns)),
    ...stale.map((task) => `Task ${task} counts something else than its ledger says.`),
    ...broken.logs.map(({ log }) => `The audit log of ${log} was changed.`),
    ...broken.missing.map((head) => `No audit log has the head ${head}: its end was cut off, or it was deleted.`),
    ...(busy.length === 0 ? [] : [`Not compared, since they kept changing: ${busy.join(', ')}.`]),
    isRight(report, broken)
      ? 'The books are right.'
      : 'The books disagree. docs/operations.md, MoneyDisagrees, says what to do.',
    '',
  ].join('\n');
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
