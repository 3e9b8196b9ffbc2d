import { z } from 'zod';
import type { Store } from '#src/store/store.ts';

const TOPIC = 'slack:limits';

const news = z.object({
  /**
   * `channel`: Slack takes no message there for a while. `method`: it answers that method to nobody for a while.
   * `update`: one of the minute's changes of messages was used.
   */
  kind: z.enum(['channel', 'method', 'update']),
  key: z.string(),
  ms: z.number().optional(),
});

/** What one replica learns of Slack's limits, which are the app's and not the replica's. */
export type LimitFact = z.output<typeof news>;

/** Tells the other replicas of limits, and hears of theirs. What gets lost costs an answer "too many calls". */
export class LimitNews {
  readonly #store: Pick<Store, 'broadcast' | 'leases'>;

  constructor(store: Pick<Store, 'broadcast' | 'leases'>) {
    this.#store = store;
  }

  tell(fact: LimitFact): void {
    this.#store.broadcast.publish(TOPIC, JSON.stringify({ ...fact, by: this.#store.leases.owner }));
  }

  /** Calls `listener` with each fact of that kind that another replica tells. */
  hear(kind: LimitFact['kind'], listener: (fact: LimitFact) => void): void {
    this.#store.broadcast.subscribe(TOPIC, (text) => {
      const { data } = news.extend({ by: z.string() }).safeParse(JSON.parse(text));
      if (data?.kind === kind && data.by !== this.#store.leases.owner) listener(data);
    });
  }
}
