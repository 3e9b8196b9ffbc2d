import { join, resolve } from 'node:path';
import { configuredPlatforms, PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { connectionsOf, drainTimeoutMs, greet } from './app/index.ts';
import { createApp } from './app.ts';
import { systemClock } from './clock.ts';
import { followFiles, isReloadable, readSettingsOrExit, type Settings, VERSION } from './config/index.ts';
import { openConfiguredStore } from './engine/index.ts';
import { ENV_FILE, isEnvFileReadable } from './env-file.ts';
import { type Opening, runUntilStopped } from './lifecycle.ts';
import { createLogger, type Logger } from './logger.ts';
import { FileLinks, Relay, SignedLinks } from './media/index.ts';
import { createMetrics, type Metrics } from './metrics/index.ts';
import { embedSandbox } from './sandbox/index.ts';
import { keptBytes, type ServiceConfig } from './videos/index.ts';

const clock = systemClock;
const random = Math.random;

/** Time from the end of the drain to the exit after an uncaught exception, in milliseconds. */
const EXIT_MARGIN_MS = 15_000;

/** Reads the configuration, and runs the app until a signal stops it. */
async function main(): Promise<void> {
  // The files of this process contain prompts and tokens: only its own user may read them.
  process.umask(0o077);
  const settings = await readSettingsOrExit(PLATFORM_CONFIGS);
  const { config } = settings;
  const logger = createLogger(config.logLevel);
  const metrics = createMetrics();
  warnOfReadableEnvFile(logger);
  const stopsAtHangup = !isReloadable(config);
  const drainMs = drainTimeoutMs(config) + EXIT_MARGIN_MS;
  await runUntilStopped({ logger, stopsAtHangup, unhandled: metrics.unhandled, drainMs }, (opening) =>
    run(settings, { logger, metrics }, opening),
  );
}

/** Warns if every user of this machine can read {@link ENV_FILE}. */
function warnOfReadableEnvFile(logger: Logger): void {
  if (!isEnvFileReadable()) return;
  logger.warn(
    { event: 'env_file_readable', file: ENV_FILE, fix: `chmod 600 ${ENV_FILE}` },
    'the environment file is readable by every user of this machine',
  );
}

/** Opens the store and the video service, and starts the app on them. */
async function run(
  settings: Settings,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  { opened, ending, failedLate }: Opening,
): Promise<void> {
  const { config, ffmpeg } = settings;
  const { catalog, services: configured } = followFiles(settings, logger);
  const store = metrics.instrument.store(await openConfiguredStore(config.storeUrl, { logger }), clock);
  opened({ name: 'the store', stop: () => store.close() });
  ending.throwIfAborted();
  const links = config.links === undefined ? null : new SignedLinks({ ...config.links, clock });
  const relay = new Relay({
    links: await FileLinks.open(store, clock, links),
    keptImageBytes: (of) => keptBytes(services(), 'image', of),
    store,
    dataDir: resolve(config.dataDir),
    logger,
  });
  const shared = { config, logger, metrics, clock, random, store, catalog, links, relay, ffmpeg };
  const embedded = configured().length > 0 ? null : [await startSandbox(shared, opened)];
  const services = (): readonly ServiceConfig[] => embedded ?? configured();
  ending.throwIfAborted();
  const platforms = configuredPlatforms(config);
  const app = await createApp({ ...shared, services, platforms });
  opened({ name: 'the app', stop: () => app.stop() });
  const started = await app.start({ ending, failedLate });
  const connections = await connectionsOf(app.platforms, clock);
  logger.info({ event: 'ready', version: VERSION, ...started, connections }, 'Dailies is ready');
  greet(
    { ...config, services: configured() },
    started.address,
    platforms.map(({ name, title }) => [title, connections[name] ?? '']),
  );
}

/** Starts the embedded video service, for when none is configured; it offers the models of the catalog. */
async function startSandbox(
  { config, relay, ...shared }: Omit<Parameters<typeof createApp>[0], 'services' | 'platforms'>,
  opened: Opening['opened'],
): Promise<ServiceConfig> {
  const dataDir = join(config.dataDir, 'sandbox');
  const ownFile = async (url: string) => (await relay.fileOf(url))?.path ?? null;
  const sandbox = await embedSandbox({ ...shared, dataDir, ownFile });
  opened({ name: 'the sandbox', stop: () => sandbox.close() });
  return sandbox;
}

void main();
