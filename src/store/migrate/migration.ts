import { type Clock, sleep } from '../../clock.ts';
import type { Lease } from '../../cluster/leases.ts';
import { DailiesError } from '../../errors.ts';
import { type IndexWrite, NAMESPACES, type Namespace, type Store } from '../store.ts';
import { type Compared, compareIndexes, compareRecords, countForeign, type Pair } from './comparison.ts';

/** Differences between source and target in one part of the store: the records of a namespace, or all index entries. */
export interface Tally {
  readonly room: Namespace | 'index entries';
  /** Number in the source. The others count by their state in the target. */
  readonly source: number;
  readonly same: number;
  readonly absent: number;
  /** Present in an earlier revision, to be overwritten by the source's. */
  readonly older: number;
  /** Present and different, in an unknown order; to be overwritten by the source's, too. */
  readonly different: number;
  /** Present in a later revision than the source's. */
  readonly newer: number;
  /** Present in the target only. */
  readonly foreign: number;
}

/** Result of a migration. */
export interface Migrated {
  /**
   * `carried`: the target holds exactly what the source holds. `moved_on`: the target holds all of the source and has
   * been used since; nothing was written.
   */
  readonly outcome: 'carried' | 'moved_on';
  /** Differences before the migration. */
  readonly before: readonly Tally[];
  /** Differences after the migration, with both stores read again. */
  readonly after: readonly Tally[];
}

/** Options of {@link migrate}. */
export interface MigrationOptions extends Pair {
  readonly clock: Clock;
}

/** Lease that a migration takes on both stores, so that only one runs at a time. */
const LEASE = 'migration';
const LEASE_MS = 15_000;
/** Prefix of the lease that each live replica holds. @see src/cluster/membership.ts */
const REPLICA_LEASES = 'replica:';
/** Timeout for the leases of killed replicas to expire. */
const REPLICAS_TIMEOUT_MS = 20_000;
const RETRY_MS = 250;
const RECORDS_PER_COMMIT = 100;
const ENTRIES_PER_COMMIT = 1_000;
/** Least remaining TTL of a record to copy; one that expires sooner is of no use to a bot on the target. */
const MIN_TTL_MS = 10_000;

/**
 * Copies everything that `from` holds to `to`, so that a bot that starts on `to` continues where the other one stopped.
 * Can be repeated, also after an interruption. Queued jobs are not copied: a bot recreates them from the records.
 *
 * @throws `store_locked` where another process uses one of the stores, or they are the same store.
 * @throws `internal` where `from` is empty, or `to` holds other data: two histories, and two spends, cannot be merged.
 * @throws `store_unavailable`, `disk_full`; it can be repeated then.
 */
export async function migrate({ from, to, clock }: MigrationOptions): Promise<Migrated> {
  const pair = { from, to };
  const leases: Lease[] = [];
  try {
    leases.push(await hold(from, 'source'));
    leases.push(await hold(to, 'target'));
    await assertUnused(pair, clock);
    const before = await tallyAll(pair, clock);
    if (before.every(({ source }) => source === 0)) throw refused('internal', 'the source holds nothing');
    if (before.some(({ newer, foreign }) => newer + foreign > 0)) {
      assertNothingMissing(before);
      return { outcome: 'moved_on', before, after: before };
    }
    // Indexes first: after an interruption records are missing, so that a repeat does not consider it complete.
    await copyIndexes(pair);
    for (const namespace of NAMESPACES) await copyRecords(pair, namespace, clock);
    // Keyv writes are not confirmed by a replica; where one is required, the ping waits until it has them.
    await to.ping();
    const after = await tallyAll(pair, clock);
    await assertUnused(pair, clock);
    assertSame(after);
    return { outcome: 'carried', before, after };
  } finally {
    await Promise.all(leases.map((lease) => lease.release()));
  }
}

async function hold(store: Store, which: 'source' | 'target'): Promise<Lease> {
  const lease = await store.leases.take(LEASE, LEASE_MS);
  if (lease !== null) return lease;
  throw refused(
    'store_locked',
    which === 'target'
      ? 'the source and the target are the same store, or another migration to it is running'
      : 'another migration from it is running, or was killed less than 15 seconds ago',
  );
}

async function assertUnused({ from, to }: Pair, clock: Clock): Promise<void> {
  const untilMs = clock.monotonic() + REPLICAS_TIMEOUT_MS;
  for (;;) {
    const replicas = (await Promise.all([from, to].map((store) => store.contents.leases(REPLICA_LEASES)))).flat();
    if (replicas.length === 0) return;
    if (clock.monotonic() >= untilMs) {
      const bots = replicas.length === 1 ? 'a running bot' : `${replicas.length} running bots`;
      throw refused('store_locked', `the source or the target is used by ${bots}; stop every bot on both first`);
    }
    await sleep(clock, RETRY_MS);
  }
}

async function tallyAll(pair: Pair, clock: Clock): Promise<readonly Tally[]> {
  const tallies: Tally[] = [];
  for (const namespace of NAMESPACES) tallies.push(await tallyRecords(pair, namespace, clock));
  return [...tallies, await tallyIndexes(pair)];
}

async function tallyRecords(pair: Pair, room: Namespace, clock: Clock): Promise<Tally> {
  const found = { source: 0, same: 0, absent: 0, older: 0, different: 0, newer: 0 };
  for await (const page of compareRecords(pair, room)) {
    for (const { standing } of page.filter((one) => isWorthwhile(one, clock))) {
      found.source += 1;
      found[standing] += 1;
    }
  }
  return { room, ...found, foreign: await countForeign(pair, room) };
}

async function tallyIndexes(pair: Pair): Promise<Tally> {
  const found = { source: 0, same: 0, absent: 0, different: 0 };
  for await (const { entries, writes } of compareIndexes(pair)) {
    const missing = writes.filter(({ score }) => score !== null).length;
    found.source += entries;
    found.absent += missing;
    found.same += entries - missing;
    found.different += writes.length - missing;
  }
  // An entry has no revision of its own: it belongs to records.
  return { room: 'index entries', ...found, older: 0, newer: 0, foreign: 0 };
}

function isWorthwhile({ record: { endsAtMs } }: Compared, clock: Clock): boolean {
  return endsAtMs === undefined || endsAtMs - clock.now() > MIN_TTL_MS;
}

async function copyRecords(pair: Pair, namespace: Namespace, clock: Clock): Promise<void> {
  for await (const page of compareRecords(pair, namespace)) {
    // The comparison before found none.
    if (page.some(({ standing }) => standing === 'newer')) throw interfered();
    const missing = page.filter((one) => one.standing !== 'same' && isWorthwhile(one, clock));
    const [committable, others] = [missing.filter(isCommittable), missing.filter((one) => !isCommittable(one))];
    for (let at = 0; at < committable.length; at += RECORDS_PER_COMMIT) {
      await write(pair.to, namespace, committable.slice(at, at + RECORDS_PER_COMMIT));
    }
    const keyv = pair.to.keyv(namespace);
    for (const { key, value, endsAtMs } of others.map(({ record }) => record)) {
      await keyv.set(key, value, endsAtMs === undefined ? undefined : endsAtMs - clock.now());
    }
  }
}

/** Returns whether a commit can write the record: an object that does not expire. */
function isCommittable({ record: { value, endsAtMs } }: Compared): boolean {
  return typeof value === 'object' && value !== null && endsAtMs === undefined;
}

async function write(to: Store, namespace: Namespace, compared: readonly Compared[]): Promise<void> {
  const records = compared.map(({ record: { key, value }, expected }) => {
    return { namespace, key, value: value as object, expected };
  });
  if (await to.commit({ records })) return;
  throw interfered();
}

async function copyIndexes(pair: Pair): Promise<void> {
  const pending: IndexWrite[] = [];
  const commit = (index: readonly IndexWrite[]): Promise<boolean> => pair.to.commit({ records: [], index });
  for await (const { writes } of compareIndexes(pair)) {
    pending.push(...writes);
    while (pending.length >= ENTRIES_PER_COMMIT) await commit(pending.splice(0, ENTRIES_PER_COMMIT));
  }
  if (pending.length > 0) await commit(pending);
}

function assertNothingMissing(tallies: readonly Tally[]): void {
  const records = tallies.filter(({ room }) => room !== 'index entries');
  const sum = (count: (tally: Tally) => number): number => records.reduce((total, tally) => total + count(tally), 0);
  const missing = sum(({ absent, older }) => absent + older);
  if (missing === 0) return;
  throw refused(
    'internal',
    `the target holds ${sum(({ newer }) => newer)} records that were written later there and ` +
      `${sum(({ foreign }) => foreign)} that the source does not have, and lacks ${missing} of the source. Nothing was ` +
      'written: two histories do not become one. Choose an empty target, or empty this one',
  );
}

function assertSame(tallies: readonly Tally[]): void {
  const wrong = tallies.filter(({ source, same, different, foreign }) => source !== same || different + foreign > 0);
  if (wrong.length === 0) return;
  const rooms = wrong.map(({ room, source, same }) => `${room} (${same} of ${source})`).join(', ');
  throw refused('internal', `the target does not hold just what the source holds: ${rooms}; repeat this`);
}

function interfered(): DailiesError {
  return refused('store_locked', 'another process writes to the target; stop every bot that uses it, and repeat this');
}

function refused(code: 'store_locked' | 'internal', why: string): DailiesError {
  return new DailiesError(`migrating: ${why}`, { code, retryable: false });
}
