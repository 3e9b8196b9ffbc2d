import type { Clock } from '../../../clock.ts';

/** Error of a write that Redis accepted and no replica confirmed in time. */
export class UnconfirmedWrite extends Error {
  override readonly name = 'UnconfirmedWrite';

  constructor() {
    super(
      'no replica confirms what Redis takes, so that a failover would lose it: attach a replica again, or run ' +
        '`npm run doctor -- --forget-redis-replica` to go on without one',
    );
  }
}

/** Options of an {@link Outage}. */
interface OutageOptions {
  readonly begin: (reason: string) => void;
  readonly end: () => void;
  /**
   * For an outage of several connections: after its end it does not begin again for so long, since a connection that
   * has not followed the others to the new primary still reports the outage. Default: 0.
   */
  readonly settleMs?: number;
  readonly clock: Clock;
}

/** A period in which Redis does not serve. Logs its beginning and its end, once each. */
export class Outage {
  readonly #options: OutageOptions;
  #hasBegun = false;
  #endedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  begin(reason: string): void {
    const { begin, clock, settleMs = 0 } = this.#options;
    if (this.#hasBegun || clock.monotonic() < this.#endedAtMs + settleMs) return;
    this.#hasBegun = true;
    begin(reason);
  }

  end(): void {
    if (!this.#hasBegun) return;
    const { end, clock } = this.#options;
    this.#hasBegun = false;
    this.#endedAtMs = clock.monotonic();
    end();
  }
}

/** Outages of a Redis that cannot be reached, and of one that rejects writes. */
export interface RedisOutages {
  readonly unreachable: Outage;
  readonly rejecting: Outage;
}
