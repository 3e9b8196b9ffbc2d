import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../clock.ts';
import type { Logger } from '../../../logger.ts';
import { storeUnavailable } from '../failure.ts';
import type { StoreDeps } from '../store.ts';
import { errorOf, type SqliteFault, sqliteFailure } from './errors.ts';
import type { SqliteConnection } from './file.ts';
import type { FileIdentity } from './location.ts';
import type { SqliteBatch, SqliteWrite } from './writes.ts';

/**
 * Maximum number of writes in one transaction. The rest wait for the next one, which bounds the latency of the first.
 */
const MAX_WRITES = 1_000;

/** Time for which the thread waits while another program writes to the file; it blocks nothing else. */
const BUSY_TIMEOUT_MS = 5_000;

/** The writing thread, such as `worker.ts`: receives batches and posts their outcomes in order. */
export interface SqliteThread {
  postMessage(batch: SqliteBatch | null): void;
  on(event: 'message', listener: (outcome: readonly boolean[] | SqliteFault) => void): unknown;
  on(event: 'error', listener: (thrown: unknown) => void): unknown;
  on(event: 'exit', listener: (exitCode: number) => void): unknown;
  ref(): void;
  unref(): void;
}

interface PendingWrite {
  readonly write: SqliteWrite;
  readonly resolve: (result: boolean) => void;
  readonly reject: (reason: Error) => void;
}

export interface SqliteThreadData extends SqliteConnection {
  /** Files that have to be the same as when the store was opened, or nothing is written. */
  readonly places: readonly FileIdentity[];
}

/**
 * Starts the thread that writes to the file at `path`.
 * @param places files that have to be unchanged for a write to happen. Default: none.
 * @throws what SQLite threw when the thread could not open it.
 */
export async function startSqliteThread(path: string, places: readonly FileIdentity[] = []): Promise<Worker> {
  const workerData: SqliteThreadData = { path, busyTimeoutMs: BUSY_TIMEOUT_MS, places };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'dailies-store', workerData });
  await once(worker, 'message');
  return worker;
}

/**
 * Writes in a worker thread: every commit waits for the disk, which must not block the event loop. Group commit: while
 * one batch is in flight the next one fills up, so the higher the load, the fewer flushes per write. A write resolves
 * only after its transaction is on disk; if the transaction fails, all of its writes reject and nothing was written.
 * Only when the thread dies is it unknown whether the batch in flight was written.
 */
export class SqliteWriter {
  readonly #thread: SqliteThread;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #ended = Promise.withResolvers<void>();
  /** Batches posted to the thread and not settled yet; one at a time, except for the last batch at close. */
  readonly #inFlight: (readonly PendingWrite[])[] = [];
  readonly #pending: PendingWrite[] = [];
  #isScheduled = false;
  #isClosing = false;
  #threadError: unknown = null;

  constructor(thread: SqliteThread, { clock, logger }: StoreDeps) {
    this.#thread = thread;
    this.#clock = clock;
    this.#logger = logger;
    thread.on('message', (outcome) => this.#settle(outcome));
    thread.on('error', (thrown) => {
      this.#threadError = thrown;
    });
    thread.on('exit', (exitCode) => this.#end(exitCode));
    thread.unref();
  }

  /**
   * Adds `write` to the next transaction.
   * @returns its result.
   * @throws `store_unavailable` or `disk_full`.
   */
  write(write: SqliteWrite): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.assertAlive('writing to the store');
      this.#pending.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /** @throws `store_unavailable` once the thread has died, together with the batch in flight. */
  assertAlive(operation: string): void {
    if (this.#threadError !== null) throw storeUnavailable(operation, this.#threadError);
  }

  /** Writes everything pending, then ends the thread. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#post(this.#pending.length);
    this.#thread.ref();
    this.#thread.postMessage(null);
    await this.#ended.promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length > 0) return;
    this.#isScheduled = true;
    // Collects all writes of this turn of the event loop.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#post(MAX_WRITES);
    });
  }

  #post(maxWrites: number): void {
    const batch = this.#pending.splice(0, maxWrites);
    if (batch.length === 0) return;
    this.#inFlight.push(batch);
    this.#thread.ref();
    this.#thread.postMessage({ writes: batch.map(({ write }) => write), nowMs: this.#clock.now() });
  }

  #settle(outcome: readonly boolean[] | SqliteFault): void {
    const batch = this.#inFlight.shift() ?? [];
    this.#post(MAX_WRITES);
    // An idle thread must not keep the process alive.
    if (this.#inFlight.length === 0 && !this.#isClosing) this.#thread.unref();
    if ('errcode' in outcome) {
      const failure = sqliteFailure('writing to the store', errorOf(outcome));
      for (const { reject } of batch) reject(failure);
    } else {
      for (const [at, { resolve }] of batch.entries()) resolve(outcome[at] ?? false);
    }
  }

  #end(exitCode: number): void {
    const orphans = [...this.#inFlight.splice(0).flat(), ...this.#pending.splice(0)];
    if (!this.#isClosing || this.#threadError !== null || orphans.length > 0) {
      this.#threadError ??= new Error(`its thread ended with exit code ${exitCode}`);
      this.#logger.error({ event: 'store_thread_died', err: this.#threadError }, 'the store writer thread has died');
    }
    const failure = storeUnavailable('writing to the store', this.#threadError);
    for (const { reject } of orphans) reject(failure);
    this.#ended.resolve();
  }
}
