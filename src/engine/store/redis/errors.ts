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

/** What an outage is due to. */
interface OutageCause {
  begin(reason: string): void;
  end(): void;
}

/** A period in which Redis does not serve. Logs its beginning and its end, once each. */
export class Outage implements OutageCause {
  readonly #options: OutageOptions;
  /** The causes that last. */
  readonly #causes = new Set<object>();
  #endedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  begin(reason: string): void {
    this.#begin(this, reason);
  }

  end(): void {
    this.#end(this);
  }

  /** Returns one of several causes: the outage begins with the first of them, and ends once none lasts. */
  cause(): OutageCause {
    const cause: OutageCause = { begin: (reason) => this.#begin(cause, reason), end: () => this.#end(cause) };
    return cause;
  }

  #begin(cause: object, reason: string): void {
    const { begin, clock, settleMs = 0 } = this.#options;
    const isFirst = this.#causes.size === 0;
    if (isFirst && clock.monotonic() < this.#endedAtMs + settleMs) return;
    this.#causes.add(cause);
    if (isFirst) begin(reason);
  }

  #end(cause: object): void {
    const { end, clock } = this.#options;
    if (!this.#causes.delete(cause) || this.#causes.size > 0) return;
    this.#endedAtMs = clock.monotonic();
    end();
  }
}

/** Outages of a Redis that cannot be reached, and of one that rejects writes. */
export interface RedisOutages {
  readonly unreachable: OutageCause;
  readonly rejecting: OutageCause;
}
