import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { scheduleNext } from '../pipeline/next-job.ts';
import type { TaskRepository } from '../pipeline/repository.ts';
import { NO_POLICY, rulesAt, valueRules } from '../policy/policy.ts';
import { type PolicyRefusal, policyRefusals } from '../policy/values.ts';
import type { WorkQueue } from '../queue/queue.ts';
import { pagesOf } from '../store/pages.ts';
import type { Change, Store } from '../store/store.ts';
import { amountOf, type Micros, microsOf } from '../tasks/amount.ts';
import { type Declined, isExpired } from '../tasks/approval.ts';
import { openIndex } from '../tasks/indexes.ts';
import { type Grant, limitsOn, type Purchase } from '../tasks/money.ts';
import { readTasks } from '../tasks/record-shape.ts';
import type { Person, Price, Task, TaskEvent } from '../tasks/task.ts';
import type { AuditTrail } from './audit.ts';
import type { Actor, AuditEntry } from './audit-entry.ts';
import type { BudgetRepository } from './budgets.ts';
import { exceededLimits, type OverBudget } from './over-budget.ts';
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
  | { readonly kind: 'paused'; readonly task: Task; readonly pause: Pause }
  /** The team's policy does not allow it any more; nothing was changed. */
  | { readonly kind: 'forbidden'; readonly task: Task; readonly refusals: readonly PolicyRefusal[] };

/** Dependencies of {@link Approvals}. */
export interface ApprovalsOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly audit: AuditTrail;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  readonly budgets: Pick<BudgetRepository, 'assertEnforced'>;
  readonly queue: WorkQueue;
  /** Rejects while clips cannot be stored: then nothing is approved. Default: never. */
  readonly assertWritable?: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

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
    const allowed = valueRules(rulesAt(rules.policy ?? NO_POLICY, task.origin));
    const refusals = policyRefusals(allowed, [task.request]);
    if (refusals.length > 0) return { kind: 'forbidden', task, refusals };
    const { by, offered, current } = press;
    if (current === null) return { kind: 'unavailable', task };
    if (hasRisen(current, offered)) {
      const declined = { how: 'repriced', by, price: current, atMs } as const;
      const outcome = await this.#decline(task, declined, 'button');
      return outcome.kind === 'denied' ? { kind: 'repriced', task: outcome.task } : outcome;
    }
    await Promise.all([this.#options.assertWritable?.(), this.#options.budgets.assertEnforced(task.origin)]);
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
    const waiting: Task[] = [];
    for await (const page of pagesOf(store, openIndex(platform, team))) {
      const ids = page.map(({ member }) => member);
      const open = await readTasks(store.keyv('tasks'), ids);
      waiting.push(...open.filter((task) => task.state === 'requested' && !isExpired(task, clock.now())));
    }
    return waiting;
  }

  async #buy(task: Task, { by, grant }: ApprovalPress, purchase: Purchase): Promise<ApprovalOutcome> {
    const { store, repository } = this.#options;
    const { period, atMs, amount, currency } = purchase;
    const lacking = async () => missingIn(await exceededLimits(store, limitsOn(task.origin, purchase), purchase));
    const missing = grant === 0n ? null : await lacking();
    // A grant covers what its button names, and nothing that others have spent since.
    const granted = missing === null || missing.most > grant || missing.most === 0n ? null : missing;
    const event: TaskEvent = {
      kind: 'approve',
      by,
      period,
      price: { amount, currency },
      ...(granted === null ? {} : { granted: granted.grant }),
      atMs,
    };
    const actor: Actor = { person: by, surface: 'button' };
    const recorded = await repository.record(task.id, event, task, async (next) => ({
      records: await this.#audited(next, actor, { text: 'approved', price: next.price, grant: granted?.most ?? 0n }),
    }));
    if (recorded === undefined) return { kind: 'decided', task };
    if (recorded.over !== undefined) {
      return { kind: 'over', task: recorded.task, over: recorded.over, missing: (await lacking())?.most ?? null };
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

/**
 * Returns what a purchase lacks within the limits that it exceeds, in each scope, and the largest of these amounts;
 * `null` where an approver cannot grant it: the deployment's budget is not the team's to exceed, and a budget without an
 * amount in the currency has no limit to exceed.
 */
function missingIn(exceeded: readonly OverBudget[]): { readonly grant: Grant; readonly most: Micros } | null {
  const isBarred = ({ scope, missingCurrency }: OverBudget): boolean =>
    scope === 'deployment' || missingCurrency === true;
  if (exceeded.some(isBarred)) return null;
  const missing = exceeded.map(({ scope, price, room }) => [scope, microsOf(price) - microsOf(room)] as const);
  return {
    grant: Object.fromEntries(missing.map(([scope, micros]) => [scope, amountOf(micros)])),
    // The first one has the least room.
    most: missing[0]?.[1] ?? 0n,
  };
}

function hasRisen(one: Price, other: Price): boolean {
  return one.currency !== other.currency || microsOf(one.amount) > microsOf(other.amount);
}
