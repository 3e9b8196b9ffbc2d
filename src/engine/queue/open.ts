import { sqlitePath } from '../store/address.ts';
import type { Store } from '../store/store.ts';
import type { BullmqQueueOptions, SharedWorkQueue } from './bullmq/queue.ts';
import { MemoryQueue } from './memory/queue.ts';
import type { WorkQueue } from './queue.ts';

/** Options of {@link openQueue}. */
interface QueueOptions extends BullmqQueueOptions {
  /** Store in which the queue of a single process persists its pauses; Redis persists its own. Default: none. */
  readonly store?: Pick<Store, 'keyv'>;
}

/**
 * Opens the work queue that belongs to the store at `url`: of this process alone on SQLite, shared by every process on
 * one Redis. @throws `store_unavailable` when Redis does not answer within 5 seconds.
 */
export async function openQueue(options: QueueOptions): Promise<WorkQueue | SharedWorkQueue> {
  if (sqlitePath(options.url) !== null) {
    const queue = new MemoryQueue(options);
    await queue.restorePauses();
    return queue;
  }
  // Loaded on demand: without Redis, startup does not wait for its libraries.
  const { openBullmqQueue } = await import('./bullmq/queue.ts');
  return openBullmqQueue(options);
}
