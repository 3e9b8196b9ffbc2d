import type { Job, Store } from '../engine/index.ts';
import { attemptOf, readTasks, stateIndex, type Task, type TaskId } from '../tasks/index.ts';
import type { UpstreamId } from '../videos/index.ts';
import { scheduleNext } from './next-job.ts';
import type { SubmitterOptions } from './submit.ts';

/** Time from its purchase within which the POST of a task leaves: tries at a busy service take up to ten minutes. */
const SENT_WITHIN_MS = 15 * 60_000;
/** Most by which the service's clock may be off. */
const SKEW_MS = 60_000;
const MAX_TASKS = 1_000;

/** Dependencies of {@link LostCreates}. */
interface LostCreatesDeps extends Pick<SubmitterOptions, 'repository' | 'videos' | 'queue' | 'clock' | 'logger'> {
  readonly store: Pick<Store, 'keyv' | 'scan'>;
}

/**
 * Looks for uncertain tasks in the lists of their services. An order takes the task of the list that is the only one to
 * agree with it, agrees with no other order, is nobody's, and was so at the look before: a list may be late. Anything else is
 * for a user to decide, and nothing is ever sent again.
 */
export class LostCreates {
  readonly job: Job = { name: 'lost_creates', everyMs: 20_000, leaseMs: 60_000, run: () => this.#run() };
  readonly #deps: LostCreatesDeps;
  /** What each order would have taken at the look before. */
  #candidates: ReadonlyMap<TaskId, UpstreamId> = new Map();
  /** Orders whose answers were lost. */
  readonly #doubted = new Map<TaskId, Task>();

  constructor(deps: LostCreatesDeps) {
    this.#deps = deps;
  }

  async #run(): Promise<void> {
    const lists = new Map<TaskId, readonly UpstreamId[]>();
    for (const task of await this.#lost()) {
      const ids = await this.#listFor(task);
      if (ids !== null) lists.set(task.id, ids);
    }
    const candidates = new Map<TaskId, UpstreamId>();
    if (lists.size > 0) {
      // Whatever one of our orders has in a list by now is still being sent, is known by its id, or was lost as well.
      const [sending, lost] = await Promise.all([this.#tasksIn('sending'), this.#lost()]);
      const unsettled = [...sending, ...lost.filter(({ id }) => !lists.has(id)), ...(await this.#leftOpen(lost))];
      for (const task of lost) {
        this.#doubted.set(task.id, task);
        const isUnsettled = unsettled.some(({ request }) => request.service === task.request.service);
        const id = isUnsettled ? undefined : await this.#onlyOne(task, lists);
        if (id === undefined) continue;
        candidates.set(task.id, id);
        if (this.#candidates.get(task.id) === id) await this.#take(task, id);
      }
    }
    this.#candidates = candidates;
  }

  async #tasksIn(state: Task['state']): Promise<readonly Task[]> {
    const { store } = this.#deps;
    const ids = (await store.scan(stateIndex(state), { limit: MAX_TASKS })).map(({ member }) => member);
    return readTasks(store, ids);
  }

  async #lost(): Promise<readonly Task[]> {
    return (await this.#tasksIn('uncertain')).filter((task) => isLost(task, this.#deps.clock.now()));
  }

  /** Returns the tasks of the service's list that agree with an order; `null`: there is no list, or it cannot be read. */
  async #listFor(task: Task): Promise<readonly UpstreamId[] | null> {
    const { videos, logger } = this.#deps;
    const atMs = purchasedAtMs(task);
    try {
      return await videos.of(task.request).list(task.request, atMs - SKEW_MS, atMs + SENT_WITHIN_MS + SKEW_MS);
    } catch (err) {
      logger.warn({ event: 'list_failed', task: task.id, err }, 'failed to read the list of a video service');
      return null;
    }
  }

  /** Returns the orders that a user dismissed or sent again: what the service may have made of them is nobody's. */
  async #leftOpen(lost: readonly Task[]): Promise<readonly Task[]> {
    const { repository, clock } = this.#deps;
    const open: Task[] = [];
    for (const [id, task] of this.#doubted) {
      if (lost.some((one) => one.id === id)) continue;
      const now = await repository.get(id);
      const isKnown = now?.upstreamId !== undefined && now.sends === task.sends;
      if (isKnown || !isLost(task, clock.now())) this.#doubted.delete(id);
      else open.push(task);
    }
    return open;
  }

  /** Returns the only id of an order's list that no task has, unless another order's list has it as well. */
  async #onlyOne(task: Task, lists: ReadonlyMap<TaskId, readonly UpstreamId[]>): Promise<UpstreamId | undefined> {
    const ids = lists.get(task.id) ?? [];
    const holders = await Promise.all(ids.map((id) => this.#deps.repository.holderOf(id, task.request)));
    const [only, ...others] = ids.filter((_, at) => holders[at] === undefined);
    const isShared = [...lists].some(([id, theirs]) => id !== task.id && theirs.some((one) => one === only));
    return others.length > 0 || isShared ? undefined : only;
  }

  async #take(task: Task, upstreamId: UpstreamId): Promise<void> {
    const { repository, queue, clock, logger } = this.#deps;
    const atMs = clock.now();
    const event = { kind: 'accepted', of: attemptOf(task), upstreamId, atMs } as const;
    const recorded = await repository.record(task.id, event, task);
    logger.info({ event: 'lost_create_found', task: task.id, upstreamId }, 'the list of a service has a lost task');
    if (recorded !== undefined) scheduleNext(queue, recorded.task, atMs);
  }
}

/** Returns whether the answer to the last create of a task was lost, not long ago, and nobody has decided on it. */
function isLost(task: Task, nowMs: number): boolean {
  const isOpen = task.failure?.code === 'lost_answer' && task.leftBy === undefined;
  return isOpen && nowMs - purchasedAtMs(task) < 2 * SENT_WITHIN_MS;
}

function purchasedAtMs({ money, createdAtMs }: Task): number {
  return money?.sends.at(-1)?.atMs ?? createdAtMs;
}
