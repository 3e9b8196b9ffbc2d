import type { Logger } from '../../logger.ts';

/** Why a Redis that answers does not take a write. */
export interface RedisRejection {
  /** What is wrong and what the operator does about it, in one sentence. */
  readonly sentence: string;
  /** Whether another connection may lead to a Redis that takes it: the name in STORE_URL follows a failover. */
  readonly isElsewhere: boolean;
}

const NOT_THE_PRIMARY =
  'this Redis is a replica and takes no writes: wait for the failover to end (the address in STORE_URL is looked up ' +
  'anew), or have STORE_URL lead to the primary';

/** By the first word of Redis's answer. @see {@link https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors} */
const SENTENCES: Readonly<Record<string, string>> = {
  OOM: 'Redis is full: raise its maxmemory, or remove from it what is not of Dailies',
  READONLY: NOT_THE_PRIMARY,
  MASTERDOWN: NOT_THE_PRIMARY,
  MISCONF: 'Redis cannot write to its disk, and takes no writes until it can: make room there; its log says more',
  NOREPLICAS: 'Redis has fewer replicas than its min-replicas-to-write: attach the missing ones again',
  LOADING: 'Redis is still reading its data after a start: wait until it has',
};

/** A write that Redis took, and that no replica has within the time it had. */
export class UnconfirmedWrite extends Error {
  override readonly name = 'UnconfirmedWrite';

  constructor() {
    super(
      'no replica confirms what Redis takes, so that a failover would lose it: attach a replica again, or run ' +
        '`npm run doctor -- --forget-redis-replica` to go on without one',
    );
  }
}

/** What an error of the client says about Redis as a whole; `null` where it is about the connection or the one call. */
export function redisRejectionOf(thrown: unknown): RedisRejection | null {
  if (thrown instanceof UnconfirmedWrite) return { sentence: thrown.message, isElsewhere: false };
  const [word = ''] = thrown instanceof Error ? thrown.message.split(' ', 1) : [];
  const sentence = SENTENCES[word];
  return sentence === undefined ? null : { sentence, isElsewhere: sentence === NOT_THE_PRIMARY };
}

/** The time in which Redis answers and takes no writes: said in the log when it begins, and when it is over. */
export class Outage {
  readonly #logger: Logger;
  #reason: string | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  begin(reason: string): void {
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#logger.error({ reason }, 'Redis takes no writes; nothing is created until it does');
  }

  /** To be called when a write was taken that every one of the reasons would have kept out. */
  end(): void {
    if (this.#reason === null) return;
    this.#reason = null;
    this.#logger.info('Redis takes writes again');
  }
}
