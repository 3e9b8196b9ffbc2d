import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { CreateOutcome, VideoService } from '../videos/service.ts';
import { goOn, holdBackIfAsked } from './lanes.ts';
import type { Membership } from './membership.ts';
import type { Step, WorkQueue } from './queue.ts';
import type { Recorded, Recorder } from './recorder.ts';
import { backoffMs } from './schedule.ts';
import type { Failure, Task, TaskId } from './task.ts';
import { type Attempt, attemptOf, type TaskEvent } from './transition.ts';

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

/** Collaborators of {@link createSender}. */
export interface SenderOptions {
  readonly recorder: Recorder;
  readonly videos: VideoService;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly membership: Membership;
  readonly createTimeoutMs: number;
  readonly firstPollMs: number;
}

/**
 * The step of the `send` lane: takes a claimed task through its POST. The record says `sending` before a byte leaves,
 * and whoever finds it so after its sender died turns it into `uncertain`: nothing is ever sent twice by itself.
 */
export function createSender(options: SenderOptions): Step {
  const { recorder, videos, queue, clock, random, logger, membership } = options;
  const { owner } = membership;
  /** Tasks whose POST this process may have let out; the rest of what it leased provably never left. */
  const posted = new Set<TaskId>();
  /** Tasks that a step of this process has in hand. */
  const inHand = new Set<TaskId>();

  /** The store took our lease, but its answer was lost or came late: the step that asked for it ended before its POST. */
  const isUnposted = ({ id, state, lease }: Task): boolean =>
    state === 'sending' && lease?.owner === owner && !posted.has(id);

  const send = async (task: Task): Promise<number | null> => {
    const { id } = task;
    // Whoever is taken for dead must not begin what the others will find half done.
    if (!membership.isAlive()) return LOOK_AGAIN_MS;
    const begunAt = { ms: clock.monotonic(), timeOfDay: clock.now() };
    const begun = await recorder.record(id, { kind: 'send', owner }, task);
    if (begun === undefined) return null;
    if (!begun.done) return isUnposted(begun.task) ? 0 : null;
    posted.add(id);
    const outcome = await videos.create(begun.task.request, {
      key: id,
      mayStillSend() {
        const passedMs = clock.monotonic() - begunAt.ms;
        const sleptMs = clock.now() - begunAt.timeOfDay - passedMs;
        return membership.isAlive(begunAt.ms) && passedMs < options.createTimeoutMs && sleptMs < SLEPT_MS;
      },
    });
    const ended = await recordSurely(begun.task, eventOf(outcome, attemptOf(begun.task), clock.now()));
    posted.delete(id);
    return ended === undefined ? null : afterwards(ended, outcome);
  };

  /** The answer to a POST is worth money: it is stored however long the store takes to come back. */
  const recordSurely = async (task: Task, event: TaskEvent): Promise<Recorded | undefined> => {
    for (;;) {
      try {
        return await recorder.record(task.id, event, task);
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
      logger.error({ task: task.id, state: task.state, upstreamId: outcome.task.id }, 'an id came too late to be kept');
    }
    if (task.upstreamId !== undefined) {
      queue.schedule('poll', task.id, clock.now() + options.firstPollMs);
      return null;
    }
    if (outcome.kind !== 'unsent' || task.state !== 'claimed') {
      if (!done) goOn(queue, task, clock.now());
      return null;
    }
    holdBackIfAsked(queue, 'send', outcome.error);
    logger.warn(
      { task: task.id, tries: task.unsentTries, err: outcome.error },
      'a create was not taken; nothing exists',
    );
    if (outcome.error.retryable && mayTryAgain(task)) {
      const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: random() };
      return backoffMs(task.unsentTries, { ...pace, askedMs: outcome.error.retryAfterMs });
    }
    const failure = failureOf(outcome.error);
    await recorder.record(task.id, { kind: 'refused', of: attemptOf(task), failure, atMs: clock.now() });
    return null;
  };

  const step = async (id: TaskId): Promise<number | null> => {
    const task = await recorder.get(id);
    if (task?.state === 'claimed') return send(task);
    if (task?.state !== 'sending') return null;
    if (isUnposted(task)) {
      const unsent = await recorder.record(id, { kind: 'unsent', of: attemptOf(task), atMs: clock.now() });
      return unsent?.task.state === 'claimed' ? 0 : null;
    }
    // Our own, and nobody has it in hand: a step of this process broke after its POST.
    const isForeign = task.lease !== undefined && task.lease.owner !== owner;
    if (isForeign && !(await membership.isGone(task.lease.owner))) return LOOK_AGAIN_MS;
    logger.error({ task: id }, 'a create was under way when its sender ended; whether the service took it is unknown');
    const failure = { code: 'lost_answer', words: null } as const;
    await recorder.record(id, { kind: 'lost', of: attemptOf(task), failure });
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

function eventOf(outcome: CreateOutcome, of: Attempt, atMs: number): TaskEvent {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'accepted', upstreamId: outcome.task.id, atMs };
    case 'refused':
      return { kind: 'refused', of, failure: failureOf(outcome.error), atMs };
    case 'unsent':
      return { kind: 'unsent', of, isBusy: outcome.error.code === 'rate_limited', atMs };
    case 'lost':
      return { kind: 'lost', of, failure: failureOf(outcome.error) };
  }
}

/** What of an error is kept with a task. */
export function failureOf(error: DailiesError): Failure {
  return { code: error.code, words: error.words ?? null };
}
