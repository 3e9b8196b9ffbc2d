import { hash } from 'node:crypto';
import { type Clock, within } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import { channelOpenIndex, openIndex } from '../tasks/indexes.ts';
import { type LimitReached, type Limits, NO_LIMITS } from '../tasks/limits.ts';
import { readTasks } from '../tasks/record-shape.ts';
import { isFetching, type TaskEvent, transition } from '../tasks/state-machine.ts';
import type { Origin, Person, Price, Task, TaskId } from '../tasks/task.ts';
import type { VideoRequest } from '../videos/request.ts';
import type { UpstreamId, VideoService } from '../videos/service.ts';
import type { PollPace } from './backoff.ts';
import { scheduleNext } from './next-job.ts';
import { ensureOpenTasks } from './reconcile.ts';
import type { TaskRepository } from './repository.ts';
import { countAttempt } from './upstream-ids.ts';
import { type HistoryPage, type VisibleScope, visibleEntries } from './visible-history.ts';

/** What is asked for, by whom, for how much. */
export interface Order {
  readonly request: VideoRequest;
  readonly origin: Origin;
  readonly price: Price;
  readonly retryOf?: TaskId;
  /**
   * What makes this order one of a kind: the platform and its interaction's id, or `retry:<task>` for a button. The
   * same key always leads to the same task.
   */
  readonly key: string;
}

/** Whose tasks that are not ended. Without `channel` and `user`: the whole team's; `channel` comes before `user`. */
export interface OpenScope {
  readonly platform: string;
  readonly team: string;
  readonly channel?: string;
  readonly user?: string;
}

/** What became of an order: its task, and whether this call made it; or the limit that nothing more fits into. */
export type Submission =
  | { readonly ok: true; readonly task: Task; readonly isNew: boolean }
  | { readonly ok: false; readonly limit: LimitReached };

/** What a person decided, and whether the task was still in a state in which it counts. */
export interface Decision {
  readonly done: boolean;
  /** The task as it is now. */
  readonly task: Task;
}

/** Creates each task once, follows it to its end, and keeps what is known of it. */
export interface TaskService {
  /** Claims the order's key and has it sent. One whose key was claimed before is never refused. */
  submit(order: Order): Promise<Submission>;
  get(id: TaskId): Promise<Task | undefined>;
  /**
   * A team's task by id (the caller checks who may see it), or by the beginning of its id (at least 4 characters) among the
   * latest 1,000 that the viewer may see; undefined when none or several fit.
   */
  find(scope: VisibleScope, id: string): Promise<Task | undefined>;
  /** The tasks that the viewer may see, newest first. */
  history(scope: VisibleScope, page: HistoryPage): Promise<readonly Task[]>;
  /** The tasks that are not ended, newest first, at most `limit`. */
  open(scope: OpenScope, limit: number): Promise<readonly Task[]>;
  /** Nothing is sent any more if it was not yet; else it is followed quietly. */
  cancel(id: TaskId, by: Person): Promise<Decision>;
  /** Sends an uncertain task again, if it was sent `afterSends` times so far (a second press changes nothing). */
  resubmit(id: TaskId, by: Person, afterSends: number): Promise<Decision>;
  /** Leaves an uncertain task as it is. */
  leave(id: TaskId, by: Person): Promise<Decision>;
  /**
   * Gives an uncertain task the id somebody found in the service's console; it is followed from there.
   * @throws `task_unknown` where the service says that it knows none of that id, `id_taken` where another task has it,
   * `id_attempts` after five tries in an hour; nothing is changed then.
   */
  identify(id: TaskId, by: Person, upstreamId: UpstreamId): Promise<Decision>;
  /** Wants the clip of a cancelled task after all, or one whose message was deleted. */
  want(id: TaskId, by: Person): Promise<Decision>;
  /** Tries at once to fetch a clip that could not be had, or whose next try is yet to come. */
  refetch(id: TaskId, by: Person): Promise<Decision>;
  /** Has every task go on that is not ended: what a process does first. @returns how many there are. */
  resume(): Promise<number>;
}

/** Collaborators of {@link createTaskService}. */
export interface TaskServiceOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly videos: Pick<VideoService, 'retrieve'>;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly pace: PollPace;
  /** Default: none. */
  readonly limits?: Limits;
  /** Rejects where a clip could not be kept: then none is claimed. Default: never. */
  readonly assertWritable?: () => Promise<void>;
  readonly logger: Logger;
}

/** How many of the latest tasks that somebody may see are searched for the beginning of an id. */
const SEARCHED = 1_000;
const SHORTEST_PREFIX = 4;
/** When a task is looked at again whose decision could not be stored, or was, unknown to us. */
const LOOK_AGAIN_MS = 1_000;
/** How long somebody who enters an id waits for the service to say whether it knows it. */
const ASKED_WITHIN_MS = 2_000;

/** The id of the task that an order's key leads to: 80 bits, in lower case letters and digits. */
export function taskIdOf(key: string): TaskId {
  const digits = BigInt(`0x${hash('sha256', key, 'hex').slice(0, 20)}`).toString(32);
  return digits.padStart(16, '0') as TaskId;
}

/** The task service on a store and a queue. */
export function createTaskService(options: TaskServiceOptions): TaskService {
  const { store, repository, queue, clock, pace, limits = NO_LIMITS, logger } = options;
  const records = store.keyv('tasks');

  const load = (ids: readonly string[]): Promise<readonly Task[]> => readTasks(records, ids);

  const decide = async (id: TaskId, by: Person, event: TaskEvent): Promise<Decision> => {
    const recorded = await repository.record(id, event).catch((thrown: unknown) => {
      queue.schedule('poll', id, clock.now() + LOOK_AGAIN_MS);
      throw thrown;
    });
    if (recorded === undefined) throw new TypeError(`deciding on task ${id}: there is no such task`);
    if (!recorded.done) return recorded;
    // Some of these cost money: who wanted it has to be found again.
    logger.info({ task: id, decision: event.kind, by: by.id }, 'somebody decided on a task');
    scheduleNext(queue, recorded.task, clock.now());
    return recorded;
  };

  /** What was claimed before goes on whatever has become of the folders. */
  const assertClaimable = async (id: TaskId): Promise<void> => {
    await options.assertWritable?.().catch(async (thrown: unknown) => {
      if ((await repository.get(id)) === undefined) throw thrown;
    });
  };

  /** One wrong character would have it followed for nothing. What else goes wrong says nothing of the id. */
  const assertKnown = async (upstreamId: UpstreamId): Promise<void> => {
    const refusal = options.videos.retrieve(upstreamId).then(
      () => null,
      (thrown: unknown) => (thrown instanceof DailiesError && thrown.code === 'task_unknown' ? thrown : null),
    );
    const unknown = await within(clock, ASKED_WITHIN_MS, refusal, null);
    if (unknown !== null) throw unknown;
  };

  /** Whose it is stays unsaid, and so does whether the service knows it. */
  const assertFree = async (id: TaskId, upstreamId: UpstreamId): Promise<void> => {
    const holder = await repository.holderOf(upstreamId);
    if (holder === undefined || holder === id) return;
    const doing = `giving task ${id} an id: another task holds it`;
    throw new DailiesError(doing, { code: 'id_taken', retryable: false });
  };

  return {
    get: (id) => repository.get(id),
    async submit(order) {
      const claimed = claimOf(order, clock.now());
      await assertClaimable(claimed.id);
      const claim = await repository.claim(claimed, limits);
      if (claim.kind === 'refused') return { ok: false, limit: claim.limit };
      const task = claim.kind === 'known' ? claim.task : claimed;
      // Also when it is not new: whoever claimed it may have died before anything was planned.
      if (task.state === 'claimed' && task.unsentTries === 0) queue.schedule('send', task.id, clock.now());
      return { ok: true, task, isNew: claim.kind === 'taken' };
    },
    async find(scope, id) {
      const { platform, team } = scope;
      const exact = await repository.get(id as TaskId);
      if (exact?.origin.platform === platform && exact.origin.team === team) return exact;
      if (id.length < SHORTEST_PREFIX) return undefined;
      const latest = await visibleEntries(store, scope, { offset: 0, limit: SEARCHED });
      const [only, another] = latest.filter(({ member }) => member.startsWith(id));
      return only === undefined || another !== undefined ? undefined : repository.get(only.member as TaskId);
    },
    async history(scope, page) {
      const entries = await visibleEntries(store, scope, page);
      return load(entries.map(({ member }) => member));
    },
    async open(scope, limit) {
      const { platform, team, channel, user } = scope;
      const index =
        channel === undefined ? openIndex(platform, team, user) : channelOpenIndex({ platform, team, channel });
      const entries = await store.scan(index, { limit });
      return load(entries.map(({ member }) => member));
    },
    cancel: (id, by) => decide(id, by, { kind: 'cancel', by, atMs: clock.now() }),
    resubmit: (id, by, afterSends) => decide(id, by, { kind: 'resubmit', afterSends }),
    leave: (id, by) => decide(id, by, { kind: 'leave', by }),
    async identify(id, by, upstreamId) {
      const event = { kind: 'identify', upstreamId, atMs: clock.now() } as const;
      const task = await repository.get(id);
      if (task !== undefined && transition(task, event) !== null) {
        await countAttempt(store, clock, id);
        await assertFree(id, upstreamId);
        await assertKnown(upstreamId);
      }
      return decide(id, by, event);
    },
    want: (id, by) => decide(id, by, { kind: 'want' }),
    async refetch(id, by) {
      const decision = await decide(id, by, { kind: 'refetch' });
      if (decision.done || decision.task.state !== 'completed' || !isFetching(decision.task)) return decision;
      // It waits for its next try: that one comes now.
      queue.schedule('fetch', id, clock.now());
      return { done: true, task: decision.task };
    },
    resume: async () => (await ensureOpenTasks(options, { pace })).there,
  };
}

function claimOf({ request, origin, price, retryOf, key }: Order, nowMs: number): Task {
  const task = { request, origin, price, createdAtMs: nowMs, sends: 0, unsentTries: 0, presented: true };
  const id = taskIdOf(key);
  return { revision: 1, id, state: 'claimed', ...task, ...(retryOf === undefined ? {} : { retryOf }) };
}
