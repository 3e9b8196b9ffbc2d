import { type App, SocketModeReceiver } from '@slack/bolt';
import { type CancelTimer, type Clock, sleep, within } from '#src/clock.ts';
import type { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { createSdkLogger } from '../web-api/client.ts';
import { translate } from '../web-api/errors.ts';

/** Options of {@link SocketConnection}. */
export interface SocketOptions {
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
export class SocketConnection {
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
    let cancel: CancelTimer = () => undefined;
    const timedOut = new Promise<never>((_resolve, reject) => {
      cancel = this.#options.clock.after(HELLO_TIMEOUT_MS, () => reject(new Error('Slack did not say hello')));
    });
    const started = client.start();
    const disconnect = (): void => void client.disconnect().catch(() => undefined);
    try {
      await Promise.race([started, timedOut]);
      if (this.#state === 'stopped') disconnect();
      else this.#adopt(receiver);
      return null;
    } catch (thrown) {
      // A half-open connection must not open beside the next one.
      disconnect();
      started.then(disconnect, () => undefined);
      return translate(thrown ?? new Error('the connection was closed'), 'connecting to Slack');
    } finally {
      cancel();
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
