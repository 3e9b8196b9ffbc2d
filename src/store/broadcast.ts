/** What one replica tells all of them: at once, to whoever listens then, and at most once. Nothing is kept. */
export interface Broadcast {
  /** Tells every listener of `topic`, in this process and in the others. Lost where the backend is away. */
  publish(topic: string, text: string): void;
  /** Calls `listener` with what is told from now on, until the returned function is called. */
  subscribe(topic: string, listener: (text: string) => void): () => void;
}

/** The listeners of one process. */
export class Listeners {
  readonly #byTopic = new Map<string, Set<(text: string) => void>>();

  tell(topic: string, text: string): void {
    for (const listener of this.#byTopic.get(topic) ?? []) listener(text);
  }

  add(topic: string, listener: (text: string) => void): () => void {
    const there = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, there.add(listener));
    return () => there.delete(listener);
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
