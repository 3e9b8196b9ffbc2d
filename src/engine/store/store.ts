import type { Keyv } from 'keyv';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Broadcast } from '../cluster/broadcast.ts';
import type { Leases } from '../cluster/leases.ts';

/** Part of the store with a Keyv adapter of its own; a key is unique within it. Each kind of record has one: `collection`. */
export type Namespace = string;

/** A record that counts its writes; {@link Store.commit} compares the count (compare-and-set). */
export interface Versioned {
  readonly revision: number;
}

/** One record to write, or only to compare, in a {@link Change}. */
export interface RecordWrite {
  readonly namespace: Namespace;
  readonly key: string;
  /** The new value, JSON; `null` deletes the record. Absent: the record stays as it is. */
  readonly value?: object | null;
  /**
   * Precondition of the change: `'absent'` no record, a number a record with exactly this `revision`, `'any'` none.
   */
  readonly expected: 'absent' | 'any' | number;
}

/** One entry of an ordered index to set or to remove. */
export interface IndexWrite {
  /** The index's name, such as `open` or `history:team:channel`. */
  readonly index: string;
  /** Key of the indexed record. One entry per member. */
  readonly member: string;
  /** Sort key, usually a time in ms; `null` removes the entry. */
  readonly score: number | null;
}

/** Upper bound on the entries of an index, as a precondition of a {@link Change}. */
export interface IndexBound {
  readonly index: string;
  /** Only entries of at least this score count. Default: all. */
  readonly min?: number;
  /** The change is rejected when the index already has this many entries, or more. */
  readonly below: number;
}

/** The parts of a sum. `held`, `settled` and `doubted` are used; `extra` raises the limit. */
export const SUM_PARTS = ['held', 'settled', 'doubted', 'extra'] as const;

/** One of {@link SUM_PARTS}. */
export type SumPart = (typeof SUM_PARTS)[number];

/** Parts of a sum, each a whole number of millionths of a currency unit. */
export type SumParts = Readonly<Record<SumPart, bigint>>;

/** Amounts to add to a named sum; a missing sum counts as zeros. */
export interface SumWrite {
  /** The sum's name, such as `team:slack:T1:2026-11:USD`. */
  readonly sum: string;
  /** Negative amounts are subtracted. Each at most {@link MAX_AMOUNT}, up or down. */
  readonly add: Readonly<Partial<Record<SumPart, bigint>>>;
}

/** Budget that a sum has to keep within after the change, as a precondition of a {@link Change}. */
export interface SumLimit {
  readonly sum: string;
  /**
   * Keys in the namespace {@link BUDGETS}, whose records are {@link BudgetAmounts}. The first record that exists and has at
   * least one hard amount applies; none: no limit. A record that cannot be read refuses the change.
   */
  readonly budgets: readonly string[];
  /** Currency whose amount applies; a budget that has amounts, but none in it, refuses the change. */
  readonly currency: string;
}

/** Namespace of the budgets that {@link Change.within} compares. */
export const BUDGETS = 'budgets';

/** Amounts of a record in the namespace {@link BUDGETS}. */
export interface BudgetAmounts {
  /**
   * Hard limits by currency: whole numbers of millionths in decimal digits, each at most {@link MAX_AMOUNT}. The change
   * needs `held + settled + doubted`, with its own amounts, to be at most this plus `extra`.
   */
  readonly hard: Readonly<Record<string, string>>;
}

/** Writes that are applied atomically: all of them or none. */
export interface Change {
  readonly records: readonly RecordWrite[];
  readonly index?: readonly IndexWrite[];
  /** Further preconditions; all of them have to hold. */
  readonly bounds?: readonly IndexBound[];
  /** Amounts to add. Additions commute: changes that share a sum do not conflict. */
  readonly sums?: readonly SumWrite[];
  /** Preconditions as well, compared with the budgets as they are before the change and the sums as they are after. */
  readonly within?: readonly SumLimit[];
}

/** One entry of an index. */
export interface IndexEntry {
  readonly member: string;
  readonly score: number;
}

/** Range of scores, inclusive. Default: all. */
export interface Bounds {
  /** Only scores of at least this. */
  readonly min?: number;
  /** Only scores of at most this. */
  readonly max?: number;
}

/** Entries of an index to read, and their order. */
export interface Range extends Bounds {
  /** `newest` first by default: descending score, then descending member. `oldest`: the other way round. */
  readonly order?: 'newest' | 'oldest';
  /** At most this many entries. Default: all. */
  readonly limit?: number;
  /** Skips this many entries first. Default 0. */
  readonly offset?: number;
}

/** A record as it is stored. */
export interface StoredRecord {
  readonly key: string;
  readonly value: unknown;
  /** Expiry in ms since the epoch; absent where the record does not expire. */
  readonly endsAtMs?: number;
}

/** A sum as it is stored. */
export interface NamedSum {
  readonly sum: string;
  readonly parts: SumParts;
}

export interface NewSum {
  readonly sum: string;
  readonly parts: SumParts | null;
}

/** The whole contents of a store, for a migration or an erasure. Concurrent writes may be missing. */
export interface StoreContents {
  /** Reads every record of a namespace that has not expired, each once, in pages and in no order. */
  records(namespace: Namespace): AsyncIterable<readonly StoredRecord[]>;
  /** Returns the namespaces that have records. */
  namespaces(): Promise<readonly Namespace[]>;
  indexes(): Promise<readonly string[]>;
  /** Reads every sum, each once, in pages and in no order. */
  sums(): AsyncIterable<readonly NamedSum[]>;
  /**
   * Sets sums to new values; `null` deletes one. Unlike {@link Change.sums} it may be repeated, but it would lose
   * concurrent additions: only for a store that nothing else uses.
   */
  setSums(sums: readonly NewSum[]): Promise<void>;
  /** Deletes those of these sums whose parts are all zero; safe beside concurrent additions. */
  dropEmptySums(names: readonly string[]): Promise<void>;
  /**
   * Overwrites what was deleted in the files of the store, as far as the backend can: an SQLite file and its log then no
   * longer have it. Redis drops it from memory at once, and from its log with the next rewrite, which is the operator's.
   */
  overwriteDeleted(): Promise<void>;
  /**
   * Returns the names, with this prefix, of the leases held by processes that share the store; empty if `exclusive`.
   */
  leases(beginning: string): Promise<readonly string[]>;
}

/**
 * The database of Dailies. Records are Keyv's, under Keyv's own keys and in Keyv's own envelope; {@link Store.commit}
 * and {@link Store.scan} add what Keyv lacks, on the same backend: write if absent, compare-and-set, atomic writes of
 * several records, ordered indexes, sums with limits.
 *
 * Every method rejects with `store_unavailable` or `disk_full` (both retryable) when the backend fails to read or
 * write; none reports success otherwise. When the backend times out or dies, it is unknown whether a rejected commit
 * was applied: compare the record. A committed change survives kill -9 and power loss.
 */
export interface Store {
  /**
   * True if this process alone holds the store for as long as it runs. Then everything a previous owner left behind is
   * abandoned; otherwise leases decide.
   */
  readonly exclusive: boolean;
  /** Leases, each held by at most one process at a time. */
  readonly leases: Leases;
  /** Publish/subscribe between all processes on this store. */
  readonly broadcast: Broadcast;
  /** Returns the Keyv of one namespace: `get`, `getMany`, `set`, `delete` for records that need no atomicity. */
  keyv(namespace: Namespace): Keyv;
  /** Applies all of `change`, or nothing. @returns whether every `expected`, bound and limit held. */
  commit(change: Change): Promise<boolean>;
  /** Returns entries of an index, by {@link Range}. An index without writes is empty. */
  scan(index: string, range?: Range): Promise<readonly IndexEntry[]>;
  /** Counts the entries of an index, all of them or those with scores within `bounds`; cheap where these are few. */
  count(index: string, bounds?: Bounds): Promise<number>;
  /** Returns the parts of sums, in the order of `names`; zeros for a sum without writes. */
  sums(names: readonly string[]): Promise<readonly SumParts[]>;
  readonly contents: StoreContents;
  /** Resolves once the backend has responded and accepted a write. */
  ping(): Promise<void>;
  /** Finishes the writes in flight, then disconnects from the backend. */
  close(): Promise<void>;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Largest amount in one budget or one addition: 10^9 currency units, in millionths. */
export const MAX_AMOUNT = 10n ** 15n;
