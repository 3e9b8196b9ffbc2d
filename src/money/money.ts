import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { amountOf } from '../tasks/amount.ts';
import type { Origin, Price, Task } from '../tasks/task.ts';
import { AuditTrail } from './audit.ts';
import { BudgetRepository } from './budgets.ts';
import { OlderReplicas } from './older-replicas.ts';
import { periodOf } from './period.ts';
import { type TeamKey, TeamSettingsRepository } from './team-settings.ts';

/** Settings and budgets of the teams, with the log of their changes. */
export interface Money {
  readonly audit: AuditTrail;
  readonly settings: TeamSettingsRepository;
  readonly budgets: BudgetRepository;
  /** Returns the month of a time in a team's time zone, such as `2026-11`. */
  readonly periodAt: (team: TeamKey, atMs: number) => Promise<string>;
  /**
   * Returns what a task's team has left of its budget this month, in the task's currency; `null` without a limit in it.
   * Rejects with `store_unavailable`.
   */
  readonly leftFor: (task: Pick<Task, 'price'> & { readonly origin: Ordered }) => Promise<Price | null>;
}

/** Place and person of an order. */
type Ordered = Pick<Origin, 'platform' | 'team' | 'channel' | 'user'>;

/** Creates the settings and budgets on a store. */
export function createMoney({ store, clock }: { readonly store: Store; readonly clock: Clock }): Money {
  const audit = new AuditTrail(store, clock);
  const settings = new TeamSettingsRepository(store, audit);
  const budgets = new BudgetRepository({ store, audit, older: new OlderReplicas(store) });
  const periodAt: Money['periodAt'] = async (team, atMs) => periodOf(atMs, (await settings.get(team)).timeZone);
  return {
    audit,
    settings,
    budgets,
    periodAt,
    leftFor: async ({ origin, price: { currency } }) => {
      const limits = await budgets.limits(origin, { period: await periodAt(origin, clock.now()), currency });
      const team = limits.find(({ scope }) => scope === 'team');
      if (team?.hard === undefined) return null;
      const { held, settled, doubted, extra } = team.spend;
      const left = team.hard + extra - held - settled - doubted;
      return { amount: amountOf(left > 0n ? left : 0n), currency };
    },
  };
}
