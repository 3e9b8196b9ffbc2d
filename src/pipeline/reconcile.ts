import type { Clock } from '../clock.ts';
import type { Bounds, Job, QueueName, Store, WorkQueue } from '../engine/index.ts';
import { pagesOf } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { retry } from '../retry.ts';
import { OUTBOX, readEntries, readTasks, rowOf, stateIndex, statesWhere } from '../tasks/index.ts';
import type { VideoRequest } from '../videos/index.ts';
import { deliverQueue, notifyQueue, serviceQueue } from './next-job.ts';
import type { PollPace } from './poll.ts';

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
    const kinds = rowOf(state).queues;
    const [name = 'poll'] = kinds;
    const apartMs = name === 'poll' ? pace.minMs / Math.max(1, await store.count(index)) : 0;
    let position = 0;
    for await (const page of pagesOf(store, index, bounds)) {
      const atMs = nowMs + Math.floor(position * apartMs);
      const all = page.map(({ member }) => member);
      for (const { ids, ...of } of await byService({ store, queue }, all)) {
        const [first = name, ...others] = kinds.map((kind) => (kind === 'frame' ? kind : serviceQueue(kind, of)));
        count(lost, first, await queue.ensure({ queue: first, ids, atMs, apartMs, latestMs, orIn: others }));
      }
      position += page.length;
    }
    there += position;
  }
  return { there, lost };
}

/** Groups tasks by their service; where none has a name, without reading them. */
async function byService(
  { store, queue }: Pick<Upkeep, 'store' | 'queue'>,
  ids: readonly string[],
): Promise<readonly (Pick<VideoRequest, 'service'> & { readonly ids: readonly string[] })[]> {
  if (!queue.names.some((name) => name.startsWith('poll:'))) return [{ ids }];
  const groups = Map.groupBy(await readTasks(store, ids), ({ request }) => request.service);
  return [...groups].map(([service, tasks]) => ({
    ...(service === undefined ? {} : { service }),
    ids: tasks.map(({ id }) => id),
  }));
}

/** Schedules deliveries of outbox entries without a scheduled delivery or notification. @throws `store_unavailable` */
export async function ensureDeliveries({ store, queue, clock }: Upkeep, bounds: Bounds = {}): Promise<Found> {
  const lost = new Map<QueueName, number>();
  let there = 0;
  for await (const page of pagesOf(store, OUTBOX, bounds)) {
    const waiting = (await readEntries(store, page)).filter(({ presented }) => !presented);
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

/** Schedules jobs of the members of an index without one. @throws `store_unavailable` */
async function ensureIndexed({ store, queue, clock }: Upkeep, of: Indexed, bounds: Bounds): Promise<Found> {
  const lost = new Map<QueueName, number>();
  let there = 0;
  for await (const page of pagesOf(store, of.index, bounds)) {
    const nowMs = clock.now();
    const ids = page.map(({ member }) => member);
    count(lost, of.queue, await queue.ensure({ queue: of.queue, ids, atMs: nowMs, latestMs: nowMs + LATEST_MS }));
    there += page.length;
  }
  return { there, lost };
}

function count(lost: Map<QueueName, number>, name: QueueName, found: number): void {
  if (found > 0) lost.set(name, (lost.get(name) ?? 0) + found);
}

/** Records that have a job in a queue as long as they are in an index. */
interface Indexed {
  readonly queue: QueueName;
  /** Index by time, whose members are the ids of the jobs. */
  readonly index: string;
}

/** Options of {@link reconciliation}. */
interface ReconciliationOptions extends Upkeep {
  readonly pace: PollPace;
  /** Records beside the tasks whose jobs are found again. */
  readonly indexed: readonly Indexed[];
  readonly logger: Logger;
  /** Called with the number of lost jobs of a queue. */
  readonly found: (name: QueueName, count: number) => void;
}

/**
 * Returns the job that schedules what has to be done according to the store and the queue lacks, every 20 seconds on one
 * replica: the queue cannot commit its jobs with the records that cause them.
 */
export function reconciliation(options: ReconciliationOptions): Job {
  const { clock, pace, indexed, logger } = options;
  const ensure = async (bounds: Bounds): Promise<readonly Found[]> => [
    await ensureOpenTasks(options, { pace, ...bounds }),
    await ensureDeliveries(options, bounds),
    ...(await Promise.all(indexed.map((one) => ensureIndexed(options, one, bounds)))),
  ];
  return {
    name: 'reconciliation',
    everyMs: 20_000,
    leaseMs: 15_000,
    async run() {
      const freshMs = clock.now() - FRESH_MS;
      const found = await ensure({ max: freshMs });
      // Entries that seem fresh, too, since another clock may have set their time; but they do not count as lost.
      await ensure({ min: freshMs });
      for (const [name, lost] of found.flatMap((each) => [...each.lost])) {
        logger.warn({ event: 'jobs_lost', lane: name, lost }, 'scheduled jobs that the queue had lost');
        options.found(name, lost);
      }
    },
  };
}

/** Delay before retrying after the store was unavailable. */
const RETRY_MS = 1_000;

/** Parts that resume the work of an earlier process, each returning the number of its items. */
interface Resumable {
  readonly tasks: { resume(): Promise<number> };
  readonly chat: { resume(): Promise<number> };
}

/** Options of {@link resume}. */
interface ResumeOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted at shutdown. */
  readonly ending: AbortSignal;
}

/**
 * Resumes open tasks and undelivered outcomes, retrying until it succeeds: by then this process accepts orders, and
 * must not exit because the store is briefly unavailable.
 * @throws errors that are not retryable; the signal's reason once `ending` is aborted.
 */
export async function resume(
  { tasks, chat }: Resumable,
  { clock, logger, ending }: ResumeOptions,
): Promise<{ readonly open: number; readonly undelivered: number }> {
  const failed = (thrown: unknown): void => {
    if (!(thrown instanceof DailiesError) || !thrown.retryable) throw thrown;
    logger.warn({ event: 'resume_failed', err: thrown }, 'failed to resume open tasks, retrying');
  };
  // Timers of the clock do not keep the process alive, but its listening server does.
  const options = { clock, random: () => 1, firstMs: RETRY_MS, maxMs: RETRY_MS, signal: ending, failed };
  return retry(options, async () => ({ open: await tasks.resume(), undelivered: await chat.resume() }));
}
