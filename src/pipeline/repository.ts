import {
  type Attempt,
  atMost,
  type Change,
  commitWithRetries,
  merged,
  type RecordWrite,
  type Store,
  type Versioned,
} from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import {
  type BudgetLimit,
  boundsOf,
  type LimitReached,
  limitsOn,
  NO_LIMITS,
  numbered,
  type Purchase,
  readTask,
  readTasks,
  recount,
  roomWithin,
  rootOf,
  type SetPlace,
  type Task,
  type TaskEvent,
  type TaskId,
  toChange,
  total,
  transition,
} from '../tasks/index.ts';
import type { UpstreamId, VideoRequest } from '../videos/index.ts';
import { exceededLimits, type OverBudget } from './over-budget.ts';
import { memberIds } from './task-ids.ts';
import { type ServiceKey, UpstreamIds } from './upstream-ids.ts';

/** Observes tasks. Called after the commit; must not throw. */
export interface TaskObserver {
  /** Called with a new task (`before` is null), or one that an event changed. */
  changed(task: Task, event: TaskEvent['kind'] | 'claimed', before: Task | null): void;
}

export interface Recorded {
  /** `false` when the event did not count in the task's state, or is a purchase over a budget. */
  readonly done: boolean;
  readonly task: Task;
  /** The budget that the purchase would exceed. */
  readonly over?: OverBudget;
  /** A record that it was judged by has changed (`FurtherWrites.judgedBy`): nothing was stored. */
  readonly outdated?: true;
}

/** Outcome of an event of several tasks. */
export interface RecordedAll extends Omit<Recorded, 'task'> {
  /** The current tasks, in their order, without missing ones. */
  readonly tasks: readonly Task[];
}

type Claim =
  /** The tasks are new; `task` is the first one. */
  | { readonly kind: 'taken'; readonly task: Task; readonly tasks: readonly Task[] }
  /** A task of that id exists; `task` is its current record. */
  | { readonly kind: 'known'; readonly task: Task }
  /** No such task exists, and a limit is reached, or the price is over a budget. */
  | ({ readonly kind: 'refused' } & Refusal);

/** Reason for refusing a new task. */
export type Refusal =
  | { readonly limit: LimitReached }
  | { readonly over: OverBudget }
  /** A record that it was judged by has changed. */
  | { readonly outdated: true }
  /** Nothing refuses it now, but its requester was not asked (`Order.isUnasked`). */
  | { readonly isUnasked: true };

/** Conditions of a claim. */
interface ClaimOptions {
  /** As in `Order.isUnasked`: stores nothing, and only returns why. Default: false. */
  readonly isUnasked?: boolean | undefined;
  /** Records that the order was judged by, as they were read: the commit compares them. Default: none. */
  readonly judgedBy?: readonly RecordWrite[];
}

/** Events by which a person adds spend: only these are refused over a budget. */
const PURCHASES: ReadonlySet<TaskEvent['kind']> = new Set(['resubmit', 'approve']);

/** Events of a request for approval: they count for all tasks of its set. */
const DECISIONS: ReadonlySet<TaskEvent['kind']> = new Set(['approve', 'decline', 'remind', 'cancel']);

/** What is committed with an event. */
export interface FurtherWrites {
  /** Further writes, such as an entry of an audit log. Default: none. */
  readonly records?: readonly RecordWrite[];
  /** Records that the event was judged by, as they were read: the commit compares them. Default: none. */
  readonly judgedBy?: readonly RecordWrite[];
}

/** Compare-and-set attempts before giving up. */
const MAX_TRIES = 100;

/** Reads the records of tasks, and is the only way to write them. */
export class TaskRepository {
  readonly #store: Store;
  readonly #upstreamIds: UpstreamIds;
  readonly #observers: TaskObserver[] = [];

  /** @param keyOf identifies a video service, such as by its base URL: ids of two services may be the same. */
  constructor(store: Store, keyOf: ServiceKey = () => '') {
    this.#store = store;
    this.#upstreamIds = new UpstreamIds(store, keyOf);
  }

  /** Adds an observer, called after each write, in the order of subscription. */
  subscribe(observer: TaskObserver): void {
    this.#observers.push(observer);
  }

  get(id: TaskId): Promise<Task | undefined> {
    return readTask(this.#store, id);
  }

  /** @param request one of the service that gave the id. */
  holderOf(upstreamId: UpstreamId, request: Pick<VideoRequest, 'service'>): Promise<TaskId | undefined> {
    return this.#upstreamIds.holder(upstreamId, request);
  }

  /**
   * Stores the tasks of one order, all of them or none, unless one of the first one's id exists, a limit is reached or the
   * price is over a budget. Atomic: concurrent claims, on any number of replicas, exceed no limit. They count as one towards
   * the limits on the number of tasks. The first one guards the others: no other order has their ids.
   * @param limits Default: none on the number of tasks.
   */
  async claim(
    claimed: readonly Task[],
    limits = NO_LIMITS,
    { isUnasked = false, judgedBy = [] }: ClaimOptions = {},
  ): Promise<Claim> {
    const [first] = claimed;
    if (first === undefined) throw new TypeError('claiming an order without a task');
    const counted = claimed.map(recount);
    const purchases = purchasesOf(counted);
    const original = first.retryOf === undefined ? undefined : await this.get(first.retryOf);
    const root = original === undefined ? (first.retryOf ?? null) : rootOf(original);
    let bounds = boundsOf(limits, first);
    /** Returns why no task is claimed, or `undefined` where nothing refuses it now, with the bounds of the next try. */
    const refused = async (): Promise<Claim | undefined> => {
      const known = await this.get(first.id);
      if (known !== undefined) return { kind: 'known', task: known };
      if (await this.#isOutdated(judgedBy)) return { kind: 'refused', outdated: true };
      const room = await roomWithin(this.#store, boundsOf(limits, first), first.createdAtMs);
      if ('reached' in room) return { kind: 'refused', limit: room.reached };
      bounds = room.bounds;
      const over = await this.#firstExceeded(purchases);
      // None: another task has ended or another version was claimed meanwhile, or a budget was raised.
      return over === null ? undefined : { kind: 'refused', over };
    };
    if (isUnasked) return (await refused()) ?? { kind: 'refused', isUnasked };
    const attempt = async (): Promise<Attempt<Claim>> => {
      const { tasks, ...versions } = await numbered(this.#store, counted, root);
      const changes = tasks.map((task) => toChange(null, task));
      return {
        change: {
          ...changeOf(changes, { judgedBy }, purchases),
          bounds: [...bounds.map(({ bound }) => bound), ...versions.bounds],
        },
        result: { kind: 'taken', task: tasks[0] ?? first, tasks },
        committed: () => {
          for (const task of tasks) this.#notify(task, 'claimed', null);
        },
        refused,
      };
    };
    const giveUp = () => {
      const doing = `claiming task ${first.id}: its record is there and cannot be read`;
      throw new DailiesError(doing, { code: 'internal', retryable: false });
    };
    return commitWithRetries(this.#store, attempt, { tries: MAX_TRIES, giveUp });
  }

  /**
   * Applies an event to the current record of a task: after a concurrent change, the event is judged again by the new
   * state. An `accepted` with an id that another task holds is recorded as `lost`, with the failure `id_taken`. A decision
   * on a requested task of a set is one on all of them.
   * @param known the record as the caller read or wrote it last: it is read again only if it has changed.
   * @param also returns further writes for the same commit; called again after a concurrent change.
   * @returns undefined when no such task exists.
   * @throws `id_taken` when another task holds the id that a user enters; `overloaded` when every attempt met another
   * change, or a record of `also` is damaged.
   */
  async record(
    id: TaskId,
    event: TaskEvent,
    known?: Task,
    also: (next: Task) => Promise<FurtherWrites> = async () => ({}),
  ): Promise<Recorded | undefined> {
    try {
      const first = known ?? (await this.get(id));
      if (first?.set !== undefined && first.state === 'requested' && DECISIONS.has(event.kind)) {
        const recorded = await this.#recordInSet(first, first.set, event, also);
        if (recorded !== null) return recorded;
      }
      // `known` may be stale: where the event does not count in it, only the current record shows whether it does.
      const isStale = known !== undefined && transition(known, event) === null;
      const attempt = async (number: number) =>
        this.#attempt(number === 1 && !isStale ? first : await this.get(id), event, { also, number });
      return await commitWithRetries(this.#store, attempt, atMost(MAX_TRIES, `recording ${event.kind} of task ${id}`));
    } catch (thrown) {
      const isTaken = thrown instanceof DailiesError && thrown.code === 'id_taken';
      if (!isTaken || event.kind !== 'accepted') throw thrown;
      // The service accepted one of the two tasks, and its id does not say which: a user has to look.
      const of = event.of === undefined ? {} : { of: event.of };
      return this.record(id, { kind: 'lost', ...of, failure: { code: 'id_taken', words: null } });
    }
  }

  /**
   * Applies a decision to every task of a request for approval, in one commit: to all of those that wait, or to none. A
   * purchase counts only while all of them wait.
   * @param ids the only task, or those of a set, in their order.
   * @param eventOf returns the event of each task: they have the same kind.
   * @param also returns further writes for the same commit; called again after a concurrent change.
   * @throws `overloaded` as {@link record} does.
   */
  async recordAll(
    ids: readonly TaskId[],
    eventOf: (task: Task) => TaskEvent,
    also: (next: readonly Task[]) => Promise<FurtherWrites> = async () => ({}),
  ): Promise<RecordedAll> {
    const attempt = async (): Promise<Attempt<RecordedAll>> => {
      const tasks = await readTasks(this.#store, ids);
      const moves = tasks.flatMap((before) => (before.state === 'requested' ? [moveOf(before, eventOf(before))] : []));
      const isPurchase = moves.some(({ kind }) => PURCHASES.has(kind));
      const isPartial = isPurchase && moves.length < ids.length;
      const counting = moves.flatMap(({ before, after, kind }) => (after === null ? [] : [{ before, after, kind }]));
      if (isPartial || counting.length === 0 || counting.length < moves.length)
        return { result: { done: false, tasks } };
      const next = counting.map(({ after }) => after);
      const purchases = isPurchase ? purchasesOf(next) : [];
      const changes = counting.map(({ before, after }) => toChange(before, after));
      const further = await also(next);
      const current = new Map(next.map((task) => [task.id, task]));
      return {
        change: changeOf(changes, further, purchases),
        result: { done: true, tasks: tasks.map((task) => current.get(task.id) ?? task) },
        committed: () => {
          for (const { before, after, kind } of counting) this.#notify(after, kind, before);
        },
        refused: async () => {
          if (await this.#isOutdated(further.judgedBy)) return { done: false, tasks, outdated: true };
          const over = await this.#firstExceeded(purchases);
          return over !== null && (await this.#areUnchanged(tasks)) ? { done: false, tasks, over } : undefined;
        },
      };
    };
    return commitWithRetries(this.#store, attempt, atMost(MAX_TRIES, `deciding on request ${ids[0]}`));
  }

  /** Returns what an event of a task changes; nothing where there is no task, or the event does not count in its state. */
  async #attempt(
    task: Task | undefined,
    event: TaskEvent,
    { also, number }: { readonly also: (next: Task) => Promise<FurtherWrites>; readonly number: number },
  ): Promise<Attempt<Recorded | undefined>> {
    if (task === undefined) return { result: undefined };
    const moved = transition(task, event);
    if (moved === null) return { result: { done: false, task } };
    const next = recount(moved);
    const purchases = PURCHASES.has(event.kind) ? purchasesOf([next]) : [];
    const further = await also(next);
    const changes = [
      toChange(task, next),
      await this.#upstreamIds.writes(task, next, number > 1 || event.kind === 'identify'),
    ];
    return {
      change: changeOf(changes, further, purchases),
      result: { done: true, task: next },
      committed: () => this.#notify(next, event.kind, task),
      refused: async () => {
        if (await this.#isOutdated(further.judgedBy)) return { done: false, task, outdated: true };
        const over = await this.#firstExceeded(purchases);
        const isUnchanged = over !== null && (await this.get(task.id))?.revision === task.revision;
        return isUnchanged ? { done: false, task, over } : undefined;
      },
    };
  }

  /** Applies a decision on one task of a set to all. @returns `null` where the task does not wait for it any more. */
  async #recordInSet(
    { id }: Task,
    set: SetPlace,
    event: TaskEvent,
    also: (next: Task) => Promise<FurtherWrites>,
  ): Promise<Recorded | null> {
    const { tasks, ...recorded } = await this.recordAll(
      memberIds(set),
      () => event,
      async (next) => {
        const own = next.find((task) => task.id === id);
        return own === undefined ? {} : also(own);
      },
    );
    const task = tasks.find((one) => one.id === id);
    return task === undefined || (!recorded.done && task.state !== 'requested') ? null : { ...recorded, task };
  }

  /** Returns whether one of these records has changed since it was read. */
  async #isOutdated(judgedBy: readonly RecordWrite[] = []): Promise<boolean> {
    for (const { namespace, key, expected } of judgedBy) {
      const found = await this.#store.keyv(namespace).get<Versioned>(key);
      if (expected !== (found === undefined ? 'absent' : found.revision)) return true;
    }
    return false;
  }

  async #areUnchanged(tasks: readonly Task[]): Promise<boolean> {
    const ids = tasks.map(({ id }) => id);
    const current = await readTasks(this.#store, ids);
    return current.every(({ revision }, at) => revision === tasks[at]?.revision) && current.length === tasks.length;
  }

  /** Returns the limit with the least room that one of the purchases would exceed; `null` for none. */
  async #firstExceeded(purchases: readonly JointPurchase[]): Promise<OverBudget | null> {
    for (const { within, purchase } of purchases) {
      const [over] = await exceededLimits(this.#store, within, purchase);
      if (over !== undefined) return over;
    }
    return null;
  }

  #notify(...change: Parameters<TaskObserver['changed']>): void {
    for (const observer of this.#observers) observer.changed(...change);
  }
}

/** Returns a task before and after an event; `after` is `null` where it does not count. */
function moveOf(before: Task, event: TaskEvent) {
  const moved = transition(before, event);
  return { before, after: moved === null ? null : recount(moved), kind: event.kind };
}

/** Returns changes as one, with further writes, which keeps within the limits on the purchases in it. */
function changeOf(
  changes: readonly Change[],
  { records = [], judgedBy = [] }: FurtherWrites,
  purchases: readonly JointPurchase[],
): Change {
  const change = merged(changes);
  return {
    ...change,
    records: [...change.records, ...records, ...judgedBy],
    within: purchases.flatMap(({ within }) => within),
  };
}

/** Purchases of one currency and month, as one, with the limits that it has to keep within. */
interface JointPurchase {
  readonly purchase: Purchase;
  readonly within: readonly BudgetLimit[];
}

/** Returns what the tasks of one order buy together, by currency; nothing while they wait for an approval. */
function purchasesOf(tasks: readonly Task[]): readonly JointPurchase[] {
  const bought = tasks.flatMap(({ money }) => {
    const purchase = money?.sends.at(-1);
    return purchase?.counted === undefined ? [] : [purchase];
  });
  const groups = Map.groupBy(bought, ({ period, currency }) => `${period}:${currency}`);
  const [task] = tasks;
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const [price] = total(group);
    if (task === undefined || first === undefined || price === undefined) return [];
    const purchase = { ...first, ...price };
    return [{ purchase, within: limitsOn(task.origin, purchase) }];
  });
}
