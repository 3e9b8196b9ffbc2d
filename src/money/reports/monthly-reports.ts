import type { BarChart, ReportCorrection, ReportRow, SpendReport, SpendTotals } from '../../chat/index.ts';
import { collection, merged, type Store, type Versioned } from '../../engine/index.ts';
import { endOfPeriod, periodOf, previousPeriod, startOfDay, startOfPeriod } from '../../period.ts';
import { ledgerPages } from '../../pipeline/index.ts';
import { amountOf, type LedgerEntry, type Micros, microsOf } from '../../tasks/index.ts';
import { keyOfTeam, type TeamKey } from '../../teams/index.ts';
import { type Catalog, titleOf } from '../../videos/index.ts';
import type { AlertDeps } from '../notices.ts';
import { type MoneyState, moneyStateOf, Totals } from './spend-groups.ts';

interface TeamSpend {
  readonly of: TeamKey;
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

const monthlyReports = collection<TeamKey, ReportsRecord>({
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
 * @throws `store_unavailable`
 */
export async function reportMonths(deps: AlertDeps, team: TeamSpend): Promise<void> {
  const { store, clock } = deps;
  const { of, timeZone } = team;
  const before = await monthlyReports.get(store, of);
  const current = periodOf(clock.now(), timeZone);
  const isDue = (period: string): boolean => period < current && (before === undefined || period > before.latest);
  const due = team.periods.filter(isDue).sort();
  if (before === undefined) {
    // The month before is reported for the first time, unless it is long over.
    const period = previousPeriod(current);
    const isLate = clock.now() - startOfPeriod(current, timeZone) > FIRST_LATE_MS;
    if (due.includes(period) && !isLate) return report(deps, team, { period, before, skipped: [] });
    await store.commit({ records: [monthlyReports.replacing(of, before, { latest: period, reported: [] })] });
    return;
  }
  const period = due.at(-1);
  if (period !== undefined) return report(deps, team, { period, before, skipped: due.slice(0, -1) });
  for (const reported of before.reported) if (await correct(deps, team, { before, reported })) return;
}

async function report(deps: AlertDeps, { of, timeZone }: TeamSpend, { period, before, skipped }: Due): Promise<void> {
  const { store, catalog, clock, notices } = deps;
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
async function correct(
  { store, catalog, clock, notices }: AlertDeps,
  { of, timeZone }: TeamSpend,
  { before, reported }: { readonly before: ReportsRecord; readonly reported: Reported },
): Promise<boolean> {
  const { period, totals, corrections } = reported;
  if (clock.now() - reported.atMs < CORRECTION_AFTER_MS || !(await isChanged(store, of, reported))) return false;
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
async function isChanged(store: Store, { platform, team }: TeamKey, { period, totals }: Reported): Promise<boolean> {
  const names = totals.map(({ currency }) => `team:${platform}:${team}:${period}:${currency}`);
  const sums = await store.sums(names);
  return totals.some(({ spent }, at) => {
    const { settled, held } = sums[at] ?? { settled: 0n, held: 0n };
    return settled + held !== microsOf(spent);
  });
}

interface Due {
  readonly period: string;
  readonly before: ReportsRecord | undefined;
  readonly skipped: readonly string[];
}

/** Month of a team to add up. */
interface ReportQuery extends Pick<Due, 'period' | 'skipped'>, Pick<TeamSpend, 'of' | 'timeZone'> {
  readonly catalog: Pick<Catalog, 'models'>;
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

interface Row {
  readonly person: ReportRow['person'];
  readonly model: string;
  readonly currency: string;
  amount: Micros;
  clips: number;
}

/** States in which money is spent: billed, or held. */
const SPENT: readonly MoneyState[] = ['settled', 'reserved', 'awaiting_refund'];
/** Rows of a report; more are in its CSV. */
const MAX_ROWS = 15;
/** Models with bars of their own; the others share one. A chart of Slack takes six series. */
const MAX_SERIES = 5;
const OTHER_MODELS = 'Other models';
/** Stands for the models of comparisons that are not revealed. */
const IN_COMPARISON = 'In comparison';
const LABEL_LENGTH = 20;
const WEEK_DAYS = 7;

/** Adds up the sends of a month, each given once, in constant memory for any number of them. */
export class MonthReport {
  readonly #period: string;
  readonly #weeks: readonly Week[];
  readonly #totals = new Totals<MoneyState>();
  readonly #rows = new Map<string, Row>();
  /** Amounts by currency, model and week. */
  readonly #bars = new Map<string, Map<string, Micros[]>>();

  constructor(period: string, timeZone: string) {
    this.#period = period;
    this.#weeks = weeksOf(period, timeZone);
  }

  add(entry: LedgerEntry): void {
    const state = moneyStateOf(entry);
    if (state === 'released') return;
    this.#totals.add(state, entry);
    if (state === 'refunded' || state === 'in_doubt') return;
    const amount = microsOf(entry.amount);
    const shown = entry.isBlind === true ? { ...entry, model: IN_COMPARISON } : entry;
    this.#addRow(shown, amount);
    this.#addBar(shown, amount);
  }

  /** Returns the totals by currency, highest number of clips first. */
  get totals(): readonly SpendTotals[] {
    const all = [...this.#totals.currencies].map((currency): SpendTotals => {
      const sumOf = (...states: readonly MoneyState[]) => this.#totals.of(states, currency);
      const [spent, refunded, doubted] = [sumOf(...SPENT), sumOf('refunded'), sumOf('in_doubt')];
      return {
        currency,
        spent: amountOf(spent.amount),
        held: amountOf(sumOf('reserved').amount),
        awaited: amountOf(sumOf('awaiting_refund').amount),
        refunded: amountOf(refunded.amount),
        doubted: amountOf(doubted.amount),
        clips: spent.clips,
        refundedClips: refunded.clips,
        doubtedClips: doubted.clips,
      };
    });
    return all.sort((a, b) => b.clips - a.clips || (a.currency < b.currency ? -1 : 1));
  }

  /** Returns the report. @param skipped earlier months without one. */
  report(skipped: readonly string[] = []): SpendReport {
    const rows = [...this.#rows.values()].sort(
      (a, b) => Number(b.amount - a.amount) || (a.person.name < b.person.name ? -1 : 1),
    );
    return {
      kind: 'report',
      period: this.#period,
      totals: this.totals,
      rows: rows.slice(0, MAX_ROWS).map((row) => ({ ...row, amount: amountOf(row.amount) })),
      moreRows: Math.max(0, rows.length - MAX_ROWS),
      chart: this.#chart(),
      skipped,
    };
  }

  #addRow({ user, userName, model, currency }: LedgerEntry, amount: Micros): void {
    const key = `${user}\n${model}\n${currency}`;
    const row = this.#rows.get(key) ?? { person: { id: user, name: userName }, model, currency, amount: 0n, clips: 0 };
    row.amount += amount;
    row.clips += 1;
    this.#rows.set(key, row);
  }

  #addBar({ model, currency, createdAtMs }: LedgerEntry, amount: Micros): void {
    const models = this.#bars.get(currency) ?? new Map<string, Micros[]>();
    this.#bars.set(currency, models);
    const bars = models.get(model) ?? this.#weeks.map(() => 0n);
    models.set(model, bars);
    // A purchase just before midnight may count in the next month, and the other way round.
    const week = this.#weeks.findIndex(({ endMs }) => createdAtMs < endMs);
    const at = week < 0 ? this.#weeks.length - 1 : week;
    bars[at] = (bars[at] ?? 0n) + amount;
  }

  /** Returns the chart of the currency with the most clips; `null` where nothing was spent. */
  #chart(): BarChart | null {
    const [{ currency, clips } = { currency: '', clips: 0 }] = this.totals;
    const models = [...(this.#bars.get(currency) ?? [])].sort(
      ([one, a], [other, b]) => Number(sum(b) - sum(a)) || (one < other ? -1 : 1),
    );
    if (clips === 0 || models.every(([, bars]) => sum(bars) === 0n)) return null;
    const own = models.length > MAX_SERIES + 1 ? models.slice(0, MAX_SERIES) : models;
    const others = models.slice(own.length).map(([, bars]) => bars);
    const series = own.map(([name, bars]) => ({ name, bars }));
    if (others.length > 0) {
      series.push({ name: OTHER_MODELS, bars: this.#weeks.map((_, at) => sum(others.map((bars) => bars[at] ?? 0n))) });
    }
    const names = labelsOf(series.map(({ name }) => name));
    return {
      title: `${monthName(this.#period, 'long')} by week, ${currency}`,
      categories: this.#weeks.map(({ label }) => label),
      series: series.map(({ bars }, at) => ({ name: names[at] ?? '', values: bars.map(amountOf) })),
      currency,
    };
  }
}

/** Seven days of a month, or the rest of them. */
interface Week {
  /** Such as `8–14 Oct`. */
  readonly label: string;
  /** First moment after it. */
  readonly endMs: number;
}

function weeksOf(period: string, timeZone: string): readonly Week[] {
  const days = daysIn(period);
  const month = monthName(period, 'short');
  return Array.from({ length: Math.ceil(days / WEEK_DAYS) }, (_, at) => {
    const [from, to] = [at * WEEK_DAYS + 1, Math.min(days, (at + 1) * WEEK_DAYS)];
    const endMs = to === days ? endOfPeriod(period, timeZone) : startOfDay(`${period}-${twoDigits(to + 1)}`, timeZone);
    return { label: `${from === to ? from : `${from}–${to}`} ${month}`, endMs };
  });
}

function daysIn(period: string): number {
  const [year = 0, month = 0] = period.split('-').map(Number);
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function monthName(period: string, month: 'long' | 'short'): string {
  return new Date(`${period}-01T00:00:00Z`).toLocaleString('en', { month, timeZone: 'UTC' });
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

function sum(amounts: readonly Micros[]): Micros {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/** Shortens names to the length of a label, each to a different one. */
function labelsOf(names: readonly string[]): readonly string[] {
  const labels: string[] = [];
  for (const name of names) {
    const short = name.slice(0, LABEL_LENGTH).toWellFormed();
    const isTaken = labels.includes(short);
    labels.push(isTaken ? `${short.slice(0, LABEL_LENGTH - 3)} ${labels.length + 1}` : short);
  }
  return labels;
}
