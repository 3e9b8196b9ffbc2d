import type { AckFn } from '@slack/bolt';
import type { Clock } from '#src/clock.ts';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';

/** Options of {@link Acknowledgement}. */
export interface AcknowledgementOptions {
  readonly ack: AckFn<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns whether the connection that the request arrived on is still open. */
  readonly isConnected: () => boolean;
}

/** Time without an acknowledgement after which Slack shows the user an error. @see https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response */
const REPORTED_AFTER_MS = 3_000;

/** The acknowledgement of one request, which is sent at most once. */
export class Acknowledgement {
  readonly #options: AcknowledgementOptions;
  readonly #receivedMs: number;
  readonly #payload = Promise.withResolvers<unknown>();
  #sent: Promise<boolean> | undefined;

  constructor(options: AcknowledgementOptions) {
    this.#options = options;
    this.#receivedMs = options.clock.monotonic();
    // Only a repeated delivery waits for it.
    this.#payload.promise.catch(() => undefined);
  }

  /** Payload of the acknowledgement, which repeated deliveries of the request get too; rejects if it was refused. */
  get payload(): Promise<unknown> {
    return this.#payload.promise;
  }

  /** True once the request was acknowledged or refused. */
  get isDone(): boolean {
    return this.#sent !== undefined;
  }

  /** Acknowledges the request, unless that was done already; a lost connection is logged. */
  async send(payload?: unknown): Promise<void> {
    if (this.#sent !== undefined) return;
    this.#payload.resolve(payload);
    this.#sent = this.#send(payload);
    await this.#sent;
  }

  /** Leaves the request unacknowledged for this reason: Slack retries an event, and a modal stays open. */
  refuse(reason: DailiesError): void {
    this.#sent ??= Promise.resolve(false);
    this.#payload.reject(reason);
  }

  /** Returns whether Slack takes the request for handled: it was acknowledged in time, or still can be. */
  async isAccepted(): Promise<boolean> {
    return this.#sent ?? (this.#options.isConnected() && !this.#isLate());
  }

  async #send(payload: unknown): Promise<boolean> {
    const isLate = this.#isLate();
    return (await acknowledge(this.#options, payload)) && !isLate;
  }

  #isLate(): boolean {
    return this.#options.clock.monotonic() - this.#receivedMs > REPORTED_AFTER_MS;
  }
}

/** Sends an acknowledgement. @returns whether it left: `false` if the connection is lost. */
export async function acknowledge(
  { ack, logger }: Pick<AcknowledgementOptions, 'ack' | 'logger'>,
  payload?: unknown,
): Promise<boolean> {
  try {
    await ack(payload);
    return true;
  } catch (thrown) {
    const error = asDailiesError(thrown, 'acknowledging a request of Slack');
    logger.warn({ event: 'slack_acknowledgement_failed', err: error }, 'failed to acknowledge a Slack request');
    return false;
  }
}
