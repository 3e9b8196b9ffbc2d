import { z } from 'zod';
import { News } from '#src/cluster/topic.ts';
import type { Store } from '#src/store/store.ts';

const limitFact = z.object({
  /** What is limited, by a name that holds no token. */
  bucket: z.string(),
  /** For how long Discord takes nothing more. */
  ms: z.number().positive(),
});

/** What replicas tell each other of Discord's limits, which are the bot's and not the replica's. What gets lost costs a 429. */
export type LimitNews = Pick<News<z.output<typeof limitFact>>, 'tell' | 'hear'>;

/** The limits as the processes on a store tell each other. */
export function limitNews(store: Pick<Store, 'broadcast' | 'leases'>): LimitNews {
  return new News(store, 'discord:limits', limitFact);
}
