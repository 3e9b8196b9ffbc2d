/** What one replica tells all of them: at once, to whoever listens then, and at most once. Nothing is kept. */
export interface Broadcast {
  /** Tells every listener of `topic`, in this process and in the others. Lost where the backend is away. */
  publish(topic: string, text: string): void;
  /**
   * Calls `listener` with what is told from now on, until the returned function is called; and `missed` whenever
   * something may have been told in between that was not heard, because the backend was away. Neither may throw.
   */
  subscribe(topic: string, listener: (text: string) => void, missed?: () => void): () => void;
}

/** Who listens to a topic. */
interface Listener {
  readonly hear: (text: string) => void;
  readonly missed: () => void;
}

/** The listeners of one process. */
export class Listeners {
  readonly #byTopic = new Map<string, Set<Listener>>();

  tell(topic: string, text: string): void {
    for (const { hear } of this.#byTopic.get(topic) ?? []) hear(text);
  }

  /** Something may have been told that nobody here heard. */
  tellMissed(): void {
    for (const listeners of this.#byTopic.values()) for (const { missed } of listeners) missed();
  }

  add(topic: string, hear: (text: string) => void, missed: () => void = () => undefined): () => void {
    const there = this.#byTopic.get(topic) ?? new Set();
    const listener = { hear, missed };
    this.#byTopic.set(topic, there.add(listener));
    return () => {
      there.delete(listener);
      if (there.size === 0 && this.#byTopic.get(topic) === there) this.#byTopic.delete(topic);
    };
  }
}

/** The broadcast of a store that one process has for itself. */
export function createLocalBroadcast(): Broadcast {
  const listeners = new Listeners();
  return {
    publish: (topic, text) => listeners.tell(topic, text),
    subscribe: (topic, listener) => listeners.add(topic, listener),
  };
}
