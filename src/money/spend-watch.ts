import type { Job, JobRun, Store } from '../engine/index.ts';
import { daysUntil, previousPeriod } from '../period.ts';
import { ledgerPages } from '../pipeline/index.ts';
import { amountOf, type Micros, microsOf, type Price } from '../tasks/index.ts';
import type { TeamKey } from '../teams/index.ts';
import { alertOfBudgets } from './alerts/budget-alerts.ts';
import type { AlertDeps } from './notices.ts';
import { reportMonths } from './reports/monthly-reports.ts';
import { moneyStateOf } from './reports/spend-groups.ts';
import { parseSumName, type SumName } from './sum-name.ts';

/** Delay of an alert after the change that causes it: the changes of a burst are checked together. */
const CHECK_AFTER_MS = 2_000;

/**
 * Watches what is spent: alerts, monthly reports and their corrections. A replica checks the budgets of its own changes
 * within seconds; a sweep on one replica finds what a replica that died did not check, and the ends of months.
 */
export class SpendWatch {
  readonly job: Job = {
    name: 'spend_watch',
    everyMs: 10 * 60_000,
    // The process that ended may have left changes unchecked.
    firstInMs: 5_000,
    leaseMs: 60_000,
    run: (run) => this.#run(run),
  };
  readonly #deps: AlertDeps;
  /** Sums that changed since the last check. */
  readonly #changed = new Set<string>();
  #checking: Promise<void> = Promise.resolve();

  constructor(deps: AlertDeps) {
    this.#deps = deps;
  }

  /** Waits for a check in flight. Changes that are not checked yet are found by the next sweep. */
  stop(): Promise<void> {
    return this.#checking;
  }

  /** Checks the budgets of these sums soon, such as those of a changed task. */
  sumsChanged(sums: readonly string[]): void {
    const isPlanned = this.#changed.size > 0;
    for (const sum of sums) this.#changed.add(sum);
    if (isPlanned || this.#changed.size === 0) return;
    this.#deps.clock.after(CHECK_AFTER_MS, () => {
      this.#checking = this.#checking.then(() => this.#check());
    });
  }

  async #check(): Promise<void> {
    const sums = [...this.#changed];
    this.#changed.clear();
    await alertOfBudgets(this.#deps, sums).catch((thrown: unknown) => {
      const event = 'spend_watch_failed';
      this.#deps.logger.warn({ event, err: thrown }, 'failed to check the budgets of a change');
    });
  }

  async #run(run: JobRun): Promise<void> {
    const names: SumName[] = [];
    for await (const page of this.#deps.store.contents.sums()) {
      names.push(...page.map(({ sum }) => parseSumName(sum)).filter((name) => name !== null));
    }
    await run.attempt(() =>
      alertOfBudgets(
        this.#deps,
        names.map(({ sum }) => sum),
      ),
    );
    const teams = Map.groupBy(
      names.filter(({ kind }) => kind === 'team'),
      ({ scope }) => scope,
    );
    for (const months of teams.values()) {
      if (!run.isActive()) return;
      await run.attempt(() => this.#checkTeam(months));
    }
  }

  async #checkTeam(months: readonly SumName[]): Promise<void> {
    const [first] = months;
    if (first === undefined) return;
    const of = { platform: first.platform, team: first.team };
    const { timeZone, unusualSpend } = await this.#deps.settings(of);
    const periods = [...new Set(months.map(({ period }) => period))];
    await reportMonths(this.#deps, { of, timeZone, periods });
    if (unusualSpend !== undefined) await alertOfUnusualSpend(this.#deps, { of, timeZone, floor: unusualSpend });
  }
}

const DAYS = 14;
/** Days with spend that make a median usable. */
const MIN_DAYS = 3;
/** Multiple of the median from which on a day is unusual. */
const FACTOR = 3n;

/**
 * Alerts a team, at most once a day, when the day's spend is far above that of the days before.
 * @param floor least amount that is reported.
 * @throws `store_unavailable`
 */
async function alertOfUnusualSpend(
  { store, clock, notices }: AlertDeps,
  { of, timeZone, floor }: { readonly of: TeamKey; readonly timeZone: string; readonly floor: Price },
): Promise<void> {
  const days = daysUntil(clock.now(), DAYS, timeZone);
  const [[today] = ['']] = days;
  const { currency } = floor;
  const { amounts, clips } = await spendByDay(store, { of, days, currency });
  const [amount = 0n, ...before] = amounts;
  const usable = before.filter((one) => one > 0n);
  const usual = medianOf(usable);
  if (usable.length < MIN_DAYS || amount < microsOf(floor.amount) || amount < FACTOR * usual) return;
  const notice = { day: today, currency, amount: amountOf(amount), clips, usual: amountOf(usual) };
  const key = ['unusual', of.platform, of.team, today];
  await store.commit(notices.claim({ key, of, to: { kind: 'team' }, notice: { kind: 'unusual_spend', ...notice } }));
}

/** Returns the amounts of today and of each day before it, latest first, and the number of today's clips. */
async function spendByDay(
  store: Store,
  { of, days, currency }: { of: TeamKey; days: ReturnType<typeof daysUntil>; currency: string },
): Promise<{ readonly amounts: readonly Micros[]; readonly clips: number }> {
  const starts = days.map(([, startMs]) => startMs);
  const amounts: Micros[] = starts.map(() => 0n);
  let clips = 0;
  const month = days[0]?.[0].slice(0, 7) ?? '';
  const oldestMs = starts.at(-1) ?? 0;
  for (const period of [previousPeriod(month), month]) {
    for await (const entries of ledgerPages(store, of, period, { min: oldestMs })) {
      for (const entry of entries) {
        const state = moneyStateOf(entry);
        if (entry.currency !== currency || state === 'refunded' || state === 'released') continue;
        const back = starts.findIndex((startMs) => entry.createdAtMs >= startMs);
        if (back < 0) continue;
        amounts[back] = (amounts[back] ?? 0n) + microsOf(entry.amount);
        if (back === 0) clips += 1;
      }
    }
  }
  return { amounts, clips };
}

/** Returns the median, of an even number the mean of the middle two; 0 for none. */
function medianOf(amounts: readonly Micros[]): Micros {
  const sorted = [...amounts].sort((a, b) => Number(a - b));
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0n;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0n) + upper) / 2n;
}
