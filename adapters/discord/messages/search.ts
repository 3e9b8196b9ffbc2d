import { type APIMessage, Routes, SnowflakeUtil } from 'discord.js';
import type { MessageRef } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { DiscordRest } from '../rest/client.ts';

export interface SearchQuery {
  readonly channel: string;
  /** Earliest time of posting, in ms since the epoch. */
  readonly sinceMs: number;
  readonly isIt: (message: APIMessage) => boolean;
}

/** Margin before {@link SearchQuery.sinceMs}, for clock skew. */
const CLOCK_MARGIN_MS = 60_000;
const PAGE_SIZE = 100;
const MAX_PAGES = 5;

/**
 * Searches a channel for a message of ours, from the earliest time of posting on.
 * @returns `null` if it is not found, or the bot lacks access for good.
 * @throws DailiesError if retryable: the search can be repeated later
 * @see https://discord.com/developers/docs/resources/message#get-channel-messages
 */
export async function findMessage(
  rest: DiscordRest,
  { channel, sinceMs, isIt }: SearchQuery,
): Promise<MessageRef | null> {
  const doing = 'looking for a message of ours';
  let after = SnowflakeUtil.generate({ timestamp: sinceMs - CLOCK_MARGIN_MS, increment: 0n });
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = { after: `${after}`, limit: `${PAGE_SIZE}` };
      const route = Routes.channelMessages(channel);
      const messages = await rest.call<readonly APIMessage[]>({ method: 'GET', route, query, doing });
      const found = messages.find(isIt);
      if (found !== undefined) return { channel, message: found.id };
      if (messages.length < PAGE_SIZE) return null;
      for (const { id } of messages) if (BigInt(id) > after) after = BigInt(id);
    }
    return null;
  } catch (thrown) {
    const error = asDailiesError(thrown, doing);
    if (error.retryable) throw error;
    return null;
  }
}
