import type { ReceiverEvent } from '@slack/bolt';
import { NOT_BEGUN, STILL_WORKING, sentenceOf } from '#commands/sentences.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, sleep } from '#src/clock.ts';
import { asDailiesError, overloaded } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { Acknowledgement, acknowledge } from './acknowledgement.ts';
import { type KnownRequest, readRequest } from './request-id.ts';

/**
 * Handles a request; resolves once handled, even on failure, which the handler reports itself. Its `ack` only matters
 * for submitted modals.
 * @throws the error that kept it from starting: nothing was done, and the user was not notified.
 */
export type Process = (event: ReceiverEvent) => Promise<void>;

/** Options of {@link Dispatcher}. */
export interface DispatcherOptions {
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
  readonly accepted: ((isRepeated: boolean) => Promise<boolean>) | undefined;
}

/** Acknowledgement deadline, within Slack's 3 s: slower requests are acknowledged before their outcome is known. */
const ACKNOWLEDGE_AFTER_MS = 1_800;
/** Time for another replica, which may be handling an earlier delivery, to claim its order. */
const REPEAT_WAIT_MS = 1_500;
/** Default limit of requests in flight: bounds memory while Slack's API hangs. */
const MAX_IN_FLIGHT = 5_000;
/** Handled requests to remember: Slack retries one at once, after a minute and after five. @see https://docs.slack.dev/apis/events-api#retries */
const MAX_HANDLED = 10_000;
const STARTING = 'beginning with a request of Slack';

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

  async #handle({ id, kind }: KnownRequest, event: ReceiverEvent, acknowledgement: Acknowledgement): Promise<void> {
    const { clock, process } = this.#options;
    // An event stays unacknowledged until it is handled, so that Slack retries it.
    const cancelTimer =
      kind === 'event'
        ? undefined
        : clock.after(ACKNOWLEDGE_AFTER_MS, () => void acknowledgeSlow(kind, acknowledgement));
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

  async #isAccepted(acknowledgement: Acknowledgement, isRepeated: boolean): Promise<boolean> {
    if (!isRepeated) return acknowledgement.isAccepted();
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

/** Acknowledges a request whose outcome is not known yet; the sender of a command is told that it may still fail. */
function acknowledgeSlow(kind: KnownRequest['kind'], acknowledgement: Acknowledgement): Promise<void> {
  return acknowledgement.send(kind === 'command' ? ephemeral(STILL_WORKING) : undefined);
}

function ephemeral(text: string) {
  return { response_type: 'ephemeral', text } as const;
}

async function nothing(): Promise<void> {}
