import { z } from 'zod';
import type { Store } from '../store/store.ts';

/** Facts of one topic that the processes on a store tell each other; nobody hears what it told itself. */
export class Topic<Fact> {
  readonly #store: Pick<Store, 'broadcast' | 'leases'>;
  readonly #topic: string;
  readonly #told: z.ZodType<{ readonly by: string; readonly fact: Fact }>;

  /** @param fact what a fact looks like: anything else is not heard, such as what another version tells. */
  constructor(store: Pick<Store, 'broadcast' | 'leases'>, topic: string, fact: z.ZodType<Fact>) {
    this.#store = store;
    this.#topic = topic;
    this.#told = z.object({ by: z.string(), fact });
  }

  /** Lost where the store is away. */
  tell(fact: Fact): void {
    this.#store.broadcast.publish(this.#topic, JSON.stringify({ by: this.#store.leases.owner, fact }));
  }

  /** @param missed called when something may have been told that was not heard. */
  hear(listener: (fact: Fact) => void, missed?: () => void): () => void {
    const hear = (text: string): void => {
      const { data } = this.#told.safeParse(JSON.parse(text));
      if (data !== undefined && data.by !== this.#store.leases.owner) listener(data.fact);
    };
    return this.#store.broadcast.subscribe(this.#topic, hear, missed);
  }
}
