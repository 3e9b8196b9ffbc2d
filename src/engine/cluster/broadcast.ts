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

interface Listener {
  readonly received: (text: string) => void;
  readonly missed: () => void;
}

/** The broadcast of a store that belongs to one process alone. */
export class LocalBroadcast implements Broadcast {
  readonly #byTopic = new Map<string, Set<Listener>>();

  publish(topic: string, text: string): void {
    for (const { received } of this.#byTopic.get(topic) ?? []) received(text);
  }

  /** Notifies all subscribers that messages may have been lost. */
  publishMissed(): void {
    for (const listeners of this.#byTopic.values()) for (const { missed } of listeners) missed();
  }

  subscribe(topic: string, received: (text: string) => void, missed: () => void = () => undefined): () => void {
    const subscribers = this.#byTopic.get(topic) ?? new Set();
    const listener = { received, missed };
    this.#byTopic.set(topic, subscribers.add(listener));
    return () => {
      subscribers.delete(listener);
      if (subscribers.size === 0 && this.#byTopic.get(topic) === subscribers) this.#byTopic.delete(topic);
    };
  }
}
