import { type App, SocketModeReceiver } from '@slack/bolt';
import { type CancelTimer, type Clock, sleep, within } from '#src/clock.ts';
import type { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { translate } from '../web-api/errors.ts';
import { createSdkLogger } from '../web-api/sdk-logger.ts';

/** What a Socket Mode connection is made of. */
export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
  /** Takes what arrives. */
  readonly app: App;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CALL_TIMEOUT_MS = 15_000;
/** Slack greets a new connection at once; one that stays silent is given up. */
const GREETING_TIMEOUT_MS = 20_000;
/** Slack's own close frame is not waited for any longer. */
const CLOSING_TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

/**
 * A Socket Mode connection that comes back by itself. Bolt's own reconnecting is off: it begins after 5 s, gives up for
 * good at some errors, and leaves the process with an unhandled rejection then.
 */
export class SocketConnection {
  readonly #options: SocketOptions;
  #state: 'new' | 'connecting' | 'connected' | 'stopped' = 'new';
  #problem: DailiesError | null = null;
  #failures = 0;
  /** The connection that is open. */
  #receiver: SocketModeReceiver | null = null;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  /** Why it could not be connected the last time; `null` where it could. */
  get problem(): DailiesError | null {
    return this.#problem;
  }

  /** Resolves once connected, or once it is known that it takes longer. @throws `unauthorised` */
  async start(): Promise<void> {
    this.#state = 'connecting';
    this.#problem = await this.#connect();
    if (this.#problem?.code === 'unauthorised') throw this.#problem;
    if (this.#problem !== null) void this.#reconnect();
  }

  /** Resolves once it is closed, and does not come back. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    const receiver = this.#receiver;
    this.#receiver = null;
    if (receiver === null) return;
    const closed = receiver.client.disconnect().catch(() => undefined);
    await within(this.#options.clock, CLOSING_TIMEOUT_MS, closed, undefined);
  }

  /** @returns why it did not work; `null` where it did. */
  async #connect(): Promise<DailiesError | null> {
    const receiver = this.#newReceiver();
    const { client } = receiver;
    let cancel: CancelTimer = () => undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      cancel = this.#options.clock.after(GREETING_TIMEOUT_MS, () => reject(new Error('Slack did not say hello')));
    });
    const started = client.start();
    const leave = (): void => void client.disconnect().catch(() => undefined);
    try {
      await Promise.race([started, tooLong]);
      if (this.#state === 'stopped') leave();
      else this.#opened(receiver);
      return null;
    } catch (thrown) {
      // Half a connection must not come to life beside the next one.
      leave();
      started.then(leave, () => undefined);
      return translate(thrown ?? new Error('the connection was closed'), 'connecting to Slack');
    } finally {
      cancel();
    }
  }

  #opened(receiver: SocketModeReceiver): void {
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
      const pauseMs = this.#problem?.retryAfterMs ?? Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
      await sleep(clock, pauseMs);
      if (this.#state !== 'connecting') return;
      this.#problem = await this.#connect();
      if (this.#problem === null) return;
      this.#failures += 1;
      const level = this.#problem.code === 'unauthorised' ? 'error' : 'warn';
      logger[level]({ err: this.#problem, failures: this.#failures }, 'Slack could not be connected; trying again');
    }
  }

  /** A new one for each connection: what arrived on one is acknowledged there, or not at all. */
  #newReceiver(): SocketModeReceiver {
    const { appToken, apiUrl, app, logger } = this.#options;
    const receiver = new SocketModeReceiver({
      appToken,
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
