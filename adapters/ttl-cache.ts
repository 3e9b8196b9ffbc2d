import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly sinceMs: number;
}

/** Cache of looked-up values, by key. Failed lookups are not cached. */
export class TtlCache<Value> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: number;
  readonly #entries: BoundedMap<string, Entry<Value>>;

  constructor(clock: Pick<Clock, 'monotonic'>, ttlMs: number, maxEntries = 1_000) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#entries = new BoundedMap(maxEntries);
  }

  /**
   * Returns the cached value, or looks it up; concurrent lookups of a key are deduplicated.
   * @param maxAgeMs largest age of a cached value. Default: the TTL.
   */
  of(key: string, lookUp: () => Promise<Value>, maxAgeMs = this.#ttlMs): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#clock.monotonic() - known.sinceMs < maxAgeMs) return known.value;
    const entry = { value: lookUp(), sinceMs: this.#clock.monotonic() };
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
