import { type APIMessage, Routes, SnowflakeUtil } from 'discord.js';
import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { DiscordRest } from '../rest/client.ts';

/** What is looked for. */
export interface SearchQuery {
  readonly channel: string;
  /** Since when it may be there, ms since the epoch. */
  readonly sinceMs: number;
  readonly isIt: (message: APIMessage) => boolean;
}

/** Clocks differ: so much earlier it is still looked for. */
const CLOCK_MARGIN_MS = 60_000;
const PAGE = 100;
const MOST_PAGES = 5;

/**
 * Looks for a message of ours among those of a channel, from the time it may have been posted on.
 * @returns `null` where it is not, or where the bot may never look.
 * @throws DailiesError, retryable: what can be looked up later is not guessed now
 * @see https://discord.com/developers/docs/resources/message#get-channel-messages
 */
export async function findMessage(
  rest: DiscordRest,
  { channel, sinceMs, isIt }: SearchQuery,
): Promise<MessageRef | null> {
  const doing = 'looking for a message of ours';
  let after = SnowflakeUtil.generate({ timestamp: sinceMs - CLOCK_MARGIN_MS, increment: 0n });
  try {
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const query = { after: `${after}`, limit: `${PAGE}` };
      const route = Routes.channelMessages(channel);
      const messages = await rest.call<readonly APIMessage[]>({ method: 'GET', route, query, doing });
      const found = messages.find(isIt);
      if (found !== undefined) return { channel, message: found.id };
      if (messages.length < PAGE) return null;
      for (const { id } of messages) if (BigInt(id) > after) after = BigInt(id);
    }
    return null;
  } catch (thrown) {
    const error = asDailiesError(thrown, doing);
    if (error.retryable) throw error;
    return null;
  }
}
