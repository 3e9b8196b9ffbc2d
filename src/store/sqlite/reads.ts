import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Bounds, IndexEntry, Namespace, Range } from '../store.ts';

/** A page of the records of a namespace. */
interface PageQuery {
  /** Cursor: the last key of the previous page; empty for the first page. */
  readonly after: string;
  readonly nowMs: number;
  readonly limit: number;
}

/** Prepared statements that read a store. None leaves a transaction open: each sees everything committed before it. */
export class SqliteReads {
  readonly #database: DatabaseSync;
  readonly #get: StatementSync;
  readonly #newest: StatementSync;
  readonly #oldest: StatementSync;
  readonly #count: StatementSync;
  readonly #page: StatementSync;
  readonly #indexes: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#get = database.prepare('SELECT value FROM records WHERE namespace = ? AND key = ?');
    this.#newest = database.prepare(scanInOrder('DESC'));
    this.#oldest = database.prepare(scanInOrder('ASC'));
    this.#count = database.prepare(COUNT);
    this.#page = database.prepare(PAGE);
    this.#indexes = database.prepare('SELECT DISTINCT name FROM index_entries');
  }

  /** Returns the envelope of a key, even an expired one: Keyv itself checks the expiry. */
  get(namespace: Namespace, key: string): string | undefined {
    const value = this.#get.get(namespace, key)?.['value'];
    return typeof value === 'string' ? value : undefined;
  }

  /** Returns the envelopes of keys, in the same order, from one consistent snapshot. */
  getMany(namespace: Namespace, keys: readonly string[]): readonly (string | undefined)[] {
    this.#database.exec('BEGIN');
    try {
      return keys.map((key) => this.get(namespace, key));
    } finally {
      this.#database.exec('ROLLBACK');
    }
  }

  scan(index: string, range: Range): readonly IndexEntry[] {
    const { min = -Infinity, max = Infinity, order = 'newest', limit = Infinity, offset = 0 } = range;
    const statement = order === 'newest' ? this.#newest : this.#oldest;
    // A negative LIMIT means none.
    const rows = statement.all(index, min, max, Number.isFinite(limit) ? limit : -1, offset);
    return rows.map((row) => ({ member: String(row['member']), score: Number(row['score']) }));
  }

  count(index: string, { min = -Infinity, max = Infinity }: Bounds): number {
    return Number(this.#count.get(index, min, max)?.['entries']);
  }

  /** Returns the next records of a namespace that have not expired, ordered by key. */
  page(
    namespace: Namespace,
    { after, nowMs, limit }: PageQuery,
  ): readonly { readonly key: string; readonly text: string }[] {
    const rows = this.#page.all(namespace, after, nowMs, limit);
    return rows.map((row) => ({ key: String(row['key']), text: String(row['value']) }));
  }

  indexes(): readonly string[] {
    return this.#indexes.all().map((row) => String(row['name']));
  }
}

const PAGE = `SELECT key, value FROM records
  WHERE namespace = ? AND key > ? AND (expires_at_ms IS NULL OR expires_at_ms > ?) ORDER BY key LIMIT ?`;
const COUNT = 'SELECT count(*) AS entries FROM index_entries WHERE name = ? AND score >= ? AND score <= ?';

function scanInOrder(direction: 'ASC' | 'DESC'): string {
  return `SELECT member, score FROM index_entries WHERE name = ? AND score >= ? AND score <= ?
          ORDER BY score ${direction}, member ${direction} LIMIT ? OFFSET ?`;
}
