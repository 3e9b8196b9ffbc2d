import type { Person, Refunds } from '../tasks/index.ts';

/** Scope of a budget, as it is named to users. */
export type NoticeScope =
  | { readonly kind: 'deployment' }
  | { readonly kind: 'team' }
  | { readonly kind: 'channel'; readonly channel: string }
  | { readonly kind: 'person'; readonly person: Person };

/** Part of a budget that is used. */
export interface BudgetAlert {
  readonly kind: 'budget_alert';
  readonly scope: NoticeScope;
  /** Month of the budget, `YYYY-MM`. */
  readonly period: string;
  readonly currency: string;
  /** Highest threshold that was passed. */
  readonly percent: 50 | 80 | 100;
  /** Decimal string, as are the other amounts. */
  readonly limit: string;
  /** Held, settled and in doubt. */
  readonly used: string;
  readonly held: string;
  /** `by_statement`: `held` also holds failed clips that await their refund. */
  readonly refunds: Refunds;
  readonly doubted: string;
  /** Time at which the budget runs out at the present rate; `null` where that is unknown or not this month. */
  readonly runsOutAtMs: number | null;
  readonly timeZone: string;
}

/** Spend of a day far above the usual. */
export interface UnusualSpend {
  readonly kind: 'unusual_spend';
  /** Day in the team's time zone, `YYYY-MM-DD`. */
  readonly day: string;
  readonly currency: string;
  readonly amount: string;
  readonly clips: number;
  /** Median of the days before. */
  readonly usual: string;
}

/** Totals of a month in one currency. */
export interface SpendTotals {
  readonly currency: string;
  /** Billed by the catalog, in progress, or awaiting a refund; decimal string, as are the other amounts. */
  readonly spent: string;
  readonly clips: number;
  /** Part of `spent` for clips in progress. */
  readonly held: string;
  /** Part of `spent` for failed clips whose refund no statement shows yet. */
  readonly awaited: string;
  readonly refunded: string;
  readonly refundedClips: number;
  readonly doubted: string;
  readonly doubtedClips: number;
}

/** Row of a report: one person and one model. */
export interface ReportRow {
  readonly person: Person;
  readonly model: string;
  readonly clips: number;
  readonly amount: string;
  readonly currency: string;
}

/** Bars of a chart, stacked or grouped by series. */
export interface BarChart {
  /** At most 50 characters. */
  readonly title: string;
  /** At most 20, of at most 20 characters each. */
  readonly categories: readonly string[];
  /** At most 6, with different names of at most 20 characters; one decimal string per category. */
  readonly series: readonly { readonly name: string; readonly values: readonly string[] }[];
  readonly currency: string;
}

/** Report of a month, posted once after its end. */
export interface SpendReport {
  readonly kind: 'report';
  readonly period: string;
  readonly totals: readonly SpendTotals[];
  /** Highest amount first, limited in number. */
  readonly rows: readonly ReportRow[];
  readonly moreRows: number;
  /** `null` where there is nothing to draw. */
  readonly chart: BarChart | null;
  /** Earlier months without a report, since the bot was down. */
  readonly skipped: readonly string[];
}

/** Change of a month's totals after its report. */
export interface ReportCorrection {
  readonly kind: 'correction';
  readonly period: string;
  readonly currency: string;
  /** Decimal string with its sign. */
  readonly change: string;
  /** Number of clips that failed after the report. */
  readonly failed: number;
  /** Number of clips that were billed after the report. */
  readonly billed: number;
}

/** Ledger of a month as a file, for the person who requested it. */
export interface SpendExport {
  readonly kind: 'export';
  readonly period: string;
  /** The person whose sends are listed; `null`: everyone. */
  readonly who: Person | null;
  /** Only sends ordered in this channel; absent: all. */
  readonly channel?: string;
}

/** What is stored about a person, as a file, for that person. */
interface PersonExport {
  readonly kind: 'person_export';
  readonly person: Person;
  /** Nothing is stored, so that there is no file. */
  readonly isEmpty?: boolean;
}

/** Refusal of orders by the video service, since its account is out of credit. */
interface OutOfCredit {
  readonly kind: 'out_of_credit';
  /** Name of the service. Absent: the only one. */
  readonly service?: string;
}

/** Notice to a team or to a person, in a message of its own. */
export type TeamNotice =
  | BudgetAlert
  | UnusualSpend
  | OutOfCredit
  | SpendReport
  | ReportCorrection
  | SpendExport
  | PersonExport;

/**
 * Notices that reach a team's approvers as well as its administrators where no report channel takes them: approvers
 * decide on spend, and these show nothing that `/video usage` hides from them. A notice about changes, as in the audit log,
 * would be for administrators alone, as are those about the installation, which have no team.
 */
export const FOR_APPROVERS: Readonly<Record<TeamNotice['kind'], boolean>> = {
  budget_alert: true,
  unusual_spend: true,
  report: true,
  correction: true,
  out_of_credit: true,
  // Have one person, who asked for it.
  export: false,
  person_export: false,
};

/** Returns whether a notice only accompanies its file, and has no purpose without it. */
export function isOnlyFile(notice: TeamNotice): notice is SpendExport | PersonExport {
  return notice.kind === 'export' || notice.kind === 'person_export';
}
