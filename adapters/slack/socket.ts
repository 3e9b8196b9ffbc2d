import { type App, type Receiver, SocketModeReceiver } from '@slack/bolt';
import { type CancelTimer, type Clock, sleep } from '#src/clock.ts';
import type { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { translate } from './errors.ts';
import { createSdkLogger } from './sdk-logger.ts';

/** What a Socket Mode connection is made of. */
export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CALL_TIMEOUT_MS = 15_000;
/** Slack greets a new connection at once; one that stays silent is given up. */
const GREETING_TIMEOUT_MS = 20_000;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

/**
 * Socket Mode that comes back by itself. Bolt's own reconnecting is off: it begins after 5 s, gives up for good at some
 * errors, and leaves the process with an unhandled rejection then.
 */
export class SocketConnection implements Receiver {
  readonly #options: SocketOptions;
  readonly #receiver: SocketModeReceiver;
  #state: 'new' | 'connecting' | 'connected' | 'stopped' = 'new';
  #problem: DailiesError | null = null;
  #failures = 0;

  constructor(options: SocketOptions) {
    this.#options = options;
    const { appToken, apiUrl, logger } = options;
    this.#receiver = new SocketModeReceiver({
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
    this.#receiver.client.on('disconnected', () => this.#lost());
  }

  /** Why nothing arrives; `null` while connected. */
  get problem(): string | null {
    if (this.#state === 'connected') return null;
    return this.#problem === null ? 'Slack is not connected yet.' : `Slack is not connected: ${this.#problem.message}`;
  }

  init(app: App): void {
    this.#receiver.init(app);
  }

  /** Resolves once connected, or once it is known that it takes longer. @throws `unauthorised` */
  async start(): Promise<void> {
    this.#state = 'connecting';
    const error = await this.#connect();
    if (error?.code === 'unauthorised') throw error;
    if (error !== null) void this.#reconnect(error);
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    await this.#receiver.stop();
  }

  /** @returns why it did not work; `null` where it did. */
  async #connect(): Promise<DailiesError | null> {
    const { client } = this.#receiver;
    let cancel: CancelTimer = () => undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      cancel = this.#options.clock.after(GREETING_TIMEOUT_MS, () => reject(new Error('Slack did not say hello')));
    });
    const started = client.start();
    try {
      await Promise.race([started, tooLong]);
      this.#state = 'connected';
      this.#problem = null;
      this.#failures = 0;
      return null;
    } catch (thrown) {
      started.catch(() => undefined);
      // Half a connection must not come to life beside the next one.
      client.disconnect().catch(() => undefined);
      return translate(thrown ?? new Error('the connection was closed'), 'connecting to Slack');
    } finally {
      cancel();
    }
  }

  #lost(): void {
    // While it is being made, who makes it is told by itself.
    if (this.#state !== 'connected') return;
    this.#state = 'connecting';
    void this.#reconnect(null);
  }

  async #reconnect(error: DailiesError | null): Promise<void> {
    const { clock, logger } = this.#options;
    this.#problem = error;
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
}
