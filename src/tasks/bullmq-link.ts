import { Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** How long the answer to a call is waited for. */
const CALL_TIMEOUT_MS = 5_000;
/** Longer than a worker ever waits for a job with its connection silent (10 seconds). */
const SILENCE_MS = 15_000;
const MAX_RECONNECT_MS = 2_000;

/**
 * The connections of the work queue to Redis, by ioredis, which BullMQ stands on. Both find their way back for as long
 * as the process lives. What goes wrong is said once, and once when it is over: a Redis that is away fails hundreds of
 * calls a second.
 */
export class BullmqLink {
  /** For planning. While Redis is away, calls fail at once: nothing is to be planned minutes later. */
  readonly calls: Redis;
  /** For the workers: what they have to say of a step waits until Redis is back. */
  readonly work: Redis;
  readonly #logger: Logger;
  #reason: unknown = 'the connection was closed';
  #isInTrouble = false;
  #isClosed = false;

  private constructor(url: string, logger: Logger) {
    const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), MAX_RECONNECT_MS);
    const both = { retryStrategy, lazyConnect: true };
    const timeouts = { commandTimeout: CALL_TIMEOUT_MS, socketTimeout: CALL_TIMEOUT_MS };
    this.calls = new Redis(url, { ...both, ...timeouts, enableOfflineQueue: false });
    this.work = new Redis(url, { ...both, socketTimeout: SILENCE_MS, maxRetriesPerRequest: null });
    this.#logger = logger;
    for (const connection of [this.calls, this.work]) {
      // BullMQ listens once for each queue.
      connection.setMaxListeners(0);
      connection.on('error', (error) => {
        this.#reason = error;
      });
    }
    this.calls.on('close', () => this.failed(this.#reason));
    this.calls.on('ready', () => this.worked());
  }

  /**
   * Connects to the Redis at `url` (`redis://…` or `rediss://…`, as in `STORE_URL`).
   * @throws `store_unavailable` when that took more than 5 seconds.
   */
  static async open(url: string, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    const link = new BullmqLink(url, logger);
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(CALL_TIMEOUT_MS, () => late.reject(new Error(`no answer within ${CALL_TIMEOUT_MS} ms`)));
    try {
      await Promise.race([Promise.all([link.calls.connect(), link.work.connect()]), late.promise]);
      return link;
    } catch (thrown) {
      link.close();
      throw unavailable('connecting the work queue to Redis', thrown);
    } finally {
      cancel();
    }
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
    if (!this.isReady) throw unavailable(doing, this.#reason);
    try {
      return await run();
    } catch (thrown) {
      throw unavailable(doing, thrown);
    }
  }

  /** Redis did not do what the queue needed. */
  failed(reason: unknown): void {
    if (this.#isInTrouble || this.#isClosed) return;
    this.#isInTrouble = true;
    this.#logger.warn({ reason: String(reason) }, 'Redis does not serve the work queue; due steps wait for it');
  }

  /** Redis did what the queue needed. */
  worked(): void {
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

function unavailable(doing: string, reason: unknown): DailiesError {
  const words = reason instanceof Error ? reason.message : String(reason);
  return new DailiesError(`${doing}: ${words}`, { code: 'store_unavailable', retryable: true, cause: reason });
}
