import type { Keyv } from 'keyv';
import type { Logger } from '../../../logger.ts';
import type { Leases } from '../../cluster/leases.ts';
import { serialize } from '../envelope.ts';
import { kindOfIndex } from '../failure.ts';
import { createKeyv } from '../keyv.ts';
import {
  assertWritable,
  type Bounds,
  BUDGETS,
  type Change,
  type IndexEntry,
  type Namespace,
  type Range,
  type Store,
  type StoreContents,
  type StoreDeps,
  type SumParts,
} from '../store.ts';
import { additionsOf, checksOf } from '../sums.ts';
import { RedisBroadcast } from './broadcast.ts';
import { RedisConnection } from './connection.ts';
import { createRedisContents, readSums } from './contents.ts';
import { claimFormat } from './format.ts';
import { RedisKeyvAdapter } from './keyv.ts';
import { createRedisLeases, LEASES } from './leases.ts';
import { checkRedis } from './settings.ts';
import { RedisWriter } from './writer.ts';

const INDEXES = 'dailies:index:';
/** Key prefix of sums: hashes of `held`, `settled`, `doubted` and `extra`. */
const SUMS = 'dailies:sum:';

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
    assertWritable(change);
    const records = change.records.map(({ namespace, key, expected, value }) => ({
      key: this.#recordKey(namespace, key),
      expected,
      envelope: value === null ? null : serialize({ value }),
    }));
    const [bounds, entries] = [inRedis(change.bounds ?? []), inRedis(change.index ?? [])];
    const sums = additionsOf({ sums: (change.sums ?? []).map(({ sum, add }) => ({ sum: SUMS + sum, add })) });
    const within = (change.within ?? []).map((limit) => ({
      ...limit,
      sum: SUMS + limit.sum,
      budgets: limit.budgets.map((key) => this.#recordKey(BUDGETS, key)),
    }));
    return this.#writer.commit({ records, bounds, entries, sums, limits: checksOf(within, sums) });
  }

  async scan(index: string, range: Range = {}): Promise<readonly IndexEntry[]> {
    const { min = -Infinity, max = Infinity, order = 'newest', limit = Infinity, offset = 0 } = range;
    const bounds = [redisScore(min), redisScore(max)] as const;
    // With REV, Redis takes the upper bound first. A negative count means no limit.
    const [from, to] = order === 'newest' ? [bounds[1], bounds[0]] : bounds;
    const found = await this.#link.call(`scanning index ${kindOfIndex(index)}`, () =>
      this.#link.client.zRangeWithScores(indexKey(index), from, to, {
        BY: 'SCORE',
        REV: order === 'newest',
        LIMIT: { offset, count: Number.isFinite(limit) ? limit : -1 },
      }),
    );
    return found.map(({ value, score }) => ({ member: value, score }));
  }

  count(index: string, { min = -Infinity, max = Infinity }: Bounds = {}): Promise<number> {
    return this.#link.call(`counting index ${kindOfIndex(index)}`, () =>
      this.#link.client.zCount(indexKey(index), redisScore(min), redisScore(max)),
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

function indexKey(index: string): string {
  return INDEXES + index;
}

function inRedis<Entry extends { readonly index: string }>(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry) => ({ ...entry, index: indexKey(entry.index) }));
}

function redisScore(score: number): number | string {
  if (Number.isFinite(score)) return score;
  return score > 0 ? '+inf' : '-inf';
}
