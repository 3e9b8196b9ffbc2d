import type { Queue } from 'bullmq';
import { type Clock, within } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { type JobKind, jobEndings, jobKindOf, type QueueLimits, type QueueName, type WorkQueue } from '../queue.ts';
import { connectBullmq } from './connection.ts';
import { BullmqJobQueue } from './lane.ts';

/** Timeout for pending writes when closing, and then again for the queues: Redis may be unavailable. */
const LAST_PLANS_MS = 5_000;

/** Options of {@link openBullmqQueue}. */
export interface BullmqQueueOptions {
  /** URL of the Redis that the replicas share: `redis://…` or `rediss://…`. */
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Number of jobs that run at once in each queue of a kind in this process, at least 1 each. */
  readonly concurrency: Readonly<Record<JobKind, number>>;
  readonly limits?: QueueLimits;
  /** Returns the queues whose jobs this process runs; called at the start. */
  readonly lanes: readonly QueueName[];
}

/** A work queue that replicas share. */
export interface SharedWorkQueue extends WorkQueue {
  /** Returns the BullMQ queues whose jobs this process runs, for inspection by operators. */
  queues(): readonly Queue[];
}

/**
 * Opens the work queue of any number of replicas on one Redis, by BullMQ: a job runs on the first replica with a free
 * slot, and the jobs of a replica that died are taken over within 20 seconds. The reconciler restores jobs that Redis
 * did not accept.
 * @throws `store_unavailable` when Redis does not answer within 5 seconds, or is to keep a limit and takes no writes.
 * @see docs/decisions/0008-bullmq.md
 */
export async function openBullmqQueue(options: BullmqQueueOptions): Promise<SharedWorkQueue> {
  const { url, clock, logger, concurrency, limits = {} } = options;
  const link = await connectBullmq(url, options);
  const stopping = new AbortController();
  const lanes = new Map<QueueName, BullmqJobQueue>();
  const plans = new Set<Promise<void>>();

  const jobQueueOf = (lane: QueueName): BullmqJobQueue => {
    const known = lanes.get(lane);
    if (known !== undefined) return known;
    const bounds = { concurrency: concurrency[jobKindOf(lane)], limit: limits[lane] };
    const made = new BullmqJobQueue({ lane, link, ...bounds, clock, logger, stopping: stopping.signal });
    lanes.set(lane, made);
    return made;
  };

  try {
    for (const lane of Object.keys(limits) as QueueName[]) await jobQueueOf(lane).keepLimit();
  } catch (thrown) {
    await link.close();
    throw thrown;
  }

  /** Tracks a write that no caller awaits. */
  const inTheBackground = (doing: Promise<void>): void => {
    const done = doing
      .then(
        () => link.calls.accepted(),
        (thrown: unknown) => logger.debug({ event: 'job_not_scheduled', err: thrown }, 'failed to write to the queue'),
      )
      .finally(() => plans.delete(done));
    plans.add(done);
  };

  return {
    start(steps) {
      for (const lane of options.lanes) jobQueueOf(lane).start(steps[jobKindOf(lane)]);
    },
    schedule: (lane, id, atMs) => inTheBackground(jobQueueOf(lane).plan(id, atMs)),
    async ensure({ lane, ids, atMs, apartMs = 0, orIn = [], latestMs = Number.POSITIVE_INFINITY }) {
      let lost = ids;
      for (const each of [lane, ...orIn]) lost = await jobQueueOf(each).missing(lost, latestMs);
      if (lost.length === 0) return 0;
      const places = new Map(ids.map((id, place) => [id, place]));
      const plan = (id: string) => ({ id, atMs: atMs + Math.floor((places.get(id) ?? 0) * apartMs) });
      await jobQueueOf(lane).add(lost.map(plan));
      return lost.length;
    },
    holdBack: (lane, forMs) => inTheBackground(jobQueueOf(lane).holdBack(forMs)),
    get lanes() {
      return options.lanes;
    },
    queues: () => options.lanes.map((lane) => jobQueueOf(lane).queue),
    stats: (lane) => jobQueueOf(lane).stats(),
    async drain(patienceMs = Infinity) {
      stopping.abort(jobEndings());
      const stopped = Promise.all([...lanes.values()].map((lane) => lane.stop())).then(() => true);
      return patienceMs === Infinity ? stopped : within(clock, patienceMs, stopped, false);
    },
    async close() {
      await within<unknown>(clock, LAST_PLANS_MS, Promise.all(plans), null);
      const closed = Promise.all([...lanes.values()].map((lane) => lane.close()));
      await within<unknown>(clock, LAST_PLANS_MS, closed, null);
      await link.close();
    },
  };
}
