import type { FieldProblem, Form } from '#commands/bot-port.ts';
import type { Clock } from '#src/clock.ts';
import { collection, pagesOf, type Store, withLease } from '#src/engine/index.ts';
import { overloaded } from '#src/errors.ts';
import { SingleFlight } from '#src/single-flight.ts';
import type { wireCard } from './message-store.ts';

/** Default limit of responses in flight. */
const MAX_IN_FLIGHT = 5_000;

/** HTTP response to an interaction. */
export interface CachedResponse {
  /** A failure, 500 or 503, is not stored, so that the same request may be retried; nor is a form, which has a prompt. */
  readonly status: 202 | 400 | 500 | 503;
  readonly body: /** `card`: the answer to what the page Settings shows; not stored, since the page reads it again. */
    | { readonly message: string | null; readonly form?: Form; readonly card?: ReturnType<typeof wireCard> }
    /** `error` is one sentence; `problems` are the errors of a form by field. */
    | { readonly error: string; readonly problems?: readonly FieldProblem[] };
}

/** Response as stored. */
interface StoredResponse extends CachedResponse {
  /** Time of the request. */
  readonly atMs: number;
  /** User who was refused: the sentence may quote what they typed. Absent where there is none. */
  readonly by?: string;
}

/** By the idempotency keys of the requests. */
const playgroundResponses = collection<string, StoredResponse>({
  name: 'playground_responses',
  holds: 'responses to requests of the chat page, for their repetition',
  kept: 'a year',
  personal: { byOwner: true },
});

/** Stands for a refusal whose user was forgotten. */
const REFUSED_BEFORE = 'This request was refused before.';
/** Index of the stored responses; scores are their times. */
const ANSWERS_INDEX = 'playground-answers';
/** TTL of the lease on a key: how long a crashed replica blocks the others. */
const LEASE_MS = 10_000;
const POLL_MS = 50;

/** Responses by idempotency key: a key is handled once, however often and on whichever replica it arrives. */
export class ResponseCache {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #maxInFlight: number;
  readonly #inFlight = new SingleFlight<string, CachedResponse>();

  constructor(store: Store, clock: Clock, maxInFlight = MAX_IN_FLIGHT) {
    this.#store = store;
    this.#clock = clock;
    this.#maxInFlight = maxInFlight;
  }

  /**
   * Returns the response to `key`: the stored one, the one in flight, or that of `handle`. A rejection is not stored.
   * @throws `overloaded` at the limit of responses in flight.
   */
  async once(key: string, user: string, handle: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const isFull = this.#inFlight.get(key) === undefined && this.#inFlight.size >= this.#maxInFlight;
    if (isFull) throw overloaded(`finding the answer to ${key}`);
    return this.#inFlight.run(key, () => this.#load(key, user, handle));
  }

  /** Resolves once no response is in flight (drain). */
  settled(): Promise<void> {
    return this.#inFlight.settled();
  }

  /**
   * Deletes the responses to requests up to a time. A later redelivery is handled again, and buys nothing: the claims of
   * orders stay.
   */
  async expire(maxMs: number): Promise<void> {
    for await (const page of pagesOf(this.#store, ANSWERS_INDEX, { max: maxMs })) {
      for (const { member } of page) {
        await this.#store.commit({
          records: [playgroundResponses.overwriting(member, null)],
          index: [{ index: ANSWERS_INDEX, member, score: null }],
        });
      }
    }
  }

  /** Forgets what a user was refused with. Idempotent. */
  async forget(user: string): Promise<void> {
    for await (const page of playgroundResponses.all(this.#store)) {
      for (const { key, value } of page) {
        const { by, ...stored } = value;
        const body = { error: REFUSED_BEFORE };
        if (by === user) await playgroundResponses.set(this.#store, key, { ...stored, body });
      }
    }
  }

  /** Handles the key under a lease; the other replicas wait for it, and then find the stored response. */
  async #load(key: string, user: string, handle: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const { leases } = this.#store;
    const lease = { leases, clock: this.#clock, name: `playground:answer:${key}`, ttlMs: LEASE_MS, retryMs: POLL_MS };
    const response = await withLease(lease, async () => (await this.#stored(key)) ?? this.#handle(key, user, handle));
    if (response === null) throw new TypeError(`finding the answer to ${key}: waiting for its lease has no limit`);
    return response;
  }

  /** Stores the response. If this replica stalled and another one stored its own meanwhile, returns that one. */
  async #handle(key: string, user: string, handle: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const response = await handle();
    if (response.status >= 500 || 'form' in response.body) return response;
    const atMs = this.#clock.now();
    const body = 'card' in response.body ? { message: null } : response.body;
    const value: StoredResponse = { ...response, body, atMs, ...(response.status === 400 ? { by: user } : {}) };
    const record = { ...playgroundResponses.overwriting(key, value), expected: 'absent' } as const;
    const index = [{ index: ANSWERS_INDEX, member: key, score: atMs }];
    if (await this.#store.commit({ records: [record], index })) return response;
    return (await this.#stored(key)) ?? response;
  }

  async #stored(key: string): Promise<CachedResponse | undefined> {
    const found = await playgroundResponses.get(this.#store, key);
    return found === undefined ? undefined : { status: found.status, body: found.body };
  }
}
