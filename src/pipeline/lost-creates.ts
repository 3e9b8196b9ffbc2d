import { collection, type Job, type Store } from '../engine/index.ts';
import { isSought, readEntries, type SearchResult, stateIndex, type Task, type TaskId } from '../tasks/index.ts';
import type { UpstreamId } from '../videos/index.ts';
import { scheduleNext } from './next-job.ts';
import type { TaskObserver } from './repository.ts';
import type { SubmitterOptions } from './submit.ts';
import type { ServiceKey } from './upstream-ids.ts';

/** Time for which a lost POST is remembered. */
const DOUBTED_MS = 30 * 60_000;
/** Most by which the service's clock may be off. */
const SKEW_MS = 10_000;
const MAX_TASKS = 1_000;

type Deps = Pick<SubmitterOptions, 'repository' | 'videos' | 'queue' | 'clock' | 'logger' | 'createTimeoutMs'>;
type LostCreatesDeps = Deps & {
  readonly store: Pick<Store, 'keyv' | 'scan' | 'contents'>;
  readonly serviceKey?: ServiceKey;
};

/** A POST whose answer was lost. */
interface Lost extends Pick<Task, 'id' | 'request'> {
  readonly key: string;
  readonly atMs: number;
  readonly untilMs: number;
}

/** What a list has of an order; `only`: the one task that it can be. */
type Finding = { readonly result: SearchResult; readonly only?: UpstreamId };

/** Other POST that may have made a task of a list; `atMs` is `null` where its time is unknown. */
type Rival = { readonly service: string; readonly atMs: number | null };

/** By task and send: what was sent again since, by whichever replica, is still a rival. */
const lostPosts = collection<string, Rival>({
  name: 'lost_posts',
  holds: 'the times of requests to video services whose answer was lost',
  kept: 'half an hour',
  personal: 'nobody',
});

/**
 * Looks for uncertain tasks in the lists of their services. An order takes a task of the list that was made while its POST was
 * on its way and says the same of itself, if that is the only one, nobody's, and was so at the look before, as a list may be
 * late; and if no other POST of ours was lost at about that time. Anything else is for a user, who is asked once the search is
 * over; nothing is ever sent again.
 */
export class LostCreates {
  readonly job: Job = { name: 'lost_creates', everyMs: 20_000, leaseMs: 60_000, run: () => this.#run() };
  readonly #deps: LostCreatesDeps;
  /** What was found of each order at the look before; `only`: what it would have taken. */
  #findings: ReadonlyMap<TaskId, Finding> = new Map();

  /** Notes what was lost. @returns what is to be looked for */
  readonly #note = async (task: Task): Promise<Lost | null> => {
    const { id, state, sends, request, turnAtMs: atMs, failure } = task;
    if (state !== 'uncertain' || failure?.code !== 'lost_answer') return null;
    const { store } = this.#deps;
    const key = `${id}:${sends}`;
    if ((await lostPosts.get(store, key)) === undefined)
      await lostPosts.set(store, key, this.#rivalOf(task, atMs), DOUBTED_MS);
    const { untilMs } = failure.search ?? {};
    return !isSought(task) || untilMs === undefined || atMs === undefined ? null : { key, id, request, atMs, untilMs };
  };
  readonly observer: TaskObserver = {
    changed: (task) =>
      void this.#note(task).catch((err: unknown) =>
        this.#deps.logger.warn({ event: 'lost_post_unnoted', task: task.id, err }, 'failed to note a lost request'),
      ),
  };

  constructor(deps: LostCreatesDeps) {
    this.#deps = deps;
  }

  async #run(): Promise<void> {
    const { repository, clock, createTimeoutMs } = this.#deps;
    const found = new Map<Lost, Finding>();
    const look = {};
    for (const lost of await this.#lost()) found.set(lost, await this.#find(lost, look));
    // What was begun before the lists were read is by now being sent, known by its id, or lost as well.
    const sending = (await this.#tasksIn('sending')).map((task) => this.#rivalOf(task, task.lease?.atMs));
    await this.#lost();
    const doubted = await this.#doubted();
    const findings = new Map<TaskId, Finding>();
    for (const [{ key, id, atMs, untilMs }, read] of found) {
      const nowMs = clock.now();
      const own = doubted.get(key);
      const before = this.#findings.get(id);
      const isRival = (one: Rival): boolean => one !== own && one.service === own?.service;
      const isNear = (one: Rival): boolean => Math.abs((one.atMs ?? atMs) - atMs) < createTimeoutMs + 2 * SKEW_MS;
      const isRivalled = [...sending, ...doubted.values()].some((one) => isRival(one) && isNear(one));
      const { only } = isRivalled ? {} : read;
      // A list that cannot be read now says what it said before.
      const result = read.result === 'unread' ? (before?.result ?? 'unread') : read.result;
      findings.set(id, { result, ...(only === undefined ? {} : { only }) });
      if (only !== undefined && before?.only === only) await this.#take(id, only);
      else if (nowMs >= untilMs) await repository.record(id, { kind: 'sought', result, atMs: nowMs });
    }
    this.#findings = findings;
  }

  async #doubted(): Promise<ReadonlyMap<string, Rival>> {
    const pages = await Array.fromAsync(lostPosts.all(this.#deps.store));
    return new Map(pages.flat().map(({ key, value }) => [key, value]));
  }

  async #tasksIn(state: Task['state']): Promise<readonly Task[]> {
    const { store } = this.#deps;
    return readEntries(store, await store.scan(stateIndex(state), { limit: MAX_TASKS }));
  }

  /** Returns what was lost and is looked for. */
  async #lost(): Promise<readonly Lost[]> {
    const noted = await Promise.all((await this.#tasksIn('uncertain')).map(this.#note));
    return noted.filter((one) => one !== null);
  }

  #rivalOf({ request, createdAtMs }: Task, atMs: number | undefined): Rival {
    const { serviceKey, clock } = this.#deps;
    const service = serviceKey?.(request) ?? request.service ?? '';
    return { service, atMs: atMs ?? (clock.now() - createdAtMs > DOUBTED_MS ? createdAtMs : null) };
  }

  async #find({ id, request, atMs }: Lost, look: object): Promise<Finding> {
    const { videos, repository, createTimeoutMs, logger } = this.#deps;
    try {
      const time = { fromMs: atMs - SKEW_MS, untilMs: atMs + createTimeoutMs + SKEW_MS, look };
      const listed = await videos.of(request).list(request, time);
      if (listed === null) return { result: 'unread' };
      const holders = await Promise.all(listed.map((one) => repository.holderOf(one.id, request)));
      const [only, ...others] = listed.filter((_, at) => holders[at] === undefined);
      if (only === undefined) return { result: 'none' };
      return { result: 'alike', ...(only.isSame && others.length === 0 ? { only: only.id } : {}) };
    } catch (err) {
      logger.warn({ event: 'list_failed', task: id, err }, 'failed to read the list of a video service');
      return { result: 'unread' };
    }
  }

  async #take(id: TaskId, upstreamId: UpstreamId): Promise<void> {
    const { repository, queue, clock, logger } = this.#deps;
    const recorded = await repository.record(id, { kind: 'identify', upstreamId, how: 'listed', atMs: clock.now() });
    if (recorded?.done !== true) return;
    logger.info({ event: 'lost_create_found', task: id, upstreamId }, 'the list of a service has a lost task');
    scheduleNext(queue, recorded.task, clock.now());
  }
}
