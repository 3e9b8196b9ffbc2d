import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';

const MAX_ENTRIES = 1_000;

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly sinceMs: number;
}

/** Cache of looked-up values with a TTL. Failed lookups are not cached. */
export class TtlCache<Value> {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #lookup: (key: string) => Promise<Value>;
  readonly #entries = new BoundedMap<string, Entry<Value>>(MAX_ENTRIES);

  constructor(clock: Clock, ttlMs: number, lookup: (key: string) => Promise<Value>) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#lookup = lookup;
  }

  /** Returns the cached value, or looks it up; concurrent lookups of a key are deduplicated. */
  of(key: string): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#clock.monotonic() - known.sinceMs < this.#ttlMs) return known.value;
    const entry = { value: this.#lookup(key), sinceMs: this.#clock.monotonic() };
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
