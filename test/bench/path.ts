/**
 * `node test/bench/path.ts`: product files and functions that run for one `/video create` on Discord, and its reads and
 * commits, from the gateway packet to the POST at the service and the card in the channel. Measured by V8's precise
 * coverage in a warm process. `--json`: the four figures alone, which `test/unit/house/gauges.test.ts` compares.
 */
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Keyv } from 'keyv';
import { configuredPlatforms, PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { createApp } from '#src/app.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { readConfig } from '#src/config/config.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Namespace, Store } from '#src/engine/store/store.ts';
import { createLogger } from '#src/logger.ts';
import { Relay } from '#src/media/relay.ts';
import { createMetrics } from '#src/metrics/metrics.ts';
import type { TaskObserver } from '#src/pipeline/repository.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { inFolder, startUpstream } from './house.ts';

const ROOT = join(import.meta.dirname, '../..');
const PRODUCT = /^(?:src|commands|adapters)\//;
/** Keeps the poller out of the measured window. */
const HOUR_MS = '3600000';

/**
 * Delay from which work is not part of the order: periodic jobs, and what follows an order such as the check of its spend.
 * Where a slow machine takes as long as that, they would count.
 */
const LATER_MS = 1_000;
const clock: Clock = {
  ...systemClock,
  after: (delayMs, run) => (delayMs < LATER_MS ? systemClock.after(delayMs, run) : () => undefined),
};

/** Accesses to a store. */
interface Accesses {
  /** Records read one by one or in a batch, scans and counts of an index, and reads of sums. */
  reads: number;
  /** Commits, and records that are set or deleted without one. */
  commits: number;
}

/** Counts the accesses to a store. */
function counting(store: Store, accesses: Accesses): Store {
  const counted = <Call extends (...args: never[]) => unknown>(kind: keyof Accesses, call: Call): Call =>
    ((...args) => {
      accesses[kind] += 1;
      return call(...args);
    }) as Call;
  const keyvs = new Map<Namespace, Keyv>();
  const keyvOf = (namespace: Namespace): Keyv => {
    const keyv = store.keyv(namespace);
    const [get, getMany] = [keyv.get.bind(keyv), keyv.getMany.bind(keyv)].map((call) => counted('reads', call));
    const [set, remove] = [keyv.set.bind(keyv), keyv.delete.bind(keyv)].map((call) => counted('commits', call));
    return Object.assign(Object.create(keyv), { get, getMany, set, delete: remove });
  };
  return {
    exclusive: store.exclusive,
    leases: store.leases,
    broadcast: store.broadcast,
    contents: store.contents,
    keyv(namespace) {
      const known = keyvs.get(namespace) ?? keyvOf(namespace);
      keyvs.set(namespace, known);
      return known;
    },
    commit: counted('commits', (change) => store.commit(change)),
    scan: counted('reads', (index, range) => store.scan(index, range)),
    count: counted('reads', (index, bounds) => store.count(index, bounds)),
    sums: counted('reads', (names) => store.sums(names)),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** Starts the whole app in this process, on SQLite. */
async function startApp(folder: string, discord: FakeDiscord, baseUrl: string, accesses: Accesses) {
  const config = readConfig(
    {
      STORE_URL: `sqlite:${join(folder, 'store.db')}`,
      PORT: '0',
      VIDEO_API_BASE_URL: baseUrl,
      VIDEO_API_TOKEN: 'sk-bench',
      POLL_FIRST_MS: HOUR_MS,
      POLL_MAX_MS: HOUR_MS,
      ...discord.env,
      ALLOW_TEAMS: '*',
    },
    PLATFORM_CONFIGS,
  );
  const logger = createLogger('error');
  const store = counting(await openStore(config.storeUrl, { logger }), accesses);
  const catalog = parseCatalog(sandboxCatalog);
  const metrics = createMetrics();
  let accepted = 0;
  const changed: TaskObserver['changed'] = (...change) => {
    metrics.taskObserver.changed(...change);
    const [, event] = change;
    if (event === 'accepted') accepted += 1;
  };
  const app = await createApp({
    config,
    logger,
    metrics: { ...metrics, taskObserver: { changed } },
    clock,
    random: Math.random,
    store,
    catalog: () => catalog,
    links: null,
    relay: new Relay({ links: fileLinks(clock, null), store, dataDir: folder, logger }),
    services: () => [{ baseUrl, token: 'sk-bench' }],
    ffmpeg: null,
    platforms: configuredPlatforms(config),
  });
  await app.start({
    ending: new AbortController().signal,
    failedLate(thrown) {
      throw thrown;
    },
  });
  return {
    accepted: () => accepted,
    async stop() {
      await app.stop();
      await store.close();
    },
  };
}

/** Orders a clip and waits until it has its card and the service has accepted it. */
async function order(discord: FakeDiscord, app: Awaited<ReturnType<typeof startApp>>, prompt: string): Promise<void> {
  const expected = app.accepted() + 1;
  const asked = discord.people.slash('video create', { prompt });
  const hasCard = (): boolean => JSON.stringify(discord.original(asked)?.components ?? []).includes('Queued');
  await discord.until(() => hasCard() && app.accepted() === expected, 'the card and the accepted task', 120_000);
}

/** Returns the number of functions that ran since the last call, by product file. */
async function takeFunctions(session: Session): Promise<ReadonlyMap<string, readonly string[]>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = new Map<string, readonly string[]>();
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') ? relative(ROOT, new URL(url).pathname) : '';
    const ran = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    if (PRODUCT.test(file) && ran.length > 0)
      files.set(
        file,
        ran.map(({ functionName }) => functionName || '(anonymous)'),
      );
  }
  return files;
}

/** What ran for one order. */
interface Figures extends Accesses {
  readonly ran: ReadonlyMap<string, readonly string[]>;
}

/**
 * Measured orders, after one that warms up: what follows an order may begin before its end is seen, so that the least of
 * each figure is printed. A person may have five in progress.
 */
const ORDERS = 4;

function functionsOf({ ran }: Figures): number {
  return [...ran.values()].reduce((sum, { length }) => sum + length, 0);
}

function print(
  orders: readonly Figures[],
  { json, functions: isDetailed }: { json: boolean; functions: boolean },
): void {
  const least = (figureOf: (one: Figures) => number): number => Math.min(...orders.map(figureOf));
  const functions = least(functionsOf);
  const [files, reads, commits] = [
    least(({ ran }) => ran.size),
    least((one) => one.reads),
    least((one) => one.commits),
  ];
  if (json) {
    process.stdout.write(JSON.stringify({ files, functions, reads, commits }));
    return;
  }
  const shortest = orders.find((one) => functionsOf(one) === functions)?.ran ?? new Map<string, readonly string[]>();
  for (const [file, names] of [...shortest].toSorted(([a], [b]) => a.localeCompare(b)))
    process.stdout.write(`${String(names.length).padStart(4)} ${file}${isDetailed ? `: ${names.join(', ')}` : ''}\n`);
  process.stdout.write(`${files} files, ${functions} functions, ${reads} reads, ${commits} commits\n`);
}

const { values } = parseArgs({
  options: { functions: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const accesses: Accesses = { reads: 0, commits: 0 };
const upstream = await startUpstream();
await inFolder(async (folder) => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const discord = await startDiscord();
  const app = await startApp(folder, discord, upstream.baseUrl, accesses);
  await discord.botReady();
  await order(discord, app, 'a red fox running through snow, to warm up');
  await takeFunctions(session);
  const orders: Figures[] = [];
  for (let count = 0; count < ORDERS; count += 1) {
    const before = { ...accesses };
    await order(discord, app, 'a red fox running through snow');
    const [reads, commits] = [accesses.reads - before.reads, accesses.commits - before.commits];
    orders.push({ reads, commits, ran: await takeFunctions(session) });
  }
  print(orders, values);
  await app.stop();
  await discord.close();
});
upstream.stop();
