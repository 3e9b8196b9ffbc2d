import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { storeUnavailable } from '../failure.ts';
import type { StoreDeps } from '../surroundings.ts';
import { errorOf, type SqliteFault, sqliteFailure } from './errors.ts';
import type { SqliteConnection } from './file.ts';
import type { FileIdentity } from './location.ts';
import type { SqliteBatch, SqliteWrite } from './writes.ts';

/** Most writes in one transaction. More wait for the next one, so that the first of many are answered soon. */
const MAX_WRITES = 1_000;

/** How long the thread waits for another program that writes to the file: nobody else is held up by it. */
const BUSY_TIMEOUT_MS = 5_000;

/** The thread that writes, as `sqlite-worker.ts` is one: batches go to it, what became of them comes back in order. */
export interface SqliteThread {
  postMessage(batch: SqliteBatch | null): void;
  on(event: 'message', listener: (outcome: readonly boolean[] | SqliteFault) => void): unknown;
  on(event: 'error', listener: (thrown: unknown) => void): unknown;
  on(event: 'exit', listener: (exitCode: number) => void): unknown;
  ref(): void;
  unref(): void;
}

interface Waiting {
  readonly write: SqliteWrite;
  readonly resolve: (answer: boolean) => void;
  readonly reject: (reason: Error) => void;
}

/** What the thread that writes is started with. */
export interface SqliteThreadData extends SqliteConnection {
  /** Files that have to be where they were when the store was opened, or nothing is written. */
  readonly places: readonly FileIdentity[];
}

/**
 * Starts the thread that writes to the file at `path`.
 * @param places files that have to be in place for a write to happen. Default: none.
 * @throws what SQLite threw when the thread could not open it.
 */
export async function startSqliteThread(path: string, places: readonly FileIdentity[] = []): Promise<Worker> {
  const workerData: SqliteThreadData = { path, busyTimeoutMs: BUSY_TIMEOUT_MS, places };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'dailies-store', workerData });
  await once(worker, 'message');
  return worker;
}

/**
 * Writes through a thread of its own: every commit waits for the disk, and the event loop must not wait with it. While
 * one batch is on its way to the disk the next one gathers, so the more arrives, the fewer flushes each write costs.
 * Nobody is answered before the transaction is on disk; if it does not get there, everybody in it is told so and
 * nothing of it was written. Only when the thread dies, whether the batch on its way was written is unknown.
 */
export class SqliteWriter {
  readonly #thread: SqliteThread;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #ended = Promise.withResolvers<void>();
  /** Posted and not answered yet; one at a time, but for the last one at the end. */
  readonly #underWay: (readonly Waiting[])[] = [];
  readonly #waiting: Waiting[] = [];
  #isScheduled = false;
  #isClosing = false;
  #causeOfDeath: unknown = null;

  constructor(thread: SqliteThread, { clock, logger }: StoreDeps) {
    this.#thread = thread;
    this.#clock = clock;
    this.#logger = logger;
    thread.on('message', (outcome) => this.#settle(outcome));
    thread.on('error', (thrown) => {
      this.#causeOfDeath = thrown;
    });
    thread.on('exit', (exitCode) => this.#end(exitCode));
    thread.unref();
  }

  /**
   * Has `write` done in the next transaction.
   * @returns its answer.
   * @throws `store_unavailable` or `disk_full`.
   */
  write(write: SqliteWrite): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.assertAlive('writing to the store');
      this.#waiting.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /** @throws `store_unavailable` once the thread has died: it took what was on its way with it. */
  assertAlive(doing: string): void {
    if (this.#causeOfDeath !== null) throw storeUnavailable(doing, this.#causeOfDeath);
  }

  /** Writes all that waits, then ends the thread. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#post(this.#waiting.length);
    this.#thread.ref();
    this.#thread.postMessage(null);
    await this.#ended.promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#underWay.length > 0) return;
    this.#isScheduled = true;
    // What else happens in this turn of the event loop goes along.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#post(MAX_WRITES);
    });
  }

  #post(maxWrites: number): void {
    const batch = this.#waiting.splice(0, maxWrites);
    if (batch.length === 0) return;
    this.#underWay.push(batch);
    this.#thread.ref();
    this.#thread.postMessage({ writes: batch.map(({ write }) => write), nowMs: this.#clock.now() });
  }

  #settle(outcome: readonly boolean[] | SqliteFault): void {
    const batch = this.#underWay.shift() ?? [];
    this.#post(MAX_WRITES);
    // While it has nothing to do, it does not keep the process alive.
    if (this.#underWay.length === 0 && !this.#isClosing) this.#thread.unref();
    if ('errcode' in outcome) {
      const failure = sqliteFailure('writing to the store', errorOf(outcome));
      for (const { reject } of batch) reject(failure);
    } else {
      for (const [at, { resolve }] of batch.entries()) resolve(outcome[at] ?? false);
    }
  }

  #end(exitCode: number): void {
    const orphans = [...this.#underWay.splice(0).flat(), ...this.#waiting.splice(0)];
    if (!this.#isClosing || this.#causeOfDeath !== null || orphans.length > 0) {
      this.#causeOfDeath ??= new Error(`its thread ended with exit code ${exitCode}`);
      this.#logger.error({ err: this.#causeOfDeath }, 'the thread that writes to the store has died');
    }
    const failure = storeUnavailable('writing to the store', this.#causeOfDeath);
    for (const { reject } of orphans) reject(failure);
    this.#ended.resolve();
  }
}
