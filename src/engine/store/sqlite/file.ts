import { DatabaseSync } from 'node:sqlite';
import { assertFormat, FORMAT } from '../format.ts';

/**
 * Records are large, so their table is a rowid table with a separate index; index entries are small, so theirs is
 * clustered: by member first, because one commit writes all entries of a task, and then to one page. `expires_at_ms`
 * duplicates the expiry in the envelope, to find expired records without parsing all. `user_version` is the format.
 * @see {@link https://www.sqlite.org/withoutrowid.html}
 */
const SCHEMA = `
  BEGIN IMMEDIATE;
  PRAGMA user_version = ${FORMAT};
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
    PRIMARY KEY (member, name)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS index_entries_in_order ON index_entries (name, score, member);
  CREATE TABLE IF NOT EXISTS sums (
    name TEXT NOT NULL PRIMARY KEY,
    held INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    doubted INTEGER NOT NULL,
    extra INTEGER NOT NULL
  ) WITHOUT ROWID, STRICT;
  COMMIT;
`;

export interface SqliteConnection {
  readonly path: string;
  /** Longest time for which a call blocks its thread while another program has locked the file. */
  readonly busyTimeoutMs: number;
}

/**
 * Opens the file, creating it if needed. FULL flushes the write-ahead log at every commit: an acknowledged write
 * survives a power cut, too. What is deleted is overwritten at once (`secure_delete`), so that a removed prompt is not left in
 * the file: VACUUM would do that as well, but writes the whole file and runs only after a person was forgotten.
 * @see {@link https://www.sqlite.org/pragma.html#pragma_secure_delete}
 * @throws what SQLite throws; `store_unavailable`, not retryable, for a file of another format.
 */
export function connect({ path, busyTimeoutMs }: SqliteConnection): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (!isNew) assertFormat(version || null);
    // Before anything is written: a file that has tables keeps its mode.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;');
    database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;');
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/**
 * Creates missing tables, and deletes the records that expired by `nowMs`. Truncates the log of a process that was killed:
 * it may hold what was deleted since.
 */
export function prepareTables(database: DatabaseSync, nowMs: number): void {
  database.exec(SCHEMA);
  database.prepare('DELETE FROM records WHERE expires_at_ms <= ?').run(nowMs);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}
