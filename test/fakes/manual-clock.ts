import type { CancelTimer, Clock } from '#src/clock.ts';

interface Timer {
  /** By {@link ManualClock.monotonic}. */
  readonly dueMs: number;
  readonly run: () => void;
}

/** Time that stands still until a test moves it. */
export class ManualClock implements Clock {
  /** What the time of day was at the start, as far as anybody has set it since. */
  #startMs: number;
  #elapsedMs = 0;
  readonly #timers = new Set<Timer>();

  /** @param startMs what {@link now} answers at first, in milliseconds since the epoch. */
  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, run: () => void): CancelTimer {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Somebody sets the time of day; no time passes. */
  step(ms: number): void {
    this.#startMs += ms;
  }

  /** Moves time on by `ms`. Every timer due until then runs at its own moment, those set meanwhile included. */
  advance(ms: number): void {
    const untilMs = this.#elapsedMs + ms;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.run();
    }
    this.#elapsedMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }
}
