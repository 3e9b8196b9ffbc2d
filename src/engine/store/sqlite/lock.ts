import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, sleep } from '../../../clock.ts';
import { DailiesError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import { isBusy, sqliteFailure } from './errors.ts';

/** Time allowed for another process to drain before this one gives up. */
const MAX_WAIT_MS = 10_000;
const RETRY_MS = 100;

/**
 * Retries `open` while another connection holds a lock: two processes that switch a new file to WAL at once, or a
 * process that is still draining.
 * @throws what `open` throws; `SQLITE_BUSY` only after 10 seconds.
 */
export async function openWhenFree<T>(clock: Clock, open: () => T, onWait?: () => void): Promise<T> {
  const untilMs = clock.monotonic() + MAX_WAIT_MS;
  // The clock's timers do not keep the process alive, and nothing else may be running while the store is opened.
  const alive = setInterval(() => undefined, MAX_WAIT_MS);
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        return open();
      } catch (thrown) {
        if (!isBusy(thrown) || clock.monotonic() >= untilMs) throw thrown;
        if (tries === 0) onWait?.();
        await sleep(clock, RETRY_MS);
      }
    }
  } finally {
    clearInterval(alive);
  }
}

/**
 * Locks the store at `path` for this process, until it releases the lock or dies. The lock is an exclusive SQLite
 * transaction on a file of its own, `PATH.lock`: the kernel releases it however the process ends, and other tools can
 * still open the store itself. `PATH.pid` names the holder.
 *
 * @param path the canonical path of the file, from `resolveDatabase`.
 * @returns a function that releases the lock.
 * @throws `store_locked` when another process still holds it after 10 seconds.
 */
export async function lockStore(path: string, clock: Clock, logger: Logger): Promise<() => void> {
  const lock = new DatabaseSync(lockPath(path), { timeout: 0 });
  try {
    await openWhenFree(
      clock,
      () => lock.exec('BEGIN EXCLUSIVE'),
      () =>
        logger.info(
          { event: 'store_lock_waiting', path, holder: holderOf(path) },
          'waiting for another process to release the store',
        ),
    );
  } catch (thrown) {
    lock.close();
    if (!isBusy(thrown)) throw sqliteFailure(`locking ${path}`, thrown);
    throw new DailiesError(
      `another Dailies (${holderOf(path)}) uses ${path}; stop that one first, or give this one a STORE_URL of its own`,
      { code: 'store_locked', retryable: false, cause: thrown },
    );
  }
  writePid(path);
  return () => {
    rmSync(pidPath(path), { force: true });
    lock.close();
  };
}

/** Returns the process that holds the store at `path`, such as `pid 4711`; `null` if none does. Takes no lock itself. */
export function lockHolder(path: string): string | null {
  if (!existsSync(lockPath(path))) return null;
  const lock = new DatabaseSync(lockPath(path), { timeout: 0, readOnly: true });
  try {
    // Reading is refused while another process has the file locked exclusively.
    lock.prepare('SELECT count(*) FROM sqlite_schema').get();
    return null;
  } catch (thrown) {
    if (isBusy(thrown)) return holderOf(path);
    throw thrown;
  } finally {
    lock.close();
  }
}

/** Returns the path of the lock file of the store at `path`. */
export function lockPath(path: string): string {
  return `${path}.lock`;
}

function pidPath(path: string): string {
  return `${path}.pid`;
}

/** Writes the pid of the holder, for the error message of the next process. The lock does not depend on it. */
function writePid(path: string): void {
  try {
    writeFileSync(pidPath(path), `${process.pid} ${hostname()}\n`);
  } catch {
    // If the folder is not writable, the first write to the store reports it.
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
