import { once } from 'node:events';
import { type App, type Receiver, SocketModeReceiver } from '@slack/bolt';
import { type Clock, sleep, within } from '#src/clock.ts';
import type { Lease, Leases } from '#src/engine/index.ts';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { createSdkLogger } from '../web-api/client.ts';
import { translate } from '../web-api/errors.ts';

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
      if (!until.aborted) await once(until, 'abort');
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

interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
  /** Handles incoming requests. */
  readonly app: App;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CALL_TIMEOUT_MS = 15_000;
/** Time for Slack's `hello`, which it sends at once on a new connection. */
const HELLO_TIMEOUT_MS = 20_000;
/** Longest wait for Slack's close frame. */
const CLOSING_TIMEOUT_MS = 2_000;
const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 30_000;

/**
 * A Socket Mode connection that reconnects with backoff. Bolt's own reconnecting is off: it starts after 5 s, and gives up
 * for good at some errors with an unhandled rejection.
 */
class SocketConnection {
  readonly #options: SocketOptions;
  #state: 'new' | 'connecting' | 'connected' | 'stopped' = 'new';
  #problem: DailiesError | null = null;
  #failures = 0;
  #receiver: SocketModeReceiver | null = null;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  /** Error of the last connection attempt; `null` if it succeeded. */
  get problem(): DailiesError | null {
    return this.#problem;
  }

  /** Resolves once the first attempt has ended; a failed one is retried in the background. @throws `unauthorised` */
  async start(): Promise<void> {
    this.#state = 'connecting';
    this.#problem = await this.#connect();
    if (this.#problem?.code === 'unauthorised') throw this.#problem;
    if (this.#problem !== null) void this.#reconnect();
  }

  /** Closes the connection for good; resolves once it is closed. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    const receiver = this.#receiver;
    this.#receiver = null;
    if (receiver === null) return;
    const closed = receiver.client.disconnect().catch(() => undefined);
    await within(this.#options.clock, CLOSING_TIMEOUT_MS, closed, undefined);
  }

  /** @returns the error of a failed attempt; `null` if it succeeded. */
  async #connect(): Promise<DailiesError | null> {
    const receiver = this.#newReceiver();
    const { client } = receiver;
    const started = client.start();
    const disconnect = (): void => void client.disconnect().catch(() => undefined);
    try {
      const opened = started.then(() => true);
      if (!(await within(this.#options.clock, HELLO_TIMEOUT_MS, opened, false)))
        throw new Error('Slack did not say hello');
      if (this.#state === 'stopped') disconnect();
      else this.#adopt(receiver);
      return null;
    } catch (thrown) {
      // A half-open connection must not open beside the next one.
      disconnect();
      started.then(disconnect, () => undefined);
      return translate(thrown ?? new Error('the connection was closed'), 'connecting to Slack');
    }
  }

  #adopt(receiver: SocketModeReceiver): void {
    this.#receiver = receiver;
    this.#state = 'connected';
    this.#failures = 0;
    receiver.client.once('disconnected', () => {
      if (this.#receiver !== receiver) return;
      this.#receiver = null;
      this.#state = 'connecting';
      void this.#reconnect();
    });
  }

  async #reconnect(): Promise<void> {
    const { clock, logger } = this.#options;
    for (;;) {
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures, MAX_BACKOFF_MS);
      await sleep(clock, this.#problem?.retryAfterMs ?? backoffMs);
      if (this.#state !== 'connecting') return;
      this.#problem = await this.#connect();
      if (this.#problem === null) return;
      this.#failures += 1;
      const level = this.#problem.code === 'unauthorised' ? 'error' : 'warn';
      const details = { event: 'slack_socket_failed', err: this.#problem, failures: this.#failures };
      logger[level](details, 'failed to connect to Slack; retrying');
    }
  }

  /** Creates a receiver per connection: a request can only be acknowledged on the connection it arrived on. */
  #newReceiver(): SocketModeReceiver {
    const { appToken, apiUrl, app, logger } = this.#options;
    const receiver = new SocketModeReceiver({
      appToken,
      customPropertiesExtractor: () => ({ isConnected: () => this.#receiver === receiver }),
      logger: createSdkLogger(logger),
      autoReconnectEnabled: false,
      installerOptions: {
        clientOptions: {
          ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
          timeout: CALL_TIMEOUT_MS,
          retryConfig: { retries: 5, factor: 1.5, minTimeout: 300, maxTimeout: 3_000 },
          rejectRateLimitedCalls: true,
        },
      },
    });
    receiver.init(app);
    return receiver;
  }
}
