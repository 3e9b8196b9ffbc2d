import { storedRecord } from '../envelope.ts';
import type { Namespace, StoreContents } from '../store.ts';
import type { RedisConnection } from './connection.ts';

/** How many keys Redis looks at in one go; it does nothing else meanwhile. */
const LOOKED_AT = 1_000;

/** How the store names its keys. */
export interface RedisNames {
  /** What the keys of a namespace's records begin with. */
  readonly records: (namespace: Namespace) => string;
  readonly indexes: string;
  readonly leases: string;
}

/** What a Redis store holds. */
export function createRedisContents(link: RedisConnection, names: RedisNames): StoreContents {
  /** The keys that begin with this, without it, in pages. Redis may show a key twice; here it comes once. */
  async function* keys(beginning: string): AsyncGenerator<readonly string[]> {
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const from = cursor;
      const wanted = { MATCH: `${beginning}*`, COUNT: LOOKED_AT };
      const found = await link.call('listing keys', () => link.client.scan(from, wanted));
      ({ cursor } = found);
      const page = [...new Set(found.keys.map((key) => key.slice(beginning.length)))].filter((key) => !seen.has(key));
      for (const key of page) seen.add(key);
      if (page.length > 0) yield page;
    } while (cursor !== '0');
  }

  const all = async (beginning: string): Promise<readonly string[]> => (await Array.fromAsync(keys(beginning))).flat();

  return {
    async *records(namespace) {
      const beginning = names.records(namespace);
      for await (const page of keys(beginning)) {
        const found = await link.call('reading records', () => link.client.mGet(page.map((key) => beginning + key)));
        yield page.flatMap((key, at) => {
          const text = found[at];
          return typeof text === 'string' ? [storedRecord(key, text)] : [];
        });
      }
    },
    indexes: () => all(names.indexes),
    async scores(index, members) {
      if (members.length === 0) return [];
      return link.call(`looking into index ${index}`, () => link.client.zmScore(names.indexes + index, [...members]));
    },
    leases: async (beginning) => (await all(names.leases + beginning)).map((rest) => beginning + rest),
  };
}
