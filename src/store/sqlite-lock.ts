import { DatabaseSync } from 'node:sqlite';
import { type Clock, sleep } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { isBusy, sqliteFailure } from './sqlite-failure.ts';

/** How long another process may take to drain before this one gives up. */
const MAX_WAIT_MS = 10_000;
const STEP_MS = 100;

/**
 * Tries `open` until no other connection is in the way: a new file that two processes switch to WAL at once, or a
 * process that is still draining.
 * @throws whatever `open` throws, `SQLITE_BUSY` only after 10 seconds.
 */
export async function openWhenFree<T>(clock: Clock, open: () => T, onWait?: () => void): Promise<T> {
  const untilMs = clock.monotonic() + MAX_WAIT_MS;
  // A waiting clock does not keep the process alive, and while the store is being opened nothing else may.
  const alive = setInterval(() => undefined, MAX_WAIT_MS);
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        return open();
      } catch (thrown) {
        if (!isBusy(thrown) || clock.monotonic() >= untilMs) throw thrown;
        if (tries === 0) onWait?.();
        await sleep(clock, STEP_MS);
      }
    }
  } finally {
    clearInterval(alive);
  }
}

/**
 * Makes this process the only one that works on the store at `path`, until it releases it or dies. The lock is an
 * exclusive SQLite transaction on a file of its own, `PATH.lock`: the kernel lets go of it however the process ends,
 * and the store itself stays open to other tools.
 *
 * @returns what releases the lock.
 * @throws `store_locked` when another process still holds it after 10 seconds.
 */
export async function lockStore(path: string, clock: Clock, logger: Logger): Promise<() => void> {
  const lock = new DatabaseSync(`${path}.lock`, { timeout: 0 });
  try {
    await openWhenFree(
      clock,
      () => lock.exec('BEGIN EXCLUSIVE'),
      () => logger.info({ path }, 'waiting for the other process that holds the store'),
    );
    return () => lock.close();
  } catch (thrown) {
    lock.close();
    if (!isBusy(thrown)) throw sqliteFailure(`locking ${path}`, thrown);
    throw new DailiesError(
      `opening ${path}: another Dailies is running on it; stop that one first, or give this one a STORE_URL of its own`,
      { code: 'store_locked', retryable: false, cause: thrown },
    );
  }
}
