import type { Keyv } from 'keyv';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { QueueName, WorkQueue } from '../queue.ts';

/** The lanes whose steps ask the video service, which may ask for a pause. */
const HELD_LANES = ['send', 'poll', 'fetch'] as const satisfies readonly QueueName[];

/** Collaborators of {@link persistPauses}. */
export interface PausesOptions {
  readonly records: Keyv;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a lane is held back, by the time of day: it outlives the process. */
interface Hold {
  readonly untilMs: number;
  /** The pause that was asked for: no clock that was set meanwhile makes it longer. */
  readonly forMs: number;
}

/**
 * Has a queue that lives in one process keep how long its lanes are held back (the service's `Retry-After`) across
 * restarts. For before the queue is started.
 * @throws `store_unavailable`
 */
export async function persistPauses(queue: WorkQueue, { records, clock, logger }: PausesOptions): Promise<WorkQueue> {
  const untilMs = new Map<QueueName, number>();
  for (const lane of HELD_LANES) {
    const hold = await records.get<Hold>(keyOf(lane));
    const leftMs = hold === undefined ? 0 : Math.min(hold.untilMs - clock.now(), hold.forMs);
    if (leftMs > 0) queue.holdBack(lane, leftMs);
    untilMs.set(lane, clock.now() + leftMs);
  }
  const holdBack = (lane: QueueName, forMs: number): void => {
    queue.holdBack(lane, forMs);
    keep(lane, forMs).catch((thrown: unknown) => {
      logger.warn({ lane, forMs, err: thrown }, 'a pause that the video service asked for would not outlive a restart');
    });
  };
  const keep = async (lane: QueueName, forMs: number): Promise<void> => {
    const hold: Hold = { untilMs: clock.now() + forMs, forMs };
    if (hold.untilMs <= (untilMs.get(lane) ?? 0)) return;
    untilMs.set(lane, hold.untilMs);
    await records.set(keyOf(lane), hold, forMs);
  };
  // Everything else is the queue's own, its getters included.
  return Object.assign(Object.create(queue) as WorkQueue, { holdBack });
}

function keyOf(lane: QueueName): string {
  return `hold:${lane}`;
}
