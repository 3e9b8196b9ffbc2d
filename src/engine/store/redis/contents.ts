import { storedRecord } from '../envelope.ts';
import { type Namespace, type StoreContents, SUM_PARTS, type SumParts } from '../store.ts';
import { partsFrom } from '../sums.ts';
import type { RedisConnection } from './connection.ts';

/** COUNT of one SCAN; Redis does nothing else meanwhile. */
const SCAN_COUNT = 1_000;

/** Deletes a sum whose parts, in ARGV, are all missing or 0. */
const DROP_EMPTY = `
for _, part in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV))) do
  if part and part ~= '0' then return 0 end
end
return redis.call('DEL', KEYS[1])
`;

/** Prefix of all keys. */
const ROOT = 'dailies:';
/** The rest of the key of a record; in the other keys, such as those of indexes, a single colon follows the first word. */
const NAMESPACE = /^([a-z_]+)::/u;

interface RedisNames {
  /** Returns the prefix of the record keys of a namespace. */
  readonly records: (namespace: Namespace) => string;
  readonly indexes: string;
  readonly sums: string;
  readonly leases: string;
}

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
    namespaces: async () => namespacesOf(await all(ROOT)),
    indexes: () => all(names.indexes),
    async *sums() {
      for await (const page of keys(names.sums)) {
        const found = await readSums(
          link,
          page.map((name) => names.sums + name),
        );
        yield found.map((parts, at) => ({ sum: page[at] ?? '', parts }));
      }
    },
    async setSums(sums) {
      await link.call('setting sums', () => {
        const transaction = link.client.multi();
        for (const { sum, parts } of sums) {
          transaction.del(names.sums + sum);
          if (parts !== null) transaction.hSet(names.sums + sum, textsOf(parts));
        }
        return transaction.exec();
      });
    },
    dropEmptySums: async (found) => {
      for (const name of found) await dropEmptySum(link, names.sums + name);
    },
    overwriteDeleted: async () => undefined,
    leases: async (prefix) => (await all(names.leases + prefix)).map((rest) => prefix + rest),
  };
}

function namespacesOf(keys: readonly string[]): readonly string[] {
  const found = keys.map((key) => NAMESPACE.exec(key)?.[1]).filter((namespace) => namespace !== undefined);
  return [...new Set(found)];
}

/**
 * Returns the parts of the sums at `keys`, in the same order; zeros for one without writes. Not in a MULTI, which a full
 * Redis refuses even for reads.
 */
export async function readSums(link: RedisConnection, keys: readonly string[]): Promise<readonly SumParts[]> {
  const found = await link.call('reading sums', () =>
    Promise.all(keys.map((key) => link.client.hmGet(key, [...SUM_PARTS]))),
  );
  return found.map((fields) => partsFrom((part) => fields[SUM_PARTS.indexOf(part)] ?? undefined));
}

async function dropEmptySum(link: RedisConnection, key: string): Promise<void> {
  const script = { keys: [key], arguments: [...SUM_PARTS] };
  await link.call('dropping a sum', () => link.client.eval(DROP_EMPTY, script));
}

function textsOf(parts: SumParts): Record<string, string> {
  return Object.fromEntries(SUM_PARTS.map((part) => [part, String(parts[part])]));
}
