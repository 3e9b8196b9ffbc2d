import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { Bounds, IndexEntry, NamedSum, Namespace, Range, SumParts } from '../store.ts';
import { partsFrom } from '../sums.ts';

interface PageQuery {
  /** Cursor: the last key of the previous page; empty for the first page. */
  readonly after: string;
  readonly nowMs: number;
  readonly limit: number;
}

/** Prepares the statements that read a store. */
function statementsOn(database: DatabaseSync) {
  const statements = {
    get: database.prepare('SELECT value FROM records WHERE namespace = ? AND key = ?'),
    newest: database.prepare(scanInOrder('DESC')),
    oldest: database.prepare(scanInOrder('ASC')),
    count: database.prepare(
      'SELECT count(*) AS entries FROM index_entries WHERE name = ? AND score >= ? AND score <= ?',
    ),
    page: database.prepare(
      `SELECT key, value FROM records WHERE namespace = ? AND key > ?
       AND (expires_at_ms IS NULL OR expires_at_ms > ?) ORDER BY key LIMIT ?`,
    ),
    indexes: database.prepare('SELECT DISTINCT name FROM index_entries'),
    namespaces: database.prepare('SELECT DISTINCT namespace FROM records'),
    sum: selectSum(database),
    sumPage: database.prepare('SELECT * FROM sums WHERE name > ? ORDER BY name LIMIT ?'),
  };
  statements.sumPage.setReadBigInts(true);
  return statements;
}

/** Reads a store. Leaves no transaction open: each read sees everything committed before it. */
export class SqliteReads {
  readonly #database: DatabaseSync;
  readonly #sql: ReturnType<typeof statementsOn>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = statementsOn(database);
  }

  /** Returns the envelope of a key, even an expired one: Keyv itself checks the expiry. */
  get(namespace: Namespace, key: string): string | undefined {
    const value = this.#sql.get.get(namespace, key)?.['value'];
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
    const statement = order === 'newest' ? this.#sql.newest : this.#sql.oldest;
    // A negative LIMIT means none.
    const rows = statement.all(index, min, max, Number.isFinite(limit) ? limit : -1, offset);
    return rows.map((row) => ({ member: String(row['member']), score: Number(row['score']) }));
  }

  count(index: string, { min = -Infinity, max = Infinity }: Bounds): number {
    return Number(this.#sql.count.get(index, min, max)?.['entries']);
  }

  /** Returns the next records of a namespace that have not expired, ordered by key. */
  page(
    namespace: Namespace,
    { after, nowMs, limit }: PageQuery,
  ): readonly { readonly key: string; readonly text: string }[] {
    const rows = this.#sql.page.all(namespace, after, nowMs, limit);
    return rows.map((row) => ({ key: String(row['key']), text: String(row['value']) }));
  }

  indexes(): readonly string[] {
    return this.#sql.indexes.all().map((row) => String(row['name']));
  }

  namespaces(): readonly Namespace[] {
    return this.#sql.namespaces.all().map((row) => String(row['namespace']));
  }

  /** Returns the parts of sums, in the same order. */
  sums(names: readonly string[]): readonly SumParts[] {
    return names.map((name) => readSum(this.#sql.sum, name));
  }

  /** Returns the next sums, ordered by name. @param after the last name of the previous page; empty for the first. */
  sumPage(after: string, limit: number): readonly NamedSum[] {
    return this.#sql.sumPage.all(after, limit).map((row) => ({ sum: String(row['name']), parts: partsOf(row) }));
  }
}

/** Prepares the statement of {@link readSum}. */
export function selectSum(database: DatabaseSync): StatementSync {
  const statement = database.prepare('SELECT held, settled, doubted, extra FROM sums WHERE name = ?');
  // As numbers, integers above 2^53 would be rejected.
  statement.setReadBigInts(true);
  return statement;
}

/** Returns the parts of a sum; zeros for one without writes. */
export function readSum(statement: StatementSync, name: string): SumParts {
  return partsOf(statement.get(name) ?? {});
}

function partsOf(row: Readonly<Record<string, SQLOutputValue>>): SumParts {
  return partsFrom((part) => row[part] as bigint | undefined);
}

function scanInOrder(direction: 'ASC' | 'DESC'): string {
  return `SELECT member, score FROM index_entries WHERE name = ? AND score >= ? AND score <= ?
          ORDER BY score ${direction}, member ${direction} LIMIT ? OFFSET ?`;
}
