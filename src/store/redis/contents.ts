import { storedRecord } from '../envelope.ts';
import type { Namespace, StoreContents } from '../store.ts';
import type { RedisConnection } from './connection.ts';

/** COUNT of one SCAN; Redis does nothing else meanwhile. */
const SCAN_COUNT = 1_000;

/** Key prefixes of the store. */
export interface RedisNames {
  /** Returns the prefix of the record keys of a namespace. */
  readonly records: (namespace: Namespace) => string;
  readonly indexes: string;
  readonly leases: string;
}

/** Creates a reader of the whole contents of a Redis store. */
export function createRedisContents(link: RedisConnection, names: RedisNames): StoreContents {
  /** Yields the keys with this prefix, without it, in pages. SCAN may return a key twice; this yields it once. */
  async function* keys(prefix: string): AsyncGenerator<readonly string[]> {
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const from = cursor;
      const options = { MATCH: `${prefix}*`, COUNT: SCAN_COUNT };
      const found = await link.call('listing keys', () => link.client.scan(from, options));
      ({ cursor } = found);
      const page = [...new Set(found.keys.map((key) => key.slice(prefix.length)))].filter((key) => !seen.has(key));
      for (const key of page) seen.add(key);
      if (page.length > 0) yield page;
    } while (cursor !== '0');
  }

  const all = async (prefix: string): Promise<readonly string[]> => (await Array.fromAsync(keys(prefix))).flat();

  return {
    async *records(namespace) {
      const prefix = names.records(namespace);
      for await (const page of keys(prefix)) {
        const found = await link.call('reading records', () => link.client.mGet(page.map((key) => prefix + key)));
        yield page.flatMap((key, at) => {
          const text = found[at];
          return typeof text === 'string' ? [storedRecord(key, text)] : [];
        });
      }
    },
    indexes: () => all(names.indexes),
    leases: async (prefix) => (await all(names.leases + prefix)).map((rest) => prefix + rest),
  };
}
