import type { Clock } from '#src/clock.ts';
import { createLeases } from '#src/engine/cluster/leases.ts';
import type { Store } from '#src/engine/store/store.ts';
import { LeaseTable } from './lease-table.ts';
import type { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { replicaOf } from './shared-store.ts';

/** Replica of a {@link ReplicaCrew}: its view of the shared store, and its clock. */
export interface CrewMember {
  readonly store: Store;
  readonly clock: Clock;
  /** Ends the process: none of its timers runs any more, so that its leases expire. */
  readonly kill: () => void;
}

/** Replicas on one in-memory store and one clock, each of which can be killed. */
export class ReplicaCrew {
  readonly store = new MemoryStore(false);
  readonly #clock: ManualClock;
  readonly #leases: LeaseTable;
  #count = 0;

  constructor(clock: ManualClock) {
    this.#clock = clock;
    this.#leases = new LeaseTable(clock);
  }

  /** Starts another replica. */
  join(): CrewMember {
    this.#count += 1;
    let isDead = false;
    const shared = this.#clock;
    const clock: Clock = {
      now: () => shared.now(),
      monotonic: () => shared.monotonic(),
      after: (delayMs, run) => shared.after(delayMs, () => (isDead ? undefined : run())),
    };
    const leases = createLeases({ backend: this.#leases, clock, owner: `replica-${this.#count}` });
    return {
      store: replicaOf(this.store, leases),
      clock,
      kill() {
        isDead = true;
      },
    };
  }
}
