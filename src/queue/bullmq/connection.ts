import { Redis } from 'ioredis';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { storeUnavailable } from '../../store/failure.ts';
import { redisRejectionOf } from '../../store/redis/errors.ts';

/** Timeout of a call. */
const CALL_TIMEOUT_MS = 5_000;
/** Socket timeout of workers, longer than their connection is ever idle while waiting for a job (10 seconds). */
const WORKER_SOCKET_TIMEOUT_MS = 15_000;
const MAX_RECONNECT_MS = 2_000;
/** TTL of the offset to Redis's clock. */
const CLOCK_TTL_MS = 60_000;

interface BullmqConnectionOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The connections of the work queue to Redis, by ioredis, which BullMQ is built on. Both reconnect for as long as the
 * process runs, and also when Redis reports that it has become a replica, since the address may lead to the primary by
 * then. Failures are logged once, and their end once: an unavailable Redis fails hundreds of calls a second.
 */
export class BullmqConnection {
  /** For scheduling. While Redis is unavailable, calls fail at once: no job is to be scheduled minutes later. */
  readonly calls: Redis;
  /** For the workers: the results of their jobs are queued until Redis is available. */
  readonly work: Redis;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Offset of Redis's clock to our monotonic one, and the time at which it was requested. */
  #offsetMs = 0;
  #askedAtMs = 0;
  #reason: unknown = 'the connection was closed';
  #isFailing = false;
  /** `true` after Redis reported that it is a replica, until a call succeeds. */
  #isReplica = false;
  #isClosed = false;

  private constructor(url: string, { clock, logger }: BullmqConnectionOptions) {
    const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), MAX_RECONNECT_MS);
    const both = { retryStrategy, lazyConnect: true };
    const timeouts = { commandTimeout: CALL_TIMEOUT_MS, socketTimeout: CALL_TIMEOUT_MS };
    this.calls = new Redis(url, {
      ...both,
      ...timeouts,
      enableOfflineQueue: false,
      reconnectOnError: (error) => this.#mustReconnect(error),
    });
    this.work = new Redis(url, {
      ...both,
      socketTimeout: WORKER_SOCKET_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      // Also applies to the duplicates that BullMQ creates to wait for jobs.
      reconnectOnError: (error) => redisRejectionOf(error)?.isElsewhere === true,
    });
    this.#logger = logger;
    this.#clock = clock;
    for (const connection of [this.calls, this.work]) {
      // BullMQ adds a listener for each queue.
      connection.setMaxListeners(0);
      connection.on('error', (error) => {
        this.#reason = error;
      });
    }
    this.calls.on('close', () => this.failed(this.#reason));
    this.calls.on('ready', () => {
      // The clock may be that of another machine now.
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
      // While the address still leads to a replica, being connected does not help.
      if (!this.#isReplica) this.worked();
    });
  }

  /**
   * Connects to the Redis at `url` (`redis://…` or `rediss://…`, as in `STORE_URL`).
   * @throws `store_unavailable` when that took more than 5 seconds.
   */
  static async open(url: string, options: BullmqConnectionOptions): Promise<BullmqConnection> {
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
   * Returns Redis's time of day, in milliseconds since the Unix epoch: the one clock that replicas share. Due times use
   * it, since a replica whose own clock is an hour ahead would delay jobs on the others by an hour.
   */
  now(): number {
    const nowMs = this.#clock.monotonic();
    // The old offset is used until the response arrives, or if none does.
    if (nowMs - this.#askedAtMs > CLOCK_TTL_MS && this.isReady) this.#askTime().catch(() => undefined);
    return nowMs + this.#offsetMs;
  }

  /** Whether `calls` is connected. */
  get isReady(): boolean {
    return this.calls.status === 'ready';
  }

  /**
   * Runs a call now or not at all.
   * @throws `store_unavailable` when it failed, after 5 seconds at the latest; it may have taken effect all the same.
   */
  async call<T>(doing: string, run: () => Promise<T>): Promise<T> {
    if (!this.isReady) throw storeUnavailable(doing, this.#reason);
    try {
      return await run();
    } catch (thrown) {
      throw storeUnavailable(doing, thrown);
    }
  }

  /** Returns whether an error requires reconnecting `calls`: the address may lead to the primary by now. */
  #mustReconnect(answer: Error): boolean {
    const refusal = redisRejectionOf(answer);
    if (refusal === null || !refusal.isElsewhere) return false;
    this.#isReplica = true;
    this.failed(refusal.sentence);
    return true;
  }

  async #askTime(): Promise<void> {
    this.#askedAtMs = this.#clock.monotonic();
    const [seconds, microseconds] = await this.calls.time();
    this.#offsetMs = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000) - this.#clock.monotonic();
  }

  /** Logs the beginning of a failure of Redis. */
  failed(reason: unknown): void {
    if (this.#isFailing || this.#isClosed) return;
    this.#isFailing = true;
    this.#logger.warn(
      { event: 'queue_unavailable', reason: String(reason) },
      'Redis does not serve the work queue, due jobs are delayed',
    );
  }

  /** Logs the end of a failure of Redis. */
  worked(): void {
    this.#isReplica = false;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#logger.info({ event: 'queue_restored' }, 'Redis serves the work queue again');
  }

  /** Disconnects both. */
  close(): void {
    this.#isClosed = true;
    this.calls.disconnect();
    this.work.disconnect();
  }
}
