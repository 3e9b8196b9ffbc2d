import type { Clock } from '../clock.ts';
import { type Lease, type Leases, withLease } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import type { TaskId } from '../tasks/index.ts';

/** A lock on the message or the notifications of one task. */
export interface MessageLock {
  /**
   * Checks the lock right before each call to the platform: a process may have been suspended for so long that another
   * one holds it now.
   * @throws `platform_unavailable`, retryable, when it is no longer held.
   */
  assertHeld(): void;
}

/** Purpose of a lock: to change a task's own message, or to send its notifications, which may take long. */
export type MessageLockPurpose = 'message' | 'notices';

/** Runs `act` under the lock of a task's message, on every replica; skips it while another edit holds the lock. */
export type WithMessageLock = (task: TaskId, act: (lock: MessageLock) => Promise<void>) => Promise<unknown>;

/** Options of {@link MessageLocks}. */
interface MessageLocksOptions {
  readonly leases: Leases;
  /** `true` when there is no other process. */
  readonly exclusive: boolean;
  readonly clock: Clock;
}

/** TTL of a lock. */
const LOCK_TTL_MS = 15_000;
/** Margin before the expiry of a lock: a call must have time to end before another process can start one. */
const MARGIN_MS = 2_000;
const RETRY_MS = 100;
const TIMEOUT_MS = 30_000;

/** Serialises the edits and the notifications of a task's message across replicas, by leases. */
export class MessageLocks {
  readonly #options: MessageLocksOptions;

  constructor(options: MessageLocksOptions) {
    this.#options = options;
  }

  /** Runs `act` under a lock. @returns `null`, without running it, while the lock is held. @throws `store_unavailable` */
  run<Result>(
    task: TaskId,
    what: MessageLockPurpose,
    act: (lock: MessageLock) => Promise<Result>,
  ): Promise<Result | null> {
    return withLease(this.#lock(`${what}:${task}`), (lease) => act(lockOf(lease, task)));
  }

  /** Runs `act` under a lock, as {@link run} does. @throws `platform_unavailable`, retryable, while the lock is held. */
  async runOrThrow<Result>(
    task: TaskId,
    what: MessageLockPurpose,
    act: (lock: MessageLock) => Promise<Result>,
  ): Promise<Result> {
    return resultOf(task, await this.run(task, what, async (held) => ({ result: await act(held) })));
  }

  /**
   * Returns whether a progress edit is allowed now: across replicas, a message is edited at most once per `intervalMs`.
   * Always true for a single process.
   */
  async mayEdit(task: TaskId, intervalMs: number): Promise<boolean> {
    const { leases, exclusive } = this.#options;
    if (exclusive || intervalMs === 0) return true;
    return (await leases.take(`edited:${task}`, intervalMs, { isRenewed: false })) !== null;
  }

  /**
   * Runs `open`, which posts the message of a task, while no other process does; waits for the lock.
   * @throws `platform_unavailable`, retryable, when another process holds it for more than 30 seconds.
   */
  async first<Result>(task: TaskId, open: (lock: MessageLock) => Promise<Result>): Promise<Result> {
    const waiting = { ...this.#lock(`first:${task}`), retryMs: RETRY_MS, timeoutMs: TIMEOUT_MS };
    return resultOf(task, await withLease(waiting, async (lease) => ({ result: await open(lockOf(lease, task)) })));
  }

  #lock(name: string) {
    const { leases, clock } = this.#options;
    return { leases, clock, name, ttlMs: LOCK_TTL_MS };
  }
}

/** @throws `platform_unavailable`, retryable, for `null`: another process held the lock. */
function resultOf<Result>(task: TaskId, ran: { readonly result: Result } | null): Result {
  if (ran === null) throw notHeld(task);
  return ran.result;
}

function lockOf(lease: Lease, task: TaskId): MessageLock {
  return {
    assertHeld() {
      if (!lease.isHeld(MARGIN_MS)) throw notHeld(task);
    },
  };
}

function notHeld(task: TaskId): DailiesError {
  return new DailiesError(`changing the message of task ${task}: another process is at it`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: 1_000,
  });
}
