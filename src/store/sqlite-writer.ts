import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { sqliteFailure } from './sqlite-failure.ts';

/** Most changes in one transaction. More wait for the next one, so that the event loop gets its turn in between. */
const MAX_CHANGES = 500;

interface Waiting {
  /** Applies the change. @returns what tells its owner, once it is on disk. */
  readonly apply: () => () => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Writes everything that arrives within one turn of the event loop in one transaction: a burst of a thousand claims
 * costs a few flushes to disk instead of a thousand. Nobody is answered before the transaction is on disk; if it does
 * not get there, everybody in it is told so and nothing of it was written.
 */
export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /**
   * Has `change` run in the next transaction. It decides by reading before it writes, because an exception of it
   * rejects the whole transaction.
   * @returns what `change` returned.
   * @throws `store_unavailable` or `disk_full`.
   */
  write<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply = (): (() => void) => {
        const answer = change();
        return () => resolve(answer);
      };
      this.#waiting.push({ apply, reject });
      this.#schedule();
    });
  }

  /** Writes all that waits, now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#writeBatch();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#writeBatch();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #writeBatch(): void {
    const batch = this.#waiting.splice(0, MAX_CHANGES);
    if (batch.length === 0) return;
    try {
      this.#begin.run();
      const answers = batch.map(({ apply }) => apply());
      this.#commit.run();
      for (const answer of answers) answer();
    } catch (thrown) {
      const failure = sqliteFailure('writing to the store', thrown);
      this.#rollBack();
      for (const { reject } of batch) reject(failure);
    }
  }

  #rollBack(): void {
    // Some failures, a full disk among them, have SQLite roll back by itself.
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}
