import type { Clock } from '#src/clock.ts';
import { createLeases } from '#src/cluster/leases.ts';
import type { Store } from '#src/store/store.ts';
import { LeaseTable } from './lease-table.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';

/** A store in memory that several replicas share, each with a clock of its own for what it holds. */
export class SharedStore {
  readonly #memory = new MemoryStore();
  readonly #clock = new ManualClock();
  readonly leases = new LeaseTable(this.#clock);
  #replicas = 0;

  /** The store as one of the replicas has it. */
  replica(clock: Clock): Store {
    this.#replicas += 1;
    const memory = this.#memory;
    return {
      exclusive: false,
      leases: createLeases({ backend: this.leases, clock, owner: `replica-${this.#replicas}` }),
      broadcast: memory.broadcast,
      contents: memory.contents,
      keyv: (namespace) => memory.keyv(namespace),
      commit: (change) => memory.commit(change),
      scan: (index, range) => memory.scan(index, range),
      count: (index, bounds) => memory.count(index, bounds),
      ping: () => memory.ping(),
      close: () => Promise.resolve(),
    };
  }
}

/** A clock of a process that can be frozen: time goes on, and no timer runs until it is thawed. */
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

  /** Time goes by. */
  pass(ms: number): void {
    this.#monotonicMs += ms;
  }
}
