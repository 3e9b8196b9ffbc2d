import { Keyv } from 'keyv';
import { deserialize, serialize } from './envelope.ts';
import type { Namespace } from './store.ts';

/** What Keyv asks of a backend, in the types it really passes: text in, text out. Every method rejects when it failed. */
export interface TextAdapter {
  get(key: string): Promise<string | undefined>;
  /** In the order of `keys`; undefined where there is nothing. */
  getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** @param ttlMs after how long the record is gone; without it, it stays. */
  set(key: string, text: string, ttlMs?: number): Promise<void>;
  /** @returns whether there was something to delete. */
  delete(key: string): Promise<boolean>;
  /** Deletes the whole namespace. */
  clear(): Promise<void>;
}

/**
 * The Keyv of one namespace. By default Keyv 5 answers `true` for a write that failed, and prefixes keys in a way that
 * its next major version does not find again: both are off.
 */
export function createKeyv(namespace: Namespace, adapter: TextAdapter): Keyv {
  return new Keyv({ store: adapter, namespace, useKeyPrefix: false, throwOnErrors: true, serialize, deserialize });
}
