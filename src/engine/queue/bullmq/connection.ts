import { createNodeRedisClient, type IRedisClient } from 'bullmq';
import { RedisConnection } from '../../store/redis/connection.ts';
import { Outage, type RedisOutages } from '../../store/redis/errors.ts';
import type { StoreDeps } from '../../store/store.ts';
import { defineScripts } from './scripts.ts';

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
export async function connectBullmq(url: string, { clock, logger }: StoreDeps): Promise<BullmqConnection> {
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

/** Creates the outages of the work queue, which count as one. */
function queueOutages({ clock, logger }: StoreDeps): RedisOutages {
  const outage = new Outage({
    clock,
    settleMs: SETTLE_MS,
    begin: (reason) =>
      logger.warn({ event: 'queue_unavailable', reason }, 'Redis does not serve the work queue, due jobs are delayed'),
    end: () => logger.info({ event: 'queue_restored' }, 'Redis serves the work queue again'),
  });
  return { unreachable: outage, rejecting: outage };
}
