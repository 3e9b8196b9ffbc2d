import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Platform } from '../chat/index.ts';
import { DATA_KINDS, type DataSpace, retentionAgeMs } from '../clips/index.ts';
import { type Clock, within } from '../clock.ts';
import type { Store, WorkQueue } from '../engine/index.ts';
import { lastDisagreements } from '../money/index.ts';
import { OUTBOX, stateIndex, statesWhere, type TaskState, UPLOADS } from '../tasks/index.ts';

/** Sources of the gauges, read at each scrape. */
export interface GaugeSources {
  readonly store: Store;
  readonly queue: WorkQueue;
  /** The platforms enabled at the time of the scrape. */
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clock: Clock;
  /** Age at which an open task is overdue, in milliseconds. */
  readonly deadlineMs: number;
  /** The folder whose disk is monitored for free space. */
  readonly dataDir: string;
  readonly space: Pick<DataSpace, 'usage' | 'maxBytes'>;
}

const OPEN_STATES = statesWhere(({ isEnded }) => isEnded !== true);
/** Open states in which its requester is waiting, and which proceed without a decision. */
const AWAITED_STATES = statesWhere(({ isAwaited }) => isAwaited);
/**
 * Age at which an undelivered outcome counts as stuck: it needs a person, for a permission, a token or a button press.
 * It is retried forever, and counted separately, so that it does not mask outcomes that are late today.
 */
const STUCK_AFTER_MS = 24 * 3_600_000;
/** Help text of gauges that are read from the store: their sum over replicas would be wrong. */
const SHARED = 'shared by all replicas: take max, not sum';

/** Registers the task gauges. A scrape costs a few counts by index, independent of the number of tasks. */
export function addTaskGauges(registry: Registry, sources: GaugeSources): void {
  addOnScrape(registry, sources.clock, [
    ...gaugesOfTasks(sources),
    ...gaugesOfQueue(sources),
    ...gaugesOfData(sources),
    ...health(sources),
  ]);
}

function gaugesOfTasks({ store, clock, deadlineMs }: GaugeSources): OnScrapeGauge[] {
  return [
    {
      name: 'dailies_open_tasks',
      help: `Open tasks, by state; ${SHARED}`,
      labelNames: ['state'],
      read: () => byState(OPEN_STATES, (index) => store.count(index)),
    },
    {
      name: 'dailies_overdue_tasks',
      help: `Open tasks older than TASK_DEADLINE_MS, by state; ${SHARED}`,
      labelNames: ['state'],
      read: () => byState(AWAITED_STATES, (index) => store.count(index, { max: clock.now() - deadlineMs })),
    },
    single('dailies_outbox_tasks', 'Outcomes not yet delivered or not yet notified', () => store.count(OUTBOX)),
    {
      name: 'dailies_outbox_oldest_seconds',
      help: `Age of the oldest undelivered outcome, at most a day; 0 if there is none; ${SHARED}`,
      read: async () => {
        const min = clock.now() - STUCK_AFTER_MS;
        const [oldest] = await store.scan(OUTBOX, { order: 'oldest', limit: 1, min });
        return [{ value: oldest === undefined ? 0 : Math.max(0, clock.now() - oldest.score) / 1_000 }];
      },
    },
    single('dailies_outbox_stuck_tasks', 'Undelivered outcomes older than a day, which need a person', () =>
      store.count(OUTBOX, { max: clock.now() - STUCK_AFTER_MS - 1 }),
    ),
    single('dailies_pending_uploads', 'Clips that are not in the bucket of MEDIA_URL yet', () => store.count(UPLOADS)),
    single('dailies_money_disagreements', 'Sums, tasks and audit logs that the last check found wrong', () =>
      lastDisagreements(store),
    ),
  ];
}

/** Returns a gauge that is one number, read from the store. */
function single(name: string, help: string, read: () => Promise<number>): OnScrapeGauge {
  return { name, help: `${help}; ${SHARED}`, read: async () => [{ value: await read() }] };
}

function gaugesOfQueue({ queue }: GaugeSources): OnScrapeGauge[] {
  const statsByQueue = () =>
    Promise.all(queue.names.map(async (name) => ({ lane: name, ...(await queue.stats(name)) })));
  return [
    {
      name: 'dailies_queue_lag_seconds',
      help: 'How late the last job of each queue started in this replica, 0 if none started for a minute (poll: the poll lag)',
      labelNames: ['lane'],
      read: async () => (await statsByQueue()).map(({ lane, lagMs }) => ({ labels: { lane }, value: lagMs / 1_000 })),
    },
    {
      name: 'dailies_queue_steps',
      help: `Jobs of each queue: running in this replica, and planned, which are ${SHARED}`,
      labelNames: ['lane', 'what'],
      read: async () =>
        (await statsByQueue()).flatMap(({ lane, planned, running }) => [
          { labels: { lane, what: 'planned' }, value: planned },
          { labels: { lane, what: 'running' }, value: running },
        ]),
    },
  ];
}

function gaugesOfData({ space, store, clock }: GaugeSources): OnScrapeGauge[] {
  return [
    {
      name: 'dailies_sweep_age_seconds',
      help: `Time since a periodic deletion was last complete, by sweep; ${SHARED}`,
      labelNames: ['sweep'],
      read: async () => {
        const ageMs = await retentionAgeMs(store, clock.now());
        return ageMs === null ? [] : [{ labels: { sweep: 'retention' }, value: ageMs / 1_000 }];
      },
    },
    {
      name: 'dailies_data_bytes',
      help: 'Bytes in the data folder of this replica as last measured, by kind of file; replicas may share the folder',
      labelNames: ['kind'],
      read: () => {
        const usage = space.usage();
        return usage === null ? [] : DATA_KINDS.map((kind) => ({ labels: { kind }, value: usage[kind] }));
      },
    },
    {
      name: 'dailies_data_limit_bytes',
      help: 'MAX_DATA_BYTES, by default 80 % of the disk; missing where there is no limit',
      read: () => (space.maxBytes === null ? [] : [{ value: space.maxBytes }]),
    },
  ];
}

function health({ store, platforms, dataDir }: GaugeSources): OnScrapeGauge[] {
  return [
    {
      name: 'dailies_store_up',
      help: '1 if the store answers this replica in time and takes writes, else 0',
      read: async () => {
        await store.ping();
        return [{ value: 1 }];
      },
      otherwise: [{ value: 0 }],
    },
    {
      name: 'dailies_platform_ready',
      help: '1 if this replica is connected to the platform, else 0',
      labelNames: ['platform'],
      read: () =>
        [...platforms.values()].map((platform) => ({
          labels: { platform: platform.name },
          value: Number(platform.notReady() === null),
        })),
    },
    {
      name: 'dailies_disk_free_bytes',
      help: 'Free space on the disk of the clips (and of the SQLite store)',
      read: async () => {
        const { bavail, bsize } = await statfs(dataDir);
        return [{ value: bavail * bsize }];
      },
    },
  ];
}

async function byState(states: readonly TaskState[], count: (index: string) => Promise<number>) {
  return Promise.all(states.map(async (state) => ({ labels: { state }, value: await count(stateIndex(state)) })));
}

/** Timeout of each gauge at a scrape; Prometheus itself gives up after 10 seconds. */
const TIMEOUT_MS = 2_000;

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge that is read at each scrape. */
interface OnScrapeGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: () => Promise<readonly Sample[]> | readonly Sample[];
  /** Fallback where the read fails or times out. Default: no samples. */
  readonly otherwise?: readonly Sample[];
}

/**
 * Registers gauges that are read at each scrape. One that cannot be read within two seconds is left out: during an
 * outage of the store, all other metrics are needed the most.
 */
function addOnScrape(registry: Registry, clock: Clock, gauges: readonly OnScrapeGauge[]): void {
  for (const { name, help, labelNames = [], read, otherwise = [] } of gauges) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const samples = await within(clock, TIMEOUT_MS, Promise.try(read), otherwise).catch(() => otherwise);
        this.reset();
        // Without labels, a reset sets the value to 0.
        if (labelNames.length === 0) this.remove();
        for (const { labels = {}, value } of samples) this.set(labels, value);
      },
    });
  }
}
