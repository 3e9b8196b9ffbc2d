/** Deduplicates concurrent work: at most one promise per key is in flight, and every caller of the key shares it. */
export class SingleFlight<Key, Result> {
  readonly #inFlight = new Map<Key, Promise<Result>>();

  get size(): number {
    return this.#inFlight.size;
  }

  get(key: Key): Promise<Result> | undefined {
    return this.#inFlight.get(key);
  }

  /** Runs `work`, or returns the promise in flight under `key`. A settled one is forgotten, also after a failure. */
  run(key: Key, work: () => Promise<Result>): Promise<Result> {
    const running = this.#inFlight.get(key);
    if (running !== undefined) return running;
    const started = work().finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, started);
    return started;
  }

  /** Resolves once nothing is in flight (drain), including what starts meanwhile. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight.values());
  }
}
