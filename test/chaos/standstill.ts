/** Interval at which the clocks are read. */
const TICK_MS = 1_000;
/** Longest gap between two readings that a busy machine explains. */
const MAX_GAP_MS = 10_000;

/**
 * Watches for a standstill of the machine or of this process, such as a suspended virtual machine. Then the timeouts of a
 * run are over before anybody could respond, leases have expired and tasks are overdue: what it finds says nothing about
 * the program. Both clocks are read, since a suspended machine stops one of them or neither.
 *
 * @returns a function that ends the watch, and throws if there was a standstill
 */
export function watchStandstill(): () => void {
  let last = { monotonicMs: performance.now(), wallMs: Date.now() };
  let longestMs = 0;
  const tick = (): void => {
    const now = { monotonicMs: performance.now(), wallMs: Date.now() };
    longestMs = Math.max(longestMs, now.monotonicMs - last.monotonicMs, now.wallMs - last.wallMs);
    last = now;
  };
  const timer = setInterval(tick, TICK_MS);
  return () => {
    clearInterval(timer);
    tick();
    if (longestMs > MAX_GAP_MS)
      throw new Error(`the machine stood still for ${Math.round(longestMs / 1_000)} s, so the run does not count`);
  };
}
