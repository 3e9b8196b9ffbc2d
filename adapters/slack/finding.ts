import type { MessageRef } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from './clients.ts';
import { slackCodeOf } from './errors.ts';

/** What is looked for. */
export interface Sought {
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

/**
 * Looks for a message of ours by the key in its metadata: the newest ones of its channel first, however the clocks
 * stand, then earlier ones until the time it was asked for; in a thread, all of them from there on.
 * @returns `null` where it is not, or where the app may never look.
 */
export async function findMessage(clients: Clients, logger: Logger, sought: Sought): Promise<MessageRef | null> {
  const { channel, key } = sought;
  try {
    for await (const messages of pages(clients, sought)) {
      const found = messages.find(({ metadata }) => metadata?.event_payload?.['key'] === key);
      if (found?.ts !== undefined) return { channel, message: found.ts };
    }
    return null;
  } catch (thrown) {
    // What can be looked up later is not guessed now: a wrong guess is a second message.
    if (thrown instanceof DailiesError && thrown.retryable) throw thrown;
    const reason = slackCodeOf(thrown);
    logger.warn({ channel, reason }, 'whether a message is there already cannot be looked up');
    return null;
  }
}

async function* pages(clients: Clients, { to, channel, thread, sinceMs }: Sought): AsyncGenerator<readonly Seen[]> {
  const oldestSeconds = Math.floor((sinceMs - CLOCK_MARGIN_MS) / 1000);
  let cursor = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const window = { channel, limit: PAGE, include_all_metadata: true, ...(cursor === '' ? {} : { cursor }) };
    const { messages = [], response_metadata: more } = await clients.call<Page>({
      to,
      lane: 'delivery',
      doing: 'looking for a message of ours',
      run: (client) =>
        thread === null
          ? client.conversations.history(window)
          : client.conversations.replies({ ...window, ts: thread }),
    });
    yield messages;
    cursor = more?.next_cursor ?? '';
    const isEarlier = thread === null && Number(messages.at(-1)?.ts ?? 0) < oldestSeconds;
    if (cursor === '' || isEarlier) return;
  }
}
