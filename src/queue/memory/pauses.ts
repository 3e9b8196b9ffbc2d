import type { Keyv } from 'keyv';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { QueueName, WorkQueue } from '../queue.ts';

/** Queues whose jobs call the video service, which may ask for a pause. */
const PAUSED_QUEUES = ['send', 'poll', 'fetch'] as const satisfies readonly QueueName[];

/** Options of {@link persistPauses}. */
export interface PausesOptions {
  readonly records: Keyv;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Record of a queue's pause. It uses the time of day, since it outlives the process. */
interface Hold {
  readonly untilMs: number;
  /** Length of the pause as requested: an adjusted clock never extends it. */
  readonly forMs: number;
}

/**
 * Persists the pauses of an in-process queue (the service's `Retry-After`) across restarts. To be called before the
 * queue is started.
 * @throws `store_unavailable`
 */
export async function persistPauses(queue: WorkQueue, { records, clock, logger }: PausesOptions): Promise<WorkQueue> {
  const untilMs = new Map<QueueName, number>();
  for (const lane of PAUSED_QUEUES) {
    const hold = await records.get<Hold>(keyOf(lane));
    const leftMs = hold === undefined ? 0 : Math.min(hold.untilMs - clock.now(), hold.forMs);
    if (leftMs > 0) queue.holdBack(lane, leftMs);
    untilMs.set(lane, clock.now() + leftMs);
  }
  const holdBack = (lane: QueueName, forMs: number): void => {
    queue.holdBack(lane, forMs);
    keep(lane, forMs).catch((thrown: unknown) => {
      logger.warn(
        { event: 'pause_not_persisted', lane, forMs, err: thrown },
        'failed to persist a pause of a queue, lost at a restart',
      );
    });
  };
  const keep = async (lane: QueueName, forMs: number): Promise<void> => {
    const hold: Hold = { untilMs: clock.now() + forMs, forMs };
    if (hold.untilMs <= (untilMs.get(lane) ?? 0)) return;
    untilMs.set(lane, hold.untilMs);
    await records.set(keyOf(lane), hold, forMs);
  };
  // The prototype provides all other members, including getters.
  return Object.assign(Object.create(queue) as WorkQueue, { holdBack });
}

function keyOf(lane: QueueName): string {
  return `hold:${lane}`;
}
