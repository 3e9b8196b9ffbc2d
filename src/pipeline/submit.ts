import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { Membership } from '../cluster/membership.ts';
import type { Logger } from '../logger.ts';
import type { JobHandler, WorkQueue } from '../queue/queue.ts';
import { type Attempt, attemptOf, isBehind, type TaskEvent } from '../tasks/state-machine.ts';
import { type RetryObserver, retryOf } from '../tasks/step-retry.ts';
import { failureOf, type Task, type TaskId } from '../tasks/task.ts';
import type { CreateOutcome, VideoService } from '../videos/service.ts';
import { backoffMs } from './backoff.ts';
import { pauseIfAsked, scheduleNext } from './next-job.ts';
import type { Recorded, TaskRepository } from './repository.ts';

/** How often a create that provably made nothing is tried before the task is given up. */
const MAX_UNSENT_TRIES = 5;
/** The same where the service is busy: places come free as clips finish, so it is asked for five to ten minutes. */
const MAX_BUSY_TRIES = 25;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** When a task is looked at again that another process is sending, or that cannot be sent from here now. */
const LOOK_AGAIN_MS = 2_000;
/** A machine that sleeps stops the monotonic clock; the time of day goes on. Less is how clocks are set. */
const SLEPT_MS = 1_000;
/** How long to wait before an answer that could not be stored is stored again. */
const STORE_AGAIN_MS = 1_000;
/** Beyond so many tasks, what became of the POSTs that left longest ago is remembered by the store alone. */
const MOST_POSTED = 10_000;

/**
 * The first *Send again* repeats the key, so that a service that honours it cannot bill twice. A service that answers a known
 * key with the failure it stored would never be got past that way: every further one has a key of its own.
 * @see https://docs.stripe.com/api/idempotent_requests
 */
function idempotencyKeyOf({ id, sends }: Task): string {
  return sends <= 2 ? id : `${id}:${sends}`;
}

/** Collaborators of {@link createSubmitter}. */
export interface SubmitterOptions {
  readonly repository: TaskRepository;
  readonly videos: VideoService;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly membership: Membership;
  readonly observer: RetryObserver;
  readonly createTimeoutMs: number;
  readonly firstPollMs: number;
}

/**
 * The step of the `send` lane: takes a claimed task through its POST. The record says `sending` before a byte leaves,
 * and whoever finds it so after its sender died turns it into `uncertain`: nothing is ever sent twice by itself.
 */
export function createSubmitter(options: SubmitterOptions): JobHandler {
  const { repository, videos, queue, clock, random, logger, membership } = options;
  const { owner } = membership;
  /**
   * What came of the last POST that this process may have let out for a task, as it is told: lost, until it is taken. The
   * rest of what it leased provably never left. Kept although the store has it: one that crashed may come back older.
   */
  const posted = new BoundedMap<TaskId, Extract<TaskEvent, { kind: 'accepted' | 'lost' }>>(MOST_POSTED);
  /** Tasks that a step of this process has in hand. */
  const inHand = new Set<TaskId>();

  /** The store took our lease, but its answer was lost or came late: the step that asked for it ended before its POST. */
  const isUnposted = (task: Task): boolean =>
    task.state === 'sending' && task.lease?.owner === owner && forgotten(task) === undefined;

  /** What this process knows of a POST and the record does not. */
  const forgotten = (task: Task) => {
    const known = posted.get(task.id);
    return known !== undefined && isBehind(task, known.of) ? known : undefined;
  };

  const send = async (task: Task): Promise<number | null> => {
    const { id } = task;
    // Whoever is taken for dead must not begin what the others will find half done.
    if (!membership.isAlive()) return LOOK_AGAIN_MS;
    const begunAt = { ms: clock.monotonic(), timeOfDay: clock.now() };
    const begun = await repository.record(id, { kind: 'send', owner }, task);
    if (begun === undefined) return null;
    if (!begun.done) return isUnposted(begun.task) ? 0 : null;
    const of = attemptOf(begun.task);
    posted.set(id, lostOf(of));
    const outcome = await videos.create(begun.task.request, {
      key: idempotencyKeyOf(begun.task),
      mayStillSend() {
        const passedMs = clock.monotonic() - begunAt.ms;
        const sleptMs = clock.now() - begunAt.timeOfDay - passedMs;
        return membership.isAlive(begunAt.ms) && passedMs < options.createTimeoutMs && sleptMs < SLEPT_MS;
      },
    });
    const event = eventOf(outcome, of, clock.now());
    if (event.kind === 'accepted' || event.kind === 'lost') posted.set(id, event);
    const ended = await recordSurely(begun.task, event);
    if (outcome.kind === 'unsent' || outcome.kind === 'refused') posted.delete(id);
    if (ended === undefined) {
      logger.error({ task: id, event }, 'the store has lost a task whose create has ended');
      return null;
    }
    return afterwards(ended, outcome);
  };

  /** The answer to a POST is worth money: it is stored however long the store takes to come back. */
  const recordSurely = async (task: Task, event: TaskEvent): Promise<Recorded | undefined> => {
    for (;;) {
      try {
        return await repository.record(task.id, event, task);
      } catch (thrown) {
        logger.error(
          { task: task.id, event, err: thrown },
          'the answer to a create could not be stored yet; trying again',
        );
        await sleep(clock, STORE_AGAIN_MS);
      }
    }
  };

  const afterwards = async ({ done, task }: Recorded, outcome: CreateOutcome): Promise<number | null> => {
    if (outcome.kind === 'accepted' && outcome.task.id !== task.upstreamId) {
      const unkept = { task: task.id, state: task.state, upstreamId: outcome.task.id };
      if (task.failure?.code === 'id_taken') logger.error(unkept, 'the service gave an id that another task holds');
      else logger.error(unkept, 'an id came too late to be kept');
    }
    if (task.upstreamId !== undefined) {
      queue.schedule('poll', task.id, clock.now() + options.firstPollMs);
      return null;
    }
    if (outcome.kind !== 'unsent' || task.state !== 'claimed') {
      if (!done) scheduleNext(queue, task, clock.now());
      return null;
    }
    pauseIfAsked(queue, 'send', outcome.error);
    logger.warn(
      { task: task.id, tries: task.unsentTries, err: outcome.error },
      'a create was not taken; nothing exists',
    );
    if (outcome.error.retryable && mayTryAgain(task)) {
      const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: random() };
      const waitMs = backoffMs(task.unsentTries, { ...pace, askedMs: outcome.error.retryAfterMs });
      const { code, retryAfterMs = 0 } = outcome.error;
      const seen = { failures: task.unsentTries, isForAll: code === 'rate_limited' && retryAfterMs > 0 };
      options.observer.retrying(task, retryOf('send', outcome.error, clock.now() + waitMs), seen);
      return waitMs;
    }
    const failure = failureOf(outcome.error);
    await repository.record(task.id, { kind: 'refused', of: attemptOf(task), failure, atMs: clock.now() });
    return null;
  };

  const step = async (id: TaskId): Promise<number | null> => {
    const task = await repository.get(id);
    if (task?.state !== 'claimed' && task?.state !== 'sending') return null;
    const known = forgotten(task);
    if (known !== undefined) {
      logger.error({ task: id, event: known }, 'the store does not know what came of a create; it is told again');
      const told = await repository.record(id, known);
      if (told !== undefined) scheduleNext(queue, told.task, clock.now());
      return null;
    }
    if (task.state === 'claimed') return send(task);
    if (isUnposted(task)) {
      const unsent = await repository.record(id, { kind: 'unsent', of: attemptOf(task), atMs: clock.now() });
      return unsent?.task.state === 'claimed' ? 0 : null;
    }
    if (task.lease !== undefined && !(await membership.isGone(task.lease.owner))) return LOOK_AGAIN_MS;
    logger.error({ task: id }, 'a create was under way when its sender ended; whether the service took it is unknown');
    await repository.record(id, lostOf(attemptOf(task)));
    return null;
  };

  return async (key) => {
    const id = key as TaskId;
    if (inHand.has(id)) return LOOK_AGAIN_MS;
    inHand.add(id);
    try {
      return await step(id);
    } finally {
      inHand.delete(id);
    }
  };
}

/** Waiting for a busy service uses up no tries of a task that cannot be brought to it, nor the other way round. */
function mayTryAgain({ unsentTries, busyTries = 0 }: Task): boolean {
  return busyTries < MAX_BUSY_TRIES && unsentTries - busyTries < MAX_UNSENT_TRIES;
}

/** Nobody is there any more who could say what was answered. */
function lostOf(of: Attempt) {
  return { kind: 'lost', of, failure: { code: 'lost_answer', words: null } } as const;
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
