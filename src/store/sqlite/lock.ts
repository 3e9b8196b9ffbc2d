import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, sleep } from '../../clock.ts';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { isBusy, sqliteFailure } from './errors.ts';

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
 * and the store itself stays open to other tools. Who holds it is in `PATH.pid`.
 *
 * @param path the one path of the file, as `resolveDatabase` gives it.
 * @returns what releases the lock.
 * @throws `store_locked` when another process still holds it after 10 seconds.
 */
export async function lockStore(path: string, clock: Clock, logger: Logger): Promise<() => void> {
  const lock = new DatabaseSync(lockPath(path), { timeout: 0 });
  try {
    await openWhenFree(
      clock,
      () => lock.exec('BEGIN EXCLUSIVE'),
      () => logger.info({ path, holder: holderOf(path) }, 'waiting for the other process that holds the store'),
    );
  } catch (thrown) {
    lock.close();
    if (!isBusy(thrown)) throw sqliteFailure(`locking ${path}`, thrown);
    throw new DailiesError(
      `another Dailies (${holderOf(path)}) uses ${path}; stop that one first, or give this one a STORE_URL of its own`,
      { code: 'store_locked', retryable: false, cause: thrown },
    );
  }
  nameHolder(path);
  return () => {
    rmSync(pidPath(path), { force: true });
    lock.close();
  };
}

/** Path of the file that is locked for the store at `path`. */
export function lockPath(path: string): string {
  return `${path}.lock`;
}

function pidPath(path: string): string {
  return `${path}.pid`;
}

/** Writes down who holds the store, for the error of the next one. Without it the lock holds all the same. */
function nameHolder(path: string): void {
  try {
    writeFileSync(pidPath(path), `${process.pid} ${hostname()}\n`);
  } catch {
    // A folder that takes no file says so with the first write to the store.
  }
}

function holderOf(path: string): string {
  try {
    const [pid = '', host = ''] = readFileSync(pidPath(path), 'utf8').trim().split(' ');
    if (!/^\d+$/.test(pid)) return 'pid unknown';
    return host === hostname() ? `pid ${pid}` : `pid ${pid} on ${host}`;
  } catch {
    return 'pid unknown';
  }
}
