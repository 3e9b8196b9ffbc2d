import { BoundedMap } from '#src/bounded-map.ts';
import type { AlsoRecorded, MessageRef, Opened } from '#src/chat/index.ts';
import { type Clock, sleep } from '#src/clock.ts';
import { type Lease, type Leases, withLease } from '#src/engine/index.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { SingleFlight } from '#src/single-flight.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { mayHaveHappened, slackCodeOf } from '../web-api/errors.ts';
import type { MessageStore, PostRecord } from './message-store.ts';
import type { Body } from './render.ts';

export interface MessagesOptions {
  readonly clients: Clients;
  readonly messageStore: MessageStore;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Post {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  readonly body: Body;
  /** Posted instead where the workspace refuses the blocks of `body`, such as its table. Default: none. */
  readonly plainBody?: Body;
  /** Shows the reply in the channel, too, with previews of its links. Default: false. */
  readonly isBroadcast?: boolean;
  /** As of `Platform.open`. */
  readonly also?: AlsoRecorded | undefined;
}

/** Urgency of an edit: each has its own share of the edits per minute. */
type EditUrgency = Parameters<Clients['update']>[0];

interface Posting extends Post {
  readonly key: string;
  /** Gives the exclusive right to post it. */
  readonly lease: Lease;
}

/** Metadata type of the bot's messages. @see https://docs.slack.dev/messaging/message-metadata */
const EVENT_TYPE = 'dailies_message';
/** @see https://docs.slack.dev/reference/methods/chat.postMessage: links are neither unfurled nor previewed */
const AS_TEXT = { parse: 'none', unfurl_links: false, unfurl_media: false } as const;

/** Errors of a message with blocks that Slack does not accept. @see https://docs.slack.dev/reference/methods/chat.postMessage#errors */
const REFUSED_BLOCKS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_attachments']);

/** TTL of a message's lease: by its end, a message that a dead replica sent has arrived and can be found. */
const LEASE_MS = 15_000;
/** Minimum remaining lease for a call, so that the message arrives before another replica searches for it. */
const MARGIN_MS = 4_000;
const RETRY_INTERVAL_MS = 200;
const MAX_WAIT_MS = 20_000;

/**
 * Posts and edits messages. Slack has no documented idempotency key, so posting is deduplicated here: a lease admits one
 * replica per key, the intent is persisted first, the message carries the key in its metadata, and a retry searches for
 * it before it posts again.
 */
export class Messages {
  readonly #options: MessagesOptions;
  readonly #posting = new SingleFlight<string, Opened>();
  readonly #finder: Finder;

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#finder = new Finder(options.clients, options.logger);
  }

  /** Posts once per idempotency key: returns the message already posted under `key`, if any; concurrent calls share it. */
  postOnce(key: string, post: Post): Promise<Opened> {
    return this.#posting.run(key, () => this.#postOnce(key, post));
  }

  /** Returns the message posted under a key; `undefined` where there is none, or it is unconfirmed. */
  async posted(key: string): Promise<MessageRef | undefined> {
    return messageOf(await this.#options.messageStore.post(key)) ?? undefined;
  }

  /** Replaces a message's content; always with blocks, since an update with only text removes them. */
  async update(to: TeamRef, message: MessageRef, body: Body, urgency: EditUrgency): Promise<void> {
    await this.#options.clients.update(urgency, {
      to,
      operation: 'changing a message',
      run: (client) => client.chat.update({ channel: message.channel, ts: message.message, ...body, parse: 'none' }),
    });
  }

  async delete(to: TeamRef, { channel, message: ts }: MessageRef, operation: string): Promise<void> {
    await this.#options.clients.deliver(to, operation, (client) => client.chat.delete({ channel, ts }));
  }

  /** @throws DailiesError `message_gone` if a message was deleted while its channel still exists. */
  async assertExists(to: TeamRef, { channel, message }: MessageRef): Promise<void> {
    const { clients, logger } = this.#options;
    const found = clients.deliver(to, 'looking for a message', (client) =>
      client.chat.getPermalink({ channel, message_ts: message }),
    );
    await found.catch((thrown: unknown) => {
      if (slackCodeOf(thrown) === 'message_not_found') throw thrown;
      // Any other failure surfaces in the delivery itself.
      logger.debug({ event: 'slack_message_check_failed', err: thrown }, 'failed to check a message');
    });
  }

  async #postOnce(key: string, post: Post): Promise<Opened> {
    const { messageStore, leases, clock } = this.#options;
    const known = messageOf(await messageStore.post(key));
    if (known !== null) return known;
    const name = `slack:${key}`;
    const options = { leases, clock, name, ttlMs: LEASE_MS, retryMs: RETRY_INTERVAL_MS, timeoutMs: MAX_WAIT_MS };
    const posted = await withLease(options, (lease) => this.#findOrPost({ key, lease, ...post }));
    if (posted === null) throw heldElsewhere(key);
    return posted;
  }

  async #findOrPost(posting: Posting): Promise<Opened> {
    const { key, to } = posting;
    const { messageStore } = this.#options;
    const known = await messageStore.post(key);
    const posted = messageOf(known);
    if (posted !== null) return posted;
    // The replica that persisted the intent may have posted the message.
    const found = known === undefined ? null : await this.#finder.find({ ...known, to, key });
    return found === null ? this.#post(posting, known) : this.#remember(posting, known, found);
  }

  async #post(posting: Posting, before: PostRecord | undefined): Promise<Opened> {
    const { key, to, channel, thread } = posting;
    const { messageStore, clients, clock } = this.#options;
    await clients.turn(to, channel);
    assertHeld(posting);
    const record = await messageStore.rememberPost(key, before, {
      channel,
      thread,
      sinceMs: clock.now(),
      message: null,
    });
    if (record === null) throw heldElsewhere(key);
    return this.#remember(posting, record, await this.#sendOrFind(posting, record));
  }

  /** Posts, and searches for the message if the response is lost, since it may have been posted. */
  async #sendOrFind(posting: Posting, record: PostRecord): Promise<MessageRef> {
    const { key, to } = posting;
    const { messageStore } = this.#options;
    try {
      return await this.#sendInFull(posting);
    } catch (thrown) {
      if (!mayHaveHappened(thrown)) {
        await messageStore.forgetPost(key, record);
        throw thrown;
      }
      const found = await this.#finder.find({ ...record, to, key });
      if (found === null) throw thrown;
      return found;
    }
  }

  /** Posts the message; without its newer kinds of blocks where the workspace does not have them yet. */
  async #sendInFull(posting: Posting): Promise<MessageRef> {
    const { plainBody, ...rest } = posting;
    if (plainBody === undefined) return this.#send(posting);
    try {
      return await this.#send(posting);
    } catch (thrown) {
      const reason = slackCodeOf(thrown);
      if (reason === null || !REFUSED_BLOCKS.has(reason)) throw thrown;
      const details = { event: 'slack_blocks_refused', reason, channel: posting.channel };
      this.#options.logger.info(details, 'the workspace refused a table or chart; posting it as text');
      return this.#send({ ...rest, body: plainBody });
    }
  }

  async #send(posting: Posting): Promise<MessageRef> {
    const { key, to, channel, thread, body, isBroadcast = false } = posting;
    const shown = isBroadcast ? { unfurl_links: true, unfurl_media: true } : {};
    const metadata = { event_type: EVENT_TYPE, event_payload: { key } };
    const posted = await this.#options.clients.postNow(channel, {
      to,
      priority: 'delivery',
      operation: 'posting a message',
      run: async (client) => {
        const message = { channel, ...body, ...AS_TEXT, ...shown, metadata };
        assertHeld(posting);
        if (thread === null) return client.chat.postMessage(message);
        const reply = { ...message, thread_ts: thread };
        return client.chat.postMessage(isBroadcast ? { ...reply, reply_broadcast: true } : reply);
      },
    });
    return { channel: posted.channel ?? channel, message: posted.ts ?? '' };
  }

  /** Persists the message's `ts`. */
  async #remember(posting: Posting, before: PostRecord | undefined, message: MessageRef): Promise<Opened> {
    const { key, thread, also } = posting;
    const { messageStore, clock } = this.#options;
    const sinceMs = before?.sinceMs ?? clock.now();
    const record = await messageStore.rememberPost(key, before, { ...message, thread, sinceMs }, also?.(message));
    if (record === null) return this.#withdraw(posting, message);
    return also === undefined ? message : { ...message, isRecorded: true };
  }

  /**
   * Deletes this replica's message if another one posted its own: the process was paused between the last check of the
   * lease and the call, so that another replica took over.
   */
  async #withdraw({ key, to }: Posting, ours: MessageRef): Promise<MessageRef> {
    const { messageStore, clock, logger } = this.#options;
    for (const startedAtMs = clock.monotonic(); ; await sleep(clock, RETRY_INTERVAL_MS)) {
      const other = messageOf(await messageStore.post(key));
      if (other?.message === ours.message) return ours;
      if (other === null && clock.monotonic() - startedAtMs < MAX_WAIT_MS) continue;
      const event = 'slack_duplicate_message';
      logger.warn({ event, channel: ours.channel }, 'a message was posted twice; deleting the duplicate');
      const operation = 'taking a doubled message away';
      await this.delete(to, ours, operation).catch((thrown: unknown) => {
        const error = asDailiesError(thrown, operation);
        if (error.code === 'message_gone') return;
        logger.warn({ event: 'slack_duplicate_deletion_failed', err: error }, 'failed to delete a duplicate message');
      });
      if (other === null) throw heldElsewhere(key);
      return other;
    }
  }
}

/** Returns a confirmed message; `null` while its `ts` is unknown. */
function messageOf(record: PostRecord | undefined): MessageRef | null {
  return record === undefined || record.message === null ? null : { channel: record.channel, message: record.message };
}

/** Call right before a request that only the lease's holder may send. @throws `platform_unavailable` */
function assertHeld({ key, lease }: Posting): void {
  if (!lease.isHeld(MARGIN_MS)) throw heldElsewhere(key);
}

function heldElsewhere(key: string): DailiesError {
  return new DailiesError(`posting ${key}: another replica is at it`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: 1_000,
  });
}

interface SearchQuery {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  /** Idempotency key in the message's metadata. */
  readonly key: string;
  /** Time of the request to post it, ms since the epoch. */
  readonly sinceMs: number;
}

const PAGE = 200;
const MOST_PAGES = 5;
/** Margin for clock skew: the search also covers this much time before `sinceMs`. */
const CLOCK_MARGIN_MS = 10 * 60_000;

interface ListedMessage {
  readonly ts?: string;
  readonly metadata?: { readonly event_payload?: Readonly<Record<string, unknown>> };
}

interface Page {
  readonly messages?: readonly ListedMessage[];
  readonly response_metadata?: { readonly next_cursor?: string };
}

/** Most rate-limited searches whose cursor is kept; beyond that, the oldest ones start again. */
const MOST_CURSORS = 1_000;
/** Cursor of a search that only has the newest page left. */
const NEWEST = 'newest';

/**
 * Finds the bot's messages by the key in their metadata. A rate-limited search resumes at its cursor: some apps may
 * fetch one page of 15 messages a minute, so that a restarted search would never end.
 * @see https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps
 */
export class Finder {
  readonly #clients: Pick<Clients, 'deliver'>;
  readonly #logger: Logger;
  /** Next cursor of each rate-limited search, by key. */
  readonly #cursors = new BoundedMap<string, string>(MOST_CURSORS);

  constructor(clients: Pick<Clients, 'deliver'>, logger: Logger) {
    this.#clients = clients;
    this.#logger = logger;
  }

  /**
   * Searches the channel from the newest message back to `sinceMs`; always covers the newest page, regardless of clock
   * skew. In a thread, searches from its start. Fetches at most five pages per call, plus the newest one.
   * @returns `null` if it is not there, or if the app lacks the permission to search.
   * @throws DailiesError with `retryable` if Slack defers the search, or cannot be reached
   */
  async find(query: SearchQuery): Promise<MessageRef | null> {
    const { channel, key } = query;
    try {
      const found = await this.#search(query);
      this.#cursors.delete(key);
      return found === null ? null : { channel, message: found };
    } catch (thrown) {
      // A search that can be repeated is never guessed: a wrong guess posts a duplicate.
      if (thrown instanceof DailiesError && thrown.retryable) throw thrown;
      this.#cursors.delete(key);
      const reason = slackCodeOf(thrown);
      const event = 'slack_message_search_denied';
      this.#logger.warn({ event, channel, reason }, 'cannot search for an earlier copy of a message');
      return null;
    }
  }

  async #search(query: SearchQuery): Promise<string | null> {
    for await (const messages of this.#pages(query)) {
      const found = messages.find(({ metadata }) => metadata?.event_payload?.['key'] === query.key);
      if (found?.ts !== undefined) return found.ts;
    }
    return null;
  }

  async *#pages(query: SearchQuery): AsyncGenerator<readonly ListedMessage[]> {
    const { thread, sinceMs, key } = query;
    const oldestSeconds = Math.floor((sinceMs - CLOCK_MARGIN_MS) / 1000);
    const from = this.#cursors.get(key) ?? '';
    let cursor = from;
    for (let page = 0; page < MOST_PAGES && cursor !== NEWEST; page += 1) {
      const { messages = [], response_metadata: more } = await this.#page(query, cursor);
      yield messages;
      cursor = more?.next_cursor ?? '';
      const isEarlier = thread === null && Number(messages.at(-1)?.ts ?? 0) < oldestSeconds;
      if (cursor === '' || isEarlier) break;
      this.#cursors.set(key, cursor);
    }
    if (from === '' || thread !== null) return;
    // The message may have arrived after the search began.
    this.#cursors.set(key, NEWEST);
    yield (await this.#page(query, '')).messages ?? [];
  }

  #page({ to, channel, thread }: SearchQuery, cursor: string): Promise<Page> {
    const window = { channel, limit: PAGE, include_all_metadata: true, ...(cursor === '' ? {} : { cursor }) };
    return this.#clients.deliver<Page>(to, 'looking for a message of ours', (client) =>
      thread === null ? client.conversations.history(window) : client.conversations.replies({ ...window, ts: thread }),
    );
  }
}
