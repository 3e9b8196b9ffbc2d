import type { Clock } from '../../clock.ts';
import { OnOneReplica, type Store } from '../../engine/index.ts';
import type { Logger } from '../../logger.ts';
import type { Comparisons } from './comparisons.ts';

/** Delay between two sweeps. */
const SWEEP_EVERY_MS = 20_000;
/** TTL of the lease: the time until another replica takes over from one that died. */
const LEASE_MS = 15_000;

/** Options of {@link createRevealSweep}. */
interface RevealSweepOptions {
  readonly store: Pick<Store, 'leases'>;
  readonly comparisons: Pick<Comparisons, 'sweep'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Creates the sweep that reveals comparisons after their time, and completes interrupted reveals, on one replica. */
export function createRevealSweep({ store, comparisons, clock, logger }: RevealSweepOptions): OnOneReplica {
  return new OnOneReplica({
    leases: store.leases,
    clock,
    name: 'reveals',
    ttlMs: LEASE_MS,
    everyMs: SWEEP_EVERY_MS,
    run: () => comparisons.sweep(),
    failed: (thrown) =>
      logger.warn({ event: 'reveal_sweep_failed', err: thrown }, 'failed to look for comparisons to reveal, retrying'),
  });
}
