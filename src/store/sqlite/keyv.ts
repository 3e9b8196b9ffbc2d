import type { Clock } from '../../clock.ts';
import type { TextAdapter } from '../keyv.ts';
import type { Namespace } from '../store.ts';
import type { SqliteReads } from './reads.ts';
import type { SqliteWriter } from './writer.ts';
import type { SqliteWrite } from './writes.ts';

/** Database access of a namespace's adapter; shared by all namespaces of a store. */
export interface SqliteAccess {
  readonly reads: SqliteReads;
  readonly writer: SqliteWriter;
  readonly clock: Clock;
  /** Runs `use` if the database is open. @throws `store_unavailable` when it is closed or fails; `disk_full`. */
  readonly attempt: <T>(operation: string, use: () => T) => T;
}

/** Keyv adapter of one namespace of an SQLite store. Its writes are batched with all others of the store. */
export class SqliteKeyvAdapter implements TextAdapter {
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
    await this.#write('writing a record', { kind: 'change', records: [record], index: [] });
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
