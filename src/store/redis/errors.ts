import type { Logger } from '../../logger.ts';

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

/** Log of the periods in which Redis does not serve. Each is called at every failure or success. */
export interface OutageLog {
  disconnected(reason: string): void;
  connected(): void;
  /** Redis is reachable and rejects a write. */
  rejected(reason: string): void;
  /** Redis accepted a write that any rejection would have prevented. */
  accepted(): void;
}

/** Logs the beginning and the end of each outage of the store. */
export class StoreOutages implements OutageLog {
  readonly #logger: Logger;
  #isDisconnected = false;
  #rejection: string | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  disconnected(reason: string): void {
    if (this.#isDisconnected) return;
    this.#isDisconnected = true;
    this.#logger.warn({ event: 'redis_unreachable', reason }, 'lost the connection to Redis; reconnecting');
  }

  connected(): void {
    if (this.#isDisconnected) this.#logger.info({ event: 'redis_reconnected' }, 'reconnected to Redis');
    this.#isDisconnected = false;
  }

  rejected(reason: string): void {
    if (reason === this.#rejection) return;
    this.#rejection = reason;
    this.#logger.error({ event: 'redis_writes_rejected', reason }, 'Redis rejects writes; nothing can be created');
  }

  accepted(): void {
    if (this.#rejection !== null) this.#logger.info({ event: 'redis_writes_accepted' }, 'Redis accepts writes again');
    this.#rejection = null;
  }
}
