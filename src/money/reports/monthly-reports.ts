import type { ReportCorrection, SpendReport, SpendTotals } from '../../chat/index.ts';
import type { Clock } from '../../clock.ts';
import { collection, type Store, type Versioned } from '../../engine/index.ts';
import { periodOf, previousPeriod, startOfPeriod } from '../../period.ts';
import { ledgerPages } from '../../pipeline/index.ts';
import { amountOf, microsOf } from '../../tasks/index.ts';
import { keyOfTeam } from '../../teams/index.ts';
import { type Catalog, titleOf } from '../../videos/index.ts';
import { merged } from '../alerts/budget-alerts.ts';
import type { Notices, NoticeTeam } from '../notices.ts';
import { MonthReport } from './month-report.ts';

/** Options of {@link MonthlyReports}. */
export interface MonthlyReportsOptions {
  readonly store: Store;
  /** The current catalog, for the titles of models. */
  readonly catalog: () => Pick<Catalog, 'models'>;
  readonly clock: Clock;
  readonly notices: Pick<Notices, 'claim'>;
}

interface TeamSpend {
  readonly of: NoticeTeam;
  readonly timeZone: string;
  readonly periods: readonly string[];
}

interface Reported {
  readonly period: string;
  readonly totals: readonly SpendTotals[];
  /** Time of the report, or of its last correction. */
  readonly atMs: number;
  readonly corrections: number;
}

interface ReportsRecord extends Versioned {
  /** Latest month that was reported, or that needs no report. */
  readonly latest: string;
  /** The last reports, latest first. */
  readonly reported: readonly Reported[];
}

export const monthlyReports = collection<NoticeTeam, ReportsRecord>({
  name: 'reports',
  key: keyOfTeam,
  holds: 'the months of a team that were reported, with their totals',
  personal: 'nobody',
});

/** A team's first report may be this late: older months were before the bot sent reports. */
const FIRST_LATE_MS = 7 * 24 * 3_600_000;
/** Interval between a report and its correction: clips in progress at the end of the month finish or fail first. */
const CORRECTION_AFTER_MS = 3_600_000;
const CORRECTED = 3;

/**
 * Reports each month of a team once after its end in the team's time zone, and corrects the totals afterwards. A report
 * is claimed in the commit that records it.
 */
export class MonthlyReports {
  readonly #options: MonthlyReportsOptions;

  constructor(options: MonthlyReportsOptions) {
    this.#options = options;
  }

  /** Reports what is due for one team. @throws `store_unavailable` */
  async check(team: TeamSpend): Promise<void> {
    const before = await monthlyReports.get(this.#options.store, team.of);
    const current = periodOf(this.#options.clock.now(), team.timeZone);
    const isDue = (period: string): boolean => period < current && (before === undefined || period > before.latest);
    const due = team.periods.filter(isDue).sort();
    if (before === undefined) return this.#begin(team, due, current);
    const period = due.at(-1);
    if (period !== undefined) return this.#report(team, { period, before, skipped: due.slice(0, -1) });
    for (const reported of before.reported) {
      if (await this.#correct(team, before, reported)) return;
    }
  }

  /** Reports the month before for the first time, unless it is long over. */
  async #begin(team: TeamSpend, due: readonly string[], current: string): Promise<void> {
    const { store, clock } = this.#options;
    const period = previousPeriod(current);
    const isLate = clock.now() - startOfPeriod(current, team.timeZone) > FIRST_LATE_MS;
    if (due.includes(period) && !isLate) return this.#report(team, { period, before: undefined, skipped: [] });
    await store.commit({
      records: [monthlyReports.replacing(team.of, undefined, { latest: period, reported: [] })],
    });
  }

  async #report({ of, timeZone }: TeamSpend, { period, before, skipped }: Due): Promise<void> {
    const { store, catalog, clock, notices } = this.#options;
    const notice = await readReport(store, { catalog: catalog(), of, period, timeZone, skipped });
    const reported = { period, totals: notice.totals, atMs: clock.now(), corrections: 0 };
    const record = monthlyReports.replacing(of, before, {
      latest: period,
      reported: [reported, ...(before?.reported ?? [])].slice(0, CORRECTED),
    });
    const claim = notices.claim({ key: ['report', of.platform, of.team, period], of, to: { kind: 'team' }, notice });
    await store.commit(merged([{ records: [record] }, claim]));
  }

  /** Posts the corrections of a report, one per currency. @returns whether there was one. */
  async #correct({ of, timeZone }: TeamSpend, before: ReportsRecord, reported: Reported): Promise<boolean> {
    const { store, catalog, clock, notices } = this.#options;
    const { period, totals, corrections } = reported;
    if (clock.now() - reported.atMs < CORRECTION_AFTER_MS || !(await this.#isChanged(of, reported))) return false;
    const now = await readReport(store, { catalog: catalog(), of, period, timeZone, skipped: [] });
    const changes = correctionsOf(period, totals, now.totals);
    if (changes.length === 0) return false;
    const next = { ...reported, totals: now.totals, atMs: clock.now(), corrections: corrections + 1 };
    const record = monthlyReports.replacing(of, before, {
      ...before,
      reported: before.reported.map((one) => (one.period === period ? next : one)),
    });
    const claims = changes.map((notice) => {
      const key = ['correction', of.platform, of.team, period, notice.currency, String(next.corrections)];
      return notices.claim({ key, of, to: { kind: 'team' }, notice });
    });
    return store.commit(merged([{ records: [record] }, ...claims]));
  }

  /** Compares a report with the sums, so that the ledger is read only where it changed. */
  async #isChanged({ platform, team }: NoticeTeam, { period, totals }: Reported): Promise<boolean> {
    const names = totals.map(({ currency }) => `team:${platform}:${team}:${period}:${currency}`);
    const sums = await this.#options.store.sums(names);
    return totals.some(({ spent }, at) => {
      const { settled, held } = sums[at] ?? { settled: 0n, held: 0n };
      return settled + held !== microsOf(spent);
    });
  }
}

interface Due {
  readonly period: string;
  readonly before: ReportsRecord | undefined;
  readonly skipped: readonly string[];
}

/** Month of a team to add up. */
interface ReportQuery {
  readonly catalog: Pick<Catalog, 'models'>;
  readonly of: NoticeTeam;
  readonly period: string;
  readonly timeZone: string;
  readonly skipped: readonly string[];
}

/** Adds up a month from the ledger, page by page. @throws `store_unavailable` */
export async function readReport(
  store: Pick<Store, 'scan' | 'keyv'>,
  { catalog, of, period, timeZone, skipped }: ReportQuery,
): Promise<SpendReport> {
  const report = new MonthReport(period, timeZone);
  for await (const entries of ledgerPages(store, of, period)) {
    for (const entry of entries) report.add({ ...entry, model: titleOf(catalog, entry.model) });
  }
  return report.report(skipped);
}

function correctionsOf(
  period: string,
  before: readonly SpendTotals[],
  after: readonly SpendTotals[],
): readonly ReportCorrection[] {
  const currencies = [...new Set([...before, ...after].map(({ currency }) => currency))];
  return currencies.flatMap((currency): readonly ReportCorrection[] => {
    const was = before.find((one) => one.currency === currency);
    const is = after.find((one) => one.currency === currency);
    const change = microsOf(is?.spent ?? '0') - microsOf(was?.spent ?? '0');
    if (change === 0n) return [];
    const failed = Math.max(0, (is?.refundedClips ?? 0) - (was?.refundedClips ?? 0));
    const billed = Math.max(0, (is?.clips ?? 0) - (was?.clips ?? 0) + failed);
    return [{ kind: 'correction', period, currency, change: amountOf(change), failed, billed }];
  });
}
