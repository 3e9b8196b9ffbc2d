/** Messages from one replica to all current subscribers on all replicas: at most once, not stored. */
export interface Broadcast {
  /** Publishes to all subscribers of `topic`, in this process and the others. Lost while the backend is unavailable. */
  publish(topic: string, text: string): void;
  /**
   * Calls `listener` with each message from now on, until the returned function is called; and `missed` whenever
   * messages may have been lost because the backend was unavailable. Neither may throw.
   */
  subscribe(topic: string, listener: (text: string) => void, missed?: () => void): () => void;
}

/** Subscriber of a topic. */
interface Listener {
  readonly hear: (text: string) => void;
  readonly missed: () => void;
}

/** Subscribers of one process. */
export class Listeners {
  readonly #byTopic = new Map<string, Set<Listener>>();

  tell(topic: string, text: string): void {
    for (const { hear } of this.#byTopic.get(topic) ?? []) hear(text);
  }

  /** Notifies all subscribers that messages may have been lost. */
  tellMissed(): void {
    for (const listeners of this.#byTopic.values()) for (const { missed } of listeners) missed();
  }

  add(topic: string, hear: (text: string) => void, missed: () => void = () => undefined): () => void {
    const subscribers = this.#byTopic.get(topic) ?? new Set();
    const listener = { hear, missed };
    this.#byTopic.set(topic, subscribers.add(listener));
    return () => {
      subscribers.delete(listener);
      if (subscribers.size === 0 && this.#byTopic.get(topic) === subscribers) this.#byTopic.delete(topic);
    };
  }
}

/** Creates the broadcast of a store that belongs to one process alone. */
export function createLocalBroadcast(): Broadcast {
  const listeners = new Listeners();
  return {
    publish: (topic, text) => listeners.tell(topic, text),
    subscribe: (topic, listener) => listeners.add(topic, listener),
  };
}
