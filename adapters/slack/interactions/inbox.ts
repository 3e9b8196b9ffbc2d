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
 * Does what a request asks for; resolves once that is done, also where it went wrong: that is said by whoever does it. Its
 * `ack` counts for sent forms alone.
 * @throws what kept it from beginning: nothing was done, and nobody was told.
 */
export type Process = (event: ReceiverEvent) => Promise<void>;

/** Collaborators of {@link Inbox}. */
export interface InboxOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: Process;
  /** Says something to whoever did something alone, at the address that came with it. */
  readonly answerAt: (url: string, text: string) => Promise<void>;
  /** Tells which processes are dead. */
  readonly membership: Pick<Membership, 'isGone'>;
  /** Most requests that are being done at once. Default 5,000. */
  readonly mostInHand?: number;
}

/** A request as it is kept until it is done. */
interface KeptRequest extends Versioned {
  /** Which process is at it, by {@link Store.leases}. */
  readonly owner: string;
  /** `null` once it is done: only that it was there is remembered. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** It was kept after Slack had told its person that it failed. */
  readonly isLate?: true;
}

/** Slack waits 3 s; what takes longer is acknowledged before it is known how it ends. */
const ACKNOWLEDGE_AFTER_MS = 1_800;
/** What is not kept by then, its person was told had failed. @see https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response */
const REPORTED_AFTER_MS = 3_000;
/** Slack repeats an event for about an hour at most. @see https://docs.slack.dev/apis/events-api#retries */
const REMEMBERED_FOR_MS = 2 * 3_600_000;
/** Older than this, nobody waits for an answer any more, and the addresses to answer at are dead. */
const ANSWERED_WITHIN_MS = 25 * 60_000;
const TIDIED_EVERY_MS = 3_600_000;
/** What hangs because Slack's own API hangs must not take the memory of the rest. */
const MOST_IN_HAND = 5_000;
/** How often it is looked for what dead processes left undone. */
const SWEPT_EVERY_MS = 15_000;
/** How long one that died keeps the others from looking. */
const SWEEPER_MS = 15_000;
/** So many are taken over at once. */
const TAKEN_OVER_AT_ONCE = 20;
const LOOK_AGAIN_MS = 100;
const ASK_AGAIN_MS = 1_000;
const BEGIN_AGAIN_MS = 5_000;
const BEGINNING = 'beginning with a request of Slack';
/** Everything that is remembered, by when it came. */
const INDEX = 'slack-inbox';
/** What of it is not done. */
const UNDONE = 'slack-inbox-undone';

/**
 * What Slack sends, taken once: written down, acknowledged, then done. A repetition, on whichever replica it arrives,
 * finds what is written and is acknowledged alike; what a process did not finish is done by another one.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** What is being done, and what was answered at once. */
  readonly #running = new Map<string, { readonly answer: Promise<unknown>; readonly done: Promise<void> }>();
  #isClosed = false;
  /** Held by the replica that looks for what is left undone. */
  #reconciler: Lease | null = null;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Takes a request. Rejects without acknowledging where it could not be kept, so that Slack sends it again. */
  async take(event: ReceiverEvent): Promise<void> {
    const ack = ifConnected(event.ack, this.#options.logger);
    const request = readRequest(event.body);
    if (request === null) return void (await ack());
    if (this.#isClosed) throw new TypeError('taking a request: stopping');
    const running = this.#running.get(request.id);
    if (running !== undefined) return void (await ack(await running.answer));
    if (this.#running.size >= (this.#options.mostInHand ?? MOST_IN_HAND)) return this.#turnAway(request, event, ack);
    const first = Promise.withResolvers<unknown>();
    const acknowledge = acknowledgeOnce(ack, first);
    const done = this.#do(request, event, acknowledge).finally(() => {
      // Nothing waits for an answer that will not come.
      first.resolve(undefined);
      this.#running.delete(request.id);
    });
    this.#running.set(request.id, { answer: first.promise, done });
    // What is not acknowledged is refused at once, whatever is done with it later.
    await Promise.all([first.promise, done]);
  }

  /** Whoever gave a command is told to give it again; everything else Slack sends again by itself. */
  async #turnAway({ kind }: KnownRequest, event: ReceiverEvent, ack: ReturnType<typeof ifConnected>): Promise<void> {
    const error = overloaded('taking a request of Slack');
    if (kind !== 'command') throw error;
    this.#options.logger.warn({ err: error, kind }, 'a request of Slack was turned away');
    const text = sentenceOf(error);
    if (!(await ack({ response_type: 'ephemeral', text }))) await this.#answer(event, text);
  }

  /** Does what dead processes left undone, and forgets what is old, from now on. */
  async resume(): Promise<void> {
    await this.#tidy();
    await this.#sweep();
  }

  async #sweep(): Promise<void> {
    if (this.#isClosed) return;
    const { store, clock, logger } = this.#options;
    try {
      if (this.#reconciler?.isHeld() !== true) this.#reconciler = await store.leases.take('slack:inbox', SWEEPER_MS);
      if (this.#reconciler !== null) await this.#takeOver();
    } catch (thrown) {
      logger.warn({ err: thrown }, 'what others left undone on Slack could not be looked for');
    }
    if (this.#isClosed) await this.#reconciler?.release();
    // Where there is no other process, nobody leaves anything from now on.
    else if (!store.exclusive) clock.after(SWEPT_EVERY_MS, () => void this.#sweep());
  }

  async #takeOver(): Promise<void> {
    const { store, membership } = this.#options;
    const undone = await store.scan(UNDONE, { order: 'oldest' });
    let taken: Promise<void>[] = [];
    for (const { member, score } of undone) {
      if (this.#isClosed) break;
      if (this.#running.has(member)) continue;
      const kept = await store.keyv('adapters').get<KeptRequest>(keyOf(member));
      if (kept === undefined || !(await membership.isGone(kept.owner))) continue;
      taken.push(this.#resume(member, kept, score));
      if (taken.length < TAKEN_OVER_AT_ONCE) continue;
      await Promise.all(taken);
      taken = [];
    }
  }

  async #tidy(): Promise<void> {
    const { store, clock, logger } = this.#options;
    try {
      const old = await store.scan(INDEX, { order: 'oldest', max: clock.now() - REMEMBERED_FOR_MS });
      for (const { member } of old) await this.forget(member);
    } catch (thrown) {
      logger.warn({ err: thrown }, 'the inbox of Slack could not be tidied');
    }
    if (!this.#isClosed) clock.after(TIDIED_EVERY_MS, () => void this.#tidy());
  }

  /** Nothing was done: the same may be sent again. */
  async forget(id: string): Promise<void> {
    await this.#options.store.commit({
      records: [{ namespace: 'adapters', key: keyOf(id), value: null, expected: 'any' }],
      index: [INDEX, UNDONE].map((index) => ({ index, member: id, score: null })),
    });
  }

  /** Resolves once Slack was answered to everything that has arrived so far. */
  async acknowledged(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ answer }) => answer));
  }

  /** Takes nothing more, and resolves once everything that was taken is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reconciler?.release();
    while (this.#running.size > 0) await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  async #do(request: KnownRequest, event: ReceiverEvent, acknowledge: AcknowledgeOnce): Promise<void> {
    const { clock } = this.#options;
    const sinceMs = clock.monotonic();
    // An event is sent again until it is acknowledged, so that waits until it is kept.
    const isPatient = request.kind === 'event';
    const stop = isPatient ? undefined : clock.after(ACKNOWLEDGE_AFTER_MS, () => void acknowledge());
    try {
      if (request.isKept && !(await this.#keep(request, event, acknowledge))) return;
      // A form waits for what is wrong with it; everything else is safe now.
      if (request.kind !== 'submission') await acknowledge();
      const ack = request.kind === 'submission' ? acknowledge : nothing;
      // What Slack sends again by itself was never reported as failed.
      const isReported = acknowledge.hasFailed() || clock.monotonic() - sinceMs > REPORTED_AFTER_MS;
      const isLate = !isPatient && isReported;
      if (isLate && request.isKept) await this.#noteLate(request.id);
      const customProperties = { isAcknowledged: () => acknowledge.isDone(), isLate: () => isLate };
      await this.#begin({ ...event, ack, customProperties }, request.isKept).catch(async (thrown: unknown) => {
        if (acknowledge.isDone()) throw thrown;
        // The form stays open, and may be sent once more.
        acknowledge.refuse(asDailiesError(thrown, BEGINNING));
        await this.#insist(undefined, () => this.forget(request.id));
        throw thrown;
      });
      await acknowledge();
      if (request.isKept) await this.#finish(request.id);
    } finally {
      stop?.();
    }
  }

  /**
   * Has it done. Where that cannot begin, since it is not known just now whose workspace it is, whoever waits for an answer
   * is told to ask again; what Slack sends once alone, such as a mention, is tried again.
   */
  async #begin(event: ReceiverEvent, isKept: boolean, sinceMs = this.#options.clock.now()): Promise<void> {
    const { clock, logger, process } = this.#options;
    for (;;) {
      try {
        return await process(event);
      } catch (thrown) {
        const error = asDailiesError(thrown, BEGINNING);
        logger.warn({ err: error }, 'a request of Slack could not be begun');
        if (typeof event.body['response_url'] === 'string') return this.#answer(event, NOT_BEGUN);
        const isAwaited = isKept && !this.#isClosed && clock.now() - sinceMs < ANSWERED_WITHIN_MS;
        const isOpenForm = event.customProperties?.['isAcknowledged']?.() !== true;
        if (!isAwaited || isOpenForm || !error.retryable || error.code === 'unauthorised') throw error;
        await sleep(clock, BEGIN_AGAIN_MS);
      }
    }
  }

  /** Answers where Slack is not waiting for an acknowledgement any more. */
  async #answer({ body }: ReceiverEvent, text: string): Promise<void> {
    const { logger, answerAt } = this.#options;
    const url: unknown = body['response_url'];
    if (typeof url !== 'string') return;
    await answerAt(url, text).catch((thrown: unknown) => {
      const error = asDailiesError(thrown, 'answering somebody');
      logger.warn({ err: error }, 'somebody could not be told that it did not work');
    });
  }

  /** @returns whether it is to be done: not if it was kept already. */
  async #keep(request: KnownRequest, event: ReceiverEvent, acknowledge: AcknowledgeOnce): Promise<boolean> {
    const body = withoutSecrets(event.body);
    try {
      for (;;) {
        if (await this.#write(request.id, { body }, undefined)) return true;
        if (request.kind !== 'submission' || !(await this.#isForgotten(request.id, acknowledge))) break;
      }
      await acknowledge();
      return false;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'keeping a request of Slack');
      switch (request.kind) {
        case 'event':
          acknowledge.refuse(error);
          return this.#makeSure(request.id, body);
        case 'command':
          await this.#tell(event, error, acknowledge);
          return this.#makeSure(request.id, null);
        case 'action':
        case 'shortcut':
        case 'submission':
          this.#options.logger.warn({ err: error, kind: request.kind }, 'a request of Slack could not be kept');
          // It finds out by itself, and says so.
          return true;
      }
    }
  }

  /** A command that cannot be kept is answered with why. */
  async #tell(event: ReceiverEvent, error: DailiesError, acknowledge: AcknowledgeOnce): Promise<void> {
    this.#options.logger.warn({ err: error, kind: 'command' }, 'a request of Slack could not be kept');
    const text = sentenceOf(error);
    const isSaid = !acknowledge.isDone();
    await acknowledge({ response_type: 'ephemeral', text });
    if (!isSaid || acknowledge.hasFailed()) await this.#answer(event, text);
  }

  /**
   * Nobody knows whether what could not be kept was written after all; as long as this process lives, no other one does
   * it. So it is written once the store is back: an event to be done here, whoever hears its repetition; a command, of
   * which somebody was told that it did not work, as done (`null`).
   * @returns whether it is to be done.
   */
  async #makeSure(id: string, wanted: KeptRequest['body']): Promise<boolean> {
    const { store, clock } = this.#options;
    const sinceMs = clock.monotonic();
    return this.#insist(false, async () => {
      const body = clock.monotonic() - sinceMs > ANSWERED_WITHIN_MS ? null : wanted;
      if (await this.#write(id, { body }, undefined)) return body !== null;
      const there = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      if (there?.owner !== store.leases.owner || there.body === null) return false;
      if (body !== null) return true;
      await this.#write(id, { body }, there);
      return false;
    });
  }

  /**
   * Another replica is at a form. What it answers is not heard here, but a form that it refused is forgotten, and is
   * asked for anew: so the answer is the same whichever of the two Slack hears first.
   * @returns whether it was forgotten; not where it is done, or cannot be waited for any longer.
   */
  async #isForgotten(id: string, acknowledge: AcknowledgeOnce): Promise<boolean> {
    const { store, clock } = this.#options;
    while (!acknowledge.isDone()) {
      const kept = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      if (kept === undefined) return true;
      if (kept.body === null) return false;
      await sleep(clock, LOOK_AGAIN_MS);
    }
    return false;
  }

  /** Does what a dead process left undone, unless another one is at it already, or nobody waits for it any more. */
  async #resume(id: string, kept: KeptRequest, sinceMs: number): Promise<void> {
    const { clock, logger } = this.#options;
    const isOver = clock.now() - sinceMs > ANSWERED_WITHIN_MS;
    const body = isOver ? null : kept.body;
    if (!(await this.#write(id, { body }, kept)) || body === null) return;
    const customProperties = { isAcknowledged: () => true, isLate: () => kept.isLate === true };
    const done = this.#begin({ body, ack: nothing, retryReason: 'restart', customProperties }, true, sinceMs)
      .then(() => this.#finish(id))
      .catch((thrown: unknown) => logger.warn({ err: thrown }, 'what was left undone could not be done'))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, { answer: Promise.resolve(undefined), done });
    await done;
  }

  /**
   * Marks as done, however long the store takes to come back: whoever went on in place of this process would do it again,
   * and of what could not be done somebody was told so.
   */
  async #finish(id: string): Promise<void> {
    const { store } = this.#options;
    await this.#insist(undefined, async () => {
      const there = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      // A form that was refused has been forgotten meanwhile; what another one took over is his to finish.
      if (there?.owner === store.leases.owner) await this.#write(id, { body: null }, there);
    });
  }

  /** What `ask` says once the store is back; `otherwise` where this process stops before. */
  async #insist<T>(otherwise: T, ask: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask();
      } catch (thrown) {
        if (tries === 1)
          logger.warn({ err: thrown }, 'how a request of Slack ended cannot be written yet; trying again');
        if (this.#isClosed) return otherwise;
        await sleep(clock, ASK_AGAIN_MS);
      }
    }
  }

  /** Whoever takes it over has to know that its person saw it fail. */
  async #noteLate(id: string): Promise<void> {
    const { store, logger } = this.#options;
    try {
      const there = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
      if (there?.owner === store.leases.owner) await this.#write(id, { body: there.body, isLate: true }, there);
    } catch (thrown) {
      logger.warn({ err: thrown }, 'that a request of Slack came too late could not be written');
    }
  }

  /** @returns whether it was as it is in `before`. */
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
    const isUndone = body === null || before === undefined;
    const undone = isUndone ? [{ index: UNDONE, member: id, score: body === null ? null : clock.now() }] : [];
    const record = { namespace: 'adapters', key: keyOf(id), value, expected } as const;
    return store.commit({ records: [record], index: [...isNew, ...undone] });
  }
}

async function nothing(): Promise<void> {}

function keyOf(id: string): string {
  return `slack:inbox:${id}`;
}
