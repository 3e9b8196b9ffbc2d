import type { App, Receiver } from '@slack/bolt';
import { sleep } from '#src/clock.ts';
import type { Lease, Leases } from '#src/engine/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { SocketConnection, type SocketOptions } from './socket.ts';

/** Options of {@link SocketPool}. */
interface SocketPoolOptions extends Omit<SocketOptions, 'app'> {
  readonly leases: Leases;
}

/** Most connections of all replicas together. @see https://docs.slack.dev/apis/events-api/using-socket-mode "Using multiple connections" */
const MOST_CONNECTIONS = 10;
/** Connections per replica: Slack replaces each every few hours, and delivers on the other meanwhile. */
const CONNECTIONS = 2;
/** TTL of a slot's lease: long enough that a short outage of the store closes no connection. */
const SLOT_LEASE_MS = 30_000;
const SLOT_RETRY_INTERVAL_MS = 3_000;

/** One of this replica's connections, or a standby while other replicas hold every slot. */
interface PooledConnection {
  connection: SocketConnection | null;
  /** True if every slot was taken at the last attempt. */
  isStandby: boolean;
}

/** Settles with the outcome of a first connection attempt. */
type FirstAttempt = Pick<PromiseWithResolvers<void>, 'promise' | 'resolve' | 'reject'>;

/**
 * Socket Mode on several connections: up to two per replica and ten in total, which is Slack's limit. Each connection
 * holds the lease of its slot; a replica that loses the lease closes the connection, so that Slack delivers to replicas
 * that can work.
 */
export class SocketPool implements Receiver {
  readonly #options: SocketPoolOptions;
  readonly #connections: readonly PooledConnection[] = Array.from({ length: CONNECTIONS }, () => ({
    connection: null,
    isStandby: false,
  }));
  readonly #stop = new AbortController();
  #app: App | undefined;
  #running: readonly Promise<void>[] = [];

  constructor(options: SocketPoolOptions) {
    this.#options = options;
  }

  /** The reason why no requests arrive; `null` while they do, here or on the replicas that hold every slot. */
  get problem(): string | null {
    const isServed = this.#connections.some(
      ({ connection, isStandby }) => isStandby || connection?.isConnected === true,
    );
    if (isServed) return null;
    const [problem] = this.#connections.flatMap(({ connection }) => connection?.problem ?? []);
    return problem === undefined ? 'Slack is not connected yet.' : `Slack is not connected: ${problem.message}`;
  }

  init(app: App): void {
    this.#app = app;
  }

  /** Resolves once the first attempts have ended; failed ones are retried in the background. @throws `unauthorised` */
  async start(): Promise<void> {
    const attempts = this.#connections.map((): FirstAttempt => Promise.withResolvers<void>());
    this.#running = this.#connections.map((connection, at) => this.#maintain(connection, attempts[at]));
    try {
      await Promise.all(attempts.map(({ promise }) => promise));
    } catch (thrown) {
      await this.stop();
      throw thrown;
    }
  }

  /** Resolves once every connection is closed and its slot released. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** Maintains one connection: opens it whenever a slot is free, until stopped. */
  async #maintain(pooled: PooledConnection, firstAttempt: FirstAttempt | undefined): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const slot = await this.#takeSlot(pooled);
      if (slot !== null) {
        await this.#connect(pooled, AbortSignal.any([signal, slot.signal]), firstAttempt);
        await slot.release();
      }
      firstAttempt?.resolve();
      await sleep(this.#options.clock, SLOT_RETRY_INTERVAL_MS, signal).catch(() => undefined);
    }
  }

  /** Holds a connection until `until` aborts, or until Slack rejects the token at the first attempt. */
  async #connect(pooled: PooledConnection, until: AbortSignal, firstAttempt: FirstAttempt | undefined): Promise<void> {
    if (this.#app === undefined) throw new TypeError('connecting to Slack: the receiver has no app');
    const connection = new SocketConnection({ ...this.#options, app: this.#app });
    pooled.connection = connection;
    try {
      await connection.start();
      firstAttempt?.resolve();
      await aborted(until);
    } catch (thrown) {
      const details = { event: 'slack_socket_refused', err: thrown };
      this.#options.logger.error(details, 'Slack refused the Socket Mode connection');
      firstAttempt?.reject(thrown);
    }
    await connection.stop();
    if (until.aborted) pooled.connection = null;
  }

  async #takeSlot(pooled: PooledConnection): Promise<Lease | null> {
    const { leases, logger } = this.#options;
    pooled.isStandby = false;
    try {
      for (let slot = 0; slot < MOST_CONNECTIONS; slot += 1) {
        const lease = await leases.take(`slack:socket:${slot}`, SLOT_LEASE_MS);
        if (lease !== null) return lease;
      }
      pooled.isStandby = true;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking for a place among the connections to Slack');
      logger.warn({ event: 'slack_socket_lease_failed', err: error }, 'failed to lease a Socket Mode slot; retrying');
    }
    return null;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
