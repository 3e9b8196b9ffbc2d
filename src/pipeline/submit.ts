import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { JobHandler, Membership, WorkQueue } from '../engine/index.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { LastFrames } from '../media/index.ts';
import { backoffMs } from '../retry.ts';
import {
  type Attempt,
  attemptOf,
  type Failure,
  failureOf,
  isBehind,
  type RetryObserver,
  retryOf,
  type Task,
  type TaskEvent,
  type TaskId,
} from '../tasks/index.ts';
import type { CreateOutcome, VideoRequest, VideoService, VideoServices } from '../videos/index.ts';
import { pauseIfAsked, scheduleNext, serviceQueue } from './next-job.ts';
import type { StoryboardPacing } from './pacing.ts';
import type { Recorded, TaskObserver, TaskRepository } from './repository.ts';

/** Attempts at a create that provably created nothing before the task is given up. */
const MAX_UNSENT_TRIES = 5;
/** The same where the service is busy: slots become free as clips finish, so it is retried for five to ten minutes. */
const MAX_BUSY_TRIES = 25;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Delay before rechecking a task that another process is sending, or that cannot be sent from here now. */
const RECHECK_MS = 2_000;
/** Delay before an order looks again for a service that is not configured. */
const NO_SERVICE_MS = 30_000;
/** Lead of the time of day over the monotonic clock that indicates a suspended machine; less is a clock adjustment. */
const SUSPENDED_MS = 1_000;
/** Delay before retrying to store the outcome of a create. */
const STORE_RETRY_MS = 1_000;
/** Capacity of the POST outcomes kept in this process; only the store has those of older ones. */
const MAX_POSTED = 10_000;
/** Capacity of the claimed tasks kept until their job runs. */
const MAX_CLAIMED = 1_000;

/**
 * Returns the idempotency key of a submission. The first *Send again* repeats the key, so that a service that honours
 * it cannot bill twice. A service that answers a known key with the failure it stored would repeat that failure
 * forever: every further submission has a key of its own.
 * @see https://docs.stripe.com/api/idempotent_requests
 */
function idempotencyKeyOf({ id, sends }: Task): string {
  return sends <= 2 ? id : `${id}:${sends}`;
}

/** Options of {@link Submitter}. */
export interface SubmitterOptions {
  readonly repository: TaskRepository;
  readonly videos: VideoServices;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly membership: Pick<Membership, 'owner' | 'isAlive' | 'isGone'>;
  readonly observer: RetryObserver;
  /** Lets the shots of a storyboard start a few at a time. */
  readonly pacing: Pick<StoryboardPacing, 'mayStart'>;
  /** Says which images of a request the service could fetch. */
  readonly frames: Pick<LastFrames, 'isServed'>;
  readonly createTimeoutMs: number;
  readonly firstPollMs: number;
}

/** Delay before another check whether a shot may be sent; its job is also brought forward when an earlier shot ends. */
const PACED_RECHECK_MS = 10_000;

/**
 * The jobs of the `send` queue, which take a claimed task through its POST. The record says `sending` before a byte
 * leaves, and a replica that finds it so after its sender died turns it into `uncertain`: nothing is ever submitted twice
 * automatically.
 */
export class Submitter implements TaskObserver {
  readonly #options: SubmitterOptions;
  /**
   * Outcome of the last POST that this process may have sent for a task, as the event to record: `lost` until it is
   * accepted. Other attempts leased by this process provably never left. Kept although the store has it: after a crash,
   * the store may come back with an older state.
   * @see docs/decisions/0029-outcomes-in-memory.md
   */
  readonly #posted = new BoundedMap<TaskId, Extract<TaskEvent, { kind: 'accepted' | 'lost' }>>(MAX_POSTED);
  /**
   * Tasks as this process claimed them, until it changes them or has used them: their first job does not read them again. Where
   * another replica has changed one, the commit of `sending` is refused, and the job reads.
   */
  readonly #claimed = new BoundedMap<TaskId, Task>(MAX_CLAIMED);
  /** Tasks with a job running in this process. */
  readonly #inFlight = new Set<TaskId>();

  constructor(options: SubmitterOptions) {
    this.#options = options;
  }

  changed(task: Task, event: Parameters<TaskObserver['changed']>[1]): void {
    // One that waits, for an approval or for the shot before it, is claimed by the process that ends the wait.
    if (event === 'claimed' && task.state === 'claimed') this.#claimed.set(task.id, task);
    else this.#claimed.delete(task.id);
  }

  readonly run: JobHandler = async (key) => {
    const id = key as TaskId;
    if (this.#inFlight.has(id)) return RECHECK_MS;
    this.#inFlight.add(id);
    try {
      return await this.#step(id);
    } finally {
      this.#inFlight.delete(id);
    }
  };

  async #step(id: TaskId): Promise<number | null> {
    const { repository, queue, clock, logger, membership } = this.#options;
    const claimed = this.#claimed.get(id);
    this.#claimed.delete(id);
    const task = claimed ?? (await repository.get(id));
    if (task?.state !== 'claimed' && task?.state !== 'sending') return null;
    const known = this.#missingOutcome(task);
    if (known !== undefined) {
      logger.error(
        { event: 'create_outcome_missing', task: id, taskEvent: loggable(known) },
        'the store lacks the outcome of a create, recording it again',
      );
      const recorded = await repository.record(id, known);
      if (recorded !== undefined) scheduleNext(queue, recorded.task, clock.now());
      return null;
    }
    if (task.state === 'claimed')
      return (await this.#options.pacing.mayStart(task)) ? this.#send(task, claimed === undefined) : PACED_RECHECK_MS;
    if (this.#isUnposted(task)) {
      const unsent = await repository.record(id, { kind: 'unsent', of: attemptOf(task), atMs: clock.now() });
      return unsent?.task.state === 'claimed' ? 0 : null;
    }
    if (task.lease !== undefined && !(await membership.isGone(task.lease.owner))) return RECHECK_MS;
    logger.error(
      { event: 'create_interrupted', task: id },
      'a replica died during a create, unknown whether the service accepted it',
    );
    const isListed = this.#serviceOf(task)?.canList(task.request) === true;
    await repository.record(id, { ...lostOf(attemptOf(task)), isListed });
    return null;
  }

  /** Returns whether the store has our lease, but its response was lost or late: the job then ended before its POST. */
  #isUnposted(task: Task): boolean {
    const isOurs = task.state === 'sending' && task.lease?.owner === this.#options.membership.owner;
    return isOurs && this.#missingOutcome(task) === undefined;
  }

  /** Returns the outcome of a POST that this process has and the record lacks. */
  #missingOutcome(task: Task) {
    const known = this.#posted.get(task.id);
    return known !== undefined && isBehind(task, known.of) ? known : undefined;
  }

  /** @param isRead it was read for this job: an event that does not count in it is another process's */
  async #send(task: Task, isRead: boolean): Promise<number | null> {
    const { id } = task;
    const { repository, queue, clock, logger, membership, frames } = this.#options;
    // A replica whose membership expired must not start a submission that the others would find half done.
    if (!membership.isAlive()) return RECHECK_MS;
    const areServed = await Promise.all(task.request.media.image.map((url) => frames.isServed(url)));
    if (areServed.includes(false)) return this.#giveUp(task, { code: 'frame_gone', words: null });
    // Before anything is recorded.
    const service = this.#serviceOf(task);
    if (service === null) return NO_SERVICE_MS;
    const mayStillSend = this.#deadline(task.request);
    const begun = await repository.record(id, { kind: 'send', owner: membership.owner, atMs: clock.now() }, task);
    if (begun === undefined) return null;
    if (!begun.done) return !isRead || this.#isUnposted(begun.task) ? 0 : null;
    const of = attemptOf(begun.task);
    this.#posted.set(id, lostOf(of));
    const answer = await service.create(begun.task.request, { key: idempotencyKeyOf(begun.task), mayStillSend });
    // Before anything is recorded: the pause is about every task, whatever became of this one.
    if (answer.kind !== 'accepted') pauseIfAsked(queue, serviceQueue('send', task.request), answer.error);
    const outcome = this.#withPause(task.request, answer);
    const ended = eventOf(outcome, of, clock.now());
    const event = ended.kind === 'lost' ? { ...ended, isListed: service.canList(task.request) } : ended;
    if (event.kind === 'accepted' || event.kind === 'lost') this.#posted.set(id, event);
    const recorded = await this.#recordWithRetries(begun.task, event);
    if (outcome.kind === 'unsent' || outcome.kind === 'refused') this.#posted.delete(id);
    if (recorded === undefined) {
      logger.error(
        { event: 'submitted_task_lost', task: id, taskEvent: loggable(event) },
        'the store has lost a task whose create has ended',
      );
      return null;
    }
    return this.#afterwards(recorded, outcome);
  }

  /** Returns the service of an order; `null` where it is not configured any more: the order waits for it, and its card says so. */
  #serviceOf(task: Task): VideoService | null {
    const { videos, clock, logger, observer } = this.#options;
    try {
      return videos.of(task.request);
    } catch (thrown) {
      const error = asDailiesError(thrown, `sending task ${task.id}`);
      logger.warn({ event: 'service_missing', task: task.id, err: error }, 'an order waits for its service');
      const retry = retryOf('send', error, clock.now() + NO_SERVICE_MS, task.request);
      observer.retrying(task, retry, { failures: 1, isForAll: false });
      return null;
    }
  }

  /**
   * Returns a check, called right before the bytes leave: since now, others may have given this replica up, or the
   * service may have asked for a pause.
   */
  #deadline(request: VideoRequest): () => boolean {
    const { clock, queue, membership, createTimeoutMs } = this.#options;
    const startedAt = { ms: clock.monotonic(), timeOfDay: clock.now() };
    return () => {
      const elapsedMs = clock.monotonic() - startedAt.ms;
      const suspendedMs = clock.now() - startedAt.timeOfDay - elapsedMs;
      if (queue.pausedMs(serviceQueue('send', request)) > 0) return false;
      return membership.isAlive(startedAt.ms) && elapsedMs < createTimeoutMs && suspendedMs < SUSPENDED_MS;
    };
  }

  /** Counts a create that was not sent during a pause as a wait for the busy service, not as a failed attempt. */
  #withPause(request: VideoRequest, outcome: CreateOutcome): CreateOutcome {
    const retryAfterMs = this.#options.queue.pausedMs(serviceQueue('send', request));
    if (outcome.kind !== 'unsent' || outcome.error.code === 'rate_limited' || retryAfterMs === 0) return outcome;
    const details = { code: 'rate_limited', retryable: true, retryAfterMs, cause: outcome.error } as const;
    return { kind: 'unsent', error: new DailiesError('creating a task: the service asked for a pause', details) };
  }

  /** Stores the outcome of a POST, retrying until the store is back: a lost outcome costs money. */
  async #recordWithRetries(task: Task, event: TaskEvent): Promise<Recorded | undefined> {
    const { repository, clock, logger } = this.#options;
    for (;;) {
      try {
        return await repository.record(task.id, event, task);
      } catch (thrown) {
        logger.error(
          { event: 'create_outcome_not_stored', task: task.id, taskEvent: loggable(event), err: thrown },
          'failed to store the outcome of a create, retrying',
        );
        await sleep(clock, STORE_RETRY_MS);
      }
    }
  }

  async #afterwards({ done, task }: Recorded, outcome: CreateOutcome): Promise<number | null> {
    const { queue, clock, logger, firstPollMs } = this.#options;
    if (outcome.kind === 'accepted' && outcome.task.id !== task.upstreamId) {
      const rejected = { task: task.id, state: task.state, upstreamId: outcome.task.id };
      if (task.failure?.code === 'id_taken') {
        logger.error({ event: 'upstream_id_taken', ...rejected }, 'the service returned an id that another task holds');
      } else logger.error({ event: 'upstream_id_late', ...rejected }, 'an upstream id arrived too late to be stored');
    }
    if (task.upstreamId !== undefined) {
      queue.schedule(serviceQueue('poll', task.request), task.id, clock.now() + firstPollMs);
      return null;
    }
    if (outcome.kind === 'unsent' && task.state === 'claimed') return this.#retryOrGiveUp(task, outcome.error);
    if (!done) scheduleNext(queue, task, clock.now());
    return null;
  }

  /** Handles an attempt that provably created nothing. */
  async #retryOrGiveUp(task: Task, error: DailiesError): Promise<number | null> {
    const { clock, random, logger, observer } = this.#options;
    logger.warn(
      { event: 'create_not_accepted', task: task.id, tries: task.unsentTries, err: error },
      'the service did not accept a create, nothing exists there',
    );
    if (error.retryable && mayTryAgain(task)) {
      const { code, retryAfterMs = 0 } = error;
      const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: random() };
      const waitMs = backoffMs(task.unsentTries, { ...pace, askedMs: error.retryAfterMs });
      const seen = { failures: task.unsentTries, isForAll: code === 'rate_limited' && retryAfterMs > 0 };
      observer.retrying(task, retryOf('send', error, clock.now() + waitMs, task.request), seen);
      return waitMs;
    }
    return this.#giveUp(task, failureOf(error));
  }

  async #giveUp(task: Task, failure: Failure): Promise<null> {
    const { repository, clock } = this.#options;
    await repository.record(task.id, { kind: 'refused', of: attemptOf(task), failure, atMs: clock.now() });
    return null;
  }
}

/** Returns whether another attempt is allowed: those at a busy service and failed ones have separate limits. */
function mayTryAgain({ unsentTries, busyTries = 0 }: Task): boolean {
  return busyTries < MAX_BUSY_TRIES && unsentTries - busyTries < MAX_UNSENT_TRIES;
}

/** Returns the event of a submission whose response is unknown. */
function lostOf(of: Attempt) {
  return { kind: 'lost', of, failure: { code: 'lost_answer', words: null } } as const;
}

/** Returns an event for the log, without the service's words: these may quote the prompt. */
function loggable(event: TaskEvent): object {
  if (!('failure' in event)) return event;
  return { ...event, failure: { code: event.failure.code } };
}

function eventOf(outcome: CreateOutcome, of: Attempt, atMs: number): TaskEvent {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'accepted', of, upstreamId: outcome.task.id, atMs };
    case 'refused':
      return { kind: 'refused', of, failure: failureOf(outcome.error), atMs };
    case 'unsent':
      return { kind: 'unsent', of, isBusy: outcome.error.code === 'rate_limited', atMs };
    case 'lost':
      return { kind: 'lost', of, failure: failureOf(outcome.error) };
  }
}
