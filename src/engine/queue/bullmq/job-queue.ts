import { DelayedError, type Job, Queue, WaitingError, Worker } from 'bullmq';
import { chunked } from '../../../chunked.ts';
import { type Clock, sleep, within } from '../../../clock.ts';
import type { Logger } from '../../../logger.ts';
import { retry } from '../../../retry.ts';
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
import type { BullmqConnection } from './queue.ts';
import { type JobPlace, look, pause } from './scripts.ts';

/** Prefix of BullMQ's keys; those of `send` are `dailies:work:send:…`. */
const PREFIX = 'dailies:work';
/** Lock TTL of a job: without a renewal for this long, another replica takes it over at its next check. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** Jobs added in one call: a slow Redis has to answer it within the timeout. */
const ADDED_AT_ONCE = 250;
/** Limit on how often a stalled job is taken over, in effect none: BullMQ never resets its count. */
const UNLIMITED = 1_000_000_000;
/** Pause of a queue after Redis refused a call, for instance because it is full. */
const REFUSED_PAUSE_MS = 1_000;
/** First and longest delay before checking again whether a job has ended in another process; doubled each time. */
const FIRST_RECHECK_MS = 10;
const MAX_RECHECK_MS = 1_000;
/** Timeout for a worker's last calls to Redis when it closes. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Payload of a job: its due time in milliseconds since the Unix epoch, to measure the lag. */
interface Due {
  readonly atMs: number;
}

/** A job running in this process, and the due time of the one scheduled after it. */
interface Running {
  againAtMs: number | null;
}

/** Options of {@link BullmqJobQueue}. */
interface BullmqJobQueueOptions {
  readonly name: QueueName;
  readonly link: BullmqConnection;
  /** Number of jobs that run at once in this process. */
  readonly concurrency: number;
  readonly limit: QueueLimit | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when this process starts no more jobs. */
  readonly stopping: AbortSignal;
}

/**
 * A queue of BullMQ, in which each id has at most one job, with its worker in this process. The same job is delayed
 * again and again until its handler asks for no further run.
 */
export class BullmqJobQueue {
  readonly queue: Queue<Due, null>;
  readonly #at: BullmqJobQueueOptions;
  readonly #running = new Map<string, Running>();
  /** Due times of jobs that are being written to Redis, or wait for the end of a job in another process. */
  readonly #pending = new Map<string, number>();
  #worker: Worker<Due, null> | null = null;
  readonly #steps = new Set<Promise<unknown>>();
  #isWorkerPaused = false;
  /** End of the pause, as far as this process has asked for one, by the clock's `monotonic`. */
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #lag: SeenLag | null = null;

  constructor(at: BullmqJobQueueOptions) {
    this.#at = at;
    this.queue = new Queue<Due, null>(at.name.replace(':', '.'), {
      connection: at.link.queues,
      prefix: PREFIX,
      streams: { events: { maxLen: 100 } },
      // Calls report their failures themselves, and a failed version check would be permanent.
      skipVersionCheck: true,
    });
    this.queue.on('error', () => undefined);
  }

  /** Puts the queue's rate limit into effect, if it has one. @throws `store_unavailable` */
  async keepLimit(): Promise<void> {
    const { link, limit } = this.#at;
    // The limit that {@link pause} left in Redis while there was none would take precedence.
    if (limit !== undefined) await link.calls.call('limiting a queue', () => this.queue.removeGlobalRateLimit());
  }

  start(step: JobHandler): void {
    const { link, concurrency, limit } = this.#at;
    const worker = new Worker<Due, null>(this.queue.name, (job, token) => this.#process(job, token, step), {
      connection: link.workers,
      prefix: PREFIX,
      concurrency,
      ...(limit === undefined ? {} : { limiter: { max: limit.max, duration: limit.perMs } }),
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: UNLIMITED,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      runRetryDelay: REFUSED_PAUSE_MS,
    });
    worker.on('error', (error) => this.#refused(error));
    worker.on('active', () => link.calls.accepted());
    worker.waitUntilReady().catch(() => this.#startAgain(worker, step));
    this.#worker = worker;
  }

  /** Replaces a worker whose own connection failed during its setup: BullMQ never connects it again. */
  #startAgain(worker: Worker<Due, null>, step: JobHandler): void {
    const { clock, stopping } = this.#at;
    if (stopping.aborted) return;
    void worker.close(true).catch(() => undefined);
    clock.after(REFUSED_PAUSE_MS, () => {
      if (!stopping.aborted) this.start(step);
    });
  }

  /**
   * Schedules a job as {@link import('../queue.ts').WorkQueue.schedule} specifies: while it runs in another process, by
   * polling for its end. @throws `store_unavailable`
   */
  async plan(id: string, atMs: number): Promise<void> {
    const isUnderWay = this.#pending.has(id);
    this.#pending.set(id, atMs);
    if (isUnderWay) return;
    try {
      let waitMs = 0;
      for (let wantedMs: number | null = null; wantedMs !== this.#pending.get(id); ) {
        wantedMs = this.#pending.get(id) ?? atMs;
        if (await this.#settle(id, wantedMs, waitMs > 0)) continue;
        wantedMs = null;
        waitMs = Math.min(2 * waitMs || FIRST_RECHECK_MS, MAX_RECHECK_MS);
        await sleep(this.#at.clock, waitMs);
      }
    } finally {
      this.#pending.delete(id);
    }
  }

  /** Removes jobs due after `latestMs` and returns the `ids` without a job. @throws `store_unavailable` */
  async missing(ids: readonly string[], latestMs: number): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const { link } = this.#at;
    const places = await link.calls.call('looking for jobs', () => look(link.queues, this.queue, ids.map(jobIdOf)));
    const tooLate = ids.filter((_id, at) => isLater(places[at], latestMs));
    await link.calls.call('removing plans', () => Promise.all(tooLate.map((id) => this.queue.remove(jobIdOf(id)))));
    const isMissing = (at: number): boolean => places[at]?.kind === 'absent' || isLater(places[at], latestMs);
    return ids.filter((id, at) => isMissing(at) && !this.#running.has(id) && !this.#pending.has(id));
  }

  /** Adds jobs for ids that have none. @throws `store_unavailable` */
  async add(plans: readonly { readonly id: string; readonly atMs: number }[]): Promise<void> {
    for (const some of chunked(plans, ADDED_AT_ONCE)) {
      // One command for each: with node-redis, `addBulk` fails on a Redis that has restarted and lost BullMQ's scripts.
      await this.#at.link.calls.call('planning steps', () =>
        Promise.all(some.map(({ id, atMs }) => this.queue.add(this.#name, { atMs }, this.#opts(id, atMs)))),
      );
    }
  }

  /** Pauses the queue for `forMs`, here at once, and on every replica once Redis takes it. @throws `store_unavailable` */
  async pause(forMs: number): Promise<void> {
    const { link, clock, limit, stopping } = this.#at;
    const untilMs = clock.monotonic() + forMs;
    if (untilMs <= this.#pausedUntilMs) return;
    this.#pausedUntilMs = untilMs;
    const write = async (): Promise<void> => {
      // BullMQ honours a pause only with a rate limit; one that is never reached costs a little at every later job.
      const limited = limit === undefined ? this.queue.setGlobalRateLimit(UNLIMITED, 1) : null;
      await Promise.all([limited, pause(link.queues, this.queue, Math.max(1, untilMs - clock.monotonic()))]);
    };
    const failed = (thrown: unknown): void => {
      if (stopping.aborted || this.pausedMs() === 0 || untilMs < this.#pausedUntilMs) throw thrown;
    };
    const pace = { firstMs: REFUSED_PAUSE_MS, maxMs: REFUSED_PAUSE_MS, random: () => 1 };
    await retry({ ...pace, clock, failed }, () => link.calls.call('pausing a queue', write));
  }

  /** Returns how much of the longest pause that this process asked for is left, in milliseconds. */
  pausedMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#at.clock.monotonic());
  }

  /** @throws `store_unavailable` */
  async stats(): Promise<QueueStats> {
    const { link, clock } = this.#at;
    const counts = await link.calls.call('counting jobs', () => this.queue.getJobCounts('wait', 'delayed'));
    const planned = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { planned, running: this.#running.size, lagMs: lagOf(this.#lag, clock.monotonic()) };
  }

  /** Takes no more jobs. Resolves once all jobs have ended and their results were written to Redis, or cannot be. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    const closed = worker.close();
    while (this.#steps.size > 0) await Promise.all(this.#steps);
    await within(this.#at.clock, CLOSE_TIMEOUT_MS, closed, undefined);
    // A worker that stops may have consumed the marker of a due job: set it again for the workers that wait.
    const { calls } = this.#at.link;
    const marker = this.queue.keys['marker'] ?? '';
    await calls
      .call('waking the others', () => calls.client.zAdd(marker, { score: 0, value: '0' }))
      .catch(() => undefined);
  }

  /** Closes the connections that {@link stop} could not close. */
  async close(): Promise<void> {
    await this.#worker?.disconnect().catch(() => undefined);
    await this.queue.close();
  }

  get #name(): string {
    return jobKindOf(this.#at.name);
  }

  #opts(id: string, atMs: number) {
    const nowMs = Math.floor(this.#at.clock.now());
    return { jobId: jobIdOf(id), timestamp: nowMs, delay: Math.max(0, Math.floor(atMs) - nowMs) };
  }

  /**
   * Schedules a job, unless it runs in another process.
   * @param hasWaited whether it ran there before: then the earlier of this due time and the one it asked for is kept.
   * @returns `false` while it runs in another process.
   */
  async #settle(id: string, atMs: number, hasWaited: boolean): Promise<boolean> {
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.againAtMs = atMs;
      return true;
    }
    const before = await this.#placeOf(id);
    if (before.kind === 'running') return false;
    // One that starts from here on reads the current record.
    const place = before.kind === 'absent' ? await this.#put(id, atMs) : before;
    const isOther = place.kind === 'delayed' && place.atMs !== Math.floor(atMs) && (!hasWaited || place.atMs > atMs);
    const isEarlier = before.kind === 'due' && !hasWaited && atMs > this.#at.clock.now();
    if (isOther || isEarlier) await this.#replace(id, atMs);
    return true;
  }

  async #placeOf(id: string): Promise<JobPlace> {
    const { link } = this.#at;
    const [place] = await link.calls.call('looking for a job', () => look(link.queues, this.queue, [jobIdOf(id)]));
    return place ?? { kind: 'absent' };
  }

  /** Adds a job, unless another process has just done so. @returns its place */
  async #put(id: string, atMs: number): Promise<JobPlace> {
    await this.add([{ id, atMs }]);
    return this.#placeOf(id);
  }

  /** Replaces a job that has not started; one that starts meanwhile reads the current record. */
  async #replace(id: string, atMs: number): Promise<void> {
    const { link } = this.#at;
    // BullMQ does not remove a running job.
    const isRemoved = (await link.calls.call('replacing a plan', () => this.queue.remove(jobIdOf(id)))) === 1;
    if (isRemoved) await this.add([{ id, atMs }]);
  }

  /** Runs a due job for BullMQ, which completes it afterwards unless the thrown error reports that it was moved. */
  async #process(job: Job<Due, null>, token: string | undefined, step: JobHandler): Promise<null> {
    const { clock, stopping } = this.#at;
    const id = idOf(job);
    if (stopping.aborted) return this.#handBack(job, token);
    // Redis may have refused the pause, or lost it.
    const pausedMs = this.pausedMs();
    if (pausedMs > 0) return this.#delay(job, token, clock.now() + pausedMs);
    // Its lock expired, and it was taken over by the same process that is still running it.
    if (this.#running.has(id)) return this.#delay(job, token, clock.now() + REFUSED_PAUSE_MS);
    this.#lag = { lagMs: Math.max(0, clock.now() - job.data.atMs), seenAtMs: clock.monotonic() };
    const running: Running = { againAtMs: null };
    this.#running.set(id, running);
    const outcome = this.#step(id, step);
    this.#steps.add(outcome);
    const delayMs = await outcome;
    this.#steps.delete(outcome);
    this.#running.delete(id);
    if (delayMs === 'aborted') return this.#handBack(job, token);
    const dueMs = Math.min(running.againAtMs ?? Infinity, delayMs === null ? Infinity : clock.now() + delayMs);
    return dueMs === Infinity ? null : this.#delay(job, token, dueMs);
  }

  async #step(id: string, step: JobHandler): Promise<number | null | 'aborted'> {
    const { name: lane, logger, stopping } = this.#at;
    try {
      return await step(id, stopping);
    } catch (thrown) {
      if (stopping.aborted) return 'aborted';
      logger.error({ event: 'job_failed', lane, id, err: thrown }, 'job threw an error, retrying later');
      return pauseAfter(thrown);
    }
  }

  /** Delays the same job until `atMs`. */
  async #delay(job: Job<Due, null>, token: string | undefined, atMs: number): Promise<never> {
    const nowMs = Math.floor(this.#at.clock.now());
    const delayMs = Math.max(0, Math.ceil(atMs - nowMs));
    const data = JSON.stringify({ atMs: nowMs + delayMs } satisfies Due);
    const options = { skipAttempt: true, fieldsToUpdate: { data } };
    await this.#move(async () =>
      this.#worker?.getBackend().moveToDelayed(job.id ?? '', nowMs, delayMs, token, options),
    );
    throw new DelayedError();
  }

  /** Returns a job to the queue for another replica to run at once. */
  async #handBack(job: Job<Due, null>, token: string | undefined): Promise<never> {
    await this.#move(() => job.moveToWait(token));
    throw new WaitingError();
  }

  /** Moves a job, ignoring failures: then another replica has it, or takes it over once its lock expires. */
  async #move(move: () => Promise<unknown>): Promise<void> {
    try {
      await move();
    } catch (thrown) {
      this.#at.logger.debug({ event: 'job_not_moved', lane: this.#at.name, err: thrown }, 'failed to move a job');
    }
  }

  /** Pauses a worker whose calls are refused: it would retry at once, forever. */
  #refused(error: Error): void {
    const { link, clock, stopping, name: lane, logger } = this.#at;
    const worker = this.#worker;
    logger.debug({ event: 'worker_error', lane, err: error }, 'queue worker error');
    // Errors of BullMQ with a numeric code concern a single job that was taken over, which is normal.
    const isOfOneJob = 'code' in error && typeof error.code === 'number';
    link.calls.failed(error);
    if (isOfOneJob || !link.calls.client.isReady || worker === null || stopping.aborted || this.#isWorkerPaused) return;
    this.#isWorkerPaused = true;
    void worker.pause(true);
    clock.after(REFUSED_PAUSE_MS, () => {
      this.#isWorkerPaused = false;
      if (!stopping.aborted) void worker.resume();
    });
  }
}

/** Returns the BullMQ id of a job: BullMQ accepts no ids that are numbers or contain a colon. */
function jobIdOf(id: string): string {
  return `t-${encodeURIComponent(id)}`;
}

function idOf({ id = '' }: Pick<Job, 'id'>): string {
  return decodeURIComponent(id.slice(2));
}

function isLater(place: JobPlace | undefined, latestMs: number): boolean {
  return place?.kind === 'delayed' && place.atMs > latestMs;
}
