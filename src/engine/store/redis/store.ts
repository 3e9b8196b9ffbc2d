import { randomUUID } from 'node:crypto';
import KeyvRedis from '@keyv/redis';
import type { Keyv } from 'keyv';
import type { Clock } from '../../../clock.ts';
import type { Logger } from '../../../logger.ts';
import { createLeases, type Leases } from '../../cluster/leases.ts';
import { storedRecord } from '../envelope.ts';
import { kindOfIndex } from '../failure.ts';
import { createKeyv, type TextAdapter } from '../keyv.ts';
import { prepared } from '../prepared-change.ts';
import {
  type Bounds,
  type Change,
  type IndexEntry,
  type Namespace,
  type Range,
  type Store,
  type StoreContents,
  type StoreDeps,
  SUM_PARTS,
  type SumParts,
} from '../store.ts';
import { partsFrom } from '../sums.ts';
import { RedisBroadcast } from './broadcast.ts';
import { RedisConnection } from './connection.ts';
import { claimFormat } from './format.ts';
import { checkRedis } from './settings.ts';
import { INDEXES, RedisWriter, SUMS } from './writer.ts';

interface NamespaceAccess {
  readonly adapter: RedisKeyvAdapter;
  readonly keyv: Keyv;
}

/**
 * Opens the store on the Redis at `url` (`redis://` or `rediss://`), which any number of processes can share. Its
 * durability depends on the Redis settings; logs an error for each one with which a crash may lose data.
 *
 * @throws `store_unavailable` when Redis does not respond within 5 seconds, or, not retryable, when it cannot be the
 * store.
 */
export async function openRedisStore(url: string, deps: StoreDeps): Promise<Store> {
  const link = await RedisConnection.open(url, deps);
  const writer = new RedisWriter(link.beside(), deps);
  try {
    await link.call('asking Redis for its settings', () => checkRedis(link.client, deps.logger));
    const store = new RedisStore({ link, writer }, deps);
    await claimFormat(link, store.contents);
    await link.call('connecting to Redis', () => writer.connected());
    return store;
  } catch (thrown) {
    await Promise.all([writer.close(), link.close()]);
    throw thrown;
  }
}

interface RedisParts {
  /** For reads, and for writes that may be lost in a failover. */
  readonly link: RedisConnection;
  readonly writer: RedisWriter;
}

class RedisStore implements Store {
  readonly exclusive = false;
  readonly leases: Leases;
  readonly broadcast: RedisBroadcast;
  readonly contents: StoreContents;
  readonly #link: RedisConnection;
  readonly #writer: RedisWriter;
  readonly #logger: Logger;
  readonly #namespaces = new Map<Namespace, NamespaceAccess>();

  constructor({ link, writer }: RedisParts, { clock, logger }: StoreDeps) {
    this.#link = link;
    this.#writer = writer;
    this.#logger = logger;
    this.leases = createRedisLeases(link, clock);
    this.broadcast = new RedisBroadcast(link, logger);
    const records = (namespace: Namespace): string => this.#recordKey(namespace, '');
    this.contents = createRedisContents(link, { records, indexes: INDEXES, sums: SUMS, leases: LEASES });
  }

  keyv(namespace: Namespace): Keyv {
    return this.#accessTo(namespace).keyv;
  }

  async commit(change: Change): Promise<boolean> {
    return this.#writer.commit(prepared(change), (namespace, key) => this.#recordKey(namespace, key));
  }

  async scan(index: string, range: Range = {}): Promise<readonly IndexEntry[]> {
    const { min = -Infinity, max = Infinity, order = 'newest', limit = Infinity, offset = 0 } = range;
    const bounds = [redisScore(min), redisScore(max)] as const;
    // With REV, Redis takes the upper bound first. A negative count means no limit.
    const [from, to] = order === 'newest' ? [bounds[1], bounds[0]] : bounds;
    const found = await this.#link.call(`scanning index ${kindOfIndex(index)}`, () =>
      this.#link.client.zRangeWithScores(INDEXES + index, from, to, {
        BY: 'SCORE',
        REV: order === 'newest',
        LIMIT: { offset, count: Number.isFinite(limit) ? limit : -1 },
      }),
    );
    return found.map(({ value, score }) => ({ member: value, score }));
  }

  count(index: string, { min = -Infinity, max = Infinity }: Bounds = {}): Promise<number> {
    return this.#link.call(`counting index ${kindOfIndex(index)}`, () =>
      this.#link.client.zCount(INDEXES + index, redisScore(min), redisScore(max)),
    );
  }

  sums(names: readonly string[]): Promise<readonly SumParts[]> {
    return readSums(
      this.#link,
      names.map((name) => SUMS + name),
    );
  }

  async ping(): Promise<void> {
    await Promise.all([this.#link.call('asking Redis', () => this.#link.client.ping()), this.#writer.probe()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.broadcast.close(), this.#writer.close(), this.#link.close()]);
  }

  #recordKey(namespace: Namespace, key: string): string {
    return this.#accessTo(namespace).adapter.redisKey(key);
  }

  #accessTo(namespace: Namespace): NamespaceAccess {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const adapter = new RedisKeyvAdapter(namespace, this.#link);
    const created = { adapter, keyv: createKeyv(namespace, adapter, this.#logger) };
    this.#namespaces.set(namespace, created);
    return created;
  }
}

function redisScore(score: number): number | string {
  if (Number.isFinite(score)) return score;
  return score > 0 ? '+inf' : '-inf';
}

/** Keyv adapter of one namespace of a Redis store: @keyv/redis with a timeout, every failure of which is thrown. */
class RedisKeyvAdapter implements TextAdapter {
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

const LEASES = 'dailies:lease:';

/**
 * Renews or releases a lease if the token matches. KEYS: the lease. ARGV: the token; its new TTL in ms, 0 to release.
 */
const IF_OURS = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/** Creates leases in Redis, which expires them by its own clock. */
function createRedisLeases(link: RedisConnection, clock: Clock): Leases {
  const { client } = link;
  const ifOurs = (name: string, token: string, ttlMs: number) =>
    client.eval(IF_OURS, { keys: [leaseKey(name)], arguments: [token, String(ttlMs)] });
  return createLeases({
    clock,
    owner: randomUUID(),
    backend: {
      take: (name, token, ttlMs) =>
        link.call(`taking lease ${name}`, async () => {
          const expiration = { type: 'PX', value: ttlMs } as const;
          return (await client.set(leaseKey(name), token, { condition: 'NX', expiration })) === 'OK';
        }),
      renew: (name, token, ttlMs) =>
        link.call(`renewing lease ${name}`, async () => (await ifOurs(name, token, ttlMs)) === 1),
      drop: (name, token) => link.call(`releasing lease ${name}`, async () => void (await ifOurs(name, token, 0))),
      read: (name) => link.call(`looking at lease ${name}`, () => client.get(leaseKey(name))),
    },
  });
}

function leaseKey(name: string): string {
  return LEASES + name;
}

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

function createRedisContents(link: RedisConnection, names: RedisNames): StoreContents {
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
async function readSums(link: RedisConnection, keys: readonly string[]): Promise<readonly SumParts[]> {
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
