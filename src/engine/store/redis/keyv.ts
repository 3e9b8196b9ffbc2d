import KeyvRedis from '@keyv/redis';
import type { TextAdapter } from '../keyv.ts';
import type { Namespace } from '../store.ts';
import type { RedisConnection } from './connection.ts';

/** Keyv adapter of one namespace of a Redis store: @keyv/redis with a timeout, every failure of which is thrown. */
export class RedisKeyvAdapter implements TextAdapter {
  readonly #adapter: KeyvRedis<string>;
  readonly #link: RedisConnection;

  constructor(namespace: Namespace, link: RedisConnection) {
    this.#adapter = new KeyvRedis(link.client, { namespace: `dailies:${namespace}`, throwOnErrors: true });
    // The adapter throws as well, and an 'error' event without a listener would be thrown a second time.
    this.#adapter.on('error', () => undefined);
    this.#link = link;
  }

  redisKey(key: string): string {
    return this.#adapter.createKeyPrefix(key, this.#adapter.namespace);
  }

  get(key: string): Promise<string | undefined> {
    return this.#link.call('reading a record', () => this.#adapter.get<string>(key));
  }

  getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    return this.#link.call('reading records', () => this.#adapter.getMany<string>([...keys]));
  }

  set(key: string, text: string, ttlMs?: number): Promise<void> {
    return this.#link.call('writing a record', () =>
      this.#adapter.set(key, text, ttlMs === undefined ? undefined : Math.ceil(ttlMs)),
    );
  }

  delete(key: string): Promise<boolean> {
    return this.#link.call('deleting a record', () => this.#adapter.delete(key));
  }

  clear(): Promise<void> {
    return this.#link.call('clearing a namespace', () => this.#adapter.clear());
  }
}
