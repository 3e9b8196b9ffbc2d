import { type Clock, within } from '../clock.ts';
import type { Store, WorkQueue } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import {
  channelOpenIndex,
  isBlind,
  isFetching,
  type Limits,
  NO_LIMITS,
  type Origin,
  openIndex,
  type Person,
  type Price,
  type Refunds,
  readEntries,
  readTasks,
  type Task,
  type TaskEvent,
  type TaskId,
  transition,
} from '../tasks/index.ts';
import {
  AuditTrail,
  DEFAULT_SETTINGS,
  type PauseInEffect,
  type PurchaseNow,
  purchaseAt,
  type Surface,
  settingsUnchanged,
  type TeamSettings,
} from '../teams/index.ts';
import type { PolicyRefusal, UpstreamId, VideoRequest, VideoServices } from '../videos/index.ts';
import { scheduleNext, serviceQueue } from './next-job.ts';
import { type Order, tasksOf } from './order.ts';
import type { OverBudget } from './over-budget.ts';
import type { PollPace } from './poll.ts';
import { ensureOpenTasks } from './reconcile.ts';
import type { FurtherWrites, Recorded, Refusal, TaskRepository } from './repository.ts';
import { memberIds, taskIdOf } from './task-ids.ts';
import { countAttempt } from './upstream-ids.ts';
import { type HistoryPage, type VisibleScope, visiblePage } from './visible-history.ts';

/** Scope of open tasks. Default: the whole team's; `channel` takes precedence over `user`. */
interface OpenScope {
  readonly platform: string;
  readonly team: string;
  readonly channel?: string;
  readonly user?: string;
}

/**
 * Outcome of an order: its task (of a set, the first one), and whether this call created it; or the limit or budget that
 * it would exceed.
 */
export type Submission =
  | { readonly ok: true; readonly task: Task; readonly isNew: boolean }
  | ({ readonly ok: false } & Exclude<Refusal, { readonly outdated: true }>)
  /** Spending of the team is paused. */
  | { readonly ok: false; readonly paused: PauseInEffect }
  /** The team's policy does not allow it, not any more. */
  | { readonly ok: false; readonly forbidden: readonly PolicyRefusal[] }
  /** The settings of the team have changed since it was judged by them: to these, with what they refuse. */
  | ({ readonly ok: false; readonly outdated: TeamSettings } & Pick<PurchaseNow, 'paused' | 'forbidden'>);

/** Another submission of an uncertain task, which is a purchase of its own. */
interface Resubmission {
  /** Number of submissions so far: it counts only after exactly that many. */
  readonly afterSends: number;
  /** Price by the catalog, as shown to the user who decides. */
  readonly price: Price;
}

/** Outcome of a user's decision on a task. */
export interface Decision {
  /** `false` when the task was no longer in a state in which the decision counts. */
  readonly done: boolean;
  readonly task: Task;
  /** The budget that another submission would exceed; nothing was bought. */
  readonly over?: OverBudget;
  /** The pause of the team's spending that refused another submission; nothing was bought. */
  readonly paused?: PauseInEffect;
  /** Why the team's policy refused another submission; nothing was bought. */
  readonly forbidden?: readonly PolicyRefusal[];
  /** The settings of the team have changed since another submission was judged by them; nothing was bought. */
  readonly outdated?: true;
}

/** Options of {@link TaskService}. */
export interface TaskServiceOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly videos: VideoServices;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly pace: PollPace;
  /** Default: none. */
  readonly limits?: Limits;
  /** Rejects while clips cannot be stored: then no new task is claimed, and none is sent again. Default: never. */
  readonly assertWritable?: () => Promise<void>;
  /** Makes the sums of an order's budgets include what its requester had used before being forgotten. Default: nothing. */
  readonly restoreSpend?: (origin: Origin) => Promise<void>;
  /** Reads the settings of a team: the time zone of its months, and the pause of its spending. Default: none changed. */
  readonly settingsOf?: (team: Pick<Origin, 'platform' | 'team'>) => Promise<TeamSettings>;
  /** Whether failed tasks count as refunded at once, or once a statement shows it. Default: `assumed`. */
  readonly refunds?: Refunds;
  readonly logger: Logger;
}

/** Number of the latest visible tasks that are searched for an id prefix. */
const MAX_SEARCHED = 1_000;
const MIN_PREFIX_LENGTH = 4;
/** Delay before rechecking a task whose decision could not be stored, or was stored although the commit failed. */
const RECHECK_MS = 1_000;
/** Timeout of the service's lookup of an entered id: a user is waiting. */
const LOOKUP_TIMEOUT_MS = 2_000;

/** Creates each task once, tracks it to its end and returns stored tasks. */
export class TaskService {
  readonly #options: TaskServiceOptions;
  readonly #audit: AuditTrail;

  constructor(options: TaskServiceOptions) {
    this.#options = options;
    this.#audit = new AuditTrail(options.store, options.clock);
  }

  /**
   * Claims the order's key and schedules its submission, or the request for its approval; of a set, all tasks or none. An
   * order whose key was claimed before is never refused.
   * @param settings those of the team by which the order was judged, with its budgets: it is refused where they have changed.
   * Default: they are read.
   */
  async submit(order: Order, settings?: TeamSettings): Promise<Submission> {
    const { repository, queue, clock, limits = NO_LIMITS, refunds } = this.#options;
    const id = taskIdOf(order.key);
    await this.#assertClaimable(id, order, settings !== undefined);
    const { origin, isUnasked } = order;
    const judgedBy = settings ?? (await this.#settingsOf(origin));
    const { purchase, paused, forbidden } = purchaseAt(clock.now(), order, judgedBy);
    const isRefused = paused !== null || forbidden.length > 0;
    if (isRefused && (await this.get(id)) === undefined)
      return { ok: false, ...(paused === null ? { forbidden } : { paused }) };
    const conditions = { isUnasked, judgedBy: [settingsUnchanged(origin, judgedBy)] };
    const claim = await repository.claim(tasksOf(order, purchase, refunds), limits, conditions);
    if (claim.kind === 'refused') {
      if ('outdated' in claim) return this.#outdated(order);
      const { kind: _kind, ...refusal } = claim;
      return { ok: false, ...refusal };
    }
    const isNew = claim.kind === 'taken';
    const { task } = claim;
    // Also when it is not new: the process that claimed it may have died before scheduling anything.
    for (const one of isNew ? claim.tasks : await this.#setOf(task))
      if (one.state === 'waiting' || (one.state === 'claimed' && one.unsentTries === 0))
        scheduleNext(queue, one, clock.now());
    return { ok: true, task, isNew };
  }

  get(id: TaskId): Promise<Task | undefined> {
    return this.#options.repository.get(id);
  }

  /**
   * Returns a team's task by id (the caller checks who may see it), or by a prefix of its id (at least 4 characters)
   * among the latest 1,000 that the viewer may see; undefined when none or several match.
   */
  async find(scope: VisibleScope, id: string): Promise<Task | undefined> {
    const { platform, team } = scope;
    const exact = await this.get(id as TaskId);
    if (exact?.origin.platform === platform && exact.origin.team === team) return exact;
    if (id.length < MIN_PREFIX_LENGTH) return undefined;
    const latest = await visiblePage(this.#options.store, scope, { offset: 0, limit: MAX_SEARCHED });
    const [only, another] = latest.filter(({ member }) => member.startsWith(id));
    return only === undefined || another !== undefined ? undefined : this.get(only.member as TaskId);
  }

  /** Returns the tasks that the viewer may see, newest first. */
  async history(scope: VisibleScope, page: HistoryPage): Promise<readonly Task[]> {
    const { store } = this.#options;
    return readEntries(store, await visiblePage(store, scope, page));
  }

  /** Returns open tasks, newest first, at most `limit`. */
  async open({ platform, team, channel, user }: OpenScope, limit: number): Promise<readonly Task[]> {
    const index =
      channel === undefined ? openIndex(platform, team, user) : channelOpenIndex({ platform, team, channel });
    const { store } = this.#options;
    return readEntries(store, await store.scan(index, { limit }));
  }

  /** Cancels a task: prevents its submission if it was not sent yet, else polls it on quietly. */
  cancel(id: TaskId, by: Person): Promise<Decision> {
    return this.#decide(id, by, { kind: 'cancel', by, atMs: this.#options.clock.now() });
  }

  /** Withdraws a task's request for approval; that of a set with all of its tasks. */
  withdraw(id: TaskId, by: Person): Promise<Decision> {
    return this.#decide(id, by, { kind: 'decline', how: 'withdrawn', by, atMs: this.#options.clock.now() });
  }

  /**
   * Submits an uncertain task again if it was sent `afterSends` times so far (a second press changes nothing) and its
   * price is within every budget of the month.
   * @param settings as of {@link submit}
   */
  async resubmit(
    id: TaskId,
    by: Person,
    { afterSends, price }: Resubmission,
    settings?: TeamSettings,
  ): Promise<Decision> {
    const task = await this.get(id);
    if (task === undefined) throw missing(id);
    const { origin, request } = task;
    const at = (judgedBy: TeamSettings) => purchaseAt(this.#options.clock.now(), { origin, request, price }, judgedBy);
    const judgedBy = settings ?? (await this.#settingsOf(origin));
    const now = at(judgedBy);
    const { purchase } = now;
    const refused = refusedNow(task, now);
    if (refused !== null) return refused;
    await Promise.all([this.#options.assertWritable?.(), this.#options.restoreSpend?.(task.origin)]);
    const conditions = { judgedBy: [settingsUnchanged(origin, judgedBy)] };
    const decision = await this.#decide(id, by, { kind: 'resubmit', afterSends, purchase }, conditions);
    if (decision.outdated !== true) return decision;
    return refusedNow(decision.task, at(await this.#settingsOf(origin))) ?? decision;
  }

  /** Dismisses an uncertain task: it stays uncertain and is closed. */
  leave(id: TaskId, by: Person): Promise<Decision> {
    return this.#decide(id, by, { kind: 'leave', by });
  }

  /**
   * Assigns an uncertain task the id that a user found in the service's console, and polls it. Changes nothing where it
   * throws.
   * @param surface through which it was entered. Default: the form.
   * @throws `task_unknown` where the service reports no task of that id, `id_taken` where another task has it,
   * `id_attempts` after five attempts in an hour.
   */
  async identify(id: TaskId, by: Person, upstreamId: UpstreamId, surface?: Surface): Promise<Decision> {
    const { store, clock } = this.#options;
    const event = { kind: 'identify', upstreamId, how: 'entered', atMs: clock.now() } as const;
    const task = await this.get(id);
    if (task !== undefined && transition(task, event) !== null) {
      await countAttempt(store, clock, id);
      await this.#assertFree(task, upstreamId);
      await this.#assertKnown(task.request, upstreamId);
    }
    return this.#decide(id, by, event, { surface });
  }

  /** Reclaims the clip of a cancelled task, or one whose message was deleted. */
  want(id: TaskId, by: Person): Promise<Decision> {
    return this.#decide(id, by, { kind: 'want' });
  }

  /** Retries immediately to fetch a clip that could not be fetched, or whose next attempt is scheduled. */
  async refetch(id: TaskId, by: Person): Promise<Decision> {
    const { queue, clock } = this.#options;
    const decision = await this.#decide(id, by, { kind: 'refetch' });
    if (decision.done || decision.task.state !== 'completed' || !isFetching(decision.task)) return decision;
    // It is waiting for its next attempt: run that now.
    queue.schedule(serviceQueue('fetch', decision.task.request), id, clock.now());
    return { done: true, task: decision.task };
  }

  /** Schedules the jobs of all open tasks, for the start of a process. @returns the number of open tasks. */
  async resume(): Promise<number> {
    return (await ensureOpenTasks(this.#options, { pace: this.#options.pace })).there;
  }

  /** Returns a task with those of its set, as they are stored. */
  async #setOf(task: Task): Promise<readonly Task[]> {
    return task.set === undefined ? [task] : readTasks(this.#options.store, memberIds(task.set));
  }

  async #settingsOf({ platform, team }: Origin): Promise<TeamSettings> {
    return (await this.#options.settingsOf?.({ platform, team })) ?? DEFAULT_SETTINGS;
  }

  /** Refuses an order whose team has changed its settings since it was judged by them. */
  async #outdated(order: Order): Promise<Submission> {
    const outdated = await this.#settingsOf(order.origin);
    const { paused, forbidden } = purchaseAt(this.#options.clock.now(), order, outdated);
    return { ok: false, outdated, paused, forbidden };
  }

  async #decide(
    id: TaskId,
    by: Person,
    event: TaskEvent,
    { surface, judgedBy = [] }: Pick<FurtherWrites, 'judgedBy'> & { readonly surface?: Surface | undefined } = {},
  ): Promise<Recorded> {
    const { repository, queue, clock, logger } = this.#options;
    const also = async (next: Task) => ({ ...(await this.#audited(next, by, event, surface)), judgedBy });
    const before = await this.get(id);
    if (before === undefined) throw missing(id);
    const recorded = await repository.record(id, event, undefined, also).catch((thrown: unknown) => {
      // In no other queue, in which it would be polled as well from then on.
      queue.schedule(serviceQueue('poll', before.request), id, clock.now() + RECHECK_MS);
      throw thrown;
    });
    if (recorded === undefined) throw missing(id);
    if (!recorded.done) return recorded;
    logger.info({ event: 'task_decision', task: id, decision: event.kind }, 'a user decided on a task');
    scheduleNext(queue, recorded.task, clock.now());
    return recorded;
  }

  /** Returns the entry in the team's audit log of a decision on an uncertain task; no other is logged there. */
  async #audited(task: Task, by: Person, event: TaskEvent, surface?: Surface): Promise<FurtherWrites> {
    const { id, origin, money } = task;
    const decision = AUDITED[event.kind];
    if (decision === undefined) return {};
    const subject = [{ kind: 'task', task: id } as const, { kind: 'person', person: origin.user } as const];
    const { amount = '0', currency = '' } = money?.sends.at(-1) ?? {};
    const price = { kind: 'price', price: { amount, currency } } as const;
    // The price of a blind clip tells its model.
    const after = [{ kind: 'text', text: decision.text } as const, ...(isBlind(task) ? [] : [price])];
    const entry = { action: 'unconfirmed', subject, after } as const;
    return { records: await this.#audit.append(origin, { person: by, surface: surface ?? decision.surface }, [entry]) };
  }

  /**
   * Rejects while clips cannot be stored, or budgets not enforced; not for a task claimed before.
   * @param isJudged its budgets were read, and with them what its person used before they were forgotten
   */
  async #assertClaimable(id: TaskId, { origin }: Order, isJudged: boolean): Promise<void> {
    const { assertWritable, restoreSpend } = this.#options;
    await Promise.all([assertWritable?.(), isJudged ? undefined : restoreSpend?.(origin)]).catch(
      async (thrown: unknown) => {
        if ((await this.get(id)) === undefined) throw thrown;
      },
    );
  }

  /** Rejects an id unknown to the service: a typo would be polled in vain. Other errors are inconclusive. */
  async #assertKnown(request: VideoRequest, upstreamId: UpstreamId): Promise<void> {
    const { videos, clock } = this.#options;
    const refusal = videos
      .of(request)
      .retrieve(upstreamId)
      .then(
        () => null,
        (thrown: unknown) => (thrown instanceof DailiesError && thrown.code === 'task_unknown' ? thrown : null),
      );
    const unknown = await within(clock, LOOKUP_TIMEOUT_MS, refusal, null);
    if (unknown !== null) throw unknown;
  }

  /** Rejects an id of another task, without revealing which task that is or whether the service knows the id. */
  async #assertFree({ id, request }: Task, upstreamId: UpstreamId): Promise<void> {
    const holder = await this.#options.repository.holderOf(upstreamId, request);
    if (holder === undefined || holder === id) return;
    const doing = `giving task ${id} an id: another task holds it`;
    throw new DailiesError(doing, { code: 'id_taken', retryable: false });
  }
}

/** Decisions on an uncertain task: what the audit log says about each, and the surface that offers it. */
const AUDITED: Readonly<Partial<Record<TaskEvent['kind'], { readonly text: string; readonly surface: Surface }>>> = {
  resubmit: { text: 'sent again', surface: 'button' },
  leave: { text: 'dismissed', surface: 'button' },
  identify: { text: 'ID entered', surface: 'form' },
};

/** Returns the decision on another submission that a pause or the policy refuses; `null` where neither does. */
function refusedNow(task: Task, { paused, forbidden }: PurchaseNow): Decision | null {
  if (paused !== null) return { done: false, task, paused };
  return forbidden.length > 0 ? { done: false, task, forbidden } : null;
}

function missing(id: TaskId): TypeError {
  return new TypeError(`deciding on task ${id}: there is no such task`);
}
