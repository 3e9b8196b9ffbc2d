import { DatabaseSync } from 'node:sqlite';

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

/** A connection to the file of a store. */
export interface SqliteConnection {
  readonly path: string;
  /** How long a call blocks its thread while another program has the file for itself. */
  readonly busyTimeoutMs: number;
}

/**
 * Connects to the file, made where there is none. FULL flushes the log at every commit: what was acknowledged is there
 * after a power cut, too.
 * @throws what SQLite throws.
 */
export function connect({ path, busyTimeoutMs }: SqliteConnection): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Creates the tables where there are none, and deletes the records that ended by `nowMs` and were not asked for since. */
export function prepareTables(database: DatabaseSync, nowMs: number): void {
  database.exec(SCHEMA);
  database.prepare('DELETE FROM records WHERE expires_at_ms <= ?').run(nowMs);
}
