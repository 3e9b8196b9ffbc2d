import {
  COUNTING_MONEY,
  type DECIDING_SETS,
  type ENFORCING_POLICY,
  type KEEPING_BLIND,
  REPLICA,
} from '../cluster/membership.ts';
import { DailiesError } from '../errors.ts';
import { SingleFlight } from '../single-flight.ts';
import type { Store, Versioned } from '../store/store.ts';

/** Prefix of a lease that tells what a replica does. */
type Marker = typeof COUNTING_MONEY | typeof DECIDING_SETS | typeof ENFORCING_POLICY | typeof KEEPING_BLIND;

/**
 * Detects replicas of a version that does not hold a marker lease, as each replica of this one does. Without that of
 * counting money in the store's sums they claim and finish tasks past every budget during a rolling update; without that
 * of deciding on sets they approve one task of a set alone; without that of keeping comparisons blind they show models.
 */
export class OlderReplicas {
  readonly #store: Pick<Store, 'exclusive' | 'contents'>;
  readonly #marker: Marker;
  readonly #lookup = new SingleFlight<'lookup', boolean>();
  #areGone: boolean;

  /**
   * @param store an exclusive one has no other replica, so it is never searched.
   * @param marker prefix of the lease that older replicas do not hold.
   */
  constructor(store: Pick<Store, 'exclusive' | 'contents'>, marker: Marker = COUNTING_MONEY) {
    this.#store = store;
    this.#marker = marker;
    this.#areGone = store.exclusive;
  }

  /**
   * Returns whether one of them holds a lease. Searches only until none does for the first time: the version of a
   * rolling update only rises.
   * @throws `store_unavailable`
   */
  async areAlive(): Promise<boolean> {
    if (this.#areGone) return false;
    this.#areGone = !(await this.#lookup.run('lookup', () => this.#search()));
    return !this.#areGone;
  }

  async #search(): Promise<boolean> {
    const { contents } = this.#store;
    // In this order: a replica takes its marker first.
    const replicas = await contents.leases(REPLICA);
    const marked = new Set((await contents.leases(this.#marker)).map((name) => name.slice(this.#marker.length)));
    return replicas.some((name) => !marked.has(name.slice(REPLICA.length)));
  }
}

/** Returns the error of what a replica of an older version would do wrong. */
export function olderVersion(doing: string): DailiesError {
  return new DailiesError(`${doing}: a replica of an older version is running`, {
    code: 'older_version',
    retryable: true,
  });
}

/** Key, in the namespace `waits`, of the record that every task is counted in the sums. */
const COUNTED_KEY = 'counted';

/** Detects a store whose tasks of earlier versions are not counted in its sums yet: budgets would miss them. */
export class UncountedTasks {
  readonly #store: Pick<Store, 'keyv' | 'contents'>;
  #areThere = true;

  constructor(store: Pick<Store, 'keyv' | 'contents'>) {
    this.#store = store;
  }

  /** Returns whether there may be any. Looks only until there are none for the first time. Rejects with `store_unavailable`. */
  async mayExist(): Promise<boolean> {
    if (this.#areThere) this.#areThere = (await this.#store.keyv('waits').get(COUNTED_KEY)) === undefined;
    return this.#areThere;
  }

  /** Records that every task is counted, once no older replica is left and all tasks from before have been counted. */
  async end(): Promise<void> {
    if (!(await this.mayExist())) return;
    await this.#store.keyv('waits').set(COUNTED_KEY, { revision: 1 } satisfies Versioned);
    this.#areThere = false;
  }

  /** Records it for a store without tasks, where nothing has to be counted. */
  async endIfEmpty(): Promise<void> {
    if (!(await this.mayExist())) return;
    for await (const page of this.#store.contents.records('tasks')) if (page.length > 0) return;
    await this.end();
  }
}
