import { type Clock, sleep } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { TaskId } from '../tasks/task.ts';
import type { Lease, Leases } from './leases.ts';

/** The right to do something for one task. */
export interface MessageLock {
  /**
   * Asked right before each call to the platform: a process may have been stopped for so long that somebody else has
   * the turn now.
   * @throws `platform_unavailable`, retryable, when it is no longer ours.
   */
  assertHeld(): void;
  end(): Promise<void>;
}

/** What a turn is for: to change a task's own message, or to tell those who are to be told, which may take long. */
export type MessageLockPurpose = 'message' | 'notices';

/** Of all the processes of the bot, one at a time changes the message of a task, and one tells of it. */
export interface MessageLocks {
  /** @returns `null` while another process has the turn. @throws `store_unavailable` */
  take(task: TaskId, what: MessageLockPurpose): Promise<MessageLock | null>;
  /**
   * Whether a message that is to be left alone for `intervalMs` after each progress edit may be edited now, whichever
   * process edited it last.
   */
  mayEdit(task: TaskId, intervalMs: number): Promise<boolean>;
  /**
   * Lets `open` show the message of a task for the first time while nobody else does; waits for its turn.
   * @throws `platform_unavailable`, retryable, when somebody else does not come to an end.
   */
  first<Result>(task: TaskId, open: (turn: MessageLock) => Promise<Result>): Promise<Result>;
}

/** Collaborators of {@link createMessageLocks}. */
export interface MessageLocksOptions {
  readonly leases: Leases;
  /** Whether there is no other process. */
  readonly exclusive: boolean;
  readonly clock: Clock;
}

/** How long a turn stays with a process that does not answer. */
const TURN_MS = 15_000;
/** A call that begins must have time to end before somebody else can begin his. */
const MARGIN_MS = 2_000;
const LOOK_AGAIN_MS = 100;
const PATIENCE_MS = 30_000;

/** Turns by leases. */
export function createMessageLocks({ leases, exclusive, clock }: MessageLocksOptions): MessageLocks {
  return {
    async take(task, what) {
      const lease = await leases.take(`${what}:${task}`, TURN_MS);
      return lease === null ? null : turnOf(lease, task);
    },
    async mayEdit(task, intervalMs) {
      if (exclusive || intervalMs === 0) return true;
      return (await leases.take(`edited:${task}`, intervalMs, { isRenewed: false })) !== null;
    },
    async first(task, open) {
      for (const begunAtMs = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
        const lease = await leases.take(`first:${task}`, TURN_MS);
        if (lease !== null) {
          try {
            return await open(turnOf(lease, task));
          } finally {
            await lease.release();
          }
        }
        if (clock.monotonic() - begunAtMs > PATIENCE_MS) throw notOurs(task);
      }
    },
  };
}

function turnOf(lease: Lease, task: TaskId): MessageLock {
  return {
    assertHeld() {
      if (!lease.isHeld(MARGIN_MS)) throw notOurs(task);
    },
    end: () => lease.release(),
  };
}

function notOurs(task: TaskId): DailiesError {
  return new DailiesError(`changing the message of task ${task}: another process is at it`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: 1_000,
  });
}
