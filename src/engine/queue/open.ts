import { sqlitePath } from '../store/address.ts';
import type { Store } from '../store/store.ts';
import type { BullmqQueueOptions, SharedWorkQueue } from './bullmq/queue.ts';
import { MemoryQueue } from './memory/queue.ts';
import type { QueueLimits, WorkQueue } from './queue.ts';

/** Options of {@link openQueue}. */
interface QueueOptions extends Omit<BullmqQueueOptions, 'limits'> {
  /** Store in which the queue of a single process persists its pauses; Redis persists its own. Default: none. */
  readonly store?: Pick<Store, 'keyv'>;
  /** Rate limits on requests to the video service, over all replicas; 0: no limit. */
  readonly maxRate: { readonly createsPerMinute: number; readonly pollsPerSecond: number };
}

/**
 * Opens the work queue that belongs to the store at `url`: of this process alone on SQLite, shared by every process on
 * one Redis. @throws `store_unavailable` when Redis does not answer within 5 seconds.
 */
export async function openQueue({ maxRate, ...options }: QueueOptions): Promise<WorkQueue | SharedWorkQueue> {
  const limits = limitsOf(maxRate);
  if (sqlitePath(options.url) !== null) {
    const queue = new MemoryQueue({ ...options, limits });
    await queue.restorePauses();
    return queue;
  }
  // Loaded on demand: without Redis, startup does not wait for its libraries.
  const { openBullmqQueue } = await import('./bullmq/queue.ts');
  return openBullmqQueue({ ...options, limits });
}

function limitsOf({ createsPerMinute, pollsPerSecond }: QueueOptions['maxRate']): QueueLimits {
  return {
    ...(createsPerMinute === 0 ? {} : { send: { max: createsPerMinute, perMs: 60_000 } }),
    ...(pollsPerSecond === 0 ? {} : { poll: { max: pollsPerSecond, perMs: 1_000 } }),
  };
}
