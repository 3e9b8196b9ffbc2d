import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
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
}

/** Creates the settings and budgets on a store. */
export function createMoney({ store, clock }: { readonly store: Store; readonly clock: Clock }): Money {
  const audit = new AuditTrail(store, clock);
  const settings = new TeamSettingsRepository(store, audit);
  return {
    audit,
    settings,
    periodAt: async (team, atMs) => periodOf(atMs, (await settings.get(team)).timeZone),
    budgets: new BudgetRepository({ store, audit, older: new OlderReplicas(store) }),
  };
}
