import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import type { Adapter, AdapterDeps } from '#commands/adapter.ts';
import type { Bot } from '#commands/bot-port.ts';
import { createApp } from '#src/app.ts';
import { readConfig } from '#src/config/config.ts';
import type { Leases } from '#src/engine/cluster/leases.ts';
import type { JobHandler } from '#src/engine/queue/queue.ts';
import { Relay } from '#src/media/relay.ts';
import { createMetrics, type Metrics } from '#src/metrics/metrics.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { deferred, pass, settle } from '#test/fakes/settle.ts';

const catalog = parseCatalog(sandboxCatalog);

/** Periodic jobs that one replica at a time runs, by their names. */
const JOBS = [
  'approval_sweep',
  'books_check',
  'carried_spend',
  'forgetting',
  'lost_creates',
  'notices',
  'of_the_platform',
  'reconciliation',
  'removal',
  'retention',
  'reveal_sweep',
  'spend_watch',
];

interface Setup {
  readonly store?: MemoryStore;
  readonly metrics?: Metrics;
  readonly adapter: Adapter;
  readonly opened?: (deps: AdapterDeps) => void;
}

/** Starts the app with a platform of the test's own. */
async function startApp({ store = new MemoryStore(), metrics = createMetrics(), adapter, opened }: Setup) {
  const dataDir = await mkdtemp(join(tmpdir(), 'dailies-app-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const [clock, logger] = [new ManualClock(), pino({ level: 'silent' })];
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', STORE_URL: 'sqlite::memory:' }, PLATFORM_CONFIGS);
  const open = async (deps: AdapterDeps) => {
    opened?.(deps);
    return adapter;
  };
  const app = await createApp({
    config: { ...config, dataDir },
    logger,
    metrics,
    clock,
    random: () => 0.5,
    store,
    catalog: () => catalog,
    links: null,
    relay: new Relay({ links: fileLinks(clock, null), store, dataDir, logger }),
    services: () => [{ baseUrl: 'http://127.0.0.1:9', token: 'sk-none' }],
    ffmpeg: null,
    platforms: [{ name: 'fake', title: 'Fake', open, checks: async () => [] }],
  });
  const failedLate = (thrown: unknown): void => {
    throw thrown;
  };
  await Promise.all([app.start({ ending: new AbortController().signal, failedLate }), pass(clock, 10_000, 1_000)]);
  return { clock, stop: () => Promise.all([app.stop(), pass(clock, 10_000, 1_000)]) };
}

it('the app runs the periodic jobs of its features and platforms, and releases their leases at the end', async () => {
  const store = new MemoryStore();
  const taken = new Set<string>();
  const take: Leases['take'] = (name, ...how) => {
    taken.add(name);
    return local.take(name, ...how);
  };
  const local = store.leases;
  store.leases = { ...local, take };
  const job = { name: 'of_the_platform', everyMs: 1_000, leaseMs: 1_000, run: async () => undefined };
  const adapter: Adapter = Object.assign(new FakePlatform(), { jobs: [job], serve: () => undefined });
  const { clock, stop } = await startApp({ store, adapter });
  await pass(clock, 60_000, 1_000);
  const jobs = [...taken].filter((name) => name.startsWith('job:'));
  expect(jobs.toSorted()).toEqual(JOBS.map((name) => `job:${name}`));
  await stop();
  for (const name of jobs) expect(await local.holder(name)).toBeNull();
});

it('the jobs of the app give way to what many of its users wait for', async () => {
  const begun: string[] = [];
  const { stepping, ...metrics } = createMetrics();
  const deliver: JobHandler = async (id) => {
    begun.push(id);
    return null;
  };
  const parts: { bot?: Bot; reachable?: AdapterDeps['reachable'] } = {};
  const serve = (bot: Bot): void => void Object.assign(parts, { bot });
  const { clock, stop } = await startApp({
    metrics: { ...metrics, stepping: (handlers) => stepping({ ...handlers, deliver }) },
    adapter: Object.assign(new FakePlatform(), { jobs: [], serve }),
    opened: ({ reachable }) => void Object.assign(parts, { reachable }),
  });
  const users = Array.from({ length: 32 }, () => deferred());
  const answers = users.map(({ promise }) => parts.bot?.urgently(() => promise));
  parts.reachable?.('task-1' as TaskId, 'fake');
  await pass(clock, 900, 100);
  expect(begun).toEqual([]);
  users[0]?.resolve();
  await answers[0];
  await settle();
  expect(begun).toEqual(['task-1']);
  for (const { resolve } of users) resolve();
  await stop();
});
