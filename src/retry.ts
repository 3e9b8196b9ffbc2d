import { BoundedMap } from './bounded-map.ts';
import { type Clock, sleep } from './clock.ts';
import { DailiesError } from './errors.ts';

/** Delay of an exponential backoff, in milliseconds. */
interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Least delay: the one that the other side asked for. */
  readonly askedMs?: number | undefined;
  readonly random: number;
}

/**
 * Returns the delay after the `failures`-th failure in a row, in milliseconds: exponential backoff from `firstMs` up to
 * `maxMs`, with jitter between half and the whole of it, and never less than `askedMs`.
 */
export function backoffMs(failures: number, { firstMs, maxMs, askedMs = 0, random }: Backoff): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(Math.max(askedMs, ceiling * (0.5 + random / 2)));
}

/** Options of {@link retry}. */
interface RetryOptions extends Pick<Backoff, 'firstMs' | 'maxMs'> {
  readonly clock: Clock;
  /** From 0 to 1, such as `Math.random`. */
  readonly random: () => number;
  /** Ends the retries when aborted; {@link retry} then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Called after each failure, the `failures`-th in a row; throws to give up. */
  readonly failed: (thrown: unknown, failures: number, delayMs: number) => void;
}

/** Repeats `run` with backoff until it succeeds. A `DailiesError` with `retryAfterMs` is retried no earlier. */
export async function retry<Result>(options: RetryOptions, run: () => Promise<Result>): Promise<Result> {
  const { firstMs, maxMs, clock, random, signal, failed } = options;
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (thrown) {
      const askedMs = thrown instanceof DailiesError ? thrown.retryAfterMs : undefined;
      const delayMs = backoffMs(failures, { firstMs, maxMs, askedMs, random: random() });
      failed(thrown, failures, delayMs);
      await sleep(clock, delayMs, signal);
    }
  }
}

/** Capacity of a counter: beyond it, those that failed longest ago start over. */
const MAX_FAILURE_COUNTS = 50_000;

/** Failures in a row, and the time since the first one. */
interface Failures {
  readonly count: number;
  readonly forMs: number;
}

/** Counts failures in a row, by id; the count starts over after a restart. */
export class FailureCounter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #failures = new BoundedMap<string, { readonly count: number; readonly sinceMs: number }>(MAX_FAILURE_COUNTS);

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#failures.has(id);
  }

  failedAgain(id: string): Failures {
    const nowMs = this.#clock.monotonic();
    const { count: before, sinceMs } = this.#failures.get(id) ?? { count: 0, sinceMs: nowMs };
    const count = before + 1;
    this.#failures.set(id, { count, sinceMs });
    return { count, forMs: nowMs - sinceMs };
  }

  forget(id: string): void {
    this.#failures.delete(id);
  }
}
