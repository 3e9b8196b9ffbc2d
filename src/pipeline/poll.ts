import { Big } from 'big.js';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { JobHandler, WorkQueue } from '../engine/index.ts';
import { asDailiesError, type DailiesError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { backoffMs, FailureCounter } from '../retry.ts';
import {
  type Failure,
  failureOf,
  isFetching,
  isFollowedQuietly,
  type RetryObserver,
  retryOf,
  sinceMs,
  type Task,
  type TaskId,
} from '../tasks/index.ts';
import type {
  Cost,
  Model,
  UpstreamId,
  UpstreamTask,
  VideoRequest,
  VideoService,
  VideoServices,
} from '../videos/index.ts';
import type { Clips } from './clip-files.ts';
import { pauseIfAsked, scheduleNext, serviceQueue } from './next-job.ts';
import type { TaskObserver, TaskRepository } from './repository.ts';

const HOUR_MS = 3_600_000;
/** Age at which polling of a cancelled task stops if the service reports that it has not ended: no user waits. */
const CANCELLED_LIMIT_MS = 24 * HOUR_MS;
/** Time for which a service may report nothing but an unknown task before a user is asked to look for it. */
const UNKNOWN_TIMEOUT_MS = HOUR_MS / 2;
/** The same where the response does not name that error: a proxy's error page proves nothing and is temporary. */
const NOT_FOUND_TIMEOUT_MS = 24 * HOUR_MS;
/** Errors about the task itself that hold no information; after any other error, the next poll may succeed. */
const UNINFORMATIVE: ReadonlySet<ErrorCode> = new Set(['task_unknown', 'bad_answer']);
/** Time from a look within which a task that it found queued may be cancelled, unless the process was busy or suspended. */
const LOOK_IS_FRESH_MS = 5_000;
/** Time for which a service has to say that it forgot a task, before that counts as cancelled. */
const FORGOTTEN_MS = 60_000;
const FETCH_FIRST_RETRY_MS = 750;
/** Delay before a repeated fetch checks again for a free slot. */
const NO_SLOT_MS = 1_000;
/** Delay before checking again for a clip that another process is fetching. */
const ELSEWHERE_MS = 1_000;
const FETCH_MAX_RETRY_MS = 5 * 60_000;
/** Time after a task's end for which its fetch is retried; services drop results after 1 to 24 hours. */
const FETCH_TIMEOUT_MS: Partial<Record<ErrorCode, number>> = {
  not_ready: HOUR_MS / 2,
  task_unknown: HOUR_MS / 2,
  // The clip is in the bucket, however long that is away.
  storage_unavailable: Number.POSITIVE_INFINITY,
};
const DEFAULT_FETCH_TIMEOUT_MS = 24 * HOUR_MS;
/** Time for which a process retries a fetch however long ago its task ended. */
const FETCH_PATIENCE_MS = 5 * 60_000;
/** Upper bound on the tasks that are tracked as unknown, or as queued; beyond it, that of the oldest is reset. */
const MAX_UNKNOWN = 50_000;
/** Errors that an operator can fix: worth retrying later, although the same call would fail again now. */
const FIXABLE: ReadonlySet<ErrorCode> = new Set([
  'unauthorised',
  'forbidden',
  'disk_full',
  'internal',
  'storage_unavailable',
]);

/** Observes open tasks between their changes of state. */
export interface ProgressObserver extends RetryObserver {
  /** Called with the progress that the service reports of an open task. */
  progressed(task: Pick<Task, 'id' | 'state'>, upstream: UpstreamTask): void;
  /** Called after each poll, successful or not. */
  polled(outcome: 'ok' | ErrorCode): void;
}

/** What the catalog says of the bills of a model. */
export type Billing = Pick<Model, 'unitPrice' | 'currency' | 'chargesOnRejection'>;

/** Options of {@link createPoller}. */
export interface PollerOptions {
  readonly repository: TaskRepository;
  readonly followed: PollCache;
  readonly videos: VideoServices;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: ProgressObserver;
  readonly pace: PollPace;
  readonly clips: Pick<Clips, 'fetch'>;
  /** Concurrency of fetches that failed before, at least 1: the other slots are for clips that were never tried. */
  readonly maxRepeatedFetches: number;
  /** Returns what the catalog says of a model's bills; `undefined`: it has the model no more. Default: nothing. */
  readonly billingOf?: (model: string) => Billing | undefined;
}

/** The fields of a task that a poll needs: some hundred bytes where the record has a thousand. */
interface Followed extends Pick<VideoRequest, 'service' | 'model'> {
  readonly id: TaskId;
  readonly state: Task['state'];
  readonly upstreamId: UpstreamId;
  /** Its id came in the answer to its own create, and is no one's guess. */
  readonly isOwn: boolean;
  /** Time at which the service accepted it, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
}

/** Options of {@link PollCache}. */
interface PollCacheOptions extends Pick<PollerOptions, 'repository' | 'queue' | 'clock'> {
  /** `true` when no other process writes to the store: a cached task stays valid until this process changes it. */
  readonly exclusive: boolean;
}

/**
 * Reads the record of a polled task once instead of at every poll, where the store is this process's own: without it, a
 * poll costs 184 µs of processor time instead of 117 (median of five alternating pairs). Polling a stale entry does no
 * harm: it only reads, and the response is judged by the record.
 */
export class PollCache implements TaskObserver {
  readonly #options: PollCacheOptions;
  readonly #tasks = new Map<TaskId, Followed>();

  constructor(options: PollCacheOptions) {
    this.#options = options;
  }

  /** Returns the task to poll; `undefined` when it is not polled any more: then its next job, if any, is scheduled. */
  async find(id: TaskId): Promise<Followed | undefined> {
    const { repository, queue, clock, exclusive } = this.#options;
    const cached = this.#tasks.get(id);
    if (cached !== undefined) return cached;
    const task = await repository.get(id);
    if (task === undefined) return undefined;
    const { state, upstreamId } = task;
    if (upstreamId === undefined || !(state === 'polling' || isFollowedQuietly(task))) {
      scheduleNext(queue, task, clock.now());
      return undefined;
    }
    const { service, model } = task.request;
    const of = service === undefined ? {} : { service };
    const isOwn = task.turnAtMs !== undefined;
    const followed = { id, state, upstreamId, isOwn, sinceMs: sinceMs(task), model, ...of };
    if (exclusive) this.#tasks.set(id, followed);
    return followed;
  }

  changed({ id }: Task): void {
    this.#tasks.delete(id);
  }
}

/** Creates the handlers of the queues `poll` and `fetch`: poll a task to its end, then download its clip. */
export function createPoller(options: PollerOptions): { readonly poll: JobHandler; readonly fetch: JobHandler } {
  const failures = new FailureCounter(options.clock);
  return { poll: new Poller(options, failures).run, fetch: new Fetcher(options, failures).run };
}

class Poller {
  readonly #options: PollerOptions;
  readonly #failures: FailureCounter;
  /** Time of the first in a row of `task_unknown` responses, by upstream id, in the clock's monotonic milliseconds. */
  readonly #unknownSinceMs = new BoundedMap<string, number>(MAX_UNKNOWN);

  /** Time of the last report of a task as queued. */
  readonly #queuedAtMs = new BoundedMap<TaskId, number>(MAX_UNKNOWN);

  /** Tasks that the service agreed to forget, with the time since which it says so, in the clock's monotonic milliseconds. */
  readonly #forgottenSinceMs = new BoundedMap<TaskId, number | null>(MAX_UNKNOWN);

  constructor(options: PollerOptions, failures: FailureCounter) {
    this.#options = options;
    this.#failures = failures;
  }

  readonly run: JobHandler = async (id, signal) => {
    const task = await this.#options.followed.find(id as TaskId);
    if (task !== undefined) return this.#poll(task, signal);
    this.#failures.forget(id);
    return null;
  };

  async #poll(task: Followed, signal: AbortSignal): Promise<number | null> {
    const { videos, clock, random, observer, pace } = this.#options;
    const ageMs = clock.now() - task.sinceMs;
    const isEnough = task.state === 'cancelled' && ageMs > CANCELLED_LIMIT_MS;
    const since = [clock.monotonic(), clock.now()] as const;
    const isFresh = () => Math.max(clock.monotonic() - since[0], clock.now() - since[1]) < LOOK_IS_FRESH_MS;
    try {
      const service = videos.of(task);
      const upstream = await service.retrieve(task.upstreamId, signal);
      this.#failures.forget(task.id);
      this.#unknownSinceMs.delete(task.upstreamId);
      observer.polled('ok');
      if (await this.#isOver(task, upstream)) return null;
      if (isEnough) return await this.#abandon(task);
      this.#forgottenSinceMs.delete(task.id);
      // An id that was found or entered may be that of another customer's task.
      if (task.state === 'cancelled' && task.isOwn && upstream.status === 'queued')
        await this.#cancel(task, service, isFresh);
      observer.progressed(task, upstream);
      return nextPollMs(pace, ageMs, random());
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return this.#pollFailed(task, asDailiesError(thrown, `polling task ${task.id}`), isEnough);
    }
  }

  async #pollFailed(task: Followed, error: DailiesError, isEnough: boolean): Promise<number | null> {
    const { queue, clock, random, logger, observer, pace } = this.#options;
    observer.polled(error.code);
    const { count } = this.#failures.failedAgain(task.id);
    pauseIfAsked(queue, serviceQueue('poll', task), error);
    if (await this.#isCancelled(task, error)) return null;
    if (this.#isUnknownUpstream(task, error)) return this.#markUnknown(task, error);
    if (isEnough && UNINFORMATIVE.has(error.code)) return this.#abandon(task);
    logger.warn({ event: 'poll_failed', task: task.id, failures: count, err: error }, 'poll failed, retrying');
    const bounds = { firstMs: pace.minMs, maxMs: pace.maxMs, random: random() };
    const waitMs = Math.max(pace.minMs, backoffMs(count, { ...bounds, askedMs: error.retryAfterMs }));
    const seen = { failures: count, isForAll: false };
    observer.retrying(task, retryOf('poll', error, clock.now() + waitMs, task), seen);
    return waitMs;
  }

  /** Has the service cancel a task that is queued. */
  async #cancel({ id, upstreamId }: Followed, service: VideoService, isFresh: () => boolean): Promise<void> {
    try {
      if ((await service.cancel(upstreamId, isFresh)) === 'forgets') this.#forgottenSinceMs.set(id, null);
    } catch (err) {
      this.#options.logger.warn({ event: 'cancel_failed', task: id, err }, 'failed to cancel a task at the service');
    }
  }

  /**
   * Records that a queued task was cancelled, once the service has agreed to forget it and then said for a minute, by its own
   * code and nothing else, that it does not know it: such a one is never begun.
   * @see https://fal.ai/docs/documentation/development/handle-cancellations
   */
  async #isCancelled({ id }: Followed, { code, retryable }: DailiesError): Promise<boolean> {
    const { repository, clock } = this.#options;
    if (!this.#forgottenSinceMs.has(id)) return false;
    const sinceMs = this.#forgottenSinceMs.get(id) ?? clock.monotonic();
    const isForgotten = code === 'task_unknown' && !retryable;
    this.#forgottenSinceMs.set(id, isForgotten ? sinceMs : null);
    if (!isForgotten || clock.monotonic() - sinceMs < FORGOTTEN_MS) return false;
    const failure = { code: 'cancelled', words: null } as const;
    await repository.record(id, { kind: 'failed', failure, atMs: clock.now() });
    this.#forgottenSinceMs.delete(id);
    this.#failures.forget(id);
    return true;
  }

  /** Returns whether the service has said for long enough, and nothing else, that it does not know a task, or nothing readable. */
  #isUnknownUpstream({ state, upstreamId }: Followed, { code, retryable }: DailiesError): boolean {
    if (!UNINFORMATIVE.has(code) || state !== 'polling') {
      this.#unknownSinceMs.delete(upstreamId);
      return false;
    }
    const nowMs = this.#options.clock.monotonic();
    const sinceMs = this.#unknownSinceMs.get(upstreamId) ?? nowMs;
    this.#unknownSinceMs.set(upstreamId, sinceMs);
    return nowMs - sinceMs >= (retryable || code === 'bad_answer' ? NOT_FOUND_TIMEOUT_MS : UNKNOWN_TIMEOUT_MS);
  }

  async #markUnknown({ id, upstreamId }: Followed, error: DailiesError): Promise<null> {
    this.#options.logger.error(
      { event: 'task_unknown_upstream', task: id, upstreamId, err: error },
      'the service does not know a task, waiting for a user to decide',
    );
    await this.#options.repository.record(id, { kind: 'disowned', failure: failureOf(error) });
    this.#failures.forget(id);
    this.#unknownSinceMs.delete(upstreamId);
    return null;
  }

  async #abandon({ id }: Followed): Promise<null> {
    await this.#options.repository.record(id, { kind: 'abandon', atMs: this.#options.clock.now() });
    this.#failures.forget(id);
    return null;
  }

  async #isOver({ id, model }: Followed, upstream: UpstreamTask): Promise<boolean> {
    const { repository, queue, clock } = this.#options;
    const atMs = clock.now();
    const { status, failure } = upstream;
    if (status === 'queued') this.#queuedAtMs.set(id, atMs);
    if (status !== 'completed' && status !== 'failed') return false;
    const queuedAtMs = this.#queuedAtMs.get(id);
    this.#queuedAtMs.delete(id);
    const billing = this.#options.billingOf?.(model);
    const cost = upstream.cost ?? costOf(upstream, billing);
    const billed = cost === undefined ? {} : { cost };
    const turn = queuedAtMs === undefined ? {} : { queuedAtMs };
    const completed = { kind: 'completed', atMs, ...turn, ...billed } as const;
    const reason = judged(failure ?? { code: 'generation_failed', words: null }, billing);
    const failed = { kind: 'failed', failure: reason, atMs, ...billed } as const;
    const recorded = await repository.record(id, status === 'completed' ? completed : failed);
    // If it had ended already, the process that recorded it may not know that its write was stored.
    if (recorded !== undefined) scheduleNext(queue, recorded.task, atMs);
    return true;
  }
}

/** Number of units, as far as it can be multiplied. */
const UNITS = /^\d{1,15}(?:\.\d{1,15})?$/u;

/** Returns the cost of the units that a service reports; undefined for what is no number, or without a price of one. */
function costOf({ units = '' }: UpstreamTask, billing: Billing | undefined): Cost | undefined {
  if (billing?.unitPrice === undefined || !UNITS.test(units)) return undefined;
  return { amount: new Big(units).times(billing.unitPrice).toFixed(), currency: billing.currency };
}

/** Adds what the catalog knows of the bill for a refused clip, where the service does not say it. */
function judged(failure: Failure, { chargesOnRejection: charges = 'unknown' }: Partial<Billing> = {}): Failure {
  if (failure.code !== 'moderated' || failure.isBilled !== undefined || charges === 'unknown') return failure;
  return { ...failure, isBilled: charges === 'yes' };
}

class Fetcher {
  readonly #options: PollerOptions;
  readonly #failures: FailureCounter;
  #repeated = 0;

  constructor(options: PollerOptions, failures: FailureCounter) {
    this.#options = options;
    this.#failures = failures;
  }

  readonly run: JobHandler = async (id, signal) => {
    const { repository, queue, clock } = this.#options;
    const task = await repository.get(id as TaskId);
    if (task === undefined) return null;
    if (isFetching(task)) return this.#fetchInSlot(task, signal);
    scheduleNext(queue, task, clock.now());
    return null;
  };

  /** Fetches a clip, unless it failed before and every slot for repeated fetches is taken. */
  async #fetchInSlot(task: Task, signal: AbortSignal): Promise<number | null> {
    if (!this.#failures.has(task.id)) return this.#fetch(task, signal);
    if (this.#repeated >= this.#options.maxRepeatedFetches) return NO_SLOT_MS;
    this.#repeated += 1;
    try {
      return await this.#fetch(task, signal);
    } finally {
      this.#repeated -= 1;
    }
  }

  async #fetch(task: Task, signal: AbortSignal): Promise<number | null> {
    const { clips, repository } = this.#options;
    if (task.upstreamId === undefined) return null;
    try {
      const clip = await clips.fetch({ ...task, upstreamId: task.upstreamId }, signal);
      this.#failures.forget(task.id);
      if (clip === null) return ELSEWHERE_MS;
      await repository.record(task.id, { kind: 'fetched', clip });
      return null;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return this.#fetchFailed(task, asDailiesError(thrown, `fetching the clip of task ${task.id}`));
    }
  }

  async #fetchFailed(task: Task, error: DailiesError): Promise<number | null> {
    const { repository, clock, random, logger, observer } = this.#options;
    const { count, forMs } = this.#failures.failedAgain(task.id);
    logger.error(
      { event: 'clip_fetch_failed', task: task.id, failures: count, err: error },
      'failed to fetch a finished clip',
    );
    if (isWorthWaiting(error, task, { forMs, nowMs: clock.now() })) {
      const bounds = { firstMs: FETCH_FIRST_RETRY_MS, maxMs: FETCH_MAX_RETRY_MS, random: random() };
      const waitMs = backoffMs(count, { ...bounds, askedMs: error.retryAfterMs });
      const seen = { failures: count, isForAll: false };
      observer.retrying(task, retryOf('fetch', error, clock.now() + waitMs, task.request), seen);
      return waitMs;
    }
    this.#failures.forget(task.id);
    await repository.record(task.id, { kind: 'unfetchable', failure: failureOf(error) });
    return null;
  }
}

/**
 * Returns whether the clip of an ended task may still become available, after an error.
 * @param forMs time since the first of the failures in a row, by the process's own clock
 */
export function isWorthWaiting(
  error: DailiesError,
  { endedAtMs, createdAtMs }: Task,
  { forMs, nowMs }: { readonly forMs: number; readonly nowMs: number },
): boolean {
  if (!error.retryable && !FIXABLE.has(error.code)) return false;
  // The clock that recorded the end may have been stepped since, or be another machine's.
  const sinceEndMs = forMs < FETCH_PATIENCE_MS ? forMs : nowMs - (endedAtMs ?? createdAtMs);
  return sinceEndMs < (FETCH_TIMEOUT_MS[error.code] ?? DEFAULT_FETCH_TIMEOUT_MS);
}

/** Bounds of the poll interval. @see ../config.ts `POLL_FIRST_MS`, `POLL_MIN_MS`, `POLL_MAX_MS`, `TASK_DEADLINE_MS` */
export interface PollPace {
  /** Delay from acceptance to the first poll. */
  readonly firstMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  /** A task older than this is overdue and polled every `maxMs`. */
  readonly deadlineMs: number;
}

/**
 * Poll interval by the age of a task, in multiples of `minMs`: a clip that is not finished after two minutes seldom
 * finishes seconds later.
 * @see docs/video-service.md "Pace"
 */
const STAGES = [
  { untilAgeMs: 2 * 60_000, intervals: 1 },
  { untilAgeMs: 5 * 60_000, intervals: 2 },
  { untilAgeMs: 10 * 60_000, intervals: 3 },
  { untilAgeMs: 20 * 60_000, intervals: 4 },
] as const;

/** Jitter: largest share by which an interval is stretched, so that tasks created together are not polled together. */
const JITTER = 0.1;

/**
 * Returns the delay until the next poll of a task of that age, in milliseconds.
 * @param random from 0 to 1.
 */
export function nextPollMs(pace: PollPace, ageMs: number, random: number): number {
  if (ageMs >= pace.deadlineMs) return pace.maxMs;
  const intervals = STAGES.find((stage) => ageMs < stage.untilAgeMs)?.intervals ?? 6;
  return Math.round(Math.min(pace.maxMs, pace.minMs * intervals * (1 + JITTER * random)));
}
