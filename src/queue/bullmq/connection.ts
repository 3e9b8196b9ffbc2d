import { Redis } from 'ioredis';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { storeUnavailable } from '../../store/failure.ts';
import { redisRejectionOf } from '../../store/redis/errors.ts';

/** How long the answer to a call is waited for. */
const CALL_TIMEOUT_MS = 5_000;
/** Longer than a worker ever waits for a job with its connection silent (10 seconds). */
const SILENCE_MS = 15_000;
const MAX_RECONNECT_MS = 2_000;
/** How long what is known of Redis's clock counts. */
const TIME_MS = 60_000;

/** What a {@link BullmqConnection} takes from the process it lives in. */
interface BullmqLinkOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The connections of the work queue to Redis, by ioredis, which BullMQ stands on. Both find their way back for as long
 * as the process lives, also to where the address leads once Redis says that it is a replica. What goes wrong is said
 * once, and once when it is over: a Redis that is away fails hundreds of calls a second.
 */
export class BullmqConnection {
  /** For planning. While Redis is away, calls fail at once: nothing is to be planned minutes later. */
  readonly calls: Redis;
  /** For the workers: what they have to say of a step waits until Redis is back. */
  readonly work: Redis;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** What Redis's clock is ahead of our monotonic one, and when it was asked for. */
  #aheadMs = 0;
  #askedAtMs = 0;
  #reason: unknown = 'the connection was closed';
  #isInTrouble = false;
  /** Whether Redis said that it is a replica, and did nothing for the queue since. */
  #isReplica = false;
  #isClosed = false;

  private constructor(url: string, { clock, logger }: BullmqLinkOptions) {
    const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), MAX_RECONNECT_MS);
    const both = { retryStrategy, lazyConnect: true };
    const timeouts = { commandTimeout: CALL_TIMEOUT_MS, socketTimeout: CALL_TIMEOUT_MS };
    this.calls = new Redis(url, {
      ...both,
      ...timeouts,
      enableOfflineQueue: false,
      reconnectOnError: (error) => this.#leaves(error),
    });
    this.work = new Redis(url, {
      ...both,
      socketTimeout: SILENCE_MS,
      maxRetriesPerRequest: null,
      // The copies that BullMQ makes of it, to wait for jobs, leave a replica, too.
      reconnectOnError: (error) => redisRejectionOf(error)?.isElsewhere === true,
    });
    this.#logger = logger;
    this.#clock = clock;
    for (const connection of [this.calls, this.work]) {
      // BullMQ listens once for each queue.
      connection.setMaxListeners(0);
      connection.on('error', (error) => {
        this.#reason = error;
      });
    }
    this.calls.on('close', () => this.failed(this.#reason));
    this.calls.on('ready', () => {
      // It may be another machine's now.
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
      // Where the address leads to a replica still, being connected does not help.
      if (!this.#isReplica) this.worked();
    });
  }

  /**
   * Connects to the Redis at `url` (`redis://…` or `rediss://…`, as in `STORE_URL`).
   * @throws `store_unavailable` when that took more than 5 seconds.
   */
  static async open(url: string, options: BullmqLinkOptions): Promise<BullmqConnection> {
    const { clock } = options;
    const link = new BullmqConnection(url, options);
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(CALL_TIMEOUT_MS, () => late.reject(new Error(`no answer within ${CALL_TIMEOUT_MS} ms`)));
    try {
      await Promise.race([Promise.all([link.calls.connect(), link.work.connect()]), late.promise]);
      await link.#askTime();
      return link;
    } catch (thrown) {
      link.close();
      throw storeUnavailable('connecting the work queue to Redis', thrown);
    } finally {
      cancel();
    }
  }

  /**
   * Redis's time of day, in milliseconds since the Unix epoch: the one clock that replicas share. Due times are by it, since
   * a replica whose own clock is an hour ahead would have the others wait for an hour.
   */
  now(): number {
    const nowMs = this.#clock.monotonic();
    // What was known before does until the answer is there, or where none comes.
    if (nowMs - this.#askedAtMs > TIME_MS && this.isReady) this.#askTime().catch(() => undefined);
    return nowMs + this.#aheadMs;
  }

  /** Whether Redis is in reach, as far as is known. */
  get isReady(): boolean {
    return this.calls.status === 'ready';
  }

  /**
   * One call that is to happen now or not at all.
   * @throws `store_unavailable` when it failed, after 5 seconds at the latest; whether it happened is unknown then.
   */
  async call<T>(doing: string, run: () => Promise<T>): Promise<T> {
    if (!this.isReady) throw storeUnavailable(doing, this.#reason);
    try {
      return await run();
    } catch (thrown) {
      throw storeUnavailable(doing, thrown);
    }
  }

  /** Whether `calls` is made anew for what it was answered: the address may lead to the primary by now. */
  #leaves(answer: Error): boolean {
    const refusal = redisRejectionOf(answer);
    if (refusal === null || !refusal.isElsewhere) return false;
    this.#isReplica = true;
    this.failed(refusal.sentence);
    return true;
  }

  async #askTime(): Promise<void> {
    this.#askedAtMs = this.#clock.monotonic();
    const [seconds, microseconds] = await this.calls.time();
    this.#aheadMs = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000) - this.#clock.monotonic();
  }

  /** Redis did not do what the queue needed. */
  failed(reason: unknown): void {
    if (this.#isInTrouble || this.#isClosed) return;
    this.#isInTrouble = true;
    this.#logger.warn({ reason: String(reason) }, 'Redis does not serve the work queue; due steps wait for it');
  }

  /** Redis did what the queue needed. */
  worked(): void {
    this.#isReplica = false;
    if (!this.#isInTrouble) return;
    this.#isInTrouble = false;
    this.#logger.info('Redis serves the work queue again');
  }

  /** Lets go of both. */
  close(): void {
    this.#isClosed = true;
    this.calls.disconnect();
    this.work.disconnect();
  }
}
