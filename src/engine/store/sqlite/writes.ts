import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { deserialize } from '../envelope.ts';
import type { LimitCheck, PreparedChange, PreparedRecord } from '../prepared-change.ts';
import { BUDGETS, type IndexBound, type IndexWrite, type Namespace, type NewSum, type SumParts } from '../store.ts';
import { isWithinBudget, usedBeyondExtra } from '../sums.ts';
import { readSum, selectSum } from './reads.ts';

/** A record with its expiry in ms since the epoch; without one, it does not expire. */
export type SqliteRecordWrite = PreparedRecord & { readonly expiresAtMs?: number };

/** A change of `Store.commit`, or the write of a Keyv. */
export interface SqliteChange extends Omit<Partial<PreparedChange>, 'records'> {
  readonly kind: 'change';
  readonly records: readonly SqliteRecordWrite[];
}

/** One write, as data. The meaning of its boolean result: */
export type SqliteWrite =
  /** True if every precondition held: all of it was written, otherwise nothing. */
  | SqliteChange
  /** True if there was such a record. */
  | { readonly kind: 'delete'; readonly namespace: Namespace; readonly key: string }
  /** Always true: the namespace is empty. */
  | { readonly kind: 'clear'; readonly namespace: Namespace }
  /** Always true: the sums are as given. */
  | { readonly kind: 'set-sums'; readonly sums: readonly NewSum[] }
  /** Always true: none of these sums has zeros only. */
  | { readonly kind: 'drop-empty-sums'; readonly names: readonly string[] }
  /** True if the file was written anew after the transaction, so that neither it nor the log holds what was deleted. */
  | { readonly kind: 'overwrite-deleted' };

/** Writes of one transaction, in order of arrival. */
export interface SqliteBatch {
  readonly writes: readonly SqliteWrite[];
  /** Current time in ms since the epoch; a record with an earlier expiry counts as absent. */
  readonly nowMs: number;
}

/** Free pages above which the file shrinks: fewer are soon used again. A page has 4 KB. */
const MAX_FREE_PAGES = 64;
/** Pages that a transaction gives back at most: others wait for it. */
const SHRINK_PAGES = 64;

/** Prepares the statements that write a store. */
function statementsOn(database: DatabaseSync) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    state: database.prepare(
      `SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.value.revision') END AS revision FROM records
       WHERE namespace = ? AND key = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
    ),
    put: database.prepare(
      `INSERT INTO records (namespace, key, value, expires_at_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value, expires_at_ms = excluded.expires_at_ms`,
    ),
    delete: database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?'),
    clear: database.prepare('DELETE FROM records WHERE namespace = ?'),
    setEntry: database.prepare(
      `INSERT INTO index_entries (name, member, score) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET score = excluded.score`,
    ),
    removeEntry: database.prepare('DELETE FROM index_entries WHERE name = ? AND member = ?'),
    countEntries: database.prepare(
      'SELECT count(*) AS entries FROM (SELECT 1 FROM index_entries WHERE name = ? AND score >= ? LIMIT ?)',
    ),
    budget: database.prepare(
      `SELECT value FROM records
       WHERE namespace = '${BUDGETS}' AND key = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
    ),
    sum: selectSum(database),
    addToSum: database.prepare(
      `INSERT INTO sums (name, held, settled, doubted, extra) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET held = held + excluded.held, settled = settled + excluded.settled,
         doubted = doubted + excluded.doubted, extra = extra + excluded.extra`,
    ),
    deleteSum: database.prepare('DELETE FROM sums WHERE name = ?'),
    dropEmptySum: database.prepare(
      'DELETE FROM sums WHERE name = ? AND held = 0 AND settled = 0 AND doubted = 0 AND extra = 0',
    ),
    freePages: database.prepare('PRAGMA freelist_count'),
  };
}

/** Writes a store, each batch in one transaction. */
export class SqliteWrites {
  readonly #database: DatabaseSync;
  readonly #sql: ReturnType<typeof statementsOn>;
  /** Budgets read in the current transaction, during which no other connection can write; none after a change of one. */
  readonly #budgets = new Map<string, unknown>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = statementsOn(database);
  }

  /**
   * Writes a batch. @returns the result of each write, once all of them are on disk.
   * @throws what SQLite throws; then nothing of the batch was written.
   */
  write({ writes, nowMs }: SqliteBatch): readonly boolean[] {
    this.#budgets.clear();
    try {
      this.#sql.begin.run();
      const results = writes.map((write) => {
        const isDone = this.#apply(write, nowMs);
        if (mayChangeBudgets(write)) this.#budgets.clear();
        return isDone;
      });
      this.#shrink();
      this.#sql.commit.run();
      if (!writes.some(({ kind }) => kind === 'overwrite-deleted')) return results;
      const isOverwritten = this.#overwriteDeleted();
      return results.map((isDone, at) => (writes[at]?.kind === 'overwrite-deleted' ? isOverwritten : isDone));
    } catch (thrown) {
      // On some failures, such as a full disk, SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw thrown;
    }
  }

  /** Gives pages that retention has freed back to the disk, some in each transaction. */
  #shrink(): void {
    const free = Number(this.#sql.freePages.get()?.['freelist_count'] ?? 0);
    if (free > MAX_FREE_PAGES) this.#database.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
  }

  /**
   * Writes the whole file anew. `secure_delete` alone leaves what was moved to another page while it was there: in the
   * unused part of the page it was moved from. Does not fail the batch, which is on disk.
   * @see https://www.sqlite.org/lang_vacuum.html
   */
  #overwriteDeleted(): boolean {
    try {
      // The copy may be too large for the folder of temporary files, which may be in memory.
      const file = String(this.#database.prepare('PRAGMA database_list').get()?.['file']);
      const folder = dirname(file).replaceAll("'", "''");
      this.#database.exec(`PRAGMA temp_store_directory = '${folder}'; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)`);
      return true;
    } catch {
      return false;
    }
  }

  #apply(write: SqliteWrite, nowMs: number): boolean {
    switch (write.kind) {
      case 'change':
        if (!write.records.every((record) => this.#holds(record, nowMs))) return false;
        if (write.bounds?.every((bound) => this.#isWithin(bound)) === false) return false;
        if (write.within?.every((limit) => this.#isAffordable(limit, nowMs)) === false) return false;
        for (const record of write.records) this.#setRecord(record);
        for (const entry of write.index ?? []) this.#setIndexEntry(entry);
        for (const [sum, parts] of write.sums ?? []) this.#addSum(sum, parts);
        return true;
      case 'delete':
        return this.#sql.delete.run(write.namespace, write.key).changes !== 0;
      case 'clear':
        this.#sql.clear.run(write.namespace);
        return true;
      case 'set-sums':
        for (const { sum, parts } of write.sums) {
          this.#sql.deleteSum.run(sum);
          if (parts !== null) this.#addSum(sum, parts);
        }
        return true;
      case 'drop-empty-sums':
        for (const name of write.names) this.#sql.dropEmptySum.run(name);
        return true;
      case 'overwrite-deleted':
        return true;
    }
  }

  #holds({ namespace, key, expected }: SqliteRecordWrite, nowMs: number): boolean {
    if (expected === 'any') return true;
    const state = this.#sql.state.get(namespace, key, nowMs);
    return expected === 'absent' ? state === undefined : state?.['revision'] === expected;
  }

  /** Returns whether a bound holds, including the effects of earlier writes of the batch. */
  #isWithin({ index, min = Number.NEGATIVE_INFINITY, below }: IndexBound): boolean {
    return Number(this.#sql.countEntries.get(index, min, below)?.['entries']) < below;
  }

  /** Returns whether a limit holds after the change, including the effects of earlier writes of the batch. */
  #isAffordable({ sum, adds, budgets, currency }: LimitCheck, nowMs: number): boolean {
    const used = usedBeyondExtra(readSum(this.#sql.sum, sum)) + adds;
    return isWithinBudget(
      used,
      budgets.map((key) => this.#budgetOf(key, nowMs)),
      currency,
    );
  }

  #budgetOf(key: string, nowMs: number): unknown {
    if (!this.#budgets.has(key)) this.#budgets.set(key, this.#readBudget(key, nowMs));
    return this.#budgets.get(key);
  }

  /** Returns the value of a budget; `null` for a damaged one. */
  #readBudget(key: string, nowMs: number): unknown {
    const text = this.#sql.budget.get(key, nowMs)?.['value'];
    if (text === undefined) return undefined;
    try {
      return deserialize<unknown>(String(text)).value ?? null;
    } catch {
      return null;
    }
  }

  #setRecord({ namespace, key, envelope, expiresAtMs }: SqliteRecordWrite): void {
    if (envelope === undefined) return;
    if (envelope === null) this.#sql.delete.run(namespace, key);
    else this.#sql.put.run(namespace, key, envelope, expiresAtMs ?? null);
  }

  #addSum(sum: string, { held, settled, doubted, extra }: SumParts): void {
    this.#sql.addToSum.run(sum, held, settled, doubted, extra);
  }

  #setIndexEntry({ index, member, score }: IndexWrite): void {
    if (score === null) this.#sql.removeEntry.run(index, member);
    else this.#sql.setEntry.run(index, member, score);
  }
}

function mayChangeBudgets(write: SqliteWrite): boolean {
  return write.kind !== 'change' || write.records.some(({ namespace }) => namespace === BUDGETS);
}
