import { hostname } from 'node:os';
import { type Clock, sleep } from '../clock.ts';
import type { Lease } from '../cluster/leases.ts';
import { DailiesError } from '../errors.ts';
import type { Store } from '../store/store.ts';

/** Location of the running sandbox that the replicas of a store share. */
interface Location {
  /** {@link SandboxAddress.id} */
  readonly id: string;
  readonly host: string;
  readonly folder: string;
}

const LEASE = 'sandbox';
const TTL_MS = 10_000;
const RETRY_MS = 1_000;
const KEY = 'place';

/** Options of {@link takePlace}. */
export interface PlaceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly id: string;
  readonly folder: string;
  /** Releases the location when aborted. */
  readonly signal: AbortSignal;
}

/**
 * Claims the one sandbox of the store for this folder and machine, under a lease. A replica with another folder or
 * machine would start a second sandbox without the tasks of the first; it fails instead.
 * @throws `store_locked` while a sandbox runs at another location.
 */
export async function takePlace(options: PlaceOptions): Promise<void> {
  const { store, id, folder } = options;
  const locations = store.keyv('sandbox');
  const lease = await store.leases.take(LEASE, TTL_MS);
  const current = await locations.get<Location>(KEY);
  // The folder could be opened, so its previous replica is gone, and the rest of its lease can be ignored.
  if (lease === null && current?.id !== id) throw takenBy(current);
  await locations.set(KEY, { id, host: hostname(), folder } satisfies Location);
  void holdLease(options, lease);
}

/** Returns the error of a replica that cannot reach the sandbox, with the way out. */
export function takenBy(location: Pick<Location, 'host' | 'folder'> | undefined): DailiesError {
  const where = location === undefined ? 'another replica' : `a replica in ${location.folder} on ${location.host}`;
  return new DailiesError(
    `opening the embedded sandbox: ${where} runs it, and it can be reached from there alone; replicas in several ` +
      'places need VIDEO_API_BASE_URL and VIDEO_API_TOKEN of a video service that all of them reach',
    { code: 'store_locked', retryable: false },
  );
}

/** Renews the claim until `signal`: takes the lease again when it was lost, as after an outage of the store. */
async function holdLease({ store, clock, signal }: PlaceOptions, first: Lease | null): Promise<void> {
  let lease = first;
  while (!signal.aborted) {
    if (lease === null) await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    else await ended(AbortSignal.any([lease.signal, signal]));
    if (signal.aborted) break;
    lease = await store.leases.take(LEASE, TTL_MS).catch(() => null);
  }
  await lease?.release();
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
