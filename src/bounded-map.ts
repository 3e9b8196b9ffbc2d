import type { Clock } from './clock.ts';

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

interface CachedLookup<Value> {
  readonly value: Promise<Value>;
  readonly sinceMs: number;
}

/** Cache of looked-up values, by key. Failed lookups are not cached. */
export class TtlCache<Value> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: number;
  readonly #entries: BoundedMap<string, CachedLookup<Value>>;

  constructor(clock: Pick<Clock, 'monotonic'>, ttlMs: number, maxEntries = 1_000) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#entries = new BoundedMap(maxEntries);
  }

  /**
   * Returns the cached value, or looks it up; concurrent lookups of a key are deduplicated.
   * @param maxAgeMs largest age of a cached value. Default: the TTL.
   */
  of(key: string, lookUp: (key: string) => Promise<Value>, maxAgeMs = this.#ttlMs): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#clock.monotonic() - known.sinceMs < maxAgeMs) return known.value;
    const entry = { value: lookUp(key), sinceMs: this.#clock.monotonic() };
    this.#entries.set(key, entry);
    entry.value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry.value;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
