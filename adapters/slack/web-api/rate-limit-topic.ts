import { z } from 'zod';
import { Topic } from '#src/cluster/topic.ts';
import type { Store } from '#src/store/store.ts';

const limitFact = z.object({
  /**
   * `channel`: posting to that channel is rate-limited. `method`: that method is rate-limited. `update`: a message edit
   * was counted against the limit per minute.
   */
  kind: z.enum(['channel', 'method', 'update']),
  key: z.string(),
  ms: z.number().optional(),
});

/** A rate-limit notification: Slack's limits apply to the app, not to a replica. */
export type LimitFact = z.output<typeof limitFact>;

/** Shares rate limits between replicas. A lost notification costs a call that Slack rejects with a 429. */
export class RateLimitTopic {
  readonly #topic: Topic<LimitFact>;

  constructor(store: Pick<Store, 'broadcast' | 'leases'>) {
    this.#topic = new Topic(store, 'slack:limits', limitFact);
  }

  tell(fact: LimitFact): void {
    this.#topic.tell(fact);
  }

  /** Subscribes to the facts of one kind that other replicas publish. */
  hear(kind: LimitFact['kind'], listener: (fact: LimitFact) => void): void {
    this.#topic.hear((fact) => {
      if (fact.kind === kind) listener(fact);
    });
  }
}
