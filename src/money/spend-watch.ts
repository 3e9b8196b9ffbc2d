import type { Clock } from '../clock.ts';
import { type Lease, OnOneReplica, type Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { Price, Refunds } from '../tasks/index.ts';
import { type AlertSettings, BudgetAlerts } from './alerts/budget-alerts.ts';
import { UnusualSpendAlerts } from './alerts/unusual-spend.ts';
import type { Notices, NoticeTeam } from './notices.ts';
import { MonthlyReports, type MonthlyReportsOptions } from './reports/monthly-reports.ts';
import { parseSumName, type SumName } from './sum-name.ts';

export interface WatchSettings extends AlertSettings {
  /** Least amount of a day that is reported as unusual; absent: none is. */
  readonly unusualSpend?: Price;
}

/** Options of {@link SpendWatch}. */
export interface SpendWatchOptions {
  readonly store: Store;
  readonly catalog: MonthlyReportsOptions['catalog'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly notices: Notices;
  readonly refunds: Refunds;
  readonly settings: (of: NoticeTeam) => Promise<WatchSettings>;
  /** Platforms on which the deployment's operators are notified. */
  readonly operatorsOn: readonly string[];
}

const SWEEP_EVERY_MS = 10 * 60_000;
/** Soon after a start: the process that ended may have left changes unchecked. */
const FIRST_SWEEP_MS = 5_000;
/** TTL of the lease: the time until another replica takes over from one that died. */
const LEASE_MS = 60_000;
/** Delay of an alert after the change that causes it: the changes of a burst are checked together. */
const CHECK_AFTER_MS = 2_000;

/**
 * Watches what is spent: alerts, monthly reports and their corrections. A replica checks the budgets of its own changes
 * within seconds; a sweep on one replica finds what a replica that died did not check, and the ends of months.
 */
export class SpendWatch {
  readonly #options: SpendWatchOptions;
  readonly #alerts: BudgetAlerts;
  readonly #unusual: UnusualSpendAlerts;
  readonly #reports: MonthlyReports;
  readonly #sweep: OnOneReplica;
  /** Sums that changed since the last check. */
  readonly #changed = new Set<string>();
  #checking: Promise<void> = Promise.resolve();

  constructor(options: SpendWatchOptions) {
    this.#options = options;
    const { store, clock } = options;
    this.#alerts = new BudgetAlerts(options);
    this.#unusual = new UnusualSpendAlerts(options);
    this.#reports = new MonthlyReports(options);
    this.#sweep = new OnOneReplica({
      leases: store.leases,
      clock,
      name: 'spend-watch',
      ttlMs: LEASE_MS,
      everyMs: SWEEP_EVERY_MS,
      run: (lease) => this.#run(lease),
      failed: (thrown) => this.#failed(thrown),
    });
  }

  start(): void {
    this.#sweep.start(FIRST_SWEEP_MS);
  }

  /** Waits for the work in flight. Changes that are not checked yet are found by the next sweep. */
  async stop(): Promise<void> {
    await this.#sweep.stop();
    await this.#checking;
  }

  /** Checks the budgets of these sums soon, such as those of a changed task. */
  sumsChanged(sums: readonly string[]): void {
    const isPlanned = this.#changed.size > 0;
    for (const sum of sums) this.#changed.add(sum);
    if (isPlanned || this.#changed.size === 0) return;
    this.#options.clock.after(CHECK_AFTER_MS, () => {
      this.#checking = this.#checking.then(() => this.#check());
    });
  }

  async #check(): Promise<void> {
    const sums = [...this.#changed];
    this.#changed.clear();
    await this.#alerts.check(sums).catch((thrown: unknown) => this.#failed(thrown));
  }

  async #run(lease: Lease): Promise<void> {
    const names: SumName[] = [];
    for await (const page of this.#options.store.contents.sums()) {
      names.push(...page.map(({ sum }) => parseSumName(sum)).filter((name) => name !== null));
    }
    // A failure of one team does not hold up the others.
    await this.#alerts.check(names.map(({ sum }) => sum)).catch((thrown: unknown) => this.#failed(thrown));
    const teams = Map.groupBy(
      names.filter(({ kind }) => kind === 'team'),
      ({ scope }) => scope,
    );
    for (const months of teams.values()) {
      if (!lease.isHeld()) return;
      await this.#checkTeam(months).catch((thrown: unknown) => this.#failed(thrown));
    }
  }

  async #checkTeam(months: readonly SumName[]): Promise<void> {
    const [first] = months;
    if (first === undefined) return;
    const of = { platform: first.platform, team: first.team };
    const { timeZone, unusualSpend } = await this.#options.settings(of);
    const periods = [...new Set(months.map(({ period }) => period))];
    await this.#reports.check({ of, timeZone, periods });
    if (unusualSpend !== undefined) await this.#unusual.check(of, timeZone, unusualSpend);
  }

  #failed(thrown: unknown): void {
    this.#options.logger.warn({ event: 'spend_watch_failed', err: thrown }, 'failed to check what was spent');
  }
}
