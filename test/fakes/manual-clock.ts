import type { CancelTimer, Clock } from '#src/clock.ts';

interface Timer {
  /** Due time by {@link ManualClock.monotonic}. */
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock that only a test advances. */
export class ManualClock implements Clock {
  /** Time of day at the start, including adjustments by {@link step}. */
  #startMs: number;
  #elapsedMs = 0;
  readonly #timers = new Set<Timer>();

  /** @param startMs first value of {@link now}, in milliseconds since the epoch. */
  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
  }

  /** Number of pending timers. */
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

  /** Adjusts the time of day without advancing the clock. */
  step(ms: number): void {
    this.#startMs += ms;
  }

  /** Advances the clock by `ms`. Every timer due until then runs at its own time, including those set meanwhile. */
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
