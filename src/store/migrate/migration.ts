import { type Clock, sleep } from '../../clock.ts';
import type { Lease } from '../../cluster/leases.ts';
import { DailiesError } from '../../errors.ts';
import { type IndexWrite, NAMESPACES, type Namespace, type Store } from '../store.ts';
import { type Compared, compareIndexes, compareRecords, countForeign, type Pair } from './comparison.ts';

/** How one room of two stores compares: a namespace's records, or the entries of all indexes. */
export interface Tally {
  readonly room: Namespace | 'index entries';
  /** How many the source has. */
  readonly source: number;
  readonly same: number;
  readonly absent: number;
  /** There as they were before; the source's are to be written over them. */
  readonly older: number;
  /** There, different, and nobody can tell which was first; the source's are to be written over them, too. */
  readonly different: number;
  /** There, and written later than the source's. */
  readonly newer: number;
  /** There alone. */
  readonly foreign: number;
}

/** What came of a migration. */
export interface Migrated {
  /**
   * `carried`: the target holds just what the source holds. `moved_on`: the target holds all of the source and has been
   * used since; nothing was written.
   */
  readonly outcome: 'carried' | 'moved_on';
  /** How they compared before, room by room. */
  readonly before: readonly Tally[];
  /** How they compare now, both read again. */
  readonly after: readonly Tally[];
}

/** Collaborators of {@link migrate}. */
export interface MigrationOptions extends Pair {
  readonly clock: Clock;
}

/** The name under which a migration has both stores, so that there is one at a time. */
const LEASE = 'migration';
const LEASE_MS = 15_000;
/** What a replica holds for as long as it lives. @see src/cluster/membership.ts */
const REPLICA_LEASES = 'replica:';
/** How long replicas that were killed are waited for: until they are taken for dead. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 250;
const RECORDS_AT_ONCE = 100;
const ENTRIES_AT_ONCE = 1_000;
/** A record that ends sooner is of no use to anybody who starts on the target. */
const WORTHWHILE_MS = 10_000;

/**
 * Carries over everything that `from` holds, so that a bot that starts on `to` goes on where the other one stopped. Can
 * be repeated, also after it broke off. Work that was planned is not carried over: a bot plans it anew from the records.
 *
 * @throws `store_locked` where somebody else works on one of them, or they are the same store.
 * @throws `internal` where `from` holds nothing, or `to` something else: two histories, and two spends, do not become one.
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
    // Indexes first: should this break off, records are missing, and a repeat does not take it for done.
    await carryIndexes(pair);
    for (const namespace of NAMESPACES) await carryRecords(pair, namespace, clock);
    // Whatever the last writes need to be safe, a replica that has them for one, is asked for here.
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
  const untilMs = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const replicas = (await Promise.all([from, to].map((store) => store.contents.leases(REPLICA_LEASES)))).flat();
    if (replicas.length === 0) return;
    if (clock.monotonic() >= untilMs) {
      const bots = replicas.length === 1 ? 'a running bot' : `${replicas.length} running bots`;
      throw refused('store_locked', `the source or the target is used by ${bots}; stop every bot on both first`);
    }
    await sleep(clock, LOOK_AGAIN_MS);
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
  // An entry has no history of its own: it belongs to records.
  return { room: 'index entries', ...found, older: 0, newer: 0, foreign: 0 };
}

function isWorthwhile({ record: { endsAtMs } }: Compared, clock: Clock): boolean {
  return endsAtMs === undefined || endsAtMs - clock.now() > WORTHWHILE_MS;
}

async function carryRecords(pair: Pair, namespace: Namespace, clock: Clock): Promise<void> {
  for await (const page of compareRecords(pair, namespace)) {
    // There was none when both were compared.
    if (page.some(({ standing }) => standing === 'newer')) throw interfered();
    const missing = page.filter((one) => one.standing !== 'same' && isWorthwhile(one, clock));
    const [staying, others] = [missing.filter(isCommitted), missing.filter((one) => !isCommitted(one))];
    for (let at = 0; at < staying.length; at += RECORDS_AT_ONCE) {
      await write(pair.to, namespace, staying.slice(at, at + RECORDS_AT_ONCE));
    }
    const keyv = pair.to.keyv(namespace);
    for (const { key, value, endsAtMs } of others.map(({ record }) => record)) {
      await keyv.set(key, value, endsAtMs === undefined ? undefined : endsAtMs - clock.now());
    }
  }
}

/** Whether a record is one that a commit can write: an object that stays. */
function isCommitted({ record: { value, endsAtMs } }: Compared): boolean {
  return typeof value === 'object' && value !== null && endsAtMs === undefined;
}

async function write(to: Store, namespace: Namespace, compared: readonly Compared[]): Promise<void> {
  const records = compared.map(({ record: { key, value }, expected }) => {
    return { namespace, key, value: value as object, expected };
  });
  if (await to.commit({ records })) return;
  throw interfered();
}

async function carryIndexes(pair: Pair): Promise<void> {
  const waiting: IndexWrite[] = [];
  const commit = (index: readonly IndexWrite[]): Promise<boolean> => pair.to.commit({ records: [], index });
  for await (const { writes } of compareIndexes(pair)) {
    waiting.push(...writes);
    while (waiting.length >= ENTRIES_AT_ONCE) await commit(waiting.splice(0, ENTRIES_AT_ONCE));
  }
  if (waiting.length > 0) await commit(waiting);
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
  return refused('store_locked', 'somebody else writes to the target; stop every bot that uses it, and repeat this');
}

function refused(code: 'store_locked' | 'internal', why: string): DailiesError {
  return new DailiesError(`migrating: ${why}`, { code, retryable: false });
}
