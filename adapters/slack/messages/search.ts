import { BoundedMap } from '#src/bounded-map.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { slackCodeOf } from '../web-api/errors.ts';

/** What is looked for. */
export interface SearchQuery {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  /** The key in its metadata. */
  readonly key: string;
  /** When it was asked for, ms since the epoch. */
  readonly sinceMs: number;
}

const PAGE = 200;
const MOST_PAGES = 5;
/** Clocks differ, and step: so much earlier than it was asked for it is still looked for. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/** A message as a search shows it. */
interface Seen {
  readonly ts?: string;
  readonly metadata?: { readonly event_payload?: Readonly<Record<string, unknown>> };
}

interface Page {
  readonly messages?: readonly Seen[];
  readonly response_metadata?: { readonly next_cursor?: string };
}

/** Beyond so many searches that were put off, those that were longest ago begin anew. */
const MOST_PUT_OFF = 1_000;
/** How far a search came: only the newest page is left. */
const NEWEST = 'newest';

/**
 * Looks for messages of ours by the key in their metadata. A search that Slack puts off goes on where it was: some apps may
 * look once a minute, at 15 messages, so that one that begins anew never ends.
 * @see https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps
 */
export class Finder {
  readonly #clients: Pick<Clients, 'call'>;
  readonly #logger: Logger;
  /** The next page of each search that was put off, by key. */
  readonly #reached = new BoundedMap<string, string>(MOST_PUT_OFF);

  constructor(clients: Pick<Clients, 'call'>, logger: Logger) {
    this.#clients = clients;
    this.#logger = logger;
  }

  /**
   * Looks at the newest messages of the channel first, however the clocks stand, then at earlier ones until the time it was
   * asked for; in a thread, at all of them from there on.
   * @returns `null` where it is not, or where the app may never look.
   */
  async find(sought: SearchQuery): Promise<MessageRef | null> {
    const { channel, key } = sought;
    try {
      const found = await this.#search(sought);
      this.#reached.delete(key);
      return found === null ? null : { channel, message: found };
    } catch (thrown) {
      // What can be looked up later is not guessed now: a wrong guess is a second message.
      if (thrown instanceof DailiesError && thrown.retryable) throw thrown;
      this.#reached.delete(key);
      const reason = slackCodeOf(thrown);
      this.#logger.warn({ channel, reason }, 'whether a message is there already cannot be looked up');
      return null;
    }
  }

  async #search(sought: SearchQuery): Promise<string | null> {
    for await (const messages of this.#pages(sought)) {
      const found = messages.find(({ metadata }) => metadata?.event_payload?.['key'] === sought.key);
      if (found?.ts !== undefined) return found.ts;
    }
    return null;
  }

  async *#pages(sought: SearchQuery): AsyncGenerator<readonly Seen[]> {
    const { thread, sinceMs, key } = sought;
    const oldestSeconds = Math.floor((sinceMs - CLOCK_MARGIN_MS) / 1000);
    const from = this.#reached.get(key) ?? '';
    let cursor = from;
    for (let page = 0; page < MOST_PAGES && cursor !== NEWEST; page += 1) {
      const { messages = [], response_metadata: more } = await this.#page(sought, cursor);
      yield messages;
      cursor = more?.next_cursor ?? '';
      const isEarlier = thread === null && Number(messages.at(-1)?.ts ?? 0) < oldestSeconds;
      if (cursor === '' || isEarlier) break;
      this.#reached.set(key, cursor);
    }
    if (from === '' || thread !== null) return;
    // It may have come after the search began.
    this.#reached.set(key, NEWEST);
    yield (await this.#page(sought, '')).messages ?? [];
  }

  #page({ to, channel, thread }: SearchQuery, cursor: string): Promise<Page> {
    const window = { channel, limit: PAGE, include_all_metadata: true, ...(cursor === '' ? {} : { cursor }) };
    return this.#clients.call<Page>({
      to,
      lane: 'delivery',
      doing: 'looking for a message of ours',
      run: (client) =>
        thread === null
          ? client.conversations.history(window)
          : client.conversations.replies({ ...window, ts: thread }),
    });
  }
}
