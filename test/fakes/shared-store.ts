import type { Clock } from '#src/clock.ts';
import { createLeases, type Leases } from '#src/engine/cluster/leases.ts';
import type { Store } from '#src/engine/store/store.ts';
import { LeaseTable } from './lease-table.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';

/** Returns a shared store from the point of view of one replica. @param leases of that replica */
export function replicaOf(memory: MemoryStore, leases: Leases): Store {
  return {
    exclusive: false,
    leases,
    broadcast: memory.broadcast,
    contents: memory.contents,
    keyv: (namespace) => memory.keyv(namespace),
    commit: (change) => memory.commit(change),
    scan: (index, range) => memory.scan(index, range),
    count: (index, bounds) => memory.count(index, bounds),
    sums: (names) => memory.sums(names),
    ping: () => memory.ping(),
    close: () => Promise.resolve(),
  };
}

/** An in-memory store shared by several replicas, each with its own clock for its leases. */
export class SharedStore {
  readonly #memory = new MemoryStore();
  readonly #clock = new ManualClock();
  readonly leases = new LeaseTable(this.#clock);
  #replicas = 0;

  /** Returns the store from the point of view of one replica. */
  replica(clock: Clock): Store {
    this.#replicas += 1;
    return replicaOf(this.#memory, createLeases({ backend: this.leases, clock, owner: `replica-${this.#replicas}` }));
  }
}

/** The clock of a frozen process: time passes, but no timer runs. */
export class FreezableClock implements Clock {
  #monotonicMs = 0;

  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  after(): () => void {
    return () => undefined;
  }

  /** Advances the monotonic time. */
  pass(ms: number): void {
    this.#monotonicMs += ms;
  }
}
