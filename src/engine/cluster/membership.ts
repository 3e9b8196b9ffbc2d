import type { Clock } from '../../clock.ts';
import { KeptLease } from './kept-lease.ts';
import type { Leases } from './leases.ts';

/** Options of {@link Membership}. */
interface MembershipOptions {
  readonly leases: Leases;
  /** `true` when no other process can be using this store. */
  readonly exclusive: boolean;
  readonly clock: Clock;
}

/** Prefix of the lease that every replica holds. */
const REPLICA = 'replica:';

/** TTL of a membership lease: the time for which an unresponsive process counts as alive. */
const LEASE_MS = 15_000;
/** Margin between a liveness check and the expiry of the lease, enough to send a POST. */
const MARGIN_MS = 1_000;

/** Liveness of the replicas that share a store: each holds a lease of its own. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #own: KeptLease;

  constructor(options: MembershipOptions) {
    const { leases, clock } = options;
    this.#options = options;
    this.#own = new KeptLease({ leases, clock, name: nameOf(leases.owner), ttlMs: LEASE_MS });
  }

  get owner(): string {
    return this.#options.leases.owner;
  }

  /**
   * Returns whether this process's lease is valid, with a margin that suffices to send a POST. With `sinceMs`, by the
   * clock's {@link Clock.monotonic}: only if it has been valid ever since, so that no replica took over its work.
   */
  isAlive(sinceMs = Infinity): boolean {
    const { lease } = this.#own;
    return lease !== null && lease.sinceMs <= sinceMs && lease.isHeld(MARGIN_MS);
  }

  /**
   * Returns whether the lease of that process has certainly expired, so that it sends nothing more.
   * @throws `store_unavailable`: without the store, no process counts as gone.
   */
  async isGone(other: string): Promise<boolean> {
    const { leases, exclusive, clock } = this.#options;
    if (other === this.owner) return false;
    if (exclusive) return true;
    if ((await leases.holder(nameOf(other))) !== null) return false;
    // A store that was unavailable, or came back without its leases, has lost the others' leases with ours: the
    // others have one TTL to take theirs again before they count as gone.
    const isOurs = (await leases.holder(nameOf(this.owner))) === this.owner;
    const { lease } = this.#own;
    return isOurs && lease?.isHeld() === true && clock.monotonic() - lease.sinceMs >= LEASE_MS;
  }

  /** Joins the replicas. Resolves after the first attempt; a failed one is retried in the background. */
  join(): Promise<void> {
    return this.#own.take();
  }

  /** Leaves the replicas: the others take over its unfinished work at once. */
  leave(): Promise<void> {
    return this.#own.leave();
  }
}

function nameOf(owner: string): string {
  return `${REPLICA}${owner}`;
}
