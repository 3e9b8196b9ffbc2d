import { COUNTING_MONEY, REPLICA } from '../cluster/membership.ts';
import { SingleFlight } from '../single-flight.ts';
import type { Store } from '../store/store.ts';

/**
 * Detects replicas of a version that does not count money in the store's sums: during a rolling update they claim and
 * finish tasks past every budget. Each replica of this version also holds a marker lease.
 */
export class OlderReplicas {
  readonly #store: Pick<Store, 'exclusive' | 'contents'>;
  readonly #lookup = new SingleFlight<'lookup', boolean>();
  #areGone: boolean;

  /** @param store an exclusive one has no other replica, so it is never searched. */
  constructor(store: Pick<Store, 'exclusive' | 'contents'>) {
    this.#store = store;
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
    const counting = new Set((await contents.leases(COUNTING_MONEY)).map((name) => name.slice(COUNTING_MONEY.length)));
    return replicas.some((name) => !counting.has(name.slice(REPLICA.length)));
  }
}
