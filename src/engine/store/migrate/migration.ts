import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Clock, sleep } from '../../../clock.ts';
import { DailiesError } from '../../../errors.ts';
import type { Lease } from '../../cluster/leases.ts';
import { pagesOf } from '../pages.ts';
import { type Store, SUM_PARTS } from '../store.ts';

/** Options of {@link migrate}. */
interface MigrationOptions {
  readonly from: Store;
  /** An empty store, or an unfinished copy, which is replaced. */
  readonly to: Store;
  readonly clock: Clock;
}

/** Part of a store: a namespace, `index entries` or `sums`. */
export type Part = string;

/** Content of one part of a store, without records that expire. */
export interface Digest {
  readonly count: number;
  /** Sum of the SHA-256 of all items, modulo 2^256: independent of their order, in which stores differ. */
  readonly hash: bigint;
}

const NOTHING: Digest = { count: 0, hash: 0n };
const LEASE_MS = 15_000;
/** Prefix of the lease that each live replica holds. @see src/engine/cluster/membership.ts */
const REPLICA_LEASES = 'replica:';
/** Timeout for the leases of killed replicas to expire. */
const REPLICAS_TIMEOUT_MS = 20_000;
const RETRY_MS = 250;
/** Least remaining TTL of a record to copy; one that expires sooner is of no use to a bot on the target. */
const MIN_TTL_MS = 10_000;

/**
 * Copies everything that `from` holds to `to`, so that a bot that starts on `to` continues where the other one stopped,
 * and verifies the copy by count and hash. Until then the target is marked, and no bot starts on it. Can be repeated
 * after an interruption. Queued jobs are not copied: a bot recreates them from the records.
 *
 * @returns count and hash of what was copied.
 * @throws `store_locked` where another process uses one of the stores, or they are the same store.
 * @throws `internal` where `from` is empty or unfinished itself, `to` is not empty, or the copy differs.
 * @throws `store_unavailable`, `disk_full`; it can be repeated then.
 */
export async function migrate({ from, to, clock }: MigrationOptions): Promise<ReadonlyMap<Part, Digest>> {
  const leases: Lease[] = [];
  try {
    leases.push(await hold(from, 'source'));
    leases.push(await hold(to, 'target'));
    await assertUnused([from, to], clock);
    if (await isUnfinishedCopy(from)) throw refused('internal', 'the source is an unfinished copy of another store');
    const source = await digest(from, clock);
    if (source.size === 0) throw refused('internal', 'the source holds nothing');
    await markTarget(to, clock);
    // A bot that joined before the mark is found here; one that joins later finds the mark.
    await assertUnused([from, to], clock);
    for await (const page of pagesIn(from, clock)) await page.copyTo(to);
    // Keyv writes are not confirmed by a replica; where one is required, the ping waits until it has them.
    await to.ping();
    assertSame(source, await digest(to, clock));
    await assertUnused([from, to], clock);
    if (!leases.every((lease) => lease.isHeld())) throw refused('store_locked', 'it was interrupted; repeat it');
    await to.commit({ records: [{ ...UNFINISHED, value: null, expected: 'any' }] });
    return source;
  } finally {
    await Promise.all(leases.map((lease) => lease.release()));
  }
}

async function hold(store: Store, which: 'source' | 'target'): Promise<Lease> {
  const lease = await store.leases.take(MIGRATION_LEASE, LEASE_MS);
  if (lease !== null) return lease;
  throw refused(
    'store_locked',
    which === 'target'
      ? 'the source and the target are the same store, or another migration to it is running'
      : 'another migration from it is running, or was killed less than 15 seconds ago',
  );
}

async function assertUnused(stores: readonly Store[], clock: Clock): Promise<void> {
  const untilMs = clock.monotonic() + REPLICAS_TIMEOUT_MS;
  for (;;) {
    const replicas = (await Promise.all(stores.map((store) => store.contents.leases(REPLICA_LEASES)))).flat();
    if (replicas.length === 0) return;
    if (clock.monotonic() >= untilMs) {
      const bots = replicas.length === 1 ? 'a running bot' : `${replicas.length} running bots`;
      throw refused('store_locked', `the source or the target is used by ${bots}; stop every bot on both first`);
    }
    await sleep(clock, RETRY_MS);
  }
}

/** Marks an empty target as unfinished, after it removed an unfinished copy. */
async function markTarget(to: Store, clock: Clock): Promise<void> {
  if (await isUnfinishedCopy(to)) await clear(to);
  if ((await digest(to, clock)).size > 0) {
    throw refused(
      'internal',
      'the target is not empty, and two histories do not become one: choose an empty target. Nothing was written. If ' +
        'an earlier migration made it, that one is complete: start Dailies on it',
    );
  }
  await to.commit({ records: [{ ...UNFINISHED, value: {}, expected: 'any' }] });
}

/** Deletes everything in an unfinished copy, the namespace of its mark last. */
async function clear(to: Store): Promise<void> {
  for (const index of await to.contents.indexes()) {
    // Read to its end first: what is deleted meanwhile would move the following pages.
    for (const page of await Array.fromAsync(pagesOf(to, index)))
      await to.commit({ records: [], index: page.map(({ member }) => ({ index, member, score: null })) });
  }
  for await (const page of to.contents.sums()) {
    await to.contents.setSums(page.map(({ sum }) => ({ sum, parts: null })));
  }
  const others = (await to.contents.namespaces()).filter((namespace) => namespace !== UNFINISHED.namespace);
  for (const namespace of [...others, UNFINISHED.namespace]) await to.keyv(namespace).clear();
}

/** Records of one namespace, entries of one index, or sums. */
interface Page {
  readonly part: Part;
  /** Everything in it that does not expire, as JSON. */
  readonly lasting: readonly unknown[];
  readonly copyTo: (store: Store) => Promise<unknown>;
}

/** Reads a whole store as {@link readPages} does; timers run between the pages, since SQLite reads without waiting. */
async function* pagesIn(store: Store, clock: Clock): AsyncGenerator<Page> {
  for await (const page of readPages(store, clock)) {
    yield page;
    await setImmediate();
  }
}

/** Reads a whole store, except for the mark of an unfinished copy and for what is about to expire. */
async function* readPages(store: Store, clock: Clock): AsyncGenerator<Page> {
  for (const index of await store.contents.indexes()) {
    for await (const page of pagesOf(store, index)) {
      const entries = page.map((entry) => ({ index, ...entry }));
      yield { part: 'index entries', lasting: entries, copyTo: (to) => to.commit({ records: [], index: entries }) };
    }
  }
  for await (const page of store.contents.sums()) {
    const lasting = page.map(({ sum, parts }) => [sum, ...SUM_PARTS.map((part) => String(parts[part]))]);
    yield { part: 'sums', lasting, copyTo: (to) => to.contents.setSums(page) };
  }
  for (const namespace of await store.contents.namespaces()) {
    if (namespace === UNFINISHED.namespace) continue;
    for await (const page of store.contents.records(namespace)) {
      const records = page
        .map(({ key, value, endsAtMs = Infinity }) => ({ key, value, ttlMs: endsAtMs - clock.now() }))
        .filter(({ ttlMs }) => ttlMs > MIN_TTL_MS);
      const keyv = (to: Store) => to.keyv(namespace);
      yield {
        part: namespace,
        lasting: records.filter(({ ttlMs }) => ttlMs === Infinity).map(({ key, value }) => [key, value]),
        copyTo: (to) => Promise.all(records.map(({ key, value, ttlMs }) => keyv(to).set(key, value, finite(ttlMs)))),
      };
    }
  }
}

function finite(ttlMs: number): number | undefined {
  return ttlMs === Infinity ? undefined : ttlMs;
}

/** Counts and hashes everything in a store that does not expire, by part. */
async function digest(store: Store, clock: Clock): Promise<ReadonlyMap<Part, Digest>> {
  const digests = new Map<Part, Digest>();
  for await (const { part, lasting } of pagesIn(store, clock)) {
    let { count, hash } = digests.get(part) ?? NOTHING;
    for (const item of lasting) {
      count += 1;
      hash = BigInt.asUintN(256, hash + sha256(JSON.stringify(item)));
    }
    if (count > 0) digests.set(part, { count, hash });
  }
  return digests;
}

function sha256(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
}

function assertSame(source: ReadonlyMap<Part, Digest>, target: ReadonlyMap<Part, Digest>): void {
  for (const part of new Set([...source.keys(), ...target.keys()])) {
    const [read, arrived] = [source.get(part) ?? NOTHING, target.get(part) ?? NOTHING];
    if (read.count === arrived.count && read.hash === arrived.hash) continue;
    throw refused(
      'internal',
      `the target does not hold exactly what the source holds: ${part} (${arrived.count} of ${read.count}); repeat this`,
    );
  }
}

function refused(code: 'store_locked' | 'internal', reason: string): DailiesError {
  return new DailiesError(`migrating: ${reason}`, { code, retryable: false });
}

/** Lease that a migration holds on both stores, so that only one runs at a time and no bot starts meanwhile. */
const MIGRATION_LEASE = 'migration';

/** Record in the target of a migration, from before the first record is copied until the copy is verified. */
export const UNFINISHED = { namespace: 'migration', key: 'unfinished' } as const;

/** Returns whether the store is a copy that was not completed. */
async function isUnfinishedCopy(store: Pick<Store, 'keyv'>): Promise<boolean> {
  return (await store.keyv(UNFINISHED.namespace).get(UNFINISHED.key)) !== undefined;
}

/**
 * Asserts that a bot may use the store. To be called again once the bot's membership lease is visible: a migration first
 * marks the stores and then looks for such leases, so one of the two always notices the other.
 *
 * @throws `store_locked` while the store is being migrated; `internal` where it is an unfinished copy of another store.
 */
export async function assertNotMigrating(store: Pick<Store, 'keyv' | 'leases'>): Promise<void> {
  if ((await store.leases.holder(MIGRATION_LEASE)) !== null) {
    throw refusedStart('store_locked', 'a migration from or to it is running; start Dailies once that is done');
  }
  if (await isUnfinishedCopy(store)) {
    throw refusedStart(
      'internal',
      'it is an unfinished copy of another store; repeat the migration, or use the other one',
    );
  }
}

function refusedStart(code: 'store_locked' | 'internal', reason: string): DailiesError {
  return new DailiesError(`using the store: ${reason}`, { code, retryable: false });
}
