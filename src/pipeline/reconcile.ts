import { type Clock, sleep } from '../clock.ts';
import type { Lease } from '../cluster/leases.ts';
import type { Logger } from '../logger.ts';
import type { QueueName, WorkQueue } from '../queue/queue.ts';
import { pagesOf } from '../store/pages.ts';
import type { Bounds, Store } from '../store/store.ts';
import { OUTBOX, stateIndex } from '../tasks/indexes.ts';
import { readTasks } from '../tasks/record-shape.ts';
import type { PollPace } from './backoff.ts';
import { deliverLane, notifyLane, STEPPED_STATES } from './next-job.ts';

/** How long after one sweep the next one begins. */
const SWEEP_EVERY_MS = 20_000;
/** How long a sweeper that died keeps the others from sweeping. */
const LEASE_MS = 15_000;
/** What is younger is being planned by whoever made it. */
const FRESH_MS = 10_000;
/** No step waits longer beyond its pace: a later plan was made by a process whose clock is wrong. */
const LATEST_MS = 10 * 60_000;

/** What the store says there is to do, and what of it the queue had lost. */
export interface Found {
  readonly there: number;
  readonly lost: ReadonlyMap<QueueName, number>;
}

/** What is needed to plan what the store says there is to do. */
export interface Upkeep {
  readonly store: Store;
  readonly queue: WorkQueue;
  readonly clock: Clock;
}

/**
 * Has every task stepped that is not ended, unless it is planned; `bounds` are of when its age began. Polls are spread over
 * the first interval: a restart must not ask for everything in one second. @throws `store_unavailable`
 */
export async function ensureOpenTasks(
  { store, queue, clock }: Upkeep,
  { pace, ...bounds }: Bounds & { readonly pace: PollPace },
): Promise<Found> {
  const lost = new Map<QueueName, number>();
  const nowMs = clock.now();
  const latestMs = nowMs + pace.maxMs + LATEST_MS;
  let there = 0;
  for (const [state, lane] of STEPPED_STATES) {
    const index = stateIndex(state);
    // What became of a cancelled task may be known, and its clip be waiting for its download.
    const orIn: readonly QueueName[] = state === 'cancelled' ? ['fetch'] : [];
    const apartMs = lane === 'poll' ? pace.minMs / Math.max(1, await store.count(index)) : 0;
    let place = 0;
    for await (const page of pagesOf(store, index, bounds)) {
      const ids = page.map(({ member }) => member);
      const wanted = { lane, ids, atMs: nowMs + Math.floor(place * apartMs), apartMs, latestMs, orIn };
      count(lost, lane, await queue.ensure(wanted));
      place += page.length;
    }
    there += place;
  }
  return { there, lost };
}

/** Has everything in the outbox delivered, unless it or the notice that follows is planned. @throws `store_unavailable` */
export async function ensureDeliveries({ store, queue, clock }: Upkeep, bounds: Bounds = {}): Promise<Found> {
  const lost = new Map<QueueName, number>();
  const records = store.keyv('tasks');
  let there = 0;
  for await (const page of pagesOf(store, OUTBOX, bounds)) {
    const tasks = await readTasks(
      records,
      page.map(({ member }) => member),
    );
    const waiting = tasks.filter(({ presented }) => !presented);
    for (const [lane, those] of Map.groupBy(waiting, deliverLane)) {
      const [first] = those;
      if (first === undefined) continue;
      const ids = those.map(({ id }) => id);
      const nowMs = clock.now();
      const wanted = { lane, ids, atMs: nowMs, orIn: [notifyLane(first)], latestMs: nowMs + LATEST_MS };
      count(lost, lane, await queue.ensure(wanted));
    }
    there += page.length;
  }
  return { there, lost };
}

function count(lost: Map<QueueName, number>, lane: QueueName, found: number): void {
  if (found > 0) lost.set(lane, (lost.get(lane) ?? 0) + found);
}

/** Collaborators of {@link createReconciler}. */
export interface ReconcilerOptions extends Upkeep {
  readonly pace: PollPace;
  readonly logger: Logger;
  /** Told of steps that were found without a plan. */
  readonly found: (lane: QueueName, count: number) => void;
}

/** Finds what the queue has lost. */
export interface Reconciler {
  /** Sweeps every 20 seconds, in one process at a time. */
  start(): void;
  /** Lets another process do it. */
  stop(): Promise<void>;
}

/** The sweeper of one process: what the store says there is to do is planned, whatever the queue forgot. */
export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { store, clock, pace, logger } = options;
  const stopping = new AbortController();
  let lease: Lease | null = null;
  let running: Promise<void> = Promise.resolve();

  const sweep = async (): Promise<void> => {
    if (lease?.isHeld() !== true) lease = await store.leases.take('sweeper', LEASE_MS);
    if (lease === null) return;
    const freshMs = clock.now() - FRESH_MS;
    const found = [
      await ensureOpenTasks(options, { pace, max: freshMs }),
      await ensureDeliveries(options, { max: freshMs }),
    ];
    // Also what seems to be fresh: its time may be that of another clock. But that says nothing about the queue.
    await ensureOpenTasks(options, { pace, min: freshMs });
    await ensureDeliveries(options, { min: freshMs });
    for (const [lane, lost] of found.flatMap((each) => [...each.lost])) {
      logger.warn({ lane, lost }, 'steps without a plan were found; they are planned now');
      options.found(lane, lost);
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(clock, SWEEP_EVERY_MS, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await sweep().catch((thrown: unknown) => logger.warn({ err: thrown }, 'a sweep failed; it is repeated'));
    }
  };

  return {
    start() {
      running = loop();
    },
    async stop() {
      stopping.abort(new Error('stopping'));
      await running;
      await lease?.release();
    },
  };
}
