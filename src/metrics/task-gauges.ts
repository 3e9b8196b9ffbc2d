import { statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { Platform } from '../chat/platform.ts';
import type { Clock } from '../clock.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import { OUTBOX, stateIndex } from '../tasks/indexes.ts';
import { addOnScrape, type OnScrapeGauge } from './on-scrape.ts';

/** What is looked at when somebody asks for the metrics. */
export interface GaugeSources {
  readonly store: Store;
  readonly queue: WorkQueue;
  /** Those that are turned on by then. */
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clock: Clock;
  /** After this a task that is not ended is overdue, in milliseconds. */
  readonly deadlineMs: number;
  /** The folder whose disk must not get full. */
  readonly dataDir: string;
}

/** States in which a task waits for something. */
const OPEN_STATES = ['claimed', 'sending', 'uncertain', 'polling', 'completed', 'cancelled'] as const;
/** Those in which somebody waits for it, and it goes on by itself. */
const AWAITED_STATES = ['claimed', 'sending', 'polling', 'completed'] as const;
/**
 * An outcome that is owed for longer waits for somebody: for a right, a token, a press. It is tried for good, and counted
 * apart, so that it hides none that could be helped today.
 */
const STUCK_AFTER_MS = 24 * 3_600_000;
/** These are read from the store: added up over replicas they would be wrong. */
const SHARED = 'each replica says the same of all of them: take max, not sum';

/** Adds what is read at each scrape: a few counts by index, however many tasks there are. */
export function addTaskGauges(registry: Registry, surveyed: GaugeSources): void {
  addOnScrape(registry, surveyed.clock, [...gaugesOfTasks(surveyed), ...gaugesOfQueue(surveyed), ...health(surveyed)]);
}

function gaugesOfTasks({ store, clock, deadlineMs }: GaugeSources): OnScrapeGauge[] {
  return [
    {
      name: 'dailies_open_tasks',
      help: `Tasks that are not ended, by state; ${SHARED}`,
      labelNames: ['state'],
      read: () => byState(OPEN_STATES, (index) => store.count(index)),
    },
    {
      name: 'dailies_overdue_tasks',
      help: `Tasks that somebody has been waiting for longer than TASK_DEADLINE_MS, by state; ${SHARED}`,
      labelNames: ['state'],
      read: () => byState(AWAITED_STATES, (index) => store.count(index, { max: clock.now() - deadlineMs })),
    },
    {
      name: 'dailies_outbox_tasks',
      help: `Outcomes that have yet to reach the chat, or those who are to be told; ${SHARED}`,
      read: async () => [{ value: await store.count(OUTBOX) }],
    },
    {
      name: 'dailies_outbox_oldest_seconds',
      help: `How long ago the task ended whose outcome has been in the outbox for longest, a day at the most; 0 where none is; ${SHARED}`,
      read: async () => {
        const min = clock.now() - STUCK_AFTER_MS;
        const [oldest] = await store.scan(OUTBOX, { order: 'oldest', limit: 1, min });
        return [{ value: oldest === undefined ? 0 : Math.max(0, clock.now() - oldest.score) / 1_000 }];
      },
    },
    {
      name: 'dailies_outbox_stuck_tasks',
      help: `Outcomes that have been in the outbox for more than a day: they wait for somebody; ${SHARED}`,
      read: async () => [{ value: await store.count(OUTBOX, { max: clock.now() - STUCK_AFTER_MS - 1 }) }],
    },
  ];
}

function gaugesOfQueue({ queue }: GaugeSources): OnScrapeGauge[] {
  const statsOfLanes = () => Promise.all(queue.lanes.map(async (lane) => ({ lane, ...(await queue.stats(lane)) })));
  return [
    {
      name: 'dailies_queue_lag_seconds',
      help: 'How late the last begun step of each lane was in this replica, 0 where none began for a minute (poll: the poll lag)',
      labelNames: ['lane'],
      read: async () => (await statsOfLanes()).map(({ lane, lagMs }) => ({ labels: { lane }, value: lagMs / 1_000 })),
    },
    {
      name: 'dailies_queue_steps',
      help: `Steps of each lane: running in this replica, and planned, where ${SHARED}`,
      labelNames: ['lane', 'what'],
      read: async () =>
        (await statsOfLanes()).flatMap(({ lane, planned, running }) => [
          { labels: { lane, what: 'planned' }, value: planned },
          { labels: { lane, what: 'running' }, value: running },
        ]),
    },
  ];
}

function health({ store, platforms, dataDir }: GaugeSources): OnScrapeGauge[] {
  return [
    {
      name: 'dailies_store_up',
      help: 'Whether the store answers this replica in time and takes writes: 1, or 0',
      read: async () => {
        await store.ping();
        return [{ value: 1 }];
      },
      otherwise: [{ value: 0 }],
    },
    {
      name: 'dailies_platform_ready',
      help: 'Whether this replica is connected to a platform: 1, or 0',
      labelNames: ['platform'],
      read: () =>
        [...platforms.values()].map((platform) => ({
          labels: { platform: platform.name },
          value: Number(platform.notReady() === null),
        })),
    },
    {
      name: 'dailies_disk_free_bytes',
      help: 'What is free on the disk of the clips (and of the SQLite store)',
      read: async () => {
        const { bavail, bsize } = await statfs(dataDir);
        return [{ value: bavail * bsize }];
      },
    },
  ];
}

async function byState(states: readonly (typeof OPEN_STATES)[number][], count: (index: string) => Promise<number>) {
  return Promise.all(states.map(async (state) => ({ labels: { state }, value: await count(stateIndex(state)) })));
}
