import { type Clock, sleep } from '../../clock.ts';
import type { Lease, Leases } from './leases.ts';

/** Options of {@link withLease}. */
interface WithLeaseOptions {
  readonly leases: Pick<Leases, 'take'>;
  readonly clock: Clock;
  readonly name: string;
  readonly ttlMs: number;
  /** Interval between attempts while another replica holds the lease. Absent: a single attempt. */
  readonly retryMs?: number;
  /** Longest wait for the lease. Default: no limit. */
  readonly timeoutMs?: number;
  /** Ends the wait when aborted; `run` is not affected. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `run` under a lease and releases it. @returns `null`, without running it, when the lease could not be taken.
 * @throws `store_unavailable`
 */
export async function withLease<Result>(
  { leases, clock, name, ttlMs, retryMs, timeoutMs = Infinity, signal }: WithLeaseOptions,
  run: (lease: Lease) => Promise<Result>,
): Promise<Result | null> {
  const startedAtMs = clock.monotonic();
  while (signal?.aborted !== true) {
    const lease = await leases.take(name, ttlMs);
    if (lease !== null) {
      try {
        return await run(lease);
      } finally {
        await lease.release();
      }
    }
    if (retryMs === undefined || clock.monotonic() - startedAtMs > timeoutMs) break;
    await sleep(clock, retryMs, signal).catch(() => undefined);
  }
  return null;
}
