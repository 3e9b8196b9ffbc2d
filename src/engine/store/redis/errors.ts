import type { Clock } from '../../../clock.ts';

/** Reason for which a reachable Redis rejects a write. */
export interface RedisRejection {
  /** The problem and the operator's remedy, in one sentence. */
  readonly sentence: string;
  /** True if a new connection may reach a Redis that accepts it: the host name in STORE_URL follows a failover. */
  readonly isElsewhere: boolean;
}

const NOT_THE_PRIMARY =
  'this Redis is a replica and takes no writes: wait for the failover to end (the address in STORE_URL is looked up ' +
  'anew), or have STORE_URL lead to the primary';

/**
 * Sentences by the first word of the error reply.
 * @see {@link https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors}
 */
const SENTENCES: Readonly<Record<string, string>> = {
  OOM: 'Redis is full: raise its maxmemory, or remove from it what is not of Dailies',
  READONLY: NOT_THE_PRIMARY,
  MASTERDOWN: NOT_THE_PRIMARY,
  MISCONF: 'Redis cannot write to its disk, and takes no writes until it can: make room there; its log says more',
  NOREPLICAS: 'Redis has fewer replicas than its min-replicas-to-write: attach the missing ones again',
  LOADING: 'Redis is still reading its data after a start: wait until it has',
};

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

/**
 * Returns the rejection that an error of the client stands for; `null` where it concerns the connection or the one
 * call.
 */
export function redisRejectionOf(thrown: unknown): RedisRejection | null {
  if (thrown instanceof UnconfirmedWrite) return { sentence: thrown.message, isElsewhere: false };
  const [word = ''] = thrown instanceof Error ? thrown.message.split(' ', 1) : [];
  const sentence = SENTENCES[word];
  return sentence === undefined ? null : { sentence, isElsewhere: sentence === NOT_THE_PRIMARY };
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
