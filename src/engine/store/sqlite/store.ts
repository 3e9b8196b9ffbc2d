import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Keyv } from 'keyv';
import type { Clock } from '../../../clock.ts';
import type { Logger } from '../../../logger.ts';
import { LocalBroadcast } from '../../cluster/broadcast.ts';
import { createLocalLeases, type Leases } from '../../cluster/leases.ts';
import { storedRecord } from '../envelope.ts';
import { kindOfIndex, storeUnavailable } from '../failure.ts';
import { createKeyv, type TextAdapter } from '../keyv.ts';
import { prepared } from '../prepared-change.ts';
import type {
  Bounds,
  Change,
  IndexEntry,
  NamedSum,
  Namespace,
  Range,
  Store,
  StoreContents,
  StoreDeps,
  StoredRecord,
  SumParts,
} from '../store.ts';
import { sqliteFailure } from './errors.ts';
import { connect, prepareTables } from './file.ts';
import { identify, resolveDatabase } from './location.ts';
import { lockPath, lockStore, openWhenFree } from './lock.ts';
import { SqliteReads } from './reads.ts';
import { SqliteWriter, startSqliteThread } from './writer.ts';
import type { SqliteChange, SqliteWrite } from './writes.ts';

/** Longest time for which a read blocks while another program has locked the file. Dailies never does; a tool may. */
const BUSY_TIMEOUT_MS = 500;

/** Records or sums per page of a complete read. */
const PAGE = 500;

/** A write that reaches the disk and leaves nothing there: on a full or read-only disk, reads alone still succeed. */
const PROBE: SqliteChange = {
  kind: 'change',
  records: [],
  index: [
    { index: 'probe', member: 'probe', score: 0 },
    { index: 'probe', member: 'probe', score: null },
  ],
};

/**
 * Opens the store in the file at `path`, creating the file and its folder if needed. Only one process at a time holds
 * it, even if each uses a different path to it; other programs may read the file meanwhile. After the file was moved,
 * replaced or deleted, all writes are rejected until it is back.
 *
 * @throws `store_locked` when another Dailies process still holds it after 10 seconds.
 * @throws `store_unavailable` when the file cannot be opened; `disk_full`.
 */
export async function openSqliteStore(path: string, deps: StoreDeps): Promise<Store> {
  const { clock, logger } = deps;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await resolveDatabase(path);
    const release = await lockStore(file, clock, logger);
    try {
      return await openFile(file, deps, release);
    } catch (thrown) {
      release();
      throw thrown;
    }
  } catch (thrown) {
    throw sqliteFailure(`opening the store at ${path}`, thrown);
  }
}

async function openFile(path: string, deps: StoreDeps, release: () => void): Promise<Store> {
  const { clock, logger } = deps;
  const database = await openWhenFree(clock, () => connect({ path, busyTimeoutMs: BUSY_TIMEOUT_MS }));
  try {
    await openWhenFree(clock, () => prepareTables(database, clock.now()));
    const places = [path, lockPath(path)].map(identify);
    const writer = new SqliteWriter(await startSqliteThread(path, places), deps);
    return new SqliteStore({ database, writer, clock, logger, release });
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Database access of a namespace's adapter; shared by all namespaces of a store. */
interface SqliteAccess {
  readonly reads: SqliteReads;
  readonly writer: SqliteWriter;
  readonly clock: Clock;
  /** Runs `use` if the database is open. @throws `store_unavailable` when it is closed or fails; `disk_full`. */
  readonly attempt: <T>(operation: string, use: () => T) => T;
}

/** Keyv adapter of one namespace of an SQLite store. Its writes are batched with all others of the store. */
class SqliteKeyvAdapter implements TextAdapter {
  readonly #namespace: Namespace;
  readonly #access: SqliteAccess;

  constructor(namespace: Namespace, access: SqliteAccess) {
    this.#namespace = namespace;
    this.#access = access;
  }

  async get(key: string): Promise<string | undefined> {
    const { reads, attempt } = this.#access;
    return attempt('reading a record', () => reads.get(this.#namespace, key));
  }

  async getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const { reads, attempt } = this.#access;
    return attempt('reading records', () => reads.getMany(this.#namespace, keys));
  }

  async set(key: string, envelope: string, ttlMs?: number): Promise<void> {
    const expiry = ttlMs === undefined ? {} : { expiresAtMs: Math.ceil(this.#access.clock.now() + ttlMs) };
    const record = { namespace: this.#namespace, key, expected: 'any', envelope, ...expiry } as const;
    await this.#write('writing a record', { kind: 'change', records: [record] });
  }

  delete(key: string): Promise<boolean> {
    return this.#write('deleting a record', { kind: 'delete', namespace: this.#namespace, key });
  }

  async clear(): Promise<void> {
    await this.#write('clearing a namespace', { kind: 'clear', namespace: this.#namespace });
  }

  async #write(operation: string, write: SqliteWrite): Promise<boolean> {
    const { writer, attempt } = this.#access;
    return attempt(operation, () => writer.write(write));
  }
}

interface SqliteParts {
  /** The connection for reads; commits, which wait for the disk, use another one. */
  readonly database: DatabaseSync;
  readonly writer: SqliteWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly release: () => void;
}

class SqliteStore implements Store {
  readonly exclusive = true;
  readonly broadcast = new LocalBroadcast();
  readonly leases: Leases;
  readonly contents: StoreContents;
  readonly #parts: SqliteParts;
  readonly #access: SqliteAccess;
  readonly #keyvs = new Map<Namespace, Keyv>();
  #closed: Promise<void> | null = null;

  constructor(parts: SqliteParts) {
    const { database, writer, clock } = parts;
    const attempt = <T>(operation: string, use: () => T): T => this.#attempt(operation, use);
    this.#parts = parts;
    this.leases = createLocalLeases(clock);
    this.#access = { reads: new SqliteReads(database), writer, clock, attempt };
    this.contents = {
      records: (namespace) => this.#records(namespace),
      namespaces: async () => this.#attempt('listing the namespaces', () => this.#access.reads.namespaces()),
      indexes: async () => this.#attempt('listing the indexes', () => this.#access.reads.indexes()),
      sums: () => this.#sums(),
      setSums: async (sums) => {
        await this.#attempt('setting sums', () => writer.write({ kind: 'set-sums', sums }));
      },
      dropEmptySums: async (names) => {
        await this.#attempt('dropping sums', () => writer.write({ kind: 'drop-empty-sums', names }));
      },
      overwriteDeleted: async () => {
        const doing = 'overwriting what was deleted';
        if (await this.#attempt(doing, () => writer.write({ kind: 'overwrite-deleted' }))) return;
        throw storeUnavailable(doing, new Error('the file cannot be written anew; is there room for a second one?'));
      },
      // The process that has the file open is the only one.
      leases: async () => [],
    };
  }

  keyv(namespace: Namespace): Keyv {
    const known = this.#keyvs.get(namespace);
    if (known !== undefined) return known;
    const created = createKeyv(namespace, new SqliteKeyvAdapter(namespace, this.#access), this.#parts.logger);
    this.#keyvs.set(namespace, created);
    return created;
  }

  async commit(change: Change): Promise<boolean> {
    const write = { kind: 'change', ...prepared(change) } as const;
    return this.#attempt('committing a change', () => this.#access.writer.write(write));
  }

  async scan(index: string, range: Range = {}): Promise<readonly IndexEntry[]> {
    return this.#attempt(`scanning index ${kindOfIndex(index)}`, () => this.#access.reads.scan(index, range));
  }

  async count(index: string, bounds: Bounds = {}): Promise<number> {
    return this.#attempt(`counting index ${kindOfIndex(index)}`, () => this.#access.reads.count(index, bounds));
  }

  async sums(names: readonly string[]): Promise<readonly SumParts[]> {
    return this.#attempt('reading sums', () => this.#access.reads.sums(names));
  }

  async ping(): Promise<void> {
    await this.#attempt('asking the store', () => {
      this.#parts.database.exec('SELECT 1 FROM records LIMIT 1');
      return this.#access.writer.write(PROBE);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { database, writer, release } = this.#parts;
    await writer.close();
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (thrown) {
      throw sqliteFailure('closing the store', thrown);
    } finally {
      database.close();
      release();
    }
  }

  async *#records(namespace: Namespace): AsyncGenerator<readonly StoredRecord[]> {
    for (let after = ''; ; ) {
      const query = { after, nowMs: this.#parts.clock.now(), limit: PAGE };
      const page = this.#attempt('reading all records', () => this.#access.reads.page(namespace, query));
      if (page.length > 0) yield page.map(({ key, text }) => storedRecord(key, text));
      if (page.length < PAGE) return;
      after = page.at(-1)?.key ?? after;
    }
  }

  async *#sums(): AsyncGenerator<readonly NamedSum[]> {
    for (let after = ''; ; ) {
      const page = this.#attempt('reading all sums', () => this.#access.reads.sumPage(after, PAGE));
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      after = page.at(-1)?.sum ?? after;
    }
  }

  #attempt<T>(operation: string, use: () => T): T {
    if (this.#closed !== null) throw storeUnavailable(operation, 'the store is closed');
    this.#parts.writer.assertAlive(operation);
    try {
      return use();
    } catch (thrown) {
      throw sqliteFailure(operation, thrown);
    }
  }
}
