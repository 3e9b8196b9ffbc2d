import { z } from 'zod';
import type { Store } from '../store/store.ts';

/** Facts of one topic that the replicas on a store publish to each other; a replica does not receive its own. */
export class Topic<Fact> {
  readonly #store: Pick<Store, 'broadcast' | 'leases'>;
  readonly #topic: string;
  readonly #message: z.ZodType<{ readonly by: string; readonly fact: Fact }>;

  /** @param fact schema of a fact: anything else is ignored, such as the facts of another version. */
  constructor(store: Pick<Store, 'broadcast' | 'leases'>, topic: string, fact: z.ZodType<Fact>) {
    this.#store = store;
    this.#topic = topic;
    this.#message = z.object({ by: z.string(), fact });
  }

  /** Publishes a fact. Lost while the store is unavailable. */
  publish(fact: Fact): void {
    this.#store.broadcast.publish(this.#topic, JSON.stringify({ by: this.#store.leases.owner, fact }));
  }

  /** Subscribes to facts. @param missed called when facts may have been lost. */
  subscribe(listener: (fact: Fact) => void, missed?: () => void): () => void {
    const received = (text: string): void => {
      const { data } = this.#message.safeParse(JSON.parse(text));
      if (data !== undefined && data.by !== this.#store.leases.owner) listener(data.fact);
    };
    return this.#store.broadcast.subscribe(this.#topic, received, missed);
  }
}
