import { z } from 'zod';
import { Topic } from '#src/cluster/topic.ts';
import type { Store } from '#src/store/store.ts';

const limitFact = z.object({
  /** What is limited, by a name that holds no token. */
  bucket: z.string(),
  /** For how long Discord takes nothing more. */
  ms: z.number().positive(),
});

/** What replicas tell each other of Discord's limits, which are the bot's and not the replica's. What gets lost costs a 429. */
export type RateLimitTopic = Pick<Topic<z.output<typeof limitFact>>, 'tell' | 'hear'>;

/** The limits as the processes on a store tell each other. */
export function rateLimitTopic(store: Pick<Store, 'broadcast' | 'leases'>): RateLimitTopic {
  return new Topic(store, 'discord:limits', limitFact);
}
