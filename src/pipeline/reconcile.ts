import type { Clock } from '../clock.ts';
import { type Bounds, OnOneReplica, pagesOf, type QueueName, type Store, type WorkQueue } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { OUTBOX, readTasks, rowOf, stateIndex, statesWhere } from '../tasks/index.ts';
import type { PollPace } from './backoff.ts';
import { deliverQueue, notifyQueue } from './next-job.ts';

/** Delay between two sweeps. */
const SWEEP_EVERY_MS = 20_000;
/** TTL of the reconciler's lease: the time until another replica takes over from one that died. */
const LEASE_MS = 15_000;
/** Age below which an entry is still being scheduled by the process that created it. */
const FRESH_MS = 10_000;
/** Longest delay of a job beyond its poll interval: a later one was scheduled by a process with a wrong clock. */
const LATEST_MS = 10 * 60_000;

/** Number of entries that need a job according to the store, and of the jobs that the queue had lost. */
interface Found {
  readonly there: number;
  readonly lost: ReadonlyMap<QueueName, number>;
}

/** Dependencies of a reconciliation of the queue with the store. */
interface Upkeep {
  readonly store: Store;
  readonly queue: WorkQueue;
  readonly clock: Clock;
}

/**
 * Schedules a job for every open task that has none; `bounds` limit the start of a task's age. Polls are spread over
 * the first interval: a restart must not poll everything within one second. @throws `store_unavailable`
 */
export async function ensureOpenTasks(
  { store, queue, clock }: Upkeep,
  { pace, ...bounds }: Bounds & { readonly pace: PollPace },
): Promise<Found> {
  const lost = new Map<QueueName, number>();
  const nowMs = clock.now();
  const latestMs = nowMs + pace.maxMs + LATEST_MS;
  let there = 0;
  for (const state of statesWhere(({ queues }) => queues.length > 0)) {
    const index = stateIndex(state);
    const [name = 'poll', ...orIn] = rowOf(state).queues;
    const apartMs = name === 'poll' ? pace.minMs / Math.max(1, await store.count(index)) : 0;
    let position = 0;
    for await (const page of pagesOf(store, index, bounds)) {
      const ids = page.map(({ member }) => member);
      const wanted = { queue: name, ids, atMs: nowMs + Math.floor(position * apartMs), apartMs, latestMs, orIn };
      count(lost, name, await queue.ensure(wanted));
      position += page.length;
    }
    there += position;
  }
  return { there, lost };
}

/** Schedules deliveries of outbox entries without a scheduled delivery or notification. @throws `store_unavailable` */
export async function ensureDeliveries({ store, queue, clock }: Upkeep, bounds: Bounds = {}): Promise<Found> {
  const lost = new Map<QueueName, number>();
  let there = 0;
  for await (const page of pagesOf(store, OUTBOX, bounds)) {
    const tasks = await readTasks(
      store,
      page.map(({ member }) => member),
    );
    const waiting = tasks.filter(({ presented }) => !presented);
    for (const [name, group] of Map.groupBy(waiting, deliverQueue)) {
      const [first] = group;
      if (first === undefined) continue;
      const ids = group.map(({ id }) => id);
      const nowMs = clock.now();
      const wanted = { queue: name, ids, atMs: nowMs, orIn: [notifyQueue(first)], latestMs: nowMs + LATEST_MS };
      count(lost, name, await queue.ensure(wanted));
    }
    there += page.length;
  }
  return { there, lost };
}

function count(lost: Map<QueueName, number>, name: QueueName, found: number): void {
  if (found > 0) lost.set(name, (lost.get(name) ?? 0) + found);
}

/** Options of {@link createReconciler}. */
interface ReconcilerOptions extends Upkeep {
  readonly pace: PollPace;
  readonly logger: Logger;
  /** Called with the number of lost jobs of a queue. */
  readonly found: (name: QueueName, count: number) => void;
}

/**
 * Creates the reconciler of one process, which schedules what has to be done according to the store and the queue
 * lacks, every 20 seconds on one replica.
 */
export function createReconciler(options: ReconcilerOptions): OnOneReplica {
  const { store, clock, pace, logger } = options;
  const sweep = async (): Promise<void> => {
    const freshMs = clock.now() - FRESH_MS;
    const found = [
      await ensureOpenTasks(options, { pace, max: freshMs }),
      await ensureDeliveries(options, { max: freshMs }),
    ];
    // Entries that seem fresh, too, since another clock may have set their time; but they do not count as lost.
    await ensureOpenTasks(options, { pace, min: freshMs });
    await ensureDeliveries(options, { min: freshMs });
    for (const [name, lost] of found.flatMap((each) => [...each.lost])) {
      logger.warn({ event: 'jobs_lost', lane: name, lost }, 'scheduled jobs that the queue had lost');
      options.found(name, lost);
    }
  };
  return new OnOneReplica({
    leases: store.leases,
    clock,
    name: 'sweeper',
    ttlMs: LEASE_MS,
    everyMs: SWEEP_EVERY_MS,
    run: sweep,
    failed: (thrown) =>
      logger.warn({ event: 'reconciliation_failed', err: thrown }, 'failed to reconcile the queue, retrying'),
  });
}
