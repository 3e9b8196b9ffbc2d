import type { Keyv } from 'keyv';
import type { Broadcast } from '../cluster/broadcast.ts';
import type { Leases } from '../cluster/leases.ts';

/** The rooms of the store. One Keyv adapter each; a key is unique within its namespace. */
export const NAMESPACES = [
  /** One {@link Task} per interaction. */
  'tasks',
  /** Which message shows a task, and what it shows. */
  'cards',
  /** How far the delivery of an ended task has come. */
  'deliveries',
  /** What each send of a task cost, may cost or did not cost. */
  'ledger',
  /** Requests that wait for their requester's confirmation, for 24 hours. */
  'drafts',
  /** Which task holds an id of the video service, and how often ids were entered for a task. */
  'upstream',
  /** Who is told of finished clips, by team. */
  'subscriptions',
  /** How long clips of a model took. */
  'waits',
  /** The embedded video service's own tasks. */
  'sandbox',
  /** The chat page's messages. */
  'playground',
  /** Who may see the tasks of a channel that say nothing of it themselves. */
  'audiences',
  /** What an adapter wants to find again, such as a hash of its registered commands. */
  'adapters',
] as const;

/** One of {@link NAMESPACES}. */
export type Namespace = (typeof NAMESPACES)[number];

/** Every record carries how often it was written; {@link Store.commit} compares it. */
export interface Versioned {
  readonly revision: number;
}

/** One record to write in a {@link Change}. */
export interface RecordWrite {
  readonly namespace: Namespace;
  readonly key: string;
  /** The new value, JSON; `null` deletes the record. */
  readonly value: object | null;
  /**
   * What has to be there for the change to happen: `'absent'` no record, a number a record with just this
   * `revision`, `'any'` whatever there is.
   */
  readonly expected: 'absent' | 'any' | number;
}

/** One entry of an ordered index to set or to remove. */
export interface IndexWrite {
  /** The index's name, such as `open` or `history:team:channel`. */
  readonly index: string;
  /** What is found: a record's key. One entry per member. */
  readonly member: string;
  /** Where it sorts, usually a time in ms; `null` removes the entry. */
  readonly score: number | null;
}

/** How full an index may be for a {@link Change} to happen. */
export interface IndexBound {
  readonly index: string;
  /** Only entries of at least this score count. Default: all. */
  readonly min?: number;
  /** The change does not happen where so many entries, or more, are there before it. */
  readonly below: number;
}

/** Writes that happen together or not at all. */
export interface Change {
  readonly records: readonly RecordWrite[];
  readonly index?: readonly IndexWrite[];
  /** All of these have to hold besides. */
  readonly bounds?: readonly IndexBound[];
}

/** One entry found in an index. */
export interface IndexEntry {
  readonly member: string;
  readonly score: number;
}

/** Which scores are wanted. Default: all. */
export interface Bounds {
  /** Only scores of at least this. */
  readonly min?: number;
  /** Only scores of at most this. */
  readonly max?: number;
}

/** What of an index is wanted. */
export interface Range extends Bounds {
  /** `newest` first by default: descending score, then descending member. `oldest`: the other way round. */
  readonly order?: 'newest' | 'oldest';
  /** At most this many entries. Default: all. */
  readonly limit?: number;
  /** Skips this many entries first. Default 0. */
  readonly offset?: number;
}

/** A record as it is kept. */
export interface StoredRecord {
  readonly key: string;
  readonly value: unknown;
  /** When it ends by itself, by the time of day; absent where it stays. */
  readonly endsAtMs?: number;
}

/** Everything a store holds, for carrying it elsewhere. What is written meanwhile may be missing. */
export interface StoreContents {
  /** Every record of a namespace that has not ended, each once, in pages and in no order. */
  records(namespace: Namespace): AsyncIterable<readonly StoredRecord[]>;
  /** The names of all indexes that have entries. */
  indexes(): Promise<readonly string[]>;
  /** The scores of members of an index, in their order; `null` where it has no such entry. */
  scores(index: string, members: readonly string[]): Promise<readonly (number | null)[]>;
  /** The names, with this beginning, of the leases held by the processes that share the store; none, where one has it. */
  leases(beginning: string): Promise<readonly string[]>;
}

/**
 * Where Dailies remembers. Records are Keyv's, under Keyv's own keys and in Keyv's own envelope; what Keyv lacks
 * (writing only if absent, comparing before writing, several writes at once, ordered indexes) is {@link Store.commit}
 * and {@link Store.scan} on the same backend.
 *
 * Every method rejects with `store_unavailable` or `disk_full` (both retryable) when the backend does not take or give
 * the data; none answers success without it. Where the backend stays silent or dies, whether a rejected commit happened
 * is unknown: compare the record. A committed change survives kill -9 and power loss.
 */
export interface Store {
  /**
   * Whether this process alone holds the store for as long as it runs. Where it does, whatever another owner left
   * behind is ownerless; where it does not, leases decide.
   */
  readonly exclusive: boolean;
  /** What one process holds at a time. */
  readonly leases: Leases;
  /** What one process tells all of them. */
  readonly broadcast: Broadcast;
  /** The Keyv of one namespace: `get`, `getMany`, `set`, `delete` for records that need no atomicity. */
  keyv(namespace: Namespace): Keyv;
  /** Writes all of `change`, or nothing. @returns whether every `expected` and every bound held. */
  commit(change: Change): Promise<boolean>;
  /** Entries of an index, by {@link Range}. An index nobody wrote to is empty. */
  scan(index: string, range?: Range): Promise<readonly IndexEntry[]>;
  /** How many entries an index has, all of them or those whose scores are within `bounds`; cheap where these are few. */
  count(index: string, bounds?: Bounds): Promise<number>;
  readonly contents: StoreContents;
  /** Resolves once the backend answers and has taken a write. */
  ping(): Promise<void>;
  /** Writes what is under way, then lets go of the backend. */
  close(): Promise<void>;
}
