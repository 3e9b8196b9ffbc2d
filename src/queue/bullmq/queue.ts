import type { Queue } from 'bullmq';
import { type Clock, within } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { type JobKind, jobEndings, jobKindOf, type QueueLimits, type QueueName, type WorkQueue } from '../queue.ts';
import { BullmqConnection } from './connection.ts';
import { BullmqJobQueue } from './lane.ts';
import { withLook } from './look.ts';

/** How long closing waits for plans that are on their way, and then for the queues: Redis may be away. */
const LAST_PLANS_MS = 5_000;

/** Collaborators of {@link createBullmqQueue}. */
export interface BullmqQueueOptions {
  /** Of the Redis that the replicas share: `redis://…` or `rediss://…`. */
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many steps of a lane of each kind run at once in this process, at least 1 each. */
  readonly concurrency: Readonly<Record<JobKind, number>>;
  readonly limits?: QueueLimits;
  /** The lanes whose steps this process runs; asked at the start. */
  readonly lanes: () => readonly QueueName[];
}

/** A work queue that replicas share. */
export interface SharedWorkQueue extends WorkQueue {
  /** The queues as BullMQ has them, of the lanes whose steps this process runs: for operators to look at. */
  queues(): readonly Queue[];
}

/**
 * The work queue of any number of replicas on one Redis, by BullMQ: a step runs on whichever has room first, and the
 * jobs of one that died are taken over within 20 seconds. What Redis does not take is found again by the sweeper.
 * @throws `store_unavailable` when Redis does not answer within 5 seconds, or is to keep a limit and takes no writes.
 * @see docs/decisions/0008-bullmq.md
 */
export async function openBullmqQueue(options: BullmqQueueOptions): Promise<SharedWorkQueue> {
  const { url, clock, logger, concurrency, limits = {} } = options;
  const link = await BullmqConnection.open(url, options);
  const redis = withLook(link.calls);
  const stopping = new AbortController();
  const lanes = new Map<QueueName, BullmqJobQueue>();
  const plans = new Set<Promise<void>>();

  const laneOf = (lane: QueueName): BullmqJobQueue => {
    const known = lanes.get(lane);
    if (known !== undefined) return known;
    const bounds = { concurrency: concurrency[jobKindOf(lane)], limit: limits[lane] };
    const made = new BullmqJobQueue({ lane, link, redis, ...bounds, clock, logger, stopping: stopping.signal });
    lanes.set(lane, made);
    return made;
  };

  try {
    for (const lane of Object.keys(limits) as QueueName[]) await laneOf(lane).keepLimit();
  } catch (thrown) {
    link.close();
    throw thrown;
  }

  /** Does what nobody waits for. */
  const inTheBackground = (doing: Promise<void>): void => {
    const done = doing
      .then(
        () => link.worked(),
        (thrown: unknown) => link.failed(thrown),
      )
      .finally(() => plans.delete(done));
    plans.add(done);
  };

  return {
    start(steps) {
      for (const lane of options.lanes()) laneOf(lane).start(steps[jobKindOf(lane)]);
    },
    schedule: (lane, id, atMs) => inTheBackground(laneOf(lane).plan(id, atMs)),
    async ensure({ lane, ids, atMs, apartMs = 0, orIn = [], latestMs = Number.POSITIVE_INFINITY }) {
      let lost = ids;
      for (const each of [lane, ...orIn]) lost = await laneOf(each).missing(lost, latestMs);
      if (lost.length === 0) return 0;
      const places = new Map(ids.map((id, place) => [id, place]));
      const plan = (id: string) => ({ id, atMs: atMs + Math.floor((places.get(id) ?? 0) * apartMs) });
      await laneOf(lane).add(lost.map(plan));
      return lost.length;
    },
    holdBack: (lane, forMs) => inTheBackground(laneOf(lane).holdBack(forMs)),
    get lanes() {
      return options.lanes();
    },
    queues: () => options.lanes().map((lane) => laneOf(lane).queue),
    stats: (lane) => laneOf(lane).stats(),
    async drain(patienceMs = Infinity) {
      stopping.abort(jobEndings());
      const stopped = Promise.all([...lanes.values()].map((lane) => lane.stop())).then(() => true);
      return patienceMs === Infinity ? stopped : within(clock, patienceMs, stopped, false);
    },
    async close() {
      await within<unknown>(clock, LAST_PLANS_MS, Promise.all(plans), null);
      const closed = Promise.all([...lanes.values()].map((lane) => lane.close()));
      await within<unknown>(clock, LAST_PLANS_MS, closed, null);
      link.close();
    },
  };
}
