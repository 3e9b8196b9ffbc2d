import type { Clock } from '../clock.ts';
import type { TextAdapter } from './keyv.ts';
import type { SqliteRecords } from './sqlite-records.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { Namespace } from './store.ts';

/** What the adapter of a namespace works on; the same for all namespaces of a store. */
export interface SqliteAccess {
  readonly records: SqliteRecords;
  readonly writer: SqliteWriter;
  readonly clock: Clock;
  /** Runs `use` while the database is open. @throws `store_unavailable` when it is not, or refuses. */
  readonly attempt: <T>(doing: string, use: () => T) => T;
}

/** One namespace of an SQLite store, as Keyv wants it. Writes go with everything else of the same turn. */
export class SqliteKeyvAdapter implements TextAdapter {
  readonly #namespace: Namespace;
  readonly #access: SqliteAccess;

  constructor(namespace: Namespace, access: SqliteAccess) {
    this.#namespace = namespace;
    this.#access = access;
  }

  async get(key: string): Promise<string | undefined> {
    const { records, attempt } = this.#access;
    return attempt('reading a record', () => records.get(this.#namespace, key));
  }

  async getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const { records, attempt } = this.#access;
    return attempt('reading records', () => keys.map((key) => records.get(this.#namespace, key)));
  }

  async set(key: string, text: string, ttlMs?: number): Promise<void> {
    const { records, clock } = this.#access;
    const expiresAtMs = ttlMs === undefined ? null : Math.ceil(clock.now() + ttlMs);
    await this.#write('writing a record', () => records.put(this.#namespace, key, text, expiresAtMs));
  }

  delete(key: string): Promise<boolean> {
    return this.#write('deleting a record', () => this.#access.records.delete(this.#namespace, key));
  }

  clear(): Promise<void> {
    return this.#write('clearing a namespace', () => this.#access.records.clear(this.#namespace));
  }

  async #write<T>(doing: string, change: () => T): Promise<T> {
    const { writer, attempt } = this.#access;
    return attempt(doing, () => writer.write(change));
  }
}
