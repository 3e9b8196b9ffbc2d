import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { IndexEntry, IndexWrite, Namespace, Range, RecordWrite } from './store.ts';

/**
 * Records are large, so their table keeps them apart from its index; index entries are small, so theirs is the index.
 * `expires_at_ms` repeats what stands in the envelope, to find what has ended without reading it all.
 * @see {@link https://www.sqlite.org/withoutrowid.html}
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS records (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at_ms INTEGER,
    PRIMARY KEY (namespace, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS records_expiring ON records (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
  CREATE TABLE IF NOT EXISTS index_entries (
    name TEXT NOT NULL,
    member TEXT NOT NULL,
    score REAL NOT NULL,
    PRIMARY KEY (name, member)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS index_entries_in_order ON index_entries (name, score, member);
`;

/** The store's tables, by the statements that read and write them. Nothing here begins or ends a transaction. */
export class SqliteRecords {
  readonly #get: StatementSync;
  readonly #state: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #clear: StatementSync;
  readonly #deleteExpired: StatementSync;
  readonly #setEntry: StatementSync;
  readonly #removeEntry: StatementSync;
  readonly #newest: StatementSync;
  readonly #oldest: StatementSync;
  readonly #count: StatementSync;

  /** Creates the tables where there are none. */
  constructor(database: DatabaseSync) {
    database.exec(SCHEMA);
    this.#get = database.prepare('SELECT value FROM records WHERE namespace = ? AND key = ?');
    this.#state = database.prepare(
      `SELECT json_extract(value, '$.value.revision') AS revision FROM records
       WHERE namespace = ? AND key = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
    );
    this.#put = database.prepare(
      `INSERT INTO records (namespace, key, value, expires_at_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value, expires_at_ms = excluded.expires_at_ms`,
    );
    this.#delete = database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?');
    this.#clear = database.prepare('DELETE FROM records WHERE namespace = ?');
    this.#deleteExpired = database.prepare('DELETE FROM records WHERE expires_at_ms <= ?');
    this.#setEntry = database.prepare(
      `INSERT INTO index_entries (name, member, score) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET score = excluded.score`,
    );
    this.#removeEntry = database.prepare('DELETE FROM index_entries WHERE name = ? AND member = ?');
    this.#newest = database.prepare(scanInOrder('DESC'));
    this.#oldest = database.prepare(scanInOrder('ASC'));
    this.#count = database.prepare('SELECT count(*) AS entries FROM index_entries WHERE name = ?');
  }

  /** The envelope under a key, also where it has ended: Keyv looks at that itself. */
  get(namespace: Namespace, key: string): string | undefined {
    const value = this.#get.get(namespace, key)?.['value'];
    return typeof value === 'string' ? value : undefined;
  }

  /** Whether what `write` expects is there at `nowMs`. */
  holds({ namespace, key, expected }: RecordWrite, nowMs: number): boolean {
    if (expected === 'any') return true;
    const state = this.#state.get(namespace, key, nowMs);
    return expected === 'absent' ? state === undefined : state?.['revision'] === expected;
  }

  put(namespace: Namespace, key: string, envelope: string, expiresAtMs: number | null = null): void {
    this.#put.run(namespace, key, envelope, expiresAtMs);
  }

  /** @returns whether there was one. */
  delete(namespace: Namespace, key: string): boolean {
    return this.#delete.run(namespace, key).changes !== 0;
  }

  clear(namespace: Namespace): void {
    this.#clear.run(namespace);
  }

  /** Deletes what ended by `nowMs` and was not asked for since. */
  deleteExpired(nowMs: number): void {
    this.#deleteExpired.run(nowMs);
  }

  setEntry({ index, member, score }: IndexWrite): void {
    if (score === null) this.#removeEntry.run(index, member);
    else this.#setEntry.run(index, member, score);
  }

  scan(index: string, range: Range): readonly IndexEntry[] {
    const { min = -Infinity, max = Infinity, order = 'newest', limit = Infinity, offset = 0 } = range;
    const statement = order === 'newest' ? this.#newest : this.#oldest;
    // A negative limit is SQLite's way of saying none.
    const rows = statement.all(index, min, max, Number.isFinite(limit) ? limit : -1, offset);
    return rows.map((row) => ({ member: String(row['member']), score: Number(row['score']) }));
  }

  count(index: string): number {
    return Number(this.#count.get(index)?.['entries']);
  }
}

function scanInOrder(direction: 'ASC' | 'DESC'): string {
  return `SELECT member, score FROM index_entries WHERE name = ? AND score >= ? AND score <= ?
          ORDER BY score ${direction}, member ${direction} LIMIT ? OFFSET ?`;
}
