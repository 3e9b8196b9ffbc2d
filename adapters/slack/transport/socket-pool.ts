import type { App, Receiver } from '@slack/bolt';
import { type Clock, sleep } from '#src/clock.ts';
import type { Lease, Leases } from '#src/cluster/leases.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { SocketConnection, type SocketOptions } from './socket.ts';

/** What the connections of one replica are made of. */
export interface SocketPoolOptions extends Pick<SocketOptions, 'appToken' | 'apiUrl'> {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** All replicas together. @see https://docs.slack.dev/apis/events-api/using-socket-mode "Using multiple connections" */
const MOST_CONNECTIONS = 10;
/** Slack changes each of them every few hours; what is said meanwhile arrives on the other. */
const CONNECTIONS = 2;
/** How long the place of a replica that does not answer is kept: a short outage of the store costs no connection. */
const PLACE_MS = 30_000;
const LOOK_AGAIN_MS = 3_000;

/** One of this replica's connections, or none as long as the others have all of them. */
interface Line {
  connection: SocketConnection | null;
  /** Whether every place was taken when it was looked for last. */
  isStandby: boolean;
}

/** How the first try of a line ends. */
type Begun = Pick<PromiseWithResolvers<void>, 'promise' | 'resolve' | 'reject'>;

/**
 * Socket Mode on several connections: each replica has up to two, and all of them ten, which is what Slack allows. Who
 * has a connection has the lease of its place; who has lost that closes it, so that Slack gives to those who can work.
 */
export class SocketPool implements Receiver {
  readonly #options: SocketPoolOptions;
  readonly #lines: readonly Line[] = Array.from({ length: CONNECTIONS }, () => ({
    connection: null,
    isStandby: false,
  }));
  readonly #stop = new AbortController();
  #app: App | undefined;
  #running: readonly Promise<void>[] = [];

  constructor(options: SocketPoolOptions) {
    this.#options = options;
  }

  /** Why nothing arrives; `null` while something does, here or on the replicas that have all the places. */
  get problem(): string | null {
    const isServed = this.#lines.some(({ connection, isStandby }) => isStandby || connection?.isConnected === true);
    if (isServed) return null;
    const [problem] = this.#lines.flatMap(({ connection }) => connection?.problem ?? []);
    return problem === undefined ? 'Slack is not connected yet.' : `Slack is not connected: ${problem.message}`;
  }

  init(app: App): void {
    this.#app = app;
  }

  /** Resolves once connected, or once it is known that it takes longer. @throws `unauthorised` */
  async start(): Promise<void> {
    const begun = this.#lines.map((): Begun => Promise.withResolvers<void>());
    this.#running = this.#lines.map((line, at) => this.#keep(line, begun[at]));
    try {
      await Promise.all(begun.map(({ promise }) => promise));
    } catch (thrown) {
      await this.stop();
      throw thrown;
    }
  }

  /** Resolves once every connection is closed and its place free. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** Keeps one connection for as long as there is a place for it. */
  async #keep(line: Line, begun: Begun | undefined): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const place = await this.#place(line);
      if (place !== null) {
        await this.#connect(line, AbortSignal.any([signal, place.signal]), begun);
        await place.release();
      }
      begun?.resolve();
      await sleep(this.#options.clock, LOOK_AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** Keeps a connection until `until` aborts, or until Slack says at the first try that it is not for us. */
  async #connect(line: Line, until: AbortSignal, begun: Begun | undefined): Promise<void> {
    const { appToken, apiUrl, clock, logger } = this.#options;
    if (this.#app === undefined) throw new TypeError('connecting to Slack: there is nobody to take what arrives');
    const connection = new SocketConnection({ appToken, apiUrl, clock, logger, app: this.#app });
    line.connection = connection;
    try {
      await connection.start();
      begun?.resolve();
      await aborted(until);
    } catch (thrown) {
      logger.error({ err: thrown }, 'Slack refuses the connection');
      begun?.reject(thrown);
    }
    await connection.stop();
    if (until.aborted) line.connection = null;
  }

  async #place(line: Line): Promise<Lease | null> {
    const { leases, logger } = this.#options;
    line.isStandby = false;
    try {
      for (let place = 0; place < MOST_CONNECTIONS; place += 1) {
        const lease = await leases.take(`slack:socket:${place}`, PLACE_MS);
        if (lease !== null) return lease;
      }
      line.isStandby = true;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking for a place among the connections to Slack');
      logger.warn({ err: error }, 'a connection to Slack waits for the store');
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
