import { z } from 'zod';
import { Topic } from '#src/cluster/topic.ts';
import type { Store } from '#src/store/store.ts';

const limitFact = z.object({
  /** Limited bucket, by a name that contains no token. */
  bucket: z.string(),
  /** Duration of the limit in milliseconds. */
  ms: z.number().positive(),
});

/** Topic that shares Discord's rate limits, which apply to the bot, not to a replica. A lost message costs a 429. */
export type RateLimitTopic = Pick<Topic<z.output<typeof limitFact>>, 'tell' | 'hear'>;

/** Creates the topic that shares rate limits between the processes on a store. */
export function rateLimitTopic(store: Pick<Store, 'broadcast' | 'leases'>): RateLimitTopic {
  return new Topic(store, 'discord:limits', limitFact);
}
