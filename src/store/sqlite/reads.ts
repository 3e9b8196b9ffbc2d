import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Bounds, IndexEntry, Namespace, Range } from '../store.ts';

/** Which records of a namespace are wanted. */
interface PageOf {
  /** The key of the last one that is known; empty for the first page. */
  readonly after: string;
  readonly nowMs: number;
  readonly limit: number;
}

/** The statements that read a store. None leaves a transaction open: each sees all that was committed before it. */
export class SqliteReads {
  readonly #database: DatabaseSync;
  readonly #get: StatementSync;
  readonly #newest: StatementSync;
  readonly #oldest: StatementSync;
  readonly #count: StatementSync;
  readonly #page: StatementSync;
  readonly #indexes: StatementSync;
  readonly #score: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#get = database.prepare('SELECT value FROM records WHERE namespace = ? AND key = ?');
    this.#newest = database.prepare(scanInOrder('DESC'));
    this.#oldest = database.prepare(scanInOrder('ASC'));
    this.#count = database.prepare(COUNT);
    this.#page = database.prepare(PAGE);
    this.#indexes = database.prepare('SELECT DISTINCT name FROM index_entries');
    this.#score = database.prepare('SELECT score FROM index_entries WHERE name = ? AND member = ?');
  }

  /** The envelope under a key, also where it has ended: Keyv looks at that itself. */
  get(namespace: Namespace, key: string): string | undefined {
    const value = this.#get.get(namespace, key)?.['value'];
    return typeof value === 'string' ? value : undefined;
  }

  /** The envelopes under keys, in their order, all as they were at one moment. */
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
    // A negative limit is SQLite's way of saying none.
    const rows = statement.all(index, min, max, Number.isFinite(limit) ? limit : -1, offset);
    return rows.map((row) => ({ member: String(row['member']), score: Number(row['score']) }));
  }

  count(index: string, { min = -Infinity, max = Infinity }: Bounds): number {
    return Number(this.#count.get(index, min, max)?.['entries']);
  }

  /** The next records of a namespace that have not ended, in the order of their keys. */
  page(
    namespace: Namespace,
    { after, nowMs, limit }: PageOf,
  ): readonly { readonly key: string; readonly text: string }[] {
    const rows = this.#page.all(namespace, after, nowMs, limit);
    return rows.map((row) => ({ key: String(row['key']), text: String(row['value']) }));
  }

  score(index: string, member: string): number | null {
    const score = this.#score.get(index, member)?.['score'];
    return typeof score === 'number' ? score : null;
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
