import type { MessageRef } from '#src/chat/platform.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Lease, Leases } from '#src/cluster/leases.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { mayHaveHappened, slackCodeOf } from '../web-api/errors.ts';
import type { MessageStore, PostRecord } from './message-store.ts';
import type { Body } from './render.ts';
import { Finder } from './search.ts';

/** Collaborators of {@link Messages}. */
export interface MessagesOptions {
  readonly clients: Clients;
  readonly memory: MessageStore;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where a message is posted. */
export interface Post {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  readonly body: Body;
}

/** A message on its way, as one of the replicas sees it. */
interface Posting extends Post {
  readonly key: string;
  /** The right to post it. */
  readonly lease: Lease;
}

/** Names our messages among others. @see https://docs.slack.dev/messaging/message-metadata */
const EVENT_TYPE = 'dailies_message';
/** @see https://docs.slack.dev/reference/methods/chat.postMessage: no link of a message is opened or drawn */
const AS_TEXT = { parse: 'none', unfurl_links: false, unfurl_media: false } as const;

/** How long a message stays with a replica that does not answer: what it sent has arrived by then, and is found. */
const LEASE_MS = 15_000;
/** A message that leaves now has arrived before another replica may look for it. */
const MARGIN_MS = 4_000;
const LOOK_AGAIN_MS = 200;
const PATIENCE_MS = 20_000;

/**
 * Messages of the bot. Slack has no documented way to post once: one replica at a time may post what is posted under a
 * key; it is written down first, carries the key in its metadata, and is looked for there before it is posted once more.
 */
export class Messages {
  readonly #options: MessagesOptions;
  readonly #posting = new Map<string, Promise<MessageRef>>();
  readonly #finder: Finder;

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#finder = new Finder(options.clients, options.logger);
  }

  /** Posts under `key`, or finds what was posted under it; many callers at once post one. */
  postOnce(key: string, post: Post): Promise<MessageRef> {
    const running = this.#posting.get(key);
    if (running !== undefined) return running;
    const posted = this.#postOnce(key, post).finally(() => this.#posting.delete(key));
    this.#posting.set(key, posted);
    return posted;
  }

  /** Replaces what a message shows; always with blocks, since a text alone would take them away. */
  async update(to: TeamRef, message: MessageRef, body: Body, urgency: 'progress' | 'final'): Promise<void> {
    await this.#options.clients.update(urgency, {
      to,
      doing: 'changing a message',
      run: (client) => client.chat.update({ channel: message.channel, ts: message.message, ...body, parse: 'none' }),
    });
  }

  /** @throws DailiesError `message_gone` where a message is not there any more, although its channel is. */
  async expectThere(to: TeamRef, { channel, message }: MessageRef): Promise<void> {
    const doing = 'looking for a message';
    const run = async (): Promise<unknown> =>
      this.#options.clients.call({
        to,
        lane: 'delivery',
        doing,
        run: (client) => client.chat.getPermalink({ channel, message_ts: message }),
      });
    await run().catch((thrown: unknown) => {
      if (slackCodeOf(thrown) === 'message_not_found') throw thrown;
      // Whatever else is wrong is found out by the call that matters.
      this.#options.logger.debug({ err: thrown }, 'a message could not be looked for');
    });
  }

  async #postOnce(key: string, post: Post): Promise<MessageRef> {
    const { memory, leases, clock } = this.#options;
    for (const begunAtMs = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
      const known = placeOf(await memory.post(key));
      if (known !== null) return known;
      const lease = await leases.take(`slack:${key}`, LEASE_MS);
      if (lease !== null) return this.#postAlone({ key, lease, ...post });
      if (clock.monotonic() - begunAtMs > PATIENCE_MS) throw notOurs(key);
    }
  }

  async #postAlone(posting: Posting): Promise<MessageRef> {
    try {
      return await this.#findOrPost(posting);
    } finally {
      await posting.lease.release();
    }
  }

  async #findOrPost(posting: Posting): Promise<MessageRef> {
    const { key, to } = posting;
    const { memory } = this.#options;
    const known = await memory.post(key);
    const place = placeOf(known);
    if (place !== null) return place;
    // Whoever wrote it down may have posted it.
    const found = known === undefined ? null : await this.#finder.find({ ...known, to, key });
    return found === null ? this.#post(posting, known) : this.#remember(posting, known, found);
  }

  async #post(posting: Posting, before: PostRecord | undefined): Promise<MessageRef> {
    const { key, to, channel, thread } = posting;
    const { memory, clients, clock } = this.#options;
    await clients.turn(to, channel);
    assertHeld(posting);
    const record = await memory.rememberPost(key, before, { channel, thread, sinceMs: clock.now(), message: null });
    if (record === null) throw notOurs(key);
    return this.#remember(posting, record, await this.#sendOrFind(posting, record));
  }

  /** Where the answer is lost, the message is looked for at once: it may be there. */
  async #sendOrFind(posting: Posting, record: PostRecord): Promise<MessageRef> {
    const { key, to } = posting;
    const { memory } = this.#options;
    try {
      return await this.#send(posting);
    } catch (thrown) {
      if (!mayHaveHappened(thrown)) {
        await memory.forgetPost(key, record);
        throw thrown;
      }
      const found = await this.#finder.find({ ...record, to, key });
      if (found === null) throw thrown;
      return found;
    }
  }

  async #send(posting: Posting): Promise<MessageRef> {
    const { key, to, channel, thread, body } = posting;
    const metadata = { event_type: EVENT_TYPE, event_payload: { key } };
    const posted = await this.#options.clients.postNow(channel, {
      to,
      lane: 'delivery',
      doing: 'posting a message',
      run: async (client) => {
        const message = { channel, ...body, ...AS_TEXT, metadata };
        assertHeld(posting);
        return client.chat.postMessage(thread === null ? message : { ...message, thread_ts: thread });
      },
    });
    return { channel: posted.channel ?? channel, message: posted.ts ?? '' };
  }

  /** Writes down where the message is. */
  async #remember(posting: Posting, before: PostRecord | undefined, message: MessageRef): Promise<MessageRef> {
    const { key, thread } = posting;
    const { memory, clock } = this.#options;
    const sinceMs = before?.sinceMs ?? clock.now();
    const record = await memory.rememberPost(key, before, { ...message, thread, sinceMs });
    return record === null ? this.#yield(posting, message) : message;
  }

  /**
   * This process was stopped between its last look at the lease and the call, and another replica went on in its place:
   * its message stays, and ours goes.
   */
  async #yield({ key, to }: Posting, ours: MessageRef): Promise<MessageRef> {
    const { memory, clients, clock, logger } = this.#options;
    for (const begunAtMs = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
      const place = placeOf(await memory.post(key));
      if (place?.message === ours.message) return ours;
      if (place === null && clock.monotonic() - begunAtMs < PATIENCE_MS) continue;
      logger.warn({ channel: ours.channel }, 'a message was posted twice; the second one is taken away');
      const doing = 'taking a doubled message away';
      const run = (client: Parameters<Parameters<Clients['call']>[0]['run']>[0]) =>
        client.chat.delete({ channel: ours.channel, ts: ours.message });
      await clients.call({ to, lane: 'delivery', doing, run }).catch((thrown: unknown) => {
        const error = asDailiesError(thrown, doing);
        if (error.code !== 'message_gone') logger.warn({ err: error }, 'a doubled message could not be taken away');
      });
      if (place === null) throw notOurs(key);
      return place;
    }
  }
}

/** Where a message certainly is. */
function placeOf(record: PostRecord | undefined): MessageRef | null {
  return record === undefined || record.message === null ? null : { channel: record.channel, message: record.message };
}

/** Asked right before what nobody else may do at the same time. */
function assertHeld({ key, lease }: Posting): void {
  if (!lease.isHeld(MARGIN_MS)) throw notOurs(key);
}

function notOurs(key: string): DailiesError {
  return new DailiesError(`posting ${key}: another replica is at it`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: 1_000,
  });
}
