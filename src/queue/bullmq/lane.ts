import { DelayedError, type Job, Queue, WaitingError, Worker } from 'bullmq';
import { type Clock, sleep, within } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import {
  type JobHandler,
  jobKindOf,
  lagOf,
  pauseAfter,
  type QueueLimit,
  type QueueName,
  type QueueStats,
  type SeenLag,
} from '../queue.ts';
import type { BullmqConnection } from './connection.ts';
import { type JobPlace, type LookingRedis, look } from './look.ts';

/** What BullMQ's keys begin with; `send` is `dailies:work:send:…`. */
const PREFIX = 'dailies:work';
/** A job whose process has not said for so long that it lives is another one's; the check for such jobs comes besides. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** A job is taken over however often that happened: BullMQ never sets its count back. */
const NO_END = 1_000_000_000;
/** How long a lane asks nothing of a Redis that refuses what it was asked, such as a full one. */
const REST_MS = 1_000;
/** How soon a plan looks again for the end of a step that runs in another process; twice as long each time. */
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 1_000;
/**
 * Holds a queue back as BullMQ's `rateLimit` does, unless it is held for longer: another replica may have been told of
 * that. What is merely counted is no hold. KEYS: the queue's counter. ARGV: the count that says it is held; for how many ms.
 */
const HOLD = `
local isHeld = tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(ARGV[1])
if not isHeld or redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
`;
/** How long closing waits for what is to be said to Redis. */
const GOODBYE_MS = 5_000;

/** All that a job says besides its id: when it is due by Redis's clock, so that lateness can be seen. */
interface Due {
  readonly atMs: number;
}

/** A step that runs here, and the plan that waits for its end. */
interface Running {
  againAtMs: number | null;
}

/** Collaborators of a {@link BullmqJobQueue}. */
export interface BullmqJobQueueOptions {
  readonly lane: QueueName;
  readonly link: BullmqConnection;
  readonly redis: LookingRedis;
  /** How many steps run at once in this process. */
  readonly concurrency: number;
  readonly limit: QueueLimit | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when this process begins no more steps. */
  readonly stopping: AbortSignal;
}

/**
 * One lane: a queue of BullMQ, in which each thing has one job at the most, and the worker that steps it here. The same
 * job is delayed again and again until its step has nothing more to do.
 */
export class BullmqJobQueue {
  readonly queue: Queue<Due, null>;
  readonly #at: BullmqJobQueueOptions;
  readonly #running = new Map<string, Running>();
  /** Plans that are on their way to Redis, or wait for the end of a step in another process. */
  readonly #wanted = new Map<string, number>();
  #worker: Worker<Due, null> | null = null;
  readonly #steps = new Set<Promise<unknown>>();
  #isResting = false;
  /** As far as this process was told; by the clock's `monotonic`. */
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #lag: SeenLag | null = null;

  constructor(at: BullmqJobQueueOptions) {
    this.#at = at;
    this.queue = new Queue<Due, null>(at.lane.replace(':', '.'), {
      connection: at.link.calls,
      prefix: PREFIX,
      streams: { events: { maxLen: 100 } },
      // Its calls fail by themselves; and asking for the version could fail once and for all.
      skipVersionCheck: true,
    });
    this.queue.on('error', () => undefined);
  }

  /** Has the limit of the lane count, where it has one. @throws `store_unavailable` */
  async keepLimit(): Promise<void> {
    const { link, limit } = this.#at;
    // What {@link holdBack} left in Redis, while there was no limit, would count before it.
    if (limit !== undefined) await link.call('limiting a lane', () => this.queue.removeGlobalRateLimit());
  }

  /** Begins what is due here. */
  start(step: JobHandler): void {
    const { link, concurrency, limit } = this.#at;
    const worker = new Worker<Due, null>(this.queue.name, (job, token) => this.#process(job, token, step), {
      connection: link.work,
      prefix: PREFIX,
      concurrency,
      ...(limit === undefined ? {} : { limiter: { max: limit.max, duration: limit.perMs } }),
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: NO_END,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      runRetryDelay: REST_MS,
    });
    worker.on('error', (error) => this.#refused(error));
    worker.on('active', () => link.worked());
    worker.waitUntilReady().catch(() => this.#startAgain(worker, step));
    this.#worker = worker;
  }

  /** A worker whose own connection broke while it was being made never works: BullMQ does not make another one. */
  #startAgain(worker: Worker<Due, null>, step: JobHandler): void {
    const { clock, stopping } = this.#at;
    if (stopping.aborted) return;
    void worker.close(true).catch(() => undefined);
    clock.after(REST_MS, () => {
      if (!stopping.aborted) this.start(step);
    });
  }

  /**
   * Plans `id` as {@link import('../queue.ts').WorkQueue.schedule} says: while its step runs elsewhere, by looking for the
   * end of it. @throws `store_unavailable`
   */
  async plan(id: string, atMs: number): Promise<void> {
    const dueMs = this.#dueMs(atMs);
    const isUnderWay = this.#wanted.has(id);
    this.#wanted.set(id, dueMs);
    if (isUnderWay) return;
    try {
      let waitMs = 0;
      for (let wantedMs: number | null = null; wantedMs !== this.#wanted.get(id); ) {
        wantedMs = this.#wanted.get(id) ?? dueMs;
        if (await this.#settle(id, wantedMs, waitMs > 0)) continue;
        wantedMs = null;
        waitMs = Math.min(2 * waitMs || FIRST_LOOK_MS, LAST_LOOK_MS);
        await sleep(this.#at.clock, waitMs);
      }
    } finally {
      this.#wanted.delete(id);
    }
  }

  /** Which of `ids` have no job, or one that is due later than `latestMs`, which is taken away. @throws `store_unavailable` */
  async missing(ids: readonly string[], latestMs: number): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const { link, redis } = this.#at;
    const places = await link.call('looking for jobs', () => look(redis, this.queue, ids.map(jobIdOf)));
    const latestDueMs = this.#dueMs(latestMs);
    const tooLate = ids.filter((_id, at) => isLater(places[at], latestDueMs));
    await link.call('removing plans', () => Promise.all(tooLate.map((id) => this.queue.remove(jobIdOf(id)))));
    const isMissing = (at: number): boolean => places[at]?.kind === 'absent' || isLater(places[at], latestDueMs);
    return ids.filter((id, at) => isMissing(at) && !this.#running.has(id) && !this.#wanted.has(id));
  }

  /** Plans what has no job. @throws `store_unavailable` */
  async add(plans: readonly { readonly id: string; readonly atMs: number }[]): Promise<void> {
    await this.#add(plans.map(({ id, atMs }) => ({ id, atMs: this.#dueMs(atMs) })));
  }

  async #add(plans: readonly { readonly id: string; readonly atMs: number }[]): Promise<void> {
    if (plans.length === 0) return;
    await this.#at.link.call('planning steps', () =>
      this.queue.addBulk(
        plans.map(({ id, atMs }) => ({ name: this.#name, data: { atMs }, opts: this.#opts(id, atMs) })),
      ),
    );
  }

  /** Begins no step for `forMs`, here and elsewhere. @throws `store_unavailable` */
  async holdBack(forMs: number): Promise<void> {
    const { link, clock, limit } = this.#at;
    const untilMs = clock.monotonic() + forMs;
    if (untilMs <= this.#heldUntilMs) return;
    this.#heldUntilMs = untilMs;
    await link.call('holding a lane back', async () => {
      // BullMQ honours it only where there is some limit; one that nothing reaches costs a little at every step from then on.
      const limited = limit === undefined ? this.queue.setGlobalRateLimit(NO_END, 1) : null;
      const key = this.queue.keys['limiter'] ?? '';
      await Promise.all([limited, link.calls.eval(HOLD, 1, key, Number.MAX_SAFE_INTEGER, Math.ceil(forMs))]);
    });
  }

  /** @throws `store_unavailable` */
  async stats(): Promise<QueueStats> {
    const { link, clock } = this.#at;
    const counts = await link.call('counting jobs', () => this.queue.getJobCounts('wait', 'delayed'));
    const planned = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { planned, running: this.#running.size, lagMs: lagOf(this.#lag, clock.monotonic()) };
  }

  /** Takes no more jobs. Resolves when no step runs any more, and what they came to was said to Redis or cannot be. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    const closed = worker.close();
    while (this.#steps.size > 0) await Promise.all(this.#steps);
    await within(this.#at.clock, GOODBYE_MS, closed, undefined);
    // A worker that stops may have taken along the word that a job is due; whoever waits asks once more.
    await this.#at.link
      .call('waking the others', () => this.#at.link.calls.zadd(this.queue.keys['marker'] ?? '', 0, '0'))
      .catch(() => undefined);
  }

  /** Lets go of what {@link stop} could not close. */
  async close(): Promise<void> {
    await this.#worker?.disconnect().catch(() => undefined);
    await this.queue.close();
  }

  get #name(): string {
    return jobKindOf(this.#at.lane);
  }

  /** A time of this process's clock, which may be wrong and may step, by Redis's. */
  #dueMs(atMs: number): number {
    const { link, clock } = this.#at;
    return Math.floor(link.now() + atMs - clock.now());
  }

  #opts(id: string, dueMs: number) {
    const nowMs = Math.floor(this.#at.link.now());
    return { jobId: jobIdOf(id), timestamp: nowMs, delay: Math.max(0, dueMs - nowMs) };
  }

  /**
   * Brings a plan to where it belongs, unless its step runs in another process.
   * @param hasWaited whether its step ran: whichever of the two plans is due earlier holds then.
   * @returns whether that is done.
   */
  async #settle(id: string, atMs: number, hasWaited: boolean): Promise<boolean> {
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.againAtMs = atMs;
      return true;
    }
    const place = await this.#put(id, atMs);
    const isOther = place.kind === 'delayed' && (!hasWaited || place.atMs > atMs);
    const isEarlier = place.kind === 'due' && !hasWaited && atMs > this.#at.link.now();
    if (isOther || isEarlier) await this.#replace(id, atMs);
    return place.kind !== 'running';
  }

  /** Adds a job unless there is one. @returns where it was before. */
  async #put(id: string, atMs: number): Promise<JobPlace> {
    const { link, redis } = this.#at;
    return link.call('planning a step', async () => {
      // One after the other on one connection: nothing is added where something was found.
      const found = look(redis, this.queue, [jobIdOf(id)]);
      const added = this.queue.add(this.#name, { atMs }, this.#opts(id, atMs));
      const [[place]] = await Promise.all([found, added]);
      return place ?? { kind: 'absent' };
    });
  }

  /** Replaces the plan for a job whose step has not begun; one that begins meanwhile knows what is known now. */
  async #replace(id: string, atMs: number): Promise<void> {
    const { link } = this.#at;
    // What runs is not removed.
    const isRemoved = (await link.call('replacing a plan', () => this.queue.remove(jobIdOf(id)))) === 1;
    if (isRemoved) await this.#add([{ id, atMs }]);
  }

  /** What BullMQ calls for a job that is due. It completes the job, unless what is thrown says where it was moved. */
  async #process(job: Job<Due, null>, token: string | undefined, step: JobHandler): Promise<null> {
    const { link, clock, stopping } = this.#at;
    const id = idOf(job);
    if (stopping.aborted) return this.#handBack(job, token);
    // Its lock was lost, and it was taken over by the very process that steps it still.
    if (this.#running.has(id)) return this.#delay(job, token, link.now() + REST_MS);
    this.#lag = { lagMs: Math.max(0, link.now() - job.data.atMs), seenAtMs: clock.monotonic() };
    const running: Running = { againAtMs: null };
    this.#running.set(id, running);
    const outcome = this.#step(id, step);
    this.#steps.add(outcome);
    const delayMs = await outcome;
    this.#steps.delete(outcome);
    this.#running.delete(id);
    if (delayMs === 'aborted') return this.#handBack(job, token);
    const dueMs = Math.min(running.againAtMs ?? Infinity, delayMs === null ? Infinity : link.now() + delayMs);
    return dueMs === Infinity ? null : this.#delay(job, token, dueMs);
  }

  async #step(id: string, step: JobHandler): Promise<number | null | 'aborted'> {
    const { lane, logger, stopping } = this.#at;
    try {
      return await step(id, stopping);
    } catch (thrown) {
      if (stopping.aborted) return 'aborted';
      logger.error({ lane, id, err: thrown }, 'a step threw; it is tried again later');
      return pauseAfter(thrown);
    }
  }

  /** The same job goes on at `atMs`. */
  async #delay(job: Job<Due, null>, token: string | undefined, atMs: number): Promise<never> {
    const nowMs = Math.floor(this.#at.link.now());
    const delayMs = Math.max(0, Math.ceil(atMs - nowMs));
    const data = JSON.stringify({ atMs: nowMs + delayMs } satisfies Due);
    const options = { skipAttempt: true, fieldsToUpdate: { data } };
    await this.#say(async () => this.#worker?.getBackend().moveToDelayed(job.id ?? '', nowMs, delayMs, token, options));
    throw new DelayedError();
  }

  /** Another process steps it, at once. */
  async #handBack(job: Job<Due, null>, token: string | undefined): Promise<never> {
    await this.#say(() => job.moveToWait(token));
    throw new WaitingError();
  }

  /** Where a job cannot be moved it is another one's already, or will be once its lock has run out. */
  async #say(move: () => Promise<unknown>): Promise<void> {
    try {
      await move();
    } catch (thrown) {
      this.#at.logger.debug({ lane: this.#at.lane, err: thrown }, 'a job was not moved');
    }
  }

  /** A worker whose calls are refused would ask again at once, and for ever. */
  #refused(error: Error): void {
    const { link, clock, stopping, lane, logger } = this.#at;
    const worker = this.#worker;
    logger.debug({ lane, err: error }, 'a worker met an error');
    // With a number, BullMQ says that one job was taken over, which happens.
    const isOfOneJob = 'code' in error && typeof error.code === 'number';
    if (isOfOneJob || !link.isReady || worker === null || stopping.aborted || this.#isResting) return;
    this.#isResting = true;
    void worker.pause(true);
    clock.after(REST_MS, () => {
      this.#isResting = false;
      if (!stopping.aborted) void worker.resume();
    });
  }
}

/** BullMQ takes no ids that are numbers or hold a colon. */
function jobIdOf(id: string): string {
  return `t-${encodeURIComponent(id)}`;
}

function idOf({ id = '' }: Pick<Job, 'id'>): string {
  return decodeURIComponent(id.slice(2));
}

function isLater(place: JobPlace | undefined, latestDueMs: number): boolean {
  return place?.kind === 'delayed' && place.atMs > latestDueMs;
}
