import type { Clock } from '../clock.ts';
import type { Lease, Leases } from './leases.ts';

/** Which of the processes that share a store are alive, as far as it can be known. */
export interface Membership {
  /** Names this process. */
  readonly owner: string;
  /**
   * Whether the others take this process for alive, and will for a moment more: it may let a POST out. With `sinceMs`, by
   * the clock's {@link Clock.monotonic}: only if they have done so ever since, and found nothing of it half done.
   */
  isAlive(sinceMs?: number): boolean;
  /**
   * Whether that process is certainly taken for dead, so that it lets out nothing more. Without a store nobody is.
   * @throws `store_unavailable`
   */
  isGone(owner: string): Promise<boolean>;
  /** Is one of them from now on. Resolves once it is, or once it is known that it takes longer. */
  join(): Promise<void>;
  /** Is one of them no more: what it left undone is taken up by the others at once. */
  leave(): Promise<void>;
}

/** Collaborators of {@link createMembership}. */
export interface MembershipOptions {
  readonly leases: Leases;
  /** Whether no other process can be alive that works on this store. */
  readonly exclusive: boolean;
  readonly clock: Clock;
}

/** How long a process that does not answer is taken for alive. */
const LEASE_MS = 15_000;
/** What is asked for right before a POST leaves is still true when it has left. */
const MARGIN_MS = 1_000;
const TRY_AGAIN_MS = 500;

/** The membership of one process, by a lease of its own. */
export function createMembership({ leases, exclusive, clock }: MembershipOptions): Membership {
  const { owner } = leases;
  let lease: Lease | null = null;
  let hasLeft = false;

  const take = async (): Promise<void> => {
    if (hasLeft) return;
    const taken = await leases.take(nameOf(owner), LEASE_MS).catch(() => null);
    if (hasLeft) return taken?.release();
    lease = taken;
    if (taken === null) clock.after(TRY_AGAIN_MS, () => void take());
    else taken.signal.addEventListener('abort', () => void take(), { once: true });
  };

  return {
    owner,
    isAlive: (sinceMs = Infinity) => lease !== null && lease.sinceMs <= sinceMs && lease.isHeld(MARGIN_MS),
    async isGone(other) {
      if (other === owner) return false;
      if (exclusive) return true;
      if ((await leases.holder(nameOf(other))) !== null) return false;
      // A store that was away, or came back without them, has lost the others' leases with ours: they have one lease's
      // time to take them again before anybody judges.
      const isOurs = (await leases.holder(nameOf(owner))) === owner;
      return isOurs && lease?.isHeld() === true && clock.monotonic() - lease.sinceMs >= LEASE_MS;
    },
    join: take,
    async leave() {
      hasLeft = true;
      await lease?.release();
    },
  };
}

function nameOf(owner: string): string {
  return `replica:${owner}`;
}
