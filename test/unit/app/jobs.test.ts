import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import type { Adapter } from '#commands/adapter.ts';
import { createApp } from '#src/app.ts';
import { readConfig } from '#src/config/config.ts';
import type { Leases } from '#src/engine/cluster/leases.ts';
import { Relay } from '#src/media/relay.ts';
import { createMetrics } from '#src/metrics/metrics.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { pass } from '#test/fakes/settle.ts';

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

it('the app runs the periodic jobs of its features and platforms, and releases their leases at the end', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'dailies-app-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const [store, clock, logger] = [new MemoryStore(), new ManualClock(), pino({ level: 'silent' })];
  const taken = new Set<string>();
  const take: Leases['take'] = (name, ...how) => {
    taken.add(name);
    return local.take(name, ...how);
  };
  const local = store.leases;
  store.leases = { ...local, take };
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', STORE_URL: 'sqlite::memory:' }, PLATFORM_CONFIGS);
  const job = { name: 'of_the_platform', everyMs: 1_000, leaseMs: 1_000, run: async () => undefined };
  const adapter: Adapter = Object.assign(new FakePlatform(), { jobs: [job], serve: () => undefined });
  const app = await createApp({
    config: { ...config, dataDir },
    logger,
    metrics: createMetrics(),
    clock,
    random: () => 0.5,
    store,
    catalog: () => catalog,
    links: null,
    relay: new Relay({ links: fileLinks(clock, null), store, dataDir, logger }),
    services: () => [{ baseUrl: 'http://127.0.0.1:9', token: 'sk-none' }],
    ffmpeg: null,
    platforms: [{ name: 'fake', title: 'Fake', open: async () => adapter, checks: async () => [] }],
  });
  const failedLate = (thrown: unknown): void => {
    throw thrown;
  };
  await Promise.all([app.start({ ending: new AbortController().signal, failedLate }), pass(clock, 10_000, 1_000)]);
  await pass(clock, 60_000, 1_000);
  const jobs = [...taken].filter((name) => name.startsWith('job:'));
  expect(jobs.toSorted()).toEqual(JOBS.map((name) => `job:${name}`));
  await Promise.all([app.stop(), pass(clock, 10_000, 1_000)]);
  for (const name of jobs) expect(await local.holder(name)).toBeNull();
});
