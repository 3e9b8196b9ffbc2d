import { hostname } from 'node:os';
import { type Clock, sleep } from '../clock.ts';
import type { Lease } from '../cluster/leases.ts';
import { DailiesError } from '../errors.ts';
import type { Store } from '../store/store.ts';

/** Where the sandbox of all replicas on one store is, while it runs. */
interface Place {
  /** {@link SandboxAddress.id} */
  readonly id: string;
  readonly host: string;
  readonly folder: string;
}

const LEASE = 'sandbox';
const TTL_MS = 10_000;
const AGAIN_MS = 1_000;
const KEY = 'place';

/** Where somebody means to run the sandbox. */
export interface PlaceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly id: string;
  readonly folder: string;
  /** Lets the place be free again. */
  readonly signal: AbortSignal;
}

/**
 * Has the store remember where its one sandbox runs, so that a replica in another folder or on another machine, which
 * would make one of its own and find no task in it, is told instead.
 * @throws `store_locked` while a sandbox runs in another place.
 */
export async function takePlace(options: PlaceOptions): Promise<void> {
  const { store, id, folder } = options;
  const places = store.keyv('sandbox');
  const lease = await store.leases.take(LEASE, TTL_MS);
  const there = await places.get<Place>(KEY);
  // Who ran it in this very folder is gone, or it could not have been opened: what is left of the lease is no matter.
  if (lease === null && there?.id !== id) throw takenBy(there);
  await places.set(KEY, { id, host: hostname(), folder } satisfies Place);
  void keep(options, lease);
}

/** Why a replica cannot use the sandbox, with the way out. */
export function takenBy(place: Pick<Place, 'host' | 'folder'> | undefined): DailiesError {
  const where = place === undefined ? 'another replica' : `a replica in ${place.folder} on ${place.host}`;
  return new DailiesError(
    `opening the embedded sandbox: ${where} runs it, and it can be reached from there alone; replicas in several ` +
      'places need VIDEO_API_BASE_URL and VIDEO_API_TOKEN of a video service that all of them reach',
    { code: 'store_locked', retryable: false },
  );
}

/** Takes the lease again whenever it was lost, as when the store was away. */
async function keep({ store, clock, signal }: PlaceOptions, first: Lease | null): Promise<void> {
  let lease = first;
  while (!signal.aborted) {
    if (lease === null) await sleep(clock, AGAIN_MS, signal).catch(() => undefined);
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
