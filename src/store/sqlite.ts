import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Keyv } from 'keyv';
import type { Clock } from '../clock.ts';
import { assertWritable } from './change.ts';
import { serialize } from './envelope.ts';
import { storeUnavailable } from './failure.ts';
import { createKeyv } from './keyv.ts';
import { sqliteFailure } from './sqlite-failure.ts';
import { type SqliteAccess, SqliteKeyvAdapter } from './sqlite-keyv.ts';
import { lockStore, openWhenFree } from './sqlite-lock.ts';
import { SqliteRecords } from './sqlite-records.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import type { Change, IndexEntry, Namespace, Range, Store } from './store.ts';
import type { StoreSurroundings } from './surroundings.ts';

/** How long a call blocks while another program writes to the file. Dailies is the only writer; a tool may not be polite. */
const BUSY_TIMEOUT_MS = 500;

/**
 * Opens the store in the file at `path`, made with its folder where there is none. Only one process at a time holds
 * it; other programs may read the file meanwhile.
 *
 * @throws `store_locked` when another Dailies still holds it after 10 seconds.
 * @throws `store_unavailable` when the file cannot be opened; `disk_full`.
 */
export async function openSqliteStore(path: string, { clock, logger }: StoreSurroundings): Promise<Store> {
  try {
    await mkdir(dirname(path), { recursive: true });
    const release = await lockStore(path, clock, logger);
    try {
      return await openWhenFree(clock, () => openFile(path, clock, release));
    } catch (thrown) {
      release();
      throw thrown;
    }
  } catch (thrown) {
    throw sqliteFailure(`opening the store at ${path}`, thrown);
  }
}

function openFile(path: string, clock: Clock, release: () => void): Store {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // FULL flushes the log at every commit: what was acknowledged is there after a power cut, too.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return new SqliteStore(database, clock, release);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

class SqliteStore implements Store {
  readonly exclusive = true;
  readonly #database: DatabaseSync;
  readonly #access: SqliteAccess;
  readonly #release: () => void;
  readonly #keyvs = new Map<Namespace, Keyv>();

  constructor(database: DatabaseSync, clock: Clock, release: () => void) {
    const records = new SqliteRecords(database);
    const attempt = <T>(doing: string, use: () => T): T => this.#attempt(doing, use);
    this.#database = database;
    this.#access = { records, writer: new SqliteWriter(database), clock, attempt };
    this.#release = release;
    records.deleteExpired(clock.now());
  }

  keyv(namespace: Namespace): Keyv {
    const known = this.#keyvs.get(namespace);
    if (known !== undefined) return known;
    const made = createKeyv(namespace, new SqliteKeyvAdapter(namespace, this.#access));
    this.#keyvs.set(namespace, made);
    return made;
  }

  async commit(change: Change): Promise<boolean> {
    assertWritable(change);
    const { records, writer, clock } = this.#access;
    const envelopes = change.records.map(({ value }) => (value === null ? null : serialize({ value })));
    const apply = (): boolean => {
      const nowMs = clock.now();
      if (!change.records.every((record) => records.holds(record, nowMs))) return false;
      for (const [at, { namespace, key }] of change.records.entries()) {
        const envelope = envelopes[at] ?? null;
        if (envelope === null) records.delete(namespace, key);
        else records.put(namespace, key, envelope);
      }
      for (const entry of change.index ?? []) records.setEntry(entry);
      return true;
    };
    return this.#attempt('committing a change', () => writer.write(apply));
  }

  async scan(index: string, range: Range = {}): Promise<readonly IndexEntry[]> {
    return this.#attempt(`scanning index ${index}`, () => this.#access.records.scan(index, range));
  }

  async count(index: string): Promise<number> {
    return this.#attempt(`counting index ${index}`, () => this.#access.records.count(index));
  }

  async ping(): Promise<void> {
    this.#attempt('asking the store', () => this.#database.exec('SELECT 1 FROM records LIMIT 1'));
  }

  async close(): Promise<void> {
    if (!this.#database.isOpen) return;
    this.#access.writer.flush();
    try {
      this.#attempt('closing the store', () => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    } finally {
      this.#database.close();
      this.#release();
    }
  }

  #attempt<T>(doing: string, use: () => T): T {
    if (!this.#database.isOpen) throw storeUnavailable(doing, 'the store is closed');
    try {
      return use();
    } catch (thrown) {
      throw sqliteFailure(doing, thrown);
    }
  }
}
