import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { scheduleNext } from '../pipeline/next-job.ts';
import type { TaskRepository } from '../pipeline/repository.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { BudgetAmounts, Change, Store, SumWrite } from '../store/store.ts';
import { amountOf, type Micros, microsOf } from '../tasks/amount.ts';
import { type Declined, isExpired } from '../tasks/approval.ts';
import { stateIndex } from '../tasks/indexes.ts';
import { type BudgetLimit, limitsOn, type Purchase } from '../tasks/money.ts';
import { readTasks } from '../tasks/record-shape.ts';
import type { Person, Price, Task, TaskEvent } from '../tasks/task.ts';
import { Approvers } from './approvers.ts';
import type { AuditTrail } from './audit.ts';
import type { Actor, AuditEntry } from './audit-entry.ts';
import type { BudgetRepository } from './budgets.ts';
import type { OverBudget } from './over-budget.ts';
import { periodOf } from './period.ts';
import { type Pause, pauseAt, type TeamKey, type TeamSettingsRepository } from './team-settings.ts';

/** An approval, as an approver gives it by a button. */
export interface ApprovalPress {
  readonly by: Person;
  /** Price on the button. */
  readonly offered: Price;
  /** Price by the current catalog; `null` where it has no such model any more. */
  readonly current: Price | null;
  /** Amount that the approver grants beyond the budgets, by the button; 0: none. */
  readonly grant: Micros;
}

/** Outcome of a press on **Approve** or **Deny**. */
export type ApprovalOutcome =
  | { readonly kind: 'approved' | 'denied'; readonly task: Task }
  /** Someone has decided before, or the request has expired; nothing was changed. */
  | { readonly kind: 'decided'; readonly task: Task }
  /** The price has risen: nothing was bought, and the request has ended. */
  | { readonly kind: 'repriced'; readonly task: Task }
  /** The model is no longer offered; nothing was changed. */
  | { readonly kind: 'unavailable'; readonly task: Task }
  /** `missing`: what an approver may grant once; `null` where a budget is not theirs to exceed. Nothing was changed. */
  | { readonly kind: 'over'; readonly task: Task; readonly over: OverBudget; readonly missing: Micros | null }
  | { readonly kind: 'paused'; readonly task: Task; readonly pause: Pause };

/** Dependencies of {@link Approvals}. */
export interface ApprovalsOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly audit: AuditTrail;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  readonly budgets: Pick<BudgetRepository, 'assertEnforced'>;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Approvers of the teams, and their decisions. */
export interface ApprovalParts {
  readonly approvers: Approvers;
  readonly approvals: Approvals;
}

/** Creates the approvers and their decisions on a store. */
export function createApprovals(options: ApprovalsOptions): ApprovalParts {
  return { approvers: new Approvers(options), approvals: new Approvals(options) };
}

/** Largest number of requests of a team that are listed. */
const MAX_LISTED = 1_000;

/** Decisions on requests for approval. Who may decide is checked by the caller. Rejects with `store_unavailable`. */
export class Approvals {
  readonly #options: ApprovalsOptions;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /**
   * Approves a request: the task, the check of the limits, what the approver grants, and the entry in the audit log are
   * one commit. The first decision counts.
   */
  async approve(task: Task, press: ApprovalPress): Promise<ApprovalOutcome> {
    const { settings, clock } = this.#options;
    const atMs = clock.now();
    if (isExpired(task, atMs)) return this.#expire(task, atMs);
    if (task.state !== 'requested') return { kind: 'decided', task };
    const rules = await settings.get(task.origin);
    const pause = pauseAt(rules, atMs);
    if (pause !== null) return { kind: 'paused', task, pause };
    const { by, offered, current } = press;
    if (current === null) return { kind: 'unavailable', task };
    if (hasRisen(current, offered)) {
      const declined = { how: 'repriced', by, price: current, atMs } as const;
      const outcome = await this.#decline(task, declined, 'button');
      return outcome.kind === 'denied' ? { kind: 'repriced', task: outcome.task } : outcome;
    }
    await this.#options.budgets.assertEnforced(task.origin);
    const purchase: Purchase = { ...current, period: periodOf(atMs, rules.timeZone), atMs };
    return this.#buy(task, press, purchase);
  }

  /** Denies a request, with an entry in the audit log. @param reason shown to the requester; may be empty. */
  deny(task: Task, by: Person, reason: string): Promise<ApprovalOutcome> {
    const why = reason === '' ? {} : { reason };
    return this.#decline(task, { how: 'denied', by, ...why, atMs: this.#options.clock.now() }, 'form');
  }

  /** Returns a team's requests that wait for an approval, oldest first. */
  async waiting({ platform, team }: TeamKey): Promise<readonly Task[]> {
    const { store, clock } = this.#options;
    const entries = await store.scan(stateIndex('requested'), { order: 'oldest', limit: MAX_LISTED });
    const ids = entries.map(({ member }) => member);
    const tasks = await readTasks(store.keyv('tasks'), ids);
    return tasks.filter(
      ({ origin, ...task }) =>
        origin.platform === platform &&
        origin.team === team &&
        task.state === 'requested' &&
        !isExpired(task, clock.now()),
    );
  }

  async #buy(task: Task, { by, grant }: ApprovalPress, purchase: Purchase): Promise<ApprovalOutcome> {
    const { store, repository } = this.#options;
    const { period, atMs, amount, currency } = purchase;
    const limits = limitsOn(task.origin, purchase);
    const event: TaskEvent = { kind: 'approve', by, period, price: { amount, currency }, atMs };
    const actor: Actor = { person: by, surface: 'button' };
    const recorded = await repository.record(task.id, event, task, async (next) => {
      const missing = grant === 0n ? [] : await missingIn(store, limits, purchase);
      // A grant covers what its button names, and nothing that others have spent since.
      const isCovered = missing.every(({ micros }) => micros !== null && micros <= grant);
      const granted = isCovered ? missing : [];
      return {
        sums: granted.map(({ sum, micros }): SumWrite => ({ sum, add: { extra: micros ?? 0n } })),
        records: await this.#audited(next, actor, { text: 'approved', price: next.price, grant: mostOf(granted) }),
      };
    });
    if (recorded === undefined) return { kind: 'decided', task };
    if (recorded.over !== undefined) {
      const missing = await missingIn(store, limits, purchase);
      const isGrantable = missing.every(({ micros }) => micros !== null);
      const grantable = isGrantable ? mostOf(missing) : null;
      return { kind: 'over', task: recorded.task, over: recorded.over, missing: grantable };
    }
    return this.#decided(recorded, 'approved');
  }

  async #decline(task: Task, declined: Declined, surface: Actor['surface']): Promise<ApprovalOutcome> {
    const { by = null } = declined;
    const event: TaskEvent = { kind: 'decline', ...declined };
    const recorded = await this.#options.repository.record(task.id, event, task, async (next) => {
      const how = next.declined?.how ?? 'expired';
      // Its end by time is nobody's decision.
      if (how === 'expired') return {};
      const reason = declined.reason === undefined ? {} : { note: declined.reason };
      return {
        records: await this.#audited(next, { person: by, surface }, { text: how, price: next.price, ...reason }),
      };
    });
    return recorded === undefined ? { kind: 'decided', task } : this.#decided(recorded, 'denied');
  }

  async #expire(task: Task, atMs: number): Promise<ApprovalOutcome> {
    const recorded = await this.#options.repository.record(task.id, { kind: 'decline', how: 'expired', atMs });
    return { kind: 'decided', task: recorded?.task ?? task };
  }

  #decided(
    { done, task }: { readonly done: boolean; readonly task: Task },
    kind: 'approved' | 'denied',
  ): ApprovalOutcome {
    const { queue, clock, logger } = this.#options;
    // Also where another press decided: its process may have died before it scheduled anything.
    scheduleNext(queue, task, clock.now());
    if (!done || task.declined?.how === 'expired') return { kind: 'decided', task };
    logger.info({ event: 'approval_decision', task: task.id, decision: kind }, 'an approver decided on a request');
    return { kind, task };
  }

  #audited(
    task: Task,
    actor: Actor,
    { text, price, grant = 0n, note }: AuditedDecision,
  ): Promise<NonNullable<Change['records']>> {
    const granted: Price = { amount: amountOf(grant), currency: price.currency };
    const entry: AuditEntry = {
      action: 'approval',
      subject: [
        { kind: 'task', task: task.id },
        { kind: 'person', person: task.origin.user },
      ],
      before: [],
      after: [
        { kind: 'text', text },
        { kind: 'price', price },
        ...(grant === 0n
          ? []
          : [{ kind: 'text', text: 'granted' } as const, { kind: 'price', price: granted } as const]),
        ...(note === undefined ? [] : [{ kind: 'note', text: note } as const]),
      ],
    };
    return this.#options.audit.append(task.origin, actor, [entry]);
  }
}

interface AuditedDecision {
  readonly text: string;
  readonly price: Price;
  readonly grant?: Micros;
  readonly note?: string;
}

/** Amount that a purchase lacks in one sum; `null` where an approver cannot grant it. */
interface Missing {
  readonly sum: string;
  readonly micros: Micros | null;
}

/**
 * Returns what a purchase lacks within each of its limits. The deployment's budget is not the team's to exceed, and a
 * budget without an amount in the currency has no limit to exceed.
 */
async function missingIn(
  store: Pick<Store, 'keyv' | 'sums'>,
  limits: readonly BudgetLimit[],
  purchase: Purchase,
): Promise<readonly Missing[]> {
  const keys = limits.flatMap(({ budgets }) => budgets);
  const [sums, records] = await Promise.all([
    store.sums(limits.map(({ sum }) => sum)),
    store.keyv('budgets').getMany<BudgetAmounts>(keys),
  ]);
  const hardOf = new Map(keys.map((key, index) => [key, records[index]?.hard ?? {}]));
  return limits.flatMap(({ scope, sum, budgets }, index): readonly Missing[] => {
    const budget = budgets.find((key) => Object.keys(hardOf.get(key) ?? {}).length > 0);
    if (budget === undefined) return [];
    const limit = hardOf.get(budget)?.[purchase.currency];
    if (limit === undefined) return [{ sum, micros: null }];
    const { held = 0n, settled = 0n, doubted = 0n, extra = 0n } = sums[index] ?? {};
    const micros = held + settled + doubted + microsOf(purchase.amount) - extra - BigInt(limit);
    if (micros <= 0n) return [];
    return [{ sum, micros: scope === 'deployment' ? null : micros }];
  });
}

/** Returns the largest amount that is missing. */
function mostOf(missing: readonly Missing[]): Micros {
  return missing.reduce((most, { micros }) => (micros !== null && micros > most ? micros : most), 0n);
}

function hasRisen(one: Price, other: Price): boolean {
  return one.currency !== other.currency || microsOf(one.amount) > microsOf(other.amount);
}
