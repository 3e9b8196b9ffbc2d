import { z } from 'zod';
import { Topic } from '#src/cluster/topic.ts';
import type { Store } from '#src/store/store.ts';

const limitFact = z.object({
  /**
   * `channel`: Slack takes no message there for a while. `method`: it answers that method to nobody for a while.
   * `update`: one of the minute's changes of messages was used.
   */
  kind: z.enum(['channel', 'method', 'update']),
  key: z.string(),
  ms: z.number().optional(),
});

/** What one replica learns of Slack's limits, which are the app's and not the replica's. */
export type LimitFact = z.output<typeof limitFact>;

/** Tells the other replicas of limits, and hears of theirs. What gets lost costs an answer "too many calls". */
export class RateLimitTopic {
  readonly #news: Topic<LimitFact>;

  constructor(store: Pick<Store, 'broadcast' | 'leases'>) {
    this.#news = new Topic(store, 'slack:limits', limitFact);
  }

  tell(fact: LimitFact): void {
    this.#news.tell(fact);
  }

  /** Calls `listener` with each fact of that kind that another replica tells. */
  hear(kind: LimitFact['kind'], listener: (fact: LimitFact) => void): void {
    this.#news.hear((fact) => {
      if (fact.kind === kind) listener(fact);
    });
  }
}
