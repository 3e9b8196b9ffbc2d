import type { Clock } from '../../clock.ts';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';

/**
 * The kinds of job: `send` (POSTs), `poll` (GETs of open tasks), `fetch` (downloads of finished clips), `deliver`
 * (uploads to a chat), `notify` (mentions in a chat), `join` (cuts: several clips made into one, and uploaded), `frame` (last
 * frames of clips, for the shots that start with them).
 */
export const JOB_KINDS = ['send', 'poll', 'fetch', 'deliver', 'notify', 'join', 'frame'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/**
 * Names of the queues, each with its own concurrency, rate limit and pause. Each platform, and each named service, has
 * queues of its own, so that a slow or unavailable one does not delay the others.
 */
export type QueueName =
  | 'send'
  | 'poll'
  | 'fetch'
  | 'join'
  | 'frame'
  | `${'send' | 'poll' | 'fetch'}:${string}`
  | `${'deliver' | 'notify'}:${string}`;

export function jobKindOf(name: QueueName): JobKind {
  return name.split(':', 1)[0] as JobKind;
}

/** Returns the names of all queues of a process with these platforms and named services. */
export function queueNamesOf(platforms: Iterable<string>, services: Iterable<string> = []): readonly QueueName[] {
  const ofPlatforms = [...platforms].flatMap((name) => [`deliver:${name}`, `notify:${name}`] as const);
  const ofServices = [...services].flatMap((name) => [`send:${name}`, `poll:${name}`, `fetch:${name}`] as const);
  return ['send', 'poll', 'fetch', 'join', 'frame', ...ofServices, ...ofPlatforms];
}

/**
 * Runs one job for `id`.
 * @returns the delay until the next job for `id` in the same queue, in milliseconds, or `null` when there is none.
 * @throws anything when `signal` aborted before it was done: the job stays due, and another replica runs it at once.
 */
export type JobHandler = (id: string, signal: AbortSignal) => Promise<number | null>;

export interface JobOptions {
  readonly queue: QueueName;
  readonly ids: readonly string[];
  /** Due time of the first id, in milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Delay of each id after the one before it in `ids`, lost or not. Default 0: all at once. */
  readonly apartMs?: number;
  /** A job due later counts as lost: the process that scheduled it had a wrong clock. Default: no limit. */
  readonly latestMs?: number;
  /** Alternative queues in which a job for the id is accepted as well. Default: none. */
  readonly orIn?: readonly QueueName[];
}

/** Number of jobs that run at once in each queue of a kind, at least 1; of single queues, where that differs. */
export type Concurrency = Readonly<Record<JobKind, number>> & { readonly [Name in QueueName]?: number };

/** Returns the number of jobs that run at once in a queue. */
export function concurrencyOf(concurrency: Concurrency, name: QueueName): number {
  return concurrency[name] ?? concurrency[jobKindOf(name)];
}

/** Rate limit of a queue: the number of jobs started per period, over all replicas that share it. */
export interface QueueLimit {
  /** At least 1. */
  readonly max: number;
  readonly perMs: number;
}

/** Rate limits by queue; the other queues have none. */
export type QueueLimits = { readonly [Name in QueueName]?: QueueLimit };

/** Options of any work queue. */
export interface QueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Number of jobs that run at once in each queue of a kind in this process, at least 1 each. */
  readonly concurrency: Concurrency;
  readonly limits?: QueueLimits;
  /** Queues whose jobs this process runs. */
  readonly names: readonly QueueName[];
}

export interface QueueStats {
  /** Jobs that are not due yet or wait for a slot; of all replicas, where they share a queue. */
  readonly planned: number;
  /** Jobs running in this process. */
  readonly running: number;
  /** Delay of the job that started last in this process, in milliseconds; 0 if none started for a minute. */
  readonly lagMs: number;
}

/** Delay of a queue's last started job, in milliseconds, and its start time by the clock's `monotonic`. */
export interface SeenLag {
  readonly lagMs: number;
  readonly seenAtMs: number;
}

/** Time for which the delay of a job counts for its queue: if no job follows, nothing is late. */
const LAG_COUNTS_MS = 60_000;

/** Returns the lag of a queue at `nowMs`, by the same clock; 0 if `seen` is `null` (no job has started) or outdated. */
export function lagOf(seen: SeenLag | null, nowMs: number): number {
  return seen === null || nowMs - seen.seenAtMs > LAG_COUNTS_MS ? 0 : seen.lagMs;
}

/**
 * Runs due jobs with bounded concurrency. A job only names a task: the record in the store decides what there is to do,
 * so a job that runs twice, late or for an ended task does no harm. Jobs need not be durable: the reconciler restores
 * them from the store's indexes.
 */
export interface WorkQueue {
  start(steps: Readonly<Record<JobKind, JobHandler>>): void;
  /**
   * Schedules a job for `id` in the queue `name` at `atMs`, in milliseconds since the Unix epoch, replacing an earlier
   * one for the same id and queue. While that job runs, the new one waits for its end; if the running job asks for
   * another run as well, the earlier of the two is kept.
   */
  schedule(name: QueueName, id: string, atMs: number): void;
  /**
   * Schedules the jobs that are neither scheduled nor running, and leaves the others unchanged.
   * @returns the number of jobs that were lost.
   * @throws `store_unavailable` when the queue cannot be read.
   */
  ensure(wanted: JobOptions): Promise<number>;
  /** Pauses a queue for `forMs`, on every replica that shares it, as the service asked for. */
  pause(name: QueueName, forMs: number): void;
  /** Remaining time of a queue's pause, in milliseconds, as far as this process asked for it; 0 without one. */
  pausedMs(name: QueueName): number;
  /** Names of the queues whose jobs this process runs. */
  readonly names: readonly QueueName[];
  stats(name: QueueName): Promise<QueueStats>;
  /**
   * Starts no more jobs, and aborts the signal of the running ones: polls and fetches end at once without loss, while
   * sends, deliveries and notifications run to completion.
   * @param patienceMs timeout in milliseconds. Default: none.
   * @returns whether all jobs have ended.
   */
  drain(patienceMs?: number): Promise<boolean>;
  /** Closes the queue after {@link drain}: flushes the jobs scheduled so far and accepts no more. */
  close(): Promise<void>;
}

/** Creates the abort reason of the running jobs when a queue is drained. */
export function jobEndings(): DailiesError {
  return new DailiesError('stepping tasks: this process is stopping', { code: 'internal', retryable: true });
}

/** Retry delay of a job after an unexpected error, which an operator has to look into. */
const AFTER_A_DEFECT_MS = 30_000;
/** Retry delay after a temporary error, such as a store that was briefly unavailable. */
const AFTER_AN_OUTAGE_MS = 5_000;

/** Returns the retry delay of a job that threw, in milliseconds: the error's `retryAfterMs`, if it has one. */
export function pauseAfter(thrown: unknown): number {
  if (!(thrown instanceof DailiesError)) return AFTER_A_DEFECT_MS;
  return thrown.retryAfterMs ?? (thrown.retryable ? AFTER_AN_OUTAGE_MS : AFTER_A_DEFECT_MS);
}
