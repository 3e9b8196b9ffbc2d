import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';

const MOST_REMEMBERED = 1_000;

interface Known<Value> {
  readonly value: Promise<Value>;
  readonly sinceMs: number;
}

/** Answers that are asked for once in a while. What could not be answered is asked again. */
export class TtlCache<Value> {
  readonly #clock: Clock;
  readonly #forMs: number;
  readonly #ask: (key: string) => Promise<Value>;
  readonly #known = new BoundedMap<string, Known<Value>>(MOST_REMEMBERED);

  constructor(clock: Clock, forMs: number, ask: (key: string) => Promise<Value>) {
    this.#clock = clock;
    this.#forMs = forMs;
    this.#ask = ask;
  }

  /** What is remembered, or else asked for; by many at once, it is asked for once. */
  of(key: string): Promise<Value> {
    const known = this.#known.get(key);
    if (known !== undefined && this.#clock.monotonic() - known.sinceMs < this.#forMs) return known.value;
    const asked = { value: this.#ask(key), sinceMs: this.#clock.monotonic() };
    this.#known.set(key, asked);
    asked.value.catch(() => {
      if (this.#known.get(key) === asked) this.#known.delete(key);
    });
    return asked.value;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
