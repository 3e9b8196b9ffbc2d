import type { AckFn, ReceiverEvent } from '@slack/bolt';
import { sentenceOf } from '#commands/sentences.ts';
import type { Clock } from '#src/clock.ts';
import { asDailiesError, type DailiesError, overloaded } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import { type KnownRequest, readRequest } from './requests.ts';

/** Does what a request asks for; resolves once that is done. Its `ack` counts for sent forms alone. */
export type Process = (event: ReceiverEvent) => Promise<void>;

/** Collaborators of {@link Inbox}. */
export interface InboxOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: Process;
  /** Most requests that are being done at once. Default 5,000. */
  readonly mostInHand?: number;
}

/** A request as it is kept until it is done. */
interface KeptRequest {
  readonly revision: number;
  /** `null` once it is done: only that it was there is remembered. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

type Acknowledge = AckFn<unknown>;

/** Acknowledges once. */
interface AcknowledgeOnce extends Acknowledge {
  readonly isDone: () => boolean;
}

/** Slack waits 3 s; what takes longer is acknowledged before it is known how it ends. */
const ACKNOWLEDGE_AFTER_MS = 1_800;
/** Slack repeats an event for about an hour at most. @see https://docs.slack.dev/apis/events-api#retries */
const REMEMBERED_FOR_MS = 2 * 3_600_000;
/** Older than this, nobody waits for an answer any more, and the addresses to answer at are dead. */
const ANSWERED_WITHIN_MS = 25 * 60_000;
/** Where other processes use the same store, one of them may still be at work on what is younger. */
const ABANDONED_AFTER_MS = 60_000;
const TIDIED_EVERY_MS = 3_600_000;
/** What hangs because Slack's own API hangs must not take the memory of the rest. */
const MOST_IN_HAND = 5_000;
const INDEX = 'slack-inbox';

/**
 * What Slack sends, taken once: written down, acknowledged, then done. A repetition finds what is written and is
 * acknowledged alike; what a process did not finish is done by the next one.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** What is being done, and what was answered at once. */
  readonly #running = new Map<string, { readonly answer: Promise<unknown>; readonly done: Promise<void> }>();
  #isClosed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Takes a request. Rejects without acknowledging where it could not be kept, so that Slack sends it again. */
  async take(event: ReceiverEvent): Promise<void> {
    const request = readRequest(event.body);
    if (request === null) return event.ack();
    if (this.#isClosed) throw new TypeError('taking a request: stopping');
    const running = this.#running.get(request.id);
    if (running !== undefined) return event.ack(await running.answer);
    if (this.#running.size >= (this.#options.mostInHand ?? MOST_IN_HAND)) return this.#turnAway(request, event);
    const first = Promise.withResolvers<unknown>();
    const acknowledge = acknowledgeOnce(event.ack, first.resolve, this.#options.logger);
    const done = this.#do(request, event, acknowledge).finally(() => {
      // Nothing waits for an answer that will not come.
      first.resolve(undefined);
      this.#running.delete(request.id);
    });
    this.#running.set(request.id, { answer: first.promise, done });
    await done;
  }

  /** Whoever gave a command is told to give it again; everything else Slack sends again by itself. */
  async #turnAway({ kind }: KnownRequest, event: ReceiverEvent): Promise<void> {
    const error = overloaded('taking a request of Slack');
    if (kind !== 'command') throw error;
    this.#options.logger.warn({ err: error, kind }, 'a request of Slack was turned away');
    await event.ack({ response_type: 'ephemeral', text: sentenceOf(error) });
  }

  /** Does what an earlier process left undone, and forgets what is old, now and every hour. */
  async resume(): Promise<void> {
    const { store, clock } = this.#options;
    await this.#tidy();
    const nowMs = clock.now();
    for (const { member, score } of await store.scan(INDEX, { order: 'oldest', min: nowMs - ANSWERED_WITHIN_MS })) {
      if (!store.exclusive && nowMs - score < ABANDONED_AFTER_MS) continue;
      const body = (await store.keyv('adapters').get<KeptRequest>(keyOf(member)))?.body ?? null;
      if (body !== null && !this.#running.has(member)) void this.#resume(member, body);
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
      index: [{ index: INDEX, member: id, score: null }],
    });
  }

  /** Takes nothing more, and resolves once everything that was taken is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#running.size > 0) await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  async #do(request: KnownRequest, event: ReceiverEvent, acknowledge: AcknowledgeOnce): Promise<void> {
    const stop = this.#options.clock.after(ACKNOWLEDGE_AFTER_MS, () => void acknowledge());
    try {
      if (request.isKept && !(await this.#keep(request, event, acknowledge))) return;
      // A form waits for what is wrong with it; everything else is safe now.
      if (request.kind !== 'submission') await acknowledge();
      await this.#options.process({
        ...event,
        ack: request.kind === 'submission' ? acknowledge : nothing,
        customProperties: { isAcknowledged: () => acknowledge.isDone() },
      });
      await acknowledge();
      if (request.isKept) await this.#finish(request.id);
    } finally {
      stop();
    }
  }

  /** @returns whether it is to be done: not where it was kept already. */
  async #keep(request: KnownRequest, event: ReceiverEvent, acknowledge: AcknowledgeOnce): Promise<boolean> {
    try {
      const isNew = await this.#write(request.id, { revision: 1, body: withoutSecrets(event.body) }, 'absent');
      if (!isNew) await acknowledge();
      return isNew;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'keeping a request of Slack');
      // An event comes again by itself; people are told.
      if (request.kind === 'event') throw error;
      return this.#tell(request, error, acknowledge);
    }
  }

  /** Where it cannot be kept, a command is answered with why; the rest goes on and finds out by itself. */
  async #tell({ kind }: KnownRequest, error: DailiesError, acknowledge: Acknowledge): Promise<boolean> {
    this.#options.logger.warn({ err: error, kind }, 'a request of Slack could not be kept');
    if (kind !== 'command') return true;
    await acknowledge({ response_type: 'ephemeral', text: sentenceOf(error) });
    return false;
  }

  async #resume(id: string, body: NonNullable<KeptRequest['body']>): Promise<void> {
    const { logger, process } = this.#options;
    const done = process({
      body,
      ack: nothing,
      retryReason: 'restart',
      customProperties: { isAcknowledged: () => true },
    })
      .then(() => this.#finish(id))
      .catch((thrown: unknown) => logger.warn({ err: thrown }, 'what was left undone could not be done'))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, { answer: Promise.resolve(undefined), done });
    await done;
  }

  async #finish(id: string): Promise<void> {
    const there = await this.#options.store.keyv('adapters').get<KeptRequest>(keyOf(id));
    // A form that was refused has been forgotten meanwhile.
    if (there === undefined) return;
    await this.#write(id, { revision: there.revision + 1, body: null }, there.revision).catch((thrown: unknown) =>
      this.#options.logger.warn({ err: thrown }, 'a request of Slack could not be marked as done'),
    );
  }

  #write(id: string, value: KeptRequest, expected: 'absent' | number): Promise<boolean> {
    const { store, clock } = this.#options;
    const index = expected === 'absent' ? [{ index: INDEX, member: id, score: clock.now() }] : [];
    return store.commit({ records: [{ namespace: 'adapters', key: keyOf(id), value, expected }], index });
  }
}

/** Acknowledges the first time it is called; that the connection is gone meanwhile is Slack's to repair. */
function acknowledgeOnce(ack: Acknowledge, answered: (answer: unknown) => void, logger: Logger): AcknowledgeOnce {
  let isDone = false;
  const acknowledge: Acknowledge = async (answer) => {
    if (isDone) return;
    isDone = true;
    answered(answer);
    await ack(answer).catch((thrown: unknown) => {
      logger.warn({ err: asDailiesError(thrown, 'acknowledging a request of Slack') }, 'Slack could not be answered');
    });
  };
  return Object.assign(acknowledge, { isDone: () => isDone });
}

/** The verification token is of no use, and a token all the same. */
function withoutSecrets(body: ReceiverEvent['body']): NonNullable<KeptRequest['body']> {
  const { token: _token, ...rest } = body;
  return rest;
}

async function nothing(): Promise<void> {}

function keyOf(id: string): string {
  return `slack:inbox:${id}`;
}
