import type { AckFn, ReceiverEvent } from '@slack/bolt';
import type { Caller } from '#commands/bot-port.ts';
import { NOT_BEGUN, STILL_WORKING, sentenceOf } from '#commands/sentences/errors.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, sleep } from '#src/clock.ts';
import { asDailiesError, type DailiesError, overloaded } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { type KnownRequest, readRequest } from './request-id.ts';

/**
 * Handles a request; resolves once handled, even on failure, which the handler reports itself. Its `ack` only matters
 * for submitted modals.
 * @throws the error that kept it from starting: nothing was done, and the user was not notified.
 */
export type Process = (event: ReceiverEvent) => Promise<void>;

interface DispatcherOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: Process;
  /** Sends an ephemeral message to the user through the request's `response_url`. */
  readonly answerAt: (url: string, text: string) => Promise<void>;
  /** Most requests in flight. Default: 5,000. */
  readonly mostInFlight?: number;
}

/** State of a request for its listener, in Bolt's context. */
export interface RequestState {
  /** Acknowledges the request, once what it orders is claimed. */
  readonly acknowledge: () => Promise<void>;
  /** Returns whether the request was acknowledged: its modal is closed then. */
  readonly isAcknowledged: () => boolean;
  /**
   * As `Caller.acknowledged`: resolves to whether an order may be claimed, which is acknowledged right afterwards.
   * Absent for events, which Slack retries and never reports as failed.
   */
  readonly accepted: Caller['acknowledged'];
}

/** Time without an acknowledgement after which Slack shows the user an error. @see https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response */
const REPORTED_AFTER_MS = 3_000;
/** Acknowledgement deadline, within Slack's 3 s: slower requests are acknowledged before their outcome is known. */
const ACKNOWLEDGE_AFTER_MS = 1_800;
/** Time for another replica, which may be handling an earlier delivery, to claim its order. */
const REPEAT_WAIT_MS = 1_500;
/** Default limit of requests in flight: bounds memory while Slack's API hangs. */
const MAX_IN_FLIGHT = 5_000;
/** Handled requests to remember: Slack retries one at once, after a minute and after five. @see https://docs.slack.dev/apis/events-api#retries */
const MAX_HANDLED = 10_000;
const STARTING = 'beginning with a request of Slack';

interface AcknowledgementOptions {
  readonly ack: AckFn<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns whether the connection that the request arrived on is still open. */
  readonly isConnected: () => boolean;
}

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

/**
 * Dispatches each request to its listener, and acknowledges it once its order is claimed or its reply is sent. A request
 * that a crash leaves unacknowledged is retried by Slack or reported as failed; a retry that reaches another replica
 * leads to the same task, whose key derives from the request.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** Requests in flight by id. */
  readonly #running = new Map<string, { readonly acknowledgement: Acknowledgement; readonly done: Promise<void> }>();
  /** Ids of the latest requests that were handled. */
  readonly #handled = new BoundedMap<string, true>(MAX_HANDLED);
  #isClosed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Handles a request. Rejects without acknowledging if it could not be started, so that Slack retries it. */
  async take(event: ReceiverEvent): Promise<void> {
    const { clock, logger, mostInFlight = MAX_IN_FLIGHT } = this.#options;
    const { ack, body, customProperties } = event;
    const request = readRequest(body);
    if (request === null || this.#handled.has(request.id)) return void (await acknowledge({ ack, logger }));
    if (this.#isClosed) throw new TypeError('taking a request: stopping');
    const running = this.#running.get(request.id);
    if (running !== undefined) return void (await acknowledge({ ack, logger }, await running.acknowledgement.payload));
    if (this.#running.size >= mostInFlight) return this.#reject(request, event);
    const isConnected = (): boolean => customProperties?.['isConnected']?.() !== false;
    const acknowledgement = new Acknowledgement({ ack, clock, logger, isConnected });
    const done = this.#handle(request, event, acknowledgement).finally(() => this.#running.delete(request.id));
    this.#running.set(request.id, { acknowledgement, done });
    await done;
  }

  /** Resolves once every request in flight has been acknowledged. */
  async acknowledged(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ acknowledgement }) => acknowledgement.payload));
  }

  /** Drains: takes no more requests, and resolves once those in flight are handled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#running.size > 0) await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  /** Rejects a request under overload: asks the user to repeat a command; Slack retries everything else. */
  async #reject({ kind }: KnownRequest, event: ReceiverEvent): Promise<void> {
    const { logger } = this.#options;
    const error = overloaded('taking a request of Slack');
    if (kind !== 'command') throw error;
    logger.warn({ event: 'slack_overloaded', err: error, kind }, 'overloaded; rejected a Slack command');
    const text = sentenceOf(error);
    if (!(await acknowledge({ ack: event.ack, logger }, ephemeral(text)))) await this.#respond(event, text);
  }

  async #handle(request: KnownRequest, event: ReceiverEvent, acknowledgement: Acknowledgement): Promise<void> {
    const { clock, process } = this.#options;
    const { id, kind } = request;
    // An event stays unacknowledged until it is handled, so that Slack retries it.
    const cancelTimer =
      kind === 'event'
        ? undefined
        : clock.after(ACKNOWLEDGE_AFTER_MS, () => void this.#acknowledgeSlow(request, event, acknowledgement));
    const state: RequestState = {
      acknowledge: () => acknowledgement.send(),
      isAcknowledged: () => acknowledgement.isDone,
      accepted: kind === 'event' ? undefined : (isRepeated) => this.#isAccepted(acknowledgement, isRepeated),
    };
    const ack = kind === 'submission' ? (payload?: unknown) => acknowledgement.send(payload) : nothing;
    try {
      await process({ ...event, ack, customProperties: { ...state } });
      await acknowledgement.send();
      // A rejected modal may be submitted again as it is.
      if (kind !== 'submission') this.#handled.set(id, true);
    } catch (thrown) {
      await this.#reportFailure(event, acknowledgement, thrown);
    } finally {
      cancelTimer?.();
    }
  }

  /** Acknowledges a request whose outcome is not known yet; its user is told that it may still fail, but of a modal. */
  async #acknowledgeSlow(
    { kind }: KnownRequest,
    event: ReceiverEvent,
    acknowledgement: Acknowledgement,
  ): Promise<void> {
    if (acknowledgement.isDone) return;
    if (kind === 'command') return acknowledgement.send(ephemeral(STILL_WORKING));
    await acknowledgement.send();
    await this.#respond(event, STILL_WORKING);
  }

  async #isAccepted(acknowledgement: Acknowledgement, isRepeated = async () => false): Promise<boolean> {
    if (!(await isRepeated())) return acknowledgement.isAccepted();
    // The first delivery may have been reported as failed: its order is only offered, unless it is claimed meanwhile.
    await sleep(this.#options.clock, REPEAT_WAIT_MS);
    return false;
  }

  /**
   * Reports a request that could not be started, for example because its workspace cannot be looked up: asks the user
   * to try again through the `response_url`; without one, leaves it to Slack.
   * @throws the error, if it is left to Slack
   */
  async #reportFailure(event: ReceiverEvent, acknowledgement: Acknowledgement, thrown: unknown): Promise<void> {
    const error = asDailiesError(thrown, STARTING);
    const details = { event: 'slack_request_start_failed', err: error };
    this.#options.logger.warn(details, 'failed to start a Slack request');
    const isHopeless = event.body['type'] === 'event_callback' && !error.retryable;
    if (isHopeless || typeof event.body['response_url'] === 'string') {
      await acknowledgement.send();
      return this.#respond(event, NOT_BEGUN);
    }
    acknowledgement.refuse(error);
    throw error;
  }

  /** Responds through the `response_url`. */
  async #respond({ body }: ReceiverEvent, text: string): Promise<void> {
    const { logger, answerAt } = this.#options;
    const url: unknown = body['response_url'];
    if (typeof url !== 'string') return;
    await answerAt(url, text).catch((thrown: unknown) => {
      const error = asDailiesError(thrown, 'answering a user');
      logger.warn({ event: 'slack_error_report_failed', err: error }, 'failed to report an error to the user');
    });
  }
}

/** Sends an acknowledgement. @returns whether it left: `false` if the connection is lost. */
async function acknowledge(
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

function ephemeral(text: string) {
  return { response_type: 'ephemeral', text } as const;
}

async function nothing(): Promise<void> {}
