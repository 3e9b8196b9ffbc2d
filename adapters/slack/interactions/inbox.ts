import type { ReceiverEvent } from '@slack/bolt';
import { NOT_BEGUN, sentenceOf } from '#commands/sentences.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Lease } from '#src/cluster/leases.ts';
import type { Membership } from '#src/cluster/membership.ts';
import { asDailiesError, type DailiesError, overloaded } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Store, Versioned } from '#src/store/store.ts';
import { type AcknowledgeOnce, acknowledgeOnce, ifConnected } from './acknowledgement.ts';
import { type KnownRequest, readRequest, withoutSecrets } from './request-id.ts';

/**
 * Handles a request; resolves once handled, even on failure, which the handler reports itself. Its `ack` only matters
 * for submitted modals.
 * @throws the error that kept it from starting: nothing was done, and the user was not notified.
 */
export type Process = (event: ReceiverEvent) => Promise<void>;

/** Options of {@link Inbox}. */
export interface InboxOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: Process;
  /** Sends an ephemeral message to the user through the request's `response_url`. */
  readonly answerAt: (url: string, text: string) => Promise<void>;
  /** Detects dead replicas. */
  readonly membership: Pick<Membership, 'isGone'>;
  /** Most requests in flight. Default: 5,000. */
  readonly mostInHand?: number;
}

/** A persisted request. */
interface KeptRequest extends Versioned {
  /** The process that handles it, as in {@link Store.leases}. */
  readonly owner: string;
  /** The payload; `null` once handled, when the record only serves for dedup. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** Set if it was persisted after Slack had shown the user an error. */
  readonly isLate?: true;
}

/** Acknowledgement deadline, within Slack's 3 s: slower requests are acknowledged before their outcome is known. */
const ACKNOWLEDGE_AFTER_MS = 1_800;
/** Time without an acknowledgement after which Slack shows the user an error. @see https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response */
const REPORTED_AFTER_MS = 3_000;
/** Retention for dedup: Slack retries an event for about an hour at most. @see https://docs.slack.dev/apis/events-api#retries */
const RETENTION_MS = 2 * 3_600_000;
/** Age at which a request is dropped: a response is no longer expected, and its `response_url` is about to expire. */
const MAX_AGE_MS = 25 * 60_000;
const PRUNE_INTERVAL_MS = 3_600_000;
/** Default limit of requests in flight: bounds memory while Slack's API hangs. */
const MAX_IN_FLIGHT = 5_000;
/** Interval between scans for abandoned requests. */
const SWEEP_INTERVAL_MS = 15_000;
/** TTL of the sweeper's lease, after which a dead sweeper is replaced. */
const SWEEPER_LEASE_MS = 15_000;
/** Most abandoned requests handled at once. */
const TAKEOVER_CONCURRENCY = 20;
const POLL_INTERVAL_MS = 100;
const STORE_RETRY_MS = 1_000;
const START_RETRY_MS = 5_000;
const STARTING = 'beginning with a request of Slack';
/** Index of all persisted requests, by arrival. */
const INDEX = 'slack-inbox';
/** Index of unfinished requests, by arrival. */
const UNFINISHED = 'slack-inbox-undone';

/**
 * Handles each request of Slack once: persists it, acknowledges it, then handles it. A retry, on any replica, is
 * deduplicated by its record and acknowledged; an abandoned request is taken over by another replica.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** Requests in flight by id, with the payload of their acknowledgement. */
  readonly #running = new Map<string, { readonly answer: Promise<unknown>; readonly done: Promise<void> }>();
  #isClosed = false;
  /** Held by the replica that scans for abandoned requests. */
  #sweeper: Lease | null = null;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Takes a request. Rejects without acknowledging if it cannot be persisted, so that Slack retries it. */
  async take(event: ReceiverEvent): Promise<void> {
    const ack = ifConnected(event.ack, this.#options.logger);
    const request = readRequest(event.body);
    if (request === null) return void (await ack());
    if (this.#isClosed) throw new TypeError('taking a request: stopping');
    const running = this.#running.get(request.id);
    if (running !== undefined) return void (await ack(await running.answer));
    if (this.#running.size >= (this.#options.mostInHand ?? MAX_IN_FLIGHT)) return this.#reject(request, event, ack);
    const first = Promise.withResolvers<unknown>();
    const acknowledge = acknowledgeOnce(ack, first);
    const done = this.#handle(request, event, acknowledge).finally(() => {
      // Releases duplicates that wait for an acknowledgement.
      first.resolve(undefined);
      this.#running.delete(request.id);
    });
    this.#running.set(request.id, { answer: first.promise, done });
    // Rejects as soon as the acknowledgement is refused, although the handling may continue.
    await Promise.all([first.promise, done]);
  }

  /** Rejects a request under overload: asks the user to repeat a command; Slack retries everything else. */
  async #reject({ kind }: KnownRequest, event: ReceiverEvent, ack: ReturnType<typeof ifConnected>): Promise<void> {
    const error = overloaded('taking a request of Slack');
    if (kind !== 'command') throw error;
    this.#options.logger.warn({ event: 'slack_overloaded', err: error, kind }, 'overloaded; rejected a Slack command');
    const text = sentenceOf(error);
    if (!(await ack({ response_type: 'ephemeral', text }))) await this.#respond(event, text);
  }

  /** Takes over abandoned requests and prunes old records, now and periodically. */
  async resume(): Promise<void> {
    await this.#prune();
    await this.#sweep();
  }

  async #sweep(): Promise<void> {
    if (this.#isClosed) return;
    const { store, clock, logger } = this.#options;
    try {
      if (this.#sweeper?.isHeld() !== true) this.#sweeper = await store.leases.take('slack:inbox', SWEEPER_LEASE_MS);
      if (this.#sweeper !== null) await this.#takeOver();
    } catch (thrown) {
      logger.warn({ event: 'slack_inbox_scan_failed', err: thrown }, 'failed to scan for abandoned Slack requests');
    }
    if (this.#isClosed) await this.#sweeper?.release();
    // On an exclusive store, there are no other replicas that could abandon requests.
    else if (!store.exclusive) clock.after(SWEEP_INTERVAL_MS, () => void this.#sweep());
  }

  async #takeOver(): Promise<void> {
    const { store, membership } = this.#options;
    const unfinished = await store.scan(UNFINISHED, { order: 'oldest' });
    let taken: Promise<void>[] = [];
    for (const { member, score } of unfinished) {
      if (this.#isClosed) break;
      if (this.#running.has(member)) continue;
      const kept = await store.keyv('adapters').get<KeptRequest>(keyOf(member));
      if (kept === undefined || !(await membership.isGone(kept.owner))) continue;
      taken.push(this.#takeOverOne(member, kept, score));
      if (taken.length < TAKEOVER_CONCURRENCY) continue;
      await Promise.all(taken);
      taken = [];
    }
  }

  async #prune(): Promise<void> {
    const { store, clock, logger } = this.#options;
    try {
      const old = await store.scan(INDEX, { order: 'oldest', max: clock.now() - RETENTION_MS });
      for (const { member } of old) await this.forget(member);
    } catch (thrown) {
      logger.warn({ event: 'slack_inbox_prune_failed', err: thrown }, 'failed to prune the Slack inbox');
    }
    if (!this.#isClosed) clock.after(PRUNE_INTERVAL_MS, () => void this.#prune());
  }

  /** Deletes a request that changed nothing, so that the same one can be sent again. */
  async forget(id: string): Promise<void> {
    await this.#options.store.commit({
      records: [{ namespace: 'adapters', key: keyOf(id), value: null, expected: 'any' }],
      index: [INDEX, UNFINISHED].map((index) => ({ index, member: id, score: null })),
    });
  }

  /** Resolves once every request in flight has been acknowledged. */
  async acknowledged(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ answer }) => answer));
  }

  /** Drains: takes no more requests, and resolves once those in flight are handled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sweeper?.release();
    while (this.#running.size > 0) await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  async #handle(request: KnownRequest, event: ReceiverEvent, acknowledge: AcknowledgeOnce): Promise<void> {
    const { clock } = this.#options;
    const sinceMs = clock.monotonic();
    // Slack retries an event until it is acknowledged, so its acknowledgement waits until it is persisted.
    const isEvent = request.kind === 'event';
    const cancelTimer = isEvent ? undefined : clock.after(ACKNOWLEDGE_AFTER_MS, () => void acknowledge());
    try {
      if (request.isKept && !(await this.#persist(request, event, acknowledge))) return;
      // A modal waits for its validation errors; everything else can be acknowledged now.
      if (request.kind !== 'submission') await acknowledge();
      const ack = request.kind === 'submission' ? acknowledge : nothing;
      // Slack retries events, and never reports them as failed.
      const isReported = acknowledge.hasFailed() || clock.monotonic() - sinceMs > REPORTED_AFTER_MS;
      const isLate = !isEvent && isReported;
      if (isLate && request.isKept) await this.#markLate(request.id);
      const customProperties = { isAcknowledged: () => acknowledge.isDone(), isLate: () => isLate };
      await this.#start({ ...event, ack, customProperties }, request.isKept).catch(async (thrown: unknown) => {
        if (acknowledge.isDone()) throw thrown;
        // The modal stays open and can be submitted again.
        acknowledge.refuse(asDailiesError(thrown, STARTING));
        await this.#untilStored(undefined, () => this.forget(request.id));
        throw thrown;
      });
      await acknowledge();
      if (request.isKept) await this.#finish(request.id);
    } finally {
      cancelTimer?.();
    }
  }

  /**
   * Starts handling a request. If that fails, for example because its workspace cannot be looked up, asks the user to try
   * again through the `response_url`; without one, retries requests that Slack sends only once, such as mentions.
   */
  async #start(event: ReceiverEvent, isKept: boolean, sinceMs = this.#options.clock.now()): Promise<void> {
    const { clock, logger, process } = this.#options;
    for (;;) {
      try {
        return await process(event);
      } catch (thrown) {
        const error = asDailiesError(thrown, STARTING);
        logger.warn({ event: 'slack_request_start_failed', err: error }, 'failed to start a Slack request');
        if (typeof event.body['response_url'] === 'string') return this.#respond(event, NOT_BEGUN);
        const isCurrent = isKept && !this.#isClosed && clock.now() - sinceMs < MAX_AGE_MS;
        const isOpenModal = event.customProperties?.['isAcknowledged']?.() !== true;
        if (!isCurrent || isOpenModal || !error.retryable || error.code === 'unauthorised') throw error;
        await sleep(clock, START_RETRY_MS);
      }
    }
  }

  /** Responds through the `response_url`, once the acknowledgement can no longer carry the text. */
  async #respond({ body }: ReceiverEvent, text: string): Promise<void> {
    const { logger, answerAt } = this.#options;
    const url: unknown = body['response_url'];
    if (typeof url !== 'string') return;
    await answerAt(url, text).catch((thrown: unknown) => {
      const error = asDailiesError(thrown, 'answering a user');
      logger.warn({ event: 'slack_error_report_failed', err: error }, 'failed to report an error to the user');
    });
  }

  /** Persists a request. @returns whether to handle it: `false` for a duplicate. */
  async #persist(request: KnownRequest, event: ReceiverEvent, acknowledge: AcknowledgeOnce): Promise<boolean> {
    const body = withoutSecrets(event.body);
    try {
      for (;;) {
        if (await this.#write(request.id, { body }, undefined)) return true;
        if (request.kind !== 'submission' || !(await this.#isRetracted(request.id, acknowledge))) break;
      }
      await acknowledge();
      return false;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'keeping a request of Slack');
      switch (request.kind) {
        case 'event':
          acknowledge.refuse(error);
          return this.#settle(request.id, body);
        case 'command':
          await this.#reportUnstored(event, error, acknowledge);
          return this.#settle(request.id, null);
        case 'action':
        case 'shortcut':
        case 'submission': {
          const details = { event: 'slack_request_not_stored', err: error, kind: request.kind };
          this.#options.logger.warn(details, 'failed to persist a Slack request');
          // If the store is still unavailable, its handler fails too, and notifies the user.
          return true;
        }
      }
    }
  }

  /** Responds to a command that cannot be persisted with the reason. */
  async #reportUnstored(event: ReceiverEvent, error: DailiesError, acknowledge: AcknowledgeOnce): Promise<void> {
    const details = { event: 'slack_command_not_stored', err: error, kind: 'command' };
    this.#options.logger.warn(details, 'failed to persist a Slack command');
    const text = sentenceOf(error);
    const isFirst = !acknowledge.isDone();
    await acknowledge({ response_type: 'ephemeral', text });
    if (!isFirst || acknowledge.hasFailed()) await this.#respond(event, text);
  }

  /**
   * Settles a failed write, which may have been applied after all: while this process lives, no other one handles the
   * request. Once the store is back, stores an event to be handled here, whichever replica receives its retry, and a
   * command, which was reported as failed, as done (`null`).
   * @returns whether to handle it.
   */
  async #settle(id: string, payload: KeptRequest['body']): Promise<boolean> {
    const { store, clock } = this.#options;
    const sinceMs = clock.monotonic();
    return this.#untilStored(false, async () => {
      const body = clock.monotonic() - sinceMs > MAX_AGE_MS ? null : payload;
      if (await this.#write(id, { body }, undefined)) return body !== null;
      const there = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      if (there?.owner !== store.leases.owner || there.body === null) return false;
      if (body !== null) return true;
      await this.#write(id, { body }, there);
      return false;
    });
  }

  /**
   * Waits while another replica handles the same modal. Its response is not visible here, but it deletes the record of
   * a modal that it rejects. That is then validated here again, so that Slack gets the same response from both.
   * @returns whether the record was deleted; `false` once the modal is handled, or the time to respond is over.
   */
  async #isRetracted(id: string, acknowledge: AcknowledgeOnce): Promise<boolean> {
    const { store, clock } = this.#options;
    while (!acknowledge.isDone()) {
      const kept = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      if (kept === undefined) return true;
      if (kept.body === null) return false;
      await sleep(clock, POLL_INTERVAL_MS);
    }
    return false;
  }

  /** Handles an abandoned request, unless another replica took it over already, or it is too old. */
  async #takeOverOne(id: string, kept: KeptRequest, sinceMs: number): Promise<void> {
    const { clock, logger } = this.#options;
    const isTooOld = clock.now() - sinceMs > MAX_AGE_MS;
    const body = isTooOld ? null : kept.body;
    if (!(await this.#write(id, { body }, kept)) || body === null) return;
    const customProperties = { isAcknowledged: () => true, isLate: () => kept.isLate === true };
    const done = this.#start({ body, ack: nothing, retryReason: 'restart', customProperties }, true, sinceMs)
      .then(() => this.#finish(id))
      .catch((err: unknown) =>
        logger.warn({ event: 'slack_takeover_failed', err }, 'failed to take over a Slack request'),
      )
      .finally(() => this.#running.delete(id));
    this.#running.set(id, { answer: Promise.resolve(undefined), done });
    await done;
  }

  /**
   * Marks a request as handled, retrying until the store is back: otherwise another replica would handle it again, even
   * one that was reported as failed.
   */
  async #finish(id: string): Promise<void> {
    const { store } = this.#options;
    await this.#untilStored(undefined, async () => {
      const there = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      // A rejected modal is already deleted; a request that was taken over is finished by its new owner.
      if (there?.owner === store.leases.owner) await this.#write(id, { body: null }, there);
    });
  }

  /** Retries `write` until the store is back; returns `fallback` if the process shuts down before. */
  async #untilStored<T>(fallback: T, write: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        return await write();
      } catch (thrown) {
        if (tries === 1)
          logger.warn({ event: 'slack_inbox_write_failed', err: thrown }, 'failed to update the Slack inbox; retrying');
        if (this.#isClosed) return fallback;
        await sleep(clock, STORE_RETRY_MS);
      }
    }
  }

  /** Records that Slack showed the user an error, for a replica that may take the request over. */
  async #markLate(id: string): Promise<void> {
    const { store, logger } = this.#options;
    try {
      const there = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      if (there?.owner === store.leases.owner) await this.#write(id, { body: there.body, isLate: true }, there);
    } catch (thrown) {
      logger.warn({ event: 'slack_inbox_mark_failed', err: thrown }, 'failed to mark a Slack request as late');
    }
  }

  /** @returns `false` if the stored record differs from `before`. */
  #write(
    id: string,
    { body, isLate }: Pick<KeptRequest, 'body' | 'isLate'>,
    before: KeptRequest | undefined,
  ): Promise<boolean> {
    const { store, clock } = this.#options;
    const late = isLate === true || before?.isLate === true ? ({ isLate: true } as const) : {};
    const value: KeptRequest = { revision: (before?.revision ?? 0) + 1, owner: store.leases.owner, body, ...late };
    const expected = before?.revision ?? 'absent';
    const isNew = before === undefined ? [{ index: INDEX, member: id, score: clock.now() }] : [];
    const isIndexed = body === null || before === undefined;
    const unfinished = isIndexed ? [{ index: UNFINISHED, member: id, score: body === null ? null : clock.now() }] : [];
    const record = { namespace: 'adapters', key: keyOf(id), value, expected } as const;
    return store.commit({ records: [record], index: [...isNew, ...unfinished] });
  }
}

async function nothing(): Promise<void> {}

function keyOf(id: string): string {
  return `slack:inbox:${id}`;
}
