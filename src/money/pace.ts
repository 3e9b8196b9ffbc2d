import type { Micros } from '../tasks/index.ts';

/** Projection of a month's spend by its average so far. */
export interface Pace {
  /** Amount used by the end of the month. */
  readonly byEnd: Micros;
  /** Time at which the limit is used up, within the month; absent where it is not, or there is none. */
  readonly runsOutAtMs?: number;
}

interface SpendSoFar {
  readonly used: Micros;
  /** Absent where there is no limit. */
  readonly limit?: Micros;
  readonly nowMs: number;
  /** First moment of the month, and of the next one. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The first day says nothing about the rest of the month. */
const LEAST_MS = 24 * 3_600_000;

/** Projects the spend of the current month; `null` on its first day, after its end, and where nothing was used. */
export function paceOf({ used, limit, nowMs, startMs, endMs }: SpendSoFar): Pace | null {
  const elapsedMs = nowMs - startMs;
  if (used <= 0n || elapsedMs < LEAST_MS || nowMs >= endMs) return null;
  const byEnd = (used * BigInt(endMs - startMs)) / BigInt(elapsedMs);
  if (limit === undefined || used >= limit) return { byEnd };
  const runsOutAtMs = startMs + Number((limit * BigInt(elapsedMs)) / used);
  return runsOutAtMs < endMs ? { byEnd, runsOutAtMs } : { byEnd };
}
