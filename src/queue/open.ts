import type { Keyv } from 'keyv';
import { sqlitePath } from '../store/address.ts';
import type { BullmqQueueOptions, SharedWorkQueue } from './bullmq/queue.ts';
import { persistPauses } from './memory/pauses.ts';
import { createMemoryQueue } from './memory/queue.ts';
import type { QueueLimits, WorkQueue } from './queue.ts';

/** What {@link openQueue} needs. */
export interface QueueOptions extends Omit<BullmqQueueOptions, 'limits'> {
  /** Where a queue of one process keeps how long its lanes are held back; Redis does so by itself. Default: nowhere. */
  readonly holds?: Keyv;
  /** The most that is asked of the video service, by all processes together; 0: no limit. */
  readonly maxRate: { readonly createsPerMinute: number; readonly pollsPerSecond: number };
}

/**
 * Opens the work queue that belongs to the store at `url`: of this process alone on SQLite, shared by every process on
 * one Redis. @throws `store_unavailable` when Redis does not answer within 5 seconds.
 */
export async function openQueue({ maxRate, holds, ...options }: QueueOptions): Promise<WorkQueue | SharedWorkQueue> {
  const limits = limitsOf(maxRate);
  if (sqlitePath(options.url) !== null) {
    const queue = createMemoryQueue({ ...options, limits });
    return holds === undefined ? queue : persistPauses(queue, { ...options, records: holds });
  }
  // Whoever needs no Redis does not wait for its libraries to load.
  const { openBullmqQueue } = await import('./bullmq/queue.ts');
  return openBullmqQueue({ ...options, limits });
}

function limitsOf({ createsPerMinute, pollsPerSecond }: QueueOptions['maxRate']): QueueLimits {
  return {
    ...(createsPerMinute === 0 ? {} : { send: { max: createsPerMinute, perMs: 60_000 } }),
    ...(pollsPerSecond === 0 ? {} : { poll: { max: pollsPerSecond, perMs: 1_000 } }),
  };
}
