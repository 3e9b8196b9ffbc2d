import { createClient, type RedisClientType } from '@keyv/redis';
import type { Clock } from '../clock.ts';
import { storeUnavailable } from './failure.ts';
import type { StoreSurroundings } from './surroundings.ts';

/** How long the first connection, and the answer to any call, is waited for. */
const TIMEOUT_MS = 5_000;

/**
 * A connection to Redis that finds its way back, and whose calls end in time. While it is away, calls are refused at
 * once and none is kept for later: a claim must not be written after its caller was told that it failed.
 */
export class RedisLink {
  readonly client: RedisClientType;
  readonly #clock: Clock;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(client: RedisClientType, clock: Clock) {
    this.client = client;
    this.#clock = clock;
  }

  /**
   * Connects to the Redis at `url` (`redis://` or `rediss://`).
   * @throws `store_unavailable` when that took more than 5 seconds; the message never holds the password.
   */
  static async open(url: string, { clock, logger }: StoreSurroundings): Promise<RedisLink> {
    const client: RedisClientType = createClient({ url, disableOfflineQueue: true });
    // Every namespace's adapter listens, too.
    client.setMaxListeners(0);
    let reason: unknown = `no answer within ${TIMEOUT_MS} ms`;
    let isLost = false;
    client.on('error', (error: unknown) => {
      reason = error;
      if (isLost) return;
      isLost = true;
      logger.warn({ reason: String(error) }, 'Redis is out of reach; trying again');
    });
    client.on('ready', () => {
      if (isLost) logger.info('Redis is in reach again');
      isLost = false;
    });
    const giveUp = clock.after(TIMEOUT_MS, () => client.destroy());
    try {
      await client.connect();
      if (!client.isReady) throw reason;
      return new RedisLink(client, clock);
    } catch {
      throw storeUnavailable('connecting to Redis', reason);
    } finally {
      giveUp();
    }
  }

  /**
   * One call. When its answer does not come in time, whether Redis carried it out is unknown.
   * @throws `store_unavailable` when it failed, after 5 seconds at the latest.
   */
  async call<T>(doing: string, run: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeUnavailable(doing, 'the store is closed');
    const answer = run();
    this.#underWay.add(answer);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = this.#clock.after(TIMEOUT_MS, () => {
      reject(new Error(`no answer within ${TIMEOUT_MS} ms`));
      this.#reconnect();
    });
    try {
      return await Promise.race([answer, late]);
    } catch (thrown) {
      throw storeUnavailable(doing, thrown);
    } finally {
      cancel();
      this.#underWay.delete(answer);
    }
  }

  /** Waits for the calls under way, then disconnects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    this.client.destroy();
  }

  /** A connection on which an answer stayed out may be dead without saying so, and would swallow the next calls, too. */
  #reconnect(): void {
    if (!this.client.isReady) return;
    this.client.destroy();
    // Fails only when the link is closed meanwhile; what else goes wrong arrives as 'error'.
    this.client.connect().catch(() => undefined);
  }
}
