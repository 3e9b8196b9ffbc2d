import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { asDailiesError, type DailiesError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { JobHandler, WorkQueue } from '../queue/queue.ts';
import { isFetching } from '../tasks/state-machine.ts';
import { type RetryObserver, retryOf } from '../tasks/step-retry.ts';
import { failureOf, type Task, type TaskId } from '../tasks/task.ts';
import type { UpstreamTask, VideoService } from '../videos/service.ts';
import { backoffMs, nextPollMs, type PollPace } from './backoff.ts';
import type { Clips } from './clip-files.ts';
import { pauseIfAsked, scheduleNext } from './next-job.ts';
import type { Followed, PollCache } from './poll-cache.ts';
import type { TaskRepository } from './repository.ts';

const HOUR_MS = 3_600_000;
/** A cancelled task that the service says has not ended after this is followed no longer: nobody waits for it. */
const QUIET_LIMIT_MS = 24 * HOUR_MS;
/** How long a service may say that it does not know a task, and nothing else, before somebody is asked to look for it. */
const UNKNOWN_PATIENCE_MS = HOUR_MS / 2;
/** The same where it does not name that: a front's page in place of an answer proves nothing, and passes. */
const NOT_FOUND_PATIENCE_MS = 24 * HOUR_MS;
/** What the service says of a task itself where it says nothing of use; anything else may be of use in a minute. */
const SAYS_NO_MORE: ReadonlySet<ErrorCode> = new Set(['task_unknown', 'bad_answer']);
const FETCH_FIRST_RETRY_MS = 750;
/** When a repeated fetch looks again for a free slot. */
const NO_SLOT_MS = 1_000;
/** When to look again at a clip that another process is fetching. */
const ELSEWHERE_MS = 1_000;
const FETCH_MAX_RETRY_MS = 5 * 60_000;
/** How long a clip that is not handed over is asked for; services drop results after 1 to 24 hours. */
const FETCH_PATIENCE_MS: Partial<Record<ErrorCode, number>> = { not_ready: HOUR_MS / 2, task_unknown: HOUR_MS / 2 };
const DEFAULT_FETCH_PATIENCE_MS = 24 * HOUR_MS;
/** Beyond so many failing tasks, the count of those that failed longest ago begins anew. */
const MOST_FAILING = 50_000;
/** What a person at the console can mend: worth waiting for, although the same call would fail again. */
const MENDABLE: ReadonlySet<ErrorCode> = new Set(['unauthorised', 'forbidden', 'disk_full', 'internal']);

/** Who wants to know how open tasks are doing between their changes of state. */
export interface ProgressObserver extends RetryObserver {
  /** The service said of an open task how far it is. */
  progressed(task: Pick<Task, 'id' | 'state'>, upstream: UpstreamTask): void;
  /** A poll ended, well or not. */
  polled(outcome: 'ok' | ErrorCode): void;
}

/** Collaborators of {@link createPoller}. */
export interface PollerOptions {
  readonly repository: TaskRepository;
  readonly followed: PollCache;
  readonly videos: VideoService;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: ProgressObserver;
  readonly pace: PollPace;
  readonly clips: Pick<Clips, 'fetch'>;
  /** How many fetches that failed before run at once, at least 1: the other slots are for clips that were never tried. */
  readonly maxRepeatedFetches: number;
}

/** The steps of the `poll` and the `fetch` lane: follow a task to its end, then bring its clip here. */
export function createPoller(options: PollerOptions): { readonly poll: JobHandler; readonly fetch: JobHandler } {
  const { repository, followed, videos, queue, clock, random, logger, observer, pace } = options;
  /** Failures in a row, of the tasks whose last step failed; after a restart the count begins anew. */
  const failures = new BoundedMap<string, number>(MOST_FAILING);

  /** Since when a service has not known an id, by the clock's monotonic milliseconds. */
  const unknownSince = new BoundedMap<string, number>(MOST_FAILING);

  const failedAgain = (id: string): number => {
    const count = (failures.get(id) ?? 0) + 1;
    failures.set(id, count);
    return count;
  };

  const poll = async (task: Followed, signal: AbortSignal): Promise<number | null> => {
    const ageMs = clock.now() - task.sinceMs;
    const isEnough = task.state === 'cancelled' && ageMs > QUIET_LIMIT_MS;
    try {
      const upstream = await videos.retrieve(task.upstreamId, signal);
      failures.delete(task.id);
      unknownSince.delete(task.upstreamId);
      observer.polled('ok');
      if (await isOver(task, upstream)) return null;
      if (isEnough) return await abandon(task);
      observer.progressed(task, upstream);
      return nextPollMs(pace, ageMs, random());
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = asDailiesError(thrown, `polling task ${task.id}`);
      observer.polled(error.code);
      const count = failedAgain(task.id);
      pauseIfAsked(queue, 'poll', error);
      if (isDisowned(task, error)) return disown(task, error);
      if (isEnough && SAYS_NO_MORE.has(error.code)) return abandon(task);
      logger.warn({ task: task.id, failures: count, err: error }, 'a poll failed; the task is followed on');
      const bounds = { firstMs: pace.minMs, maxMs: pace.maxMs, random: random() };
      const waitMs = Math.max(pace.minMs, backoffMs(count, { ...bounds, askedMs: error.retryAfterMs }));
      const seen = { failures: count, isForAll: false };
      observer.retrying(task, retryOf('poll', error, clock.now() + waitMs), seen);
      return waitMs;
    }
  };

  /** Whether the service has said for long enough, and nothing else, that it does not know a task. */
  const isDisowned = ({ state, upstreamId }: Followed, { code, retryable }: DailiesError): boolean => {
    if (code !== 'task_unknown' || state !== 'polling') {
      unknownSince.delete(upstreamId);
      return false;
    }
    const sinceMs = unknownSince.get(upstreamId) ?? clock.monotonic();
    unknownSince.set(upstreamId, sinceMs);
    return clock.monotonic() - sinceMs >= (retryable ? NOT_FOUND_PATIENCE_MS : UNKNOWN_PATIENCE_MS);
  };

  const disown = async ({ id, upstreamId }: Followed, error: DailiesError): Promise<null> => {
    logger.error({ task: id, upstreamId, err: error }, 'the service does not know a task; a person has to look for it');
    await repository.record(id, { kind: 'disowned', failure: failureOf(error) });
    failures.delete(id);
    unknownSince.delete(upstreamId);
    return null;
  };

  const abandon = async ({ id }: Followed): Promise<null> => {
    await repository.record(id, { kind: 'abandon', atMs: clock.now() });
    failures.delete(id);
    return null;
  };

  const isOver = async ({ id }: Followed, { status, failure }: UpstreamTask): Promise<boolean> => {
    const atMs = clock.now();
    if (status !== 'completed' && status !== 'failed') return false;
    const failed = { kind: 'failed', failure: failure ?? { code: 'generation_failed', words: null }, atMs } as const;
    const recorded = await repository.record(id, status === 'completed' ? { kind: 'completed', atMs } : failed);
    // Where it was over already, whoever recorded that may not have known that the store took it.
    if (recorded !== undefined) scheduleNext(queue, recorded.task, atMs);
    return true;
  };

  let repeatedFetches = 0;

  /** Fetches a clip, if a repeated fetch may take a slot now. */
  const fetchInTurn = async (task: Task, signal: AbortSignal): Promise<number | null> => {
    if (!failures.has(task.id)) return fetch(task, signal);
    if (repeatedFetches >= options.maxRepeatedFetches) return NO_SLOT_MS;
    repeatedFetches += 1;
    try {
      return await fetch(task, signal);
    } finally {
      repeatedFetches -= 1;
    }
  };

  const fetch = async (task: Task, signal: AbortSignal): Promise<number | null> => {
    if (task.upstreamId === undefined) return null;
    try {
      const clip = await options.clips.fetch(task.id, task.upstreamId, signal);
      failures.delete(task.id);
      if (clip === null) return ELSEWHERE_MS;
      await repository.record(task.id, { kind: 'fetched', clip });
      return null;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = asDailiesError(thrown, `fetching the clip of task ${task.id}`);
      const count = failedAgain(task.id);
      logger.error({ task: task.id, failures: count, err: error }, 'a finished clip could not be fetched');
      if (isWorthWaiting(error, clock.now() - (task.endedAtMs ?? task.createdAtMs))) {
        const bounds = { firstMs: FETCH_FIRST_RETRY_MS, maxMs: FETCH_MAX_RETRY_MS, random: random() };
        const waitMs = backoffMs(count, { ...bounds, askedMs: error.retryAfterMs });
        const seen = { failures: count, isForAll: false };
        observer.retrying(task, retryOf('fetch', error, clock.now() + waitMs), seen);
        return waitMs;
      }
      failures.delete(task.id);
      await repository.record(task.id, { kind: 'unfetchable', failure: failureOf(error) });
      return null;
    }
  };

  return {
    async poll(id, signal) {
      const task = await followed.find(id as TaskId);
      if (task !== undefined) return poll(task, signal);
      failures.delete(id);
      return null;
    },
    async fetch(id, signal) {
      const task = await repository.get(id as TaskId);
      if (task === undefined) return null;
      if (isFetching(task)) return fetchInTurn(task, signal);
      scheduleNext(queue, task, clock.now());
      return null;
    },
  };
}

/** Whether a clip that could not be had may still come, so long after its task ended. */
export function isWorthWaiting(error: DailiesError, sinceEndMs: number): boolean {
  if (!error.retryable && !MENDABLE.has(error.code)) return false;
  return sinceEndMs < (FETCH_PATIENCE_MS[error.code] ?? DEFAULT_FETCH_PATIENCE_MS);
}
