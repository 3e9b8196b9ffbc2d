import { BoundedMap } from '#src/bounded-map.ts';
import type { MessageRef } from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { slackCodeOf } from '../web-api/errors.ts';

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
  readonly #clients: Pick<Clients, 'call'>;
  readonly #logger: Logger;
  /** Next cursor of each rate-limited search, by key. */
  readonly #cursors = new BoundedMap<string, string>(MOST_CURSORS);

  constructor(clients: Pick<Clients, 'call'>, logger: Logger) {
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
    return this.#clients.call<Page>({
      to,
      priority: 'delivery',
      operation: 'looking for a message of ours',
      run: (client) =>
        thread === null
          ? client.conversations.history(window)
          : client.conversations.replies({ ...window, ts: thread }),
    });
  }
}
