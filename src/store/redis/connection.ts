import { createClient, type RedisClientType } from '@keyv/redis';
import { type Clock, within } from '../../clock.ts';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { storeUnavailable } from '../failure.ts';
import type { StoreDeps } from '../surroundings.ts';
import { Outage, redisRejectionOf } from './errors.ts';

/** How long the first connection, and the answer to any call, is waited for. */
const TIMEOUT_MS = 5_000;
const NO_ANSWER = `no answer within ${TIMEOUT_MS} ms`;
/**
 * How often a connection that has nothing to do is tried. One that leads nowhere without having been closed is found
 * out within {@link TIMEOUT_MS} of the last byte written to it, also while it is being made.
 */
const PING_MS = 2_000;
/** Least time between two connections made because Redis said it was a replica. */
const ELSEWHERE_MS = 1_000;
const MAX_PAUSE_MS = 1_000;

/**
 * A connection to Redis that finds its way back, and whose calls end in time. While it is away, calls are refused at
 * once and none is kept for later: a claim must not be written after its caller was told that it failed.
 */
export class RedisConnection {
  readonly client: RedisClientType;
  /** Whether Redis takes writes, as far as the calls of this link and those {@link beside} it have seen. */
  readonly outage: Outage;
  /** Resolves once there was a connection, or none will be any more. */
  readonly connected: Promise<unknown>;
  readonly #clock: Clock;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;
  /** Why there is no connection; `null` while there is one. */
  #awayBecause: unknown = NO_ANSWER;
  #leftReplicaAtMs = -Infinity;

  private constructor(client: RedisClientType, clock: Clock, outage: Outage) {
    this.client = client;
    this.#clock = clock;
    this.outage = outage;
    // Every namespace's adapter listens, too.
    client.setMaxListeners(0);
    client.on('error', (error: unknown) => {
      // What a ping is answered says nothing about the connection; nor does that we ended it ourselves.
      if (!client.isReady) this.#awayBecause = reasonIn(error) ?? this.#awayBecause;
    });
    client.on('ready', () => {
      this.#awayBecause = null;
    });
    this.connected = this.#connect();
  }

  /**
   * Connects to the Redis at `url` (`redis://` or `rediss://`).
   * @throws `store_unavailable` when that took more than 5 seconds; the message never holds the password.
   */
  static async open(url: string, { clock, logger }: StoreDeps): Promise<RedisConnection> {
    const client: RedisClientType = createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: PING_MS,
      socket: { socketTimeout: TIMEOUT_MS, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, MAX_PAUSE_MS) },
    });
    const link = new RedisConnection(client, clock, new Outage(logger));
    link.#sayWhenAway(logger);
    await within<unknown>(clock, TIMEOUT_MS, link.connected, null);
    if (client.isReady) return link;
    const failure = storeUnavailable('connecting to Redis', link.#awayBecause);
    await link.close();
    throw failure;
  }

  /**
   * Another connection to the same Redis, for what is not to wait for the calls of this one, or they for it. It is
   * being made when this returns; that Redis is out of reach is said by this one alone.
   */
  beside(): RedisConnection {
    const client: RedisClientType = this.client.duplicate();
    return new RedisConnection(client, this.#clock, this.outage);
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
      const reason = new Error(NO_ANSWER);
      reject(reason);
      this.#reconnect(reason);
    });
    try {
      return await Promise.race([answer, late]);
    } catch (thrown) {
      throw thrown instanceof DailiesError ? thrown : storeUnavailable(doing, this.#worded(thrown));
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

  #sayWhenAway(logger: Logger): void {
    let isLost = false;
    this.client.on('error', () => {
      // A connection that was closed is no loss.
      if (isLost || this.#isClosed || this.client.isReady) return;
      isLost = true;
      logger.warn({ reason: String(this.#awayBecause) }, 'Redis is out of reach; trying again');
    });
    this.client.on('ready', () => {
      if (isLost) logger.info('Redis is in reach again');
      isLost = false;
    });
  }

  /** Resolves once there is a connection, or the link is closed; what goes wrong meanwhile arrives as 'error'. */
  #connect(): Promise<unknown> {
    return this.client.connect().catch(() => undefined);
  }

  /** A connection on which an answer stayed out may be dead without saying so, and would swallow the next calls, too. */
  #reconnect(reason: Error): void {
    if (!this.client.isReady) return;
    this.#awayBecause = reason;
    this.client.destroy();
    void this.#connect();
  }

  /** What a call was answered, in words that say what to do about it. */
  #worded(thrown: unknown): unknown {
    const refusal = redisRejectionOf(thrown);
    if (refusal === null) return this.#awayBecause ?? thrown;
    this.outage.begin(refusal.sentence);
    const worded = new Error(refusal.sentence, { cause: thrown });
    if (refusal.isElsewhere) this.#leaveReplica(worded);
    return worded;
  }

  #leaveReplica(reason: Error): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#leftReplicaAtMs < ELSEWHERE_MS) return;
    this.#leftReplicaAtMs = nowMs;
    this.#reconnect(reason);
  }
}

/** What the client's error says of Redis; `null`: nothing, since it was us who ended the connection. */
function reasonIn(error: unknown): unknown {
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'DisconnectsClientError') return null;
  return name === 'SocketTimeoutError' || name === 'SocketTimeoutDuringMaintenanceError' ? new Error(NO_ANSWER) : error;
}
