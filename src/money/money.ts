import type { Clock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import { collection, type Store, usedBeyondExtra, type Versioned } from '../engine/index.ts';
import { periodOf } from '../period.ts';
import { amountOf, type Price, type Refunds, type SpendOrigin, type Task } from '../tasks/index.ts';
import {
  type Actor,
  Approvers,
  type AuditEntry,
  AuditTrail,
  type AuditValue,
  noteFact,
  TeamSettingsRepository,
  textFact,
} from '../teams/index.ts';
import { BudgetRepository } from './budgets.ts';
import { CarriedSpend } from './carried-spend.ts';

/** Settings, budgets and approvers of the teams, with the log of their changes. */
export interface Money {
  readonly audit: AuditTrail;
  readonly settings: TeamSettingsRepository;
  readonly budgets: BudgetRepository;
  readonly approvers: Approvers;
  /** What forgotten people used of their budgets in the running month. */
  readonly carried: CarriedSpend;
  /** Makes the sums of budgets include what the person of an order had used in this month before being forgotten. */
  readonly restoreSpend: (origin: SpendOrigin) => Promise<void>;
  /** Sets the budget of the deployment, and logs what has changed in the environment since the last start. */
  readonly applyEnvironment: (environment: Environment) => Promise<void>;
  /**
   * Returns what a task's team has left of its budget this month, in the task's currency; `null` without a limit in it.
   * Rejects with `store_unavailable`.
   */
  readonly leftFor: (task: Pick<Task, 'price'> & { readonly origin: SpendOrigin }) => Promise<Price | null>;
}

/** Settings of the environment whose changes are logged. */
type Environment = Pick<Config, 'budgetPerMonth' | 'admins' | 'refunds'>;

/** Creates the settings, budgets and approvers on a store. */
export function createMoney({ store, clock }: { readonly store: Store; readonly clock: Clock }): Money {
  const audit = new AuditTrail(store, clock);
  const settings = new TeamSettingsRepository(store, audit);
  const budgets = new BudgetRepository({ store, audit });
  const carried = new CarriedSpend({ store, clock });
  return {
    audit,
    settings,
    budgets,
    approvers: new Approvers({ store, audit, clock }),
    carried,
    restoreSpend: carried.restore,
    applyEnvironment: async ({ budgetPerMonth, ...environment }) => {
      await budgets.setDeployment(budgetPerMonth);
      await logEnvironment(environment, { store, audit });
    },
    leftFor: async ({ origin, price: { currency } }) => {
      const { timeZone } = await settings.get(origin);
      const limits = await budgets.limits(origin, { period: periodOf(clock.now(), timeZone), currency });
      const team = limits.find(({ scope }) => scope === 'team');
      if (team?.hard === undefined) return null;
      const left = team.hard - usedBeyondExtra(team.spend);
      return { amount: amountOf(left > 0n ? left : 0n), currency };
    },
  };
}

/** Environment at the last start, in the namespace `settings`. */
interface EnvironmentRecord extends Versioned {
  /** As in `ADMINS`, sorted. */
  readonly admins: readonly string[];
  readonly refunds: Refunds;
}

/** What the environment said at the last start. */
const environments = collection<'environment', EnvironmentRecord>({
  name: 'environment',
  holds: 'the persons named in `ADMINS` at the last start, whose changes the audit log shows',
  kept: 'kept; one who is taken out of `ADMINS` goes with the next start',
  personal: { byOwner: true },
});

/** Environment before the first start. */
const UNSET: EnvironmentRecord = { revision: 0, admins: [], refunds: 'assumed' };
const OPERATOR: Actor = { person: null, surface: 'environment' };

/** Logs each change of `ADMINS` and `REFUNDS` once, on the first replica that starts with it. */
async function logEnvironment(
  { admins, refunds }: Pick<Environment, 'admins' | 'refunds'>,
  { store, audit }: { readonly store: Store; readonly audit: AuditTrail },
): Promise<void> {
  const named = [...new Set(admins.map(({ platform, user }) => `${platform}:${user}`))].sort();
  await audit.commitAudited('deployment', OPERATOR, async () => {
    const record = await environments.get(store, 'environment');
    const before = record ?? UNSET;
    const entries = [
      ...changeOf('ADMINS', before.admins.map(noteFact), named.map(noteFact)),
      ...changeOf('REFUNDS', [textFact(before.refunds)], [textFact(refunds)]),
    ];
    const change = { records: [environments.replacing('environment', record, { admins: named, refunds })] };
    return { change, entries, result: undefined };
  });
}

/** Returns the entry of a changed variable; none where it is the same. */
function changeOf(name: string, before: readonly AuditValue[], after: readonly AuditValue[]): readonly AuditEntry[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ action: 'environment', subject: [textFact(name)], before, after }];
}
