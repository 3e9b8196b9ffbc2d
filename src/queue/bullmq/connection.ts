import { createNodeRedisClient, type IRedisClient } from 'bullmq';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { RedisConnection } from '../../store/redis/connection.ts';
import type { OutageLog } from '../../store/redis/errors.ts';
import { defineScripts } from './scripts.ts';

/** TTL of the offset to Redis's clock. */
const CLOCK_TTL_MS = 60_000;

interface BullmqConnectionOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The connections of the work queue to Redis, and the clock of that Redis. */
export class BullmqConnection {
  /** For scheduling. While Redis is unavailable, calls fail at once: no job is to be scheduled minutes later. */
  readonly calls: RedisConnection;
  /** `calls`, as BullMQ's queues use it. */
  readonly queues: IRedisClient;
  /** For BullMQ's workers: the results of their jobs are queued until Redis is available. */
  readonly workers: IRedisClient;
  readonly #work: RedisConnection;
  readonly #clock: Clock;
  /** Offset of Redis's clock to our monotonic one, and the time at which it was requested. */
  #offsetMs = 0;
  #askedAtMs = 0;

  private constructor(calls: RedisConnection, clock: Clock) {
    this.calls = calls;
    this.#work = calls.besideForBlocking();
    this.#clock = clock;
    this.queues = forBullmq(calls);
    this.workers = forBullmq(this.#work);
    defineScripts(this.queues);
    // The clock may be that of another machine now.
    calls.client.on('ready', () => {
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
    });
  }

  /**
   * Connects to the Redis at `url` (`redis://…` or `rediss://…`, as in `STORE_URL`).
   * @throws `store_unavailable` when that took more than 5 seconds.
   */
  static async open(url: string, { clock, logger }: BullmqConnectionOptions): Promise<BullmqConnection> {
    const link = new BullmqConnection(
      await RedisConnection.open(url, { clock, logger, outages: new QueueOutages(logger) }),
      clock,
    );
    try {
      await link.calls.call('connecting the work queue to Redis', () =>
        Promise.all([link.#work.connected, link.#askTime()]),
      );
      return link;
    } catch (thrown) {
      await link.close();
      throw thrown;
    }
  }

  /**
   * Returns Redis's time of day, in milliseconds since the Unix epoch: the one clock that replicas share. Due times use
   * it, since a replica whose own clock is an hour ahead would delay jobs on the others by an hour.
   */
  now(): number {
    const nowMs = this.#clock.monotonic();
    // The old offset is used until the response arrives, or if none does.
    if (nowMs - this.#askedAtMs > CLOCK_TTL_MS && this.calls.client.isReady) this.#askTime().catch(() => undefined);
    return nowMs + this.#offsetMs;
  }

  async #askTime(): Promise<void> {
    this.#askedAtMs = this.#clock.monotonic();
    const [seconds, microseconds] = await this.calls.client.time();
    this.#offsetMs = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000) - this.#clock.monotonic();
  }

  async close(): Promise<void> {
    await Promise.all([this.calls.close(), this.#work.close()]);
  }
}

/** Adapts a connection to BullMQ. The connections that BullMQ opens beside it to wait for jobs are ours as well. */
function forBullmq(connection: RedisConnection): IRedisClient {
  const client = createNodeRedisClient(connection.client);
  client.duplicate = ({ connectionName = '' } = {}) => forBullmq(connection.beside({ name: connectionName }));
  // BullMQ adds listeners for each queue.
  return client.setMaxListeners(0).on('error', () => undefined);
}

/** Logs the beginning and the end of each outage of the work queue, once: it fails hundreds of calls a second. */
class QueueOutages implements OutageLog {
  readonly #logger: Logger;
  readonly #causes = new Set<'disconnected' | 'rejected'>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  disconnected(reason: string): void {
    this.#begin('disconnected', reason);
  }

  connected(): void {
    this.#end('disconnected');
  }

  rejected(reason: string): void {
    this.#begin('rejected', reason);
  }

  accepted(): void {
    this.#end('rejected');
  }

  #begin(cause: 'disconnected' | 'rejected', reason: string): void {
    if (this.#causes.size === 0) {
      this.#logger.warn(
        { event: 'queue_unavailable', reason },
        'Redis does not serve the work queue, due jobs are delayed',
      );
    }
    this.#causes.add(cause);
  }

  #end(cause: 'disconnected' | 'rejected'): void {
    if (!this.#causes.delete(cause) || this.#causes.size > 0) return;
    this.#logger.info({ event: 'queue_restored' }, 'Redis serves the work queue again');
  }
}
