import { createNodeRedisClient, type IRedisClient, type Queue } from 'bullmq';
import { within } from '../../../clock.ts';
import { RedisConnection } from '../../store/redis/connection.ts';
import { Outage, type RedisOutages } from '../../store/redis/errors.ts';
import type { StoreDeps } from '../../store/store.ts';
import {
  concurrencyOf,
  type JobHandler,
  type JobKind,
  type JobOptions,
  jobEndings,
  jobKindOf,
  type QueueName,
  type QueueOptions,
  type QueueStats,
  type WorkQueue,
} from '../queue.ts';
import { BullmqJobQueue } from './job-queue.ts';
import { defineScripts } from './scripts.ts';

/** Timeout for pending writes when closing, and then again for the queues: Redis may be unavailable. */
const LAST_PLANS_MS = 5_000;

/** Options of {@link openBullmqQueue}. */
export interface BullmqQueueOptions extends QueueOptions {
  /** URL of the Redis that the replicas share: `redis://…` or `rediss://…`. */
  readonly url: string;
}

export interface SharedWorkQueue extends WorkQueue {
  /** Returns the BullMQ queues whose jobs this process runs, for inspection by operators. */
  queues(): readonly Queue[];
}

/**
 * Opens the work queue of any number of replicas on one Redis, by BullMQ: a job runs on the first replica with a free
 * slot, and the jobs of a replica that died are taken over within 20 seconds. The reconciler restores jobs that Redis
 * did not accept.
 * @throws `store_unavailable` when Redis does not answer within 5 seconds, or is to keep a limit and takes no writes.
 * @see docs/decisions/0025-queue-on-bullmq.md
 */
export async function openBullmqQueue(options: BullmqQueueOptions): Promise<SharedWorkQueue> {
  const link = await connectBullmq(options.url, options);
  try {
    const queue = new BullmqWorkQueue(options, link);
    await queue.keepLimits();
    return queue;
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
}

class BullmqWorkQueue implements SharedWorkQueue {
  readonly #options: BullmqQueueOptions;
  readonly #link: BullmqConnection;
  readonly #stopping = new AbortController();
  readonly #queues = new Map<QueueName, BullmqJobQueue>();
  /** Writes that no caller awaits. */
  readonly #writes = new Set<Promise<void>>();

  constructor(options: BullmqQueueOptions, link: BullmqConnection) {
    this.#options = options;
    this.#link = link;
  }

  /** Puts the rate limits into effect. @throws `store_unavailable` */
  async keepLimits(): Promise<void> {
    for (const name of Object.keys(this.#options.limits ?? {}) as QueueName[]) await this.#queueOf(name).keepLimit();
  }

  get names(): readonly QueueName[] {
    return this.#options.names;
  }

  queues(): readonly Queue[] {
    return this.names.map((name) => this.#queueOf(name).queue);
  }

  start(steps: Readonly<Record<JobKind, JobHandler>>): void {
    for (const name of this.names) this.#queueOf(name).start(steps[jobKindOf(name)]);
  }

  schedule(name: QueueName, id: string, atMs: number): void {
    this.#inTheBackground(this.#queueOf(name).plan(id, atMs));
  }

  async ensure({ queue, ids, atMs, apartMs = 0, orIn = [], latestMs = Infinity }: JobOptions): Promise<number> {
    let lost = ids;
    for (const each of [queue, ...orIn]) lost = await this.#queueOf(each).missing(lost, latestMs);
    if (lost.length === 0) return 0;
    const places = new Map(ids.map((id, place) => [id, place]));
    const plan = (id: string) => ({ id, atMs: atMs + Math.floor((places.get(id) ?? 0) * apartMs) });
    await this.#queueOf(queue).add(lost.map(plan));
    return lost.length;
  }

  pause(name: QueueName, forMs: number): void {
    this.#inTheBackground(this.#queueOf(name).pause(forMs));
  }

  pausedMs(name: QueueName): number {
    return this.#queueOf(name).pausedMs();
  }

  stats(name: QueueName): Promise<QueueStats> {
    return this.#queueOf(name).stats();
  }

  async drain(patienceMs = Infinity): Promise<boolean> {
    this.#stopping.abort(jobEndings());
    const stopped = Promise.all([...this.#queues.values()].map((queue) => queue.stop())).then(() => true);
    return patienceMs === Infinity ? stopped : within(this.#options.clock, patienceMs, stopped, false);
  }

  async close(): Promise<void> {
    const { clock } = this.#options;
    await within<unknown>(clock, LAST_PLANS_MS, Promise.all(this.#writes), null);
    const closed = Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    await within<unknown>(clock, LAST_PLANS_MS, closed, null);
    await this.#link.close();
  }

  #queueOf(name: QueueName): BullmqJobQueue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const { clock, logger, concurrency, limits = {} } = this.#options;
    const bounds = { concurrency: concurrencyOf(concurrency, name), limit: limits[name] };
    const deps = { link: this.#link, clock, logger, stopping: this.#stopping.signal };
    const created = new BullmqJobQueue({ name, ...bounds, ...deps });
    this.#queues.set(name, created);
    return created;
  }

  #inTheBackground(writing: Promise<void>): void {
    const { logger } = this.#options;
    const done = writing
      .then(
        () => this.#link.calls.accepted(),
        (thrown: unknown) => logger.debug({ event: 'job_not_scheduled', err: thrown }, 'failed to write to the queue'),
      )
      .finally(() => this.#writes.delete(done));
    this.#writes.add(done);
  }
}

/** Time after the end of an outage in which all connections have left a Redis that has become a replica. */
const SETTLE_MS = 10_000;

export interface BullmqConnection {
  /** For scheduling. While Redis is unavailable, calls fail at once: no job is to be scheduled minutes later. */
  readonly calls: RedisConnection;
  /** `calls`, as BullMQ's queues use it. */
  readonly queues: IRedisClient;
  /** For BullMQ's workers: the results of their jobs are queued until Redis is available. */
  readonly workers: IRedisClient;
  close(): Promise<void>;
}

/**
 * Connects the work queue to the Redis at `url` (`redis://…` or `rediss://…`, as in `STORE_URL`).
 * @throws `store_unavailable` when that took more than 5 seconds.
 */
async function connectBullmq(url: string, { clock, logger }: StoreDeps): Promise<BullmqConnection> {
  const calls = await RedisConnection.open(url, { clock, logger, outages: queueOutages({ clock, logger }) });
  const work = calls.besideForBlocking();
  const close = async (): Promise<void> => void (await Promise.all([calls.close(), work.close()]));
  try {
    await calls.call('connecting the work queue to Redis', () => work.connected);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const queues = forBullmq(calls);
  defineScripts(queues);
  return { calls, queues, workers: forBullmq(work), close };
}

/** Adapts a connection to BullMQ. The connections that BullMQ opens beside it to wait for jobs are ours as well. */
function forBullmq(connection: RedisConnection): IRedisClient {
  const client = createNodeRedisClient(connection.client);
  client.duplicate = ({ connectionName = '' } = {}) => forBullmq(connection.beside({ name: connectionName }));
  // BullMQ adds listeners for each queue.
  return client.setMaxListeners(0).on('error', () => undefined);
}

/** Creates the outages of the work queue, which count as one: a connection that is back may lead to a Redis that rejects writes. */
function queueOutages({ clock, logger }: StoreDeps): RedisOutages {
  const outage = new Outage({
    clock,
    settleMs: SETTLE_MS,
    begin: (reason) =>
      logger.warn({ event: 'queue_unavailable', reason }, 'Redis does not serve the work queue, due jobs are delayed'),
    end: () => logger.info({ event: 'queue_restored' }, 'Redis serves the work queue again'),
  });
  return { unreachable: outage.cause(), rejecting: outage.cause() };
}
