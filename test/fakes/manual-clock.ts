import type { CancelTimer, Clock } from '#src/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

/** Time that stands still until a test moves it. */
export class ManualClock implements Clock {
  readonly #startMs: number;
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  /** @param startMs what {@link now} answers at first, in milliseconds since the epoch. */
  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs - this.#startMs;
  }

  after(delayMs: number, run: () => void): CancelTimer {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves time on by `ms`. Every timer due until then runs at its own moment, those set meanwhile included. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= untilMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }
}
