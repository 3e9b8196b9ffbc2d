/** Cancels a timer; calling it again, or after the timer fired, does nothing. */
export type CancelTimer = () => void;

/** Injected time source, which tests advance by hand (`test/fakes/manual-clock.ts`). */
export interface Clock {
  /** Returns the wall-clock time, in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Returns the milliseconds since an arbitrary moment of this process. Unaffected by changes of the system clock, and
   * continues while the process is stopped. Measure durations with it: two readings of {@link now} may differ by
   * anything.
   */
  monotonic(): number;
  /** Calls `run` once, `delayMs` from now (at least 0). A pending timer does not keep the process alive. */
  after(delayMs: number, run: () => void): CancelTimer;
}

/** Longest delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Waits `delayMs` by `clock`; rejects with the signal's reason as soon as `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(asError(signal.reason));
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      reject(asError(signal?.reason));
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Resolves to the result of `done`, or to `fallback` after `timeoutMs`. */
export async function within<T>(clock: Clock, timeoutMs: number, done: Promise<T>, fallback: T): Promise<T> {
  const timeout = Promise.withResolvers<T>();
  const cancel = clock.after(timeoutMs, () => timeout.resolve(fallback));
  return Promise.race([done, timeout.promise]).finally(cancel);
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
