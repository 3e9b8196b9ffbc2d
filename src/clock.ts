/** Stops a timer; calling it again, or after the timer ran, does nothing. */
export type CancelTimer = () => void;

/** Time as an argument, so that tests move it by hand (`test/fakes/manual-clock.ts`). */
export interface Clock {
  /** Now, in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Milliseconds since some moment of this process; goes on evenly whoever sets the clock, and while the process is
   * stopped. What is measured by two readings of {@link now} may be anything.
   */
  monotonic(): number;
  /** Calls `run` once, `delayMs` from now (at least 0). A waiting timer does not keep the process alive. */
  after(delayMs: number, run: () => void): CancelTimer;
}

/** The longest delay a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. */
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

/** What `done` comes to, unless that takes longer than `patienceMs`: then `otherwise`. */
export async function within<T>(clock: Clock, patienceMs: number, done: Promise<T>, otherwise: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const cancel = clock.after(patienceMs, () => late.resolve(otherwise));
  return Promise.race([done, late.promise]).finally(cancel);
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
