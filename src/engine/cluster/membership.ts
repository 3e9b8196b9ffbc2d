import type { Clock } from '../../clock.ts';
import { KeptLease } from './kept-lease.ts';
import type { Leases } from './leases.ts';

/** Liveness of the replicas that share a store. */
export interface Membership {
  readonly owner: string;
  /**
   * Returns whether this process's lease is valid, with a margin that suffices to send a POST. With `sinceMs`, by the
   * clock's {@link Clock.monotonic}: only if it has been valid ever since, so that no replica took over its work.
   */
  isAlive(sinceMs?: number): boolean;
  /**
   * Returns whether the lease of that process has certainly expired, so that it sends nothing more.
   * @throws `store_unavailable`: without the store, no process counts as gone.
   */
  isGone(owner: string): Promise<boolean>;
  /** Joins the replicas. Resolves after the first attempt; a failed one is retried in the background. */
  join(): Promise<void>;
  /** Leaves the replicas: the others take over its unfinished work at once. */
  leave(): Promise<void>;
}

/** Options of {@link createMembership}. */
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

/** Creates the membership of one process, by a lease of its own. */
export function createMembership({ leases, exclusive, clock }: MembershipOptions): Membership {
  const { owner } = leases;
  const own = new KeptLease({ leases, clock, name: nameOf(owner), ttlMs: LEASE_MS });

  return {
    owner,
    isAlive: (sinceMs = Infinity) => own.lease !== null && own.lease.sinceMs <= sinceMs && own.lease.isHeld(MARGIN_MS),
    async isGone(other) {
      if (other === owner) return false;
      if (exclusive) return true;
      if ((await leases.holder(nameOf(other))) !== null) return false;
      // A store that was unavailable, or came back without its leases, has lost the others' leases with ours: the
      // others have one TTL to take theirs again before they count as gone.
      const isOurs = (await leases.holder(nameOf(owner))) === owner;
      return isOurs && own.lease?.isHeld() === true && clock.monotonic() - own.lease.sinceMs >= LEASE_MS;
    },
    join: () => own.take(),
    leave: () => own.leave(),
  };
}

function nameOf(owner: string): string {
  return `${REPLICA}${owner}`;
}
