/**
 * A cache with a maximum size: beyond `maxEntries`, the entry that was set longest ago is evicted. Takes no memory for
 * entries that it does not have; `lru-cache` reserves 14 MB for 500,000 of them, of which a process has three.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number;

  /** @param maxEntries at least 1. */
  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#maxEntries) this.#evictOldest();
    return this;
  }

  #evictOldest(): void {
    for (const oldest of this.keys()) {
      this.delete(oldest);
      return;
    }
  }
}
