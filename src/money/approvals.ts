import type { Clock } from '../clock.ts';
import { type Change, pagesOf, type Store, type WorkQueue } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { periodOf } from '../period.ts';
import {
  exceededLimits,
  type FurtherWrites,
  type OverBudget,
  type RecordedAll,
  scheduleNext,
  type TaskRepository,
} from '../pipeline/index.ts';
import {
  amountOf,
  type Declined,
  type Grant,
  isAbove,
  isExpired,
  limitsOn,
  type Micros,
  microsOf,
  openIndex,
  orderIdOf,
  type Person,
  type Price,
  type Purchase,
  readTasks,
  type SpendScope,
  sumOf,
  type Task,
  type TaskEvent,
} from '../tasks/index.ts';
import {
  type Actor,
  type AuditEntry,
  type AuditTrail,
  noteFact,
  type Pause,
  pauseAt,
  priceFacts,
  refusedBy,
  settingsUnchanged,
  type TeamKey,
  type TeamSettingsRepository,
  textFact,
} from '../teams/index.ts';
import type { PolicyRefusal } from '../videos/index.ts';

/** Tasks of a request for approval, in their order: one, or all of a set, which are decided on together. */
export type ApprovalTasks = readonly [Task, ...(readonly Task[])];

/** An approval, as an approver gives it by a button. */
export interface ApprovalPress {
  readonly by: Person;
  readonly offered: Price;
  /** Price of each task by the current catalog, in their order; `null` where it no longer has the model of one. */
  readonly current: readonly Price[] | null;
  /** Amount that the approver grants beyond the budgets, by the button; 0: none. */
  readonly grant: Micros;
}

/** Outcome of a press on **Approve** or **Deny**. */
export type ApprovalOutcome = { readonly tasks: ApprovalTasks } & (
  | { readonly kind: 'approved' | 'denied' }
  /** Someone has decided before, or the request has expired; nothing was changed. */
  | { readonly kind: 'decided' }
  /** The price has risen: nothing was bought, and the request has ended. */
  | { readonly kind: 'repriced' }
  /** The model is no longer offered; nothing was changed. */
  | { readonly kind: 'unavailable' }
  /** `missing`: what an approver may grant once; `null` where a budget is not theirs to exceed. Nothing was changed. */
  | { readonly kind: 'over'; readonly over: OverBudget; readonly missing: Micros | null }
  | { readonly kind: 'paused'; readonly pause: Pause }
  /** The team's policy does not allow it any more; nothing was changed. */
  | { readonly kind: 'forbidden'; readonly refusals: readonly PolicyRefusal[] }
);

/** Dependencies of {@link Approvals}. */
interface ApprovalsOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly audit: AuditTrail;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
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
   * Approves a request: its tasks, the check of the limits, what the approver grants, and the entry in the audit log are
   * one commit. The first decision counts.
   */
  async approve(tasks: ApprovalTasks, press: ApprovalPress): Promise<ApprovalOutcome> {
    const { settings, clock } = this.#options;
    const atMs = clock.now();
    const [task] = tasks;
    if (isExpired(task, atMs)) return this.#expire(tasks, atMs);
    if (tasks.some(({ state }) => state !== 'requested')) return { kind: 'decided', tasks };
    const rules = await settings.get(task.origin);
    const pause = pauseAt(rules, atMs);
    if (pause !== null) return { kind: 'paused', tasks, pause };
    const requests = tasks.map(({ request }) => request);
    const refusals = refusedBy(rules, task.origin, requests);
    if (refusals.length > 0) return { kind: 'forbidden', tasks, refusals };
    const { by, offered, current } = press;
    const price = current === null ? undefined : sumOf(current);
    if (current === null || price === undefined) return { kind: 'unavailable', tasks };
    const priceOf = new Map(tasks.map(({ id }, at) => [id, current[at] ?? price]));
    if (price.currency !== offered.currency || isAbove(price, offered)) {
      const declined = { how: 'repriced', by, atMs } as const;
      const repriced = ({ id }: Task): Declined => ({ ...declined, price: priceOf.get(id) ?? price });
      const outcome = await this.#decline(tasks, declined, 'button', repriced);
      return outcome.kind === 'denied' ? { kind: 'repriced', tasks: outcome.tasks } : outcome;
    }
    await this.#options.assertWritable?.();
    const purchase: Purchase = { ...price, period: periodOf(atMs, rules.timeZone), atMs };
    const prices = tasks.map(({ id }) => priceOf.get(id) ?? price);
    const outcome = await this.#buy(tasks, press, {
      purchase,
      prices,
      judgedBy: [settingsUnchanged(task.origin, rules)],
    });
    // The settings have changed since: they are judged by as they are now.
    return outcome ?? this.approve(tasks, press);
  }

  /** Denies a request, with an entry in the audit log. @param reason shown to the requester; may be empty. */
  deny(tasks: ApprovalTasks, by: Person, reason: string): Promise<ApprovalOutcome> {
    const why = reason === '' ? {} : { reason };
    return this.#decline(tasks, { how: 'denied', by, ...why, atMs: this.#options.clock.now() }, 'form');
  }

  /** Returns a team's requests that wait for an approval, oldest first. */
  async waiting({ platform, team }: TeamKey): Promise<readonly ApprovalTasks[]> {
    const { store, clock } = this.#options;
    const waiting: Task[] = [];
    for await (const page of pagesOf(store, openIndex(platform, team))) {
      const ids = page.map(({ member }) => member);
      const open = await readTasks(store, ids);
      waiting.push(...open.filter((task) => task.state === 'requested' && !isExpired(task, clock.now())));
    }
    return byRequest(waiting);
  }

  /** Buys the tasks of a request. @returns `null`, without a change, where a record that it was judged by has changed */
  async #buy(
    tasks: ApprovalTasks,
    { by, grant }: ApprovalPress,
    { purchase, prices, judgedBy }: BuyOptions,
  ): Promise<ApprovalOutcome | null> {
    const { store } = this.#options;
    const { period, atMs } = purchase;
    const [{ origin }] = tasks;
    const lacking = async () => missingIn(await exceededLimits(store, limitsOn(origin, purchase), purchase));
    const missing = grant === 0n ? null : await lacking();
    // A grant covers what its button names, and nothing that others have spent since.
    const granted = missing === null || missing.most > grant || missing.most === 0n ? null : missing;
    const grants = granted === null ? [] : divided(granted.grant, prices);
    const eventOf = ({ id }: Task): TaskEvent => {
      const at = tasks.findIndex((task) => task.id === id);
      const part = grants[at];
      const given = part === undefined || Object.keys(part).length === 0 ? {} : { granted: part };
      return { kind: 'approve', by, period, price: prices[at] ?? purchase, ...given, atMs };
    };
    const actor: Actor = { person: by, surface: 'button' };
    const recorded = await this.#record(tasks, eventOf, async (next) => ({
      records: await this.#audited(next, actor, { text: 'approved', grant: granted?.most ?? 0n }),
      judgedBy,
    }));
    if (recorded.outdated === true) return null;
    if (recorded.over === undefined) return this.#decided(recorded, 'approved');
    return { kind: 'over', tasks: recorded.tasks, over: recorded.over, missing: (await lacking())?.most ?? null };
  }

  async #decline(
    tasks: ApprovalTasks,
    declined: Declined,
    surface: Actor['surface'],
    declinedOf: (task: Task) => Declined = () => declined,
  ): Promise<ApprovalOutcome> {
    const { by = null } = declined;
    const recorded = await this.#record(
      tasks,
      (task) => ({ kind: 'decline', ...declinedOf(task) }),
      async (next) => {
        const how = next[0].declined?.how ?? 'expired';
        // Its end by time is no one's decision.
        if (how === 'expired') return {};
        const reason = declined.reason === undefined ? {} : { note: declined.reason };
        return { records: await this.#audited(next, { person: by, surface }, { text: how, ...reason }) };
      },
    );
    return this.#decided(recorded, 'denied');
  }

  async #expire(tasks: ApprovalTasks, atMs: number): Promise<ApprovalOutcome> {
    const recorded = await this.#record(tasks, () => ({ kind: 'decline', how: 'expired', atMs }));
    return { kind: 'decided', tasks: recorded.tasks };
  }

  async #record(
    tasks: ApprovalTasks,
    eventOf: (task: Task) => TaskEvent,
    also: (next: ApprovalTasks) => Promise<FurtherWrites> = async () => ({}),
  ): Promise<Omit<RecordedAll, 'tasks'> & { readonly tasks: ApprovalTasks }> {
    const ids = tasks.map(({ id }) => id);
    const recorded = await this.#options.repository.recordAll(ids, eventOf, async (next) =>
      isSome(next) ? also(next) : {},
    );
    return { ...recorded, tasks: isSome(recorded.tasks) ? recorded.tasks : tasks };
  }

  #decided(
    { done, tasks }: { readonly done: boolean; readonly tasks: ApprovalTasks },
    kind: 'approved' | 'denied',
  ): ApprovalOutcome {
    const { queue, clock, logger } = this.#options;
    // Also where another press decided: its process may have died before it scheduled anything.
    for (const task of tasks) scheduleNext(queue, task, clock.now());
    const [task] = tasks;
    if (!done || task.declined?.how === 'expired') return { kind: 'decided', tasks };
    const about = { event: 'approval_decision', task: task.id, tasks: tasks.length, decision: kind };
    logger.info(about, 'an approver decided on a request');
    return { kind, tasks };
  }

  #audited(
    [task, ...others]: ApprovalTasks,
    actor: Actor,
    { text, grant = 0n, note }: AuditedDecision,
  ): Promise<NonNullable<Change['records']>> {
    const price = sumOf([task, ...others].map((one) => one.price)) ?? task.price;
    const granted = grant === 0n ? undefined : { amount: amountOf(grant), currency: price.currency };
    const entry: AuditEntry = {
      action: 'approval',
      subject: [
        { kind: 'task', task: task.id },
        { kind: 'person', person: task.origin.user },
      ],
      after: [
        textFact(text),
        ...priceFacts(price),
        ...(granted === undefined ? [] : [textFact('granted'), ...priceFacts(granted)]),
        ...(note === undefined ? [] : [noteFact(note)]),
      ],
    };
    return this.#options.audit.append(task.origin, actor, [entry]);
  }
}

interface BuyOptions extends Required<Pick<FurtherWrites, 'judgedBy'>> {
  readonly purchase: Purchase;
  /** Price of each task, in their order. */
  readonly prices: readonly Price[];
}

interface AuditedDecision {
  readonly text: string;
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

/** Groups tasks that wait by their request, in the order of their first ones. */
function byRequest(tasks: readonly Task[]): readonly ApprovalTasks[] {
  const requests = Map.groupBy(tasks, orderIdOf).values();
  const sorted = [...requests].map((request): readonly Task[] =>
    request.toSorted((one, other) => (one.set?.at ?? 1) - (other.set?.at ?? 1)),
  );
  return sorted.filter(isSome);
}

function isSome(tasks: readonly Task[]): tasks is ApprovalTasks {
  return tasks.length > 0;
}

/**
 * Divides a grant among the tasks of a request: each one gets up to its price, so that its refund ends what it was
 * granted, and the last one the rest.
 */
function divided(grant: Grant, prices: readonly Price[]): readonly Grant[] {
  const left = new Map((Object.keys(grant) as SpendScope[]).map((scope) => [scope, microsOf(grant[scope] ?? '0')]));
  return prices.map(({ amount }, at) => {
    const parts = [...left].map(([scope, rest]) => {
      const part = at === prices.length - 1 || rest < microsOf(amount) ? rest : microsOf(amount);
      left.set(scope, rest - part);
      return [scope, part] as const;
    });
    const some = parts.filter(([, part]) => part > 0n);
    return Object.fromEntries(some.map(([scope, part]) => [scope, amountOf(part)]));
  });
}
