import { type Clock, sleep } from './clock.ts';
import { DailiesError } from './errors.ts';

/** Delay of an exponential backoff, in milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Least delay: the one that the other side asked for. */
  readonly askedMs?: number | undefined;
  /** From 0 to 1. */
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
export interface RetryOptions extends Pick<Backoff, 'firstMs' | 'maxMs'> {
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
