import { join, resolve } from 'node:path';
import { createPlayground } from '#adapters/playground/index.ts';
import { createBot } from '#commands/bot.ts';
import { createAttachmentPlanner } from './chat/attachment-plan.ts';
import { createAudiences } from './chat/audiences.ts';
import { createChat } from './chat/chat.ts';
import { fileNameOf } from './chat/file-name.ts';
import type { Platform } from './chat/platform.ts';
import { startPlatforms } from './chat/start-platforms.ts';
import { createSubscriptions } from './chat/subscriptions.ts';
import { systemClock } from './clock.ts';
import { createMembership } from './cluster/membership.ts';
import { warnOfReadableEnvFile } from './config/env-file.ts';
import { followCatalog, readSettingsOrExit, type Settings } from './config/settings.ts';
import type { Config } from './config.ts';
import { connectionsOf, greet } from './greeting.ts';
import { createDraining } from './http/leaving.ts';
import { listen } from './http/listening.ts';
import { createHttpServer } from './http/server.ts';
import { WrongTokens } from './http/wrong-tokens.ts';
import { type Closing, type Running, runUntilStopped } from './lifecycle.ts';
import { createLogger, isOnTerminal, type Logger } from './logger.ts';
import { createFfmpegFitter } from './media/ffmpeg.ts';
import { createFolderCheck } from './media/folder-check.ts';
import { createRelay, isRelayed, type Relay } from './media/relay.ts';
import { serveMedia } from './media/routes.ts';
import { createSignedLinks, type SignedLinks } from './media/signed-links.ts';
import { instrumentPlatform } from './metrics/instrumented-platform.ts';
import { instrumentStore } from './metrics/instrumented-store.ts';
import { instrumentVideos } from './metrics/instrumented-videos.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { createClips } from './pipeline/clip-files.ts';
import { prepareClipsFolder } from './pipeline/clips-folder.ts';
import { createDrafts } from './pipeline/drafts.ts';
import { createLedger } from './pipeline/ledger-reader.ts';
import { createPoller } from './pipeline/poll.ts';
import { createPollCache } from './pipeline/poll-cache.ts';
import { createInteractivePriority } from './pipeline/priority.ts';
import { createReconciler } from './pipeline/reconcile.ts';
import { createTaskRepository, type TaskObserver } from './pipeline/repository.ts';
import { resume } from './pipeline/resume.ts';
import { createSubmitter } from './pipeline/submit.ts';
import { createTaskService } from './pipeline/task-service.ts';
import { startBackfill } from './pipeline/upstream-ids.ts';
import { openQueue } from './queue/open.ts';
import { queueNamesOf, type WorkQueue } from './queue/queue.ts';
import { foldersOf, missing } from './readiness.ts';
import { embedSandbox } from './sandbox/embedded.ts';
import { STEERING } from './sandbox/steering.ts';
import { assertNotMigrating } from './store/migrate/unfinished.ts';
import { openConfiguredStore } from './store/open.ts';
import type { Store } from './store/store.ts';
import { createDurationEstimates, learningDurations } from './tasks/duration-estimates.ts';
import type { TaskId } from './tasks/task.ts';
import { createVideoClient } from './videos/client.ts';
import type { Catalog } from './videos/model.ts';
import { createReferenceCheck } from './videos/reference-addresses.ts';

const clock = systemClock;
const random = Math.random;

/** Reads the configuration, wires the app, and runs it until a signal stops it. */
async function main(): Promise<void> {
  // The files of this process contain prompts and tokens: only its own user may read them.
  process.umask(0o077);
  const settings = await readSettingsOrExit();
  const { logLevel, modelCatalog, createTimeoutMs } = settings.config;
  const logger = createLogger(logLevel);
  const metrics = createMetrics();
  warnOfReadableEnvFile(logger);
  const stopsAtHangup = modelCatalog === undefined || isOnTerminal();
  const drainMs = createTimeoutMs + 2 * DRAIN_MARGIN_MS;
  await runUntilStopped({ logger, stopsAtHangup, unhandled: metrics.unhandled, drainMs }, (running) =>
    run(settings, { ...running, logger, metrics }),
  );
}

async function run(
  settings: Settings,
  { logger, metrics, closings, ending, failedLate }: Running & Pick<Infrastructure, 'logger' | 'metrics'>,
): Promise<void> {
  const { config, ffmpeg } = settings;
  const catalog = followCatalog(settings, logger);
  const store = instrumentStore(await openConfiguredStore(config.storeUrl, { logger }), clock, metrics.meters.store);
  closings.unshift(() => store.close());
  ending.throwIfAborted();
  const links = config.links === undefined ? null : createSignedLinks({ ...config.links, clock });
  const { publicUrl } = config.links ?? {};
  const relay = createRelay({ links, publicUrl, store, dataDir: resolve(config.dataDir), logger });
  const service = config.videoService ?? (await startSandbox({ config, logger, store, catalog, relay }, closings));
  ending.throwIfAborted();
  const infrastructure: Infrastructure = { config, logger, metrics, store, catalog, links, relay, service, ffmpeg };
  const app = await build(infrastructure);
  closings.unshift(() => app.videos.close());
  closings.unshift(() => app.queue.close());
  closings.unshift(() => app.http.close());
  ending.throwIfAborted();
  await addPlatforms(infrastructure, app);
  await addBoard(infrastructure, app);

  // Before any task is resumed, so that a start on an occupied port fails early.
  const address = await listen(app.http, config.http);
  closings.unshift(() => app.chat.stop());
  await app.membership.join();
  closings.unshift(() => app.membership.leave());
  await assertNotMigrating(store);
  ending.throwIfAborted();
  closings.unshift(() => drain(infrastructure, app.queue));
  const platforms = startPlatforms([...app.platforms.values()], { clock, logger, failedLate });
  closings.unshift(() => platforms.stop());
  await platforms.begun;
  ending.throwIfAborted();
  await startJobs(infrastructure, app);
  const resumed = await resume(app, { logger, clock, ending });
  ending.throwIfAborted();
  const found = metrics.foundLost;
  const reconciler = createReconciler({ store, queue: app.queue, clock, pace: config.poll, logger, found });
  reconciler.start();
  closings.unshift(() => reconciler.stop());
  const backfilling = new AbortController();
  const backfilled = backfillAudiences(infrastructure, app, backfilling.signal);
  closings.unshift(() => {
    backfilling.abort();
    return backfilled;
  });
  // Where other replicas keep running, proxies are notified first and send their requests to those.
  if (!store.exclusive) closings.unshift(() => app.leaving.leave());
  startBackfill({ store, clock, logger }, { service: serviceKeyOf(config), signal: ending });
  const connections = await connectionsOf(app.platforms.values(), clock);
  logger.info({ event: 'ready', ...resumed, address, connections }, 'Dailies is ready');
  greet(config, address, connections);
}

/**
 * Adds tasks of earlier versions to the lists of the users who may see them. A failure is retried at the next start.
 */
async function backfillAudiences({ logger }: Infrastructure, { audiences }: App, signal: AbortSignal): Promise<void> {
  try {
    const added = await audiences.backfill(signal);
    if (added > 0) logger.info({ event: 'audiences_backfilled', added }, 'listed tasks of an earlier version');
  } catch (thrown) {
    logger.warn({ event: 'audience_backfill_failed', err: thrown }, 'failed to list tasks of an earlier version');
  }
}

/** Time that the drain adds to the timeout of a create, whose response has to be stored as well. */
const DRAIN_MARGIN_MS = 15_000;

/**
 * Waits for the running jobs to end. A job that does not end in time is repeated after the next start. The only loss is
 * the response to a create that the store did not accept in all that time: that task becomes uncertain.
 */
async function drain({ config, logger }: Pick<Infrastructure, 'config' | 'logger'>, queue: WorkQueue): Promise<void> {
  const timeoutMs = config.createTimeoutMs + DRAIN_MARGIN_MS;
  if (await queue.drain(timeoutMs)) return;
  const event = 'drain_timed_out';
  logger.warn(
    { event, patienceMs: timeoutMs },
    'some jobs are still running and will be repeated after the next start',
  );
}

/** Shared infrastructure. */
interface Infrastructure {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly catalog: () => Catalog;
  /** `null`: links are off. */
  readonly links: SignedLinks | null;
  readonly relay: Relay;
  /** The configured video service, or the embedded one. */
  readonly service: { readonly baseUrl: string; readonly token: string };
  /** Path of the ffmpeg that fits clips into upload limits; `null` where there is none. */
  readonly ffmpeg: string | null;
}

type App = Awaited<ReturnType<typeof build>>;

/** Creates the components and wires them; nothing runs yet. */
async function build({
  config,
  logger,
  metrics,
  store,
  catalog,
  links: signed,
  relay,
  service,
  ffmpeg,
}: Infrastructure) {
  const { createTimeoutMs, requestTimeoutMs } = config;
  const { creates: send, polls: poll, deliveries } = config.maxConcurrent;
  const timing = { createTimeoutMs, requestTimeoutMs, maxConnections: poll };
  const client = createVideoClient({ ...service, ...timing, catalog, clock, random, logger });
  const videos = instrumentVideos(client, clock, metrics.meters.videos);
  const concurrency = { send, poll, fetch: 2 * deliveries, deliver: deliveries, notify: deliveries };
  const platforms = new Map<string, Platform>();
  const queueNames = () => queueNamesOf(platforms.keys());
  const clipsDir = resolve(join(config.dataDir, 'clips'));
  await prepareClipsFolder(clipsDir);
  const { storeUrl, maxRate } = config;
  const holds = store.keyv('waits');
  const queue = await openQueue({ url: storeUrl, maxRate, concurrency, lanes: queueNames, holds, clock, logger });
  const clips = createClips({ videos, leases: store.leases, clock, logger, clipsDir });
  const membership = createMembership({ leases: store.leases, exclusive: store.exclusive, clock });
  const waits = await createDurationEstimates(store.keyv('waits'));
  const observers: TaskObserver[] = [metrics.taskObserver, learningDurations(waits, logger)];
  const upstreamService = serviceKeyOf(config);
  const repository = createTaskRepository(store, observers, upstreamService);
  const subscriptions = createSubscriptions(store);
  const followed = createPollCache({ repository, queue, nowMs: () => clock.now(), exclusive: store.exclusive });
  observers.push(followed.taskObserver);
  const { dataDir, poll: pace } = config;
  metrics.watch({ store, queue, platforms, clock, deadlineMs: pace.deadlineMs, dataDir });
  const links = { forClip: ({ id }: { readonly id: string }) => signed?.sign(id) ?? null };
  const audiences = createAudiences({ store, platforms, clock, logger });
  const chat = createChat({
    store,
    audiences,
    repository,
    queue,
    platforms,
    subscriptions,
    waits,
    clips,
    links,
    clock,
    random,
    logger,
    handing: createAttachmentPlanner({ fitter: createFfmpegFitter({ ffmpeg, logger }), links }),
    modelOf: (name) => catalog().models.find((model) => model.name === name),
    observer: metrics.deliveryObserver,
    editIntervalMs: config.progressEditMs,
    deadlineMs: config.poll.deadlineMs,
    slowestPollMs: config.poll.maxMs,
    refundKnown: config.videoService === undefined,
  });
  observers.push(chat.taskObserver);
  const { limits } = config;
  const { assertWritable, problems } = createFolderCheck(foldersOf(config, clipsDir), clock);
  const tasks = createTaskService({ store, repository, videos, queue, clock, pace, limits, assertWritable, logger });
  const ledger = createLedger(store);
  const drafts = createDrafts(store, clock);
  const steering = config.videoService === undefined ? STEERING : [];
  const renewed = (url: string): string => relay.renew(url);
  const checkReferences = createReferenceCheck({
    baseUrl: service.baseUrl,
    publicUrl: config.links?.publicUrl,
    clock,
    logger,
  });
  const interactivePriority = createInteractivePriority(clock);
  const { limitReached } = metrics;
  const bot = createBot({
    tasks,
    chat,
    ledger,
    drafts,
    subscriptions,
    catalog,
    renewed,
    checkReferences,
    fileBehind: (url) => relay.describe(url),
    steering,
    interactivePriority,
    limitReached,
    clock,
    logger,
  });
  const leaving = createDraining(clock);
  const readiness = { missing: () => missing({ store, platforms, problems }), isLeaving: () => leaving.isLeaving() };
  const http = createHttpServer({ logger, metrics: metrics.registry, readiness });
  return {
    videos,
    queue,
    membership,
    clips,
    repository,
    followed,
    audiences,
    platforms,
    signedLinks: signed,
    relay,
    chat,
    tasks,
    interactivePriority,
    bot,
    http,
    leaving,
  };
}

/**
 * Creates the configured platforms, and registers their HTTP routes. The SDKs of the others are not loaded: loading
 * them takes most of the startup time.
 */
async function addPlatforms({ config, logger, metrics, store, catalog }: Infrastructure, app: App): Promise<void> {
  const { http, platforms, bot, queue, repository, clips, signedLinks, relay, membership } = app;
  const { publicUrl } = config.links ?? {};
  const find = async (id: string) => {
    if (isRelayed(id)) return relay.find(id);
    const task = await repository.get(id as TaskId);
    const clip = await (task === undefined ? undefined : clips.find(task))?.catch((thrown: unknown) => {
      logger.warn({ event: 'clip_not_served', task: id, err: thrown }, 'failed to fetch a missing clip for a request');
      throw thrown;
    });
    return task === undefined || clip === undefined ? undefined : { ...clip, name: fileNameOf(task) };
  };
  await serveMedia(http, { links: signedLinks, find });
  if (config.playground.isOn) {
    const playground = createPlayground({
      http,
      store,
      clock,
      logger,
      bot: () => bot,
      catalog,
      clipOf: async (task) => (await find(task)) ?? null,
      dataDir: resolve(config.dataDir),
      host: config.http.host,
      publicUrl: config.links === undefined ? null : new URL(config.links.publicUrl),
      accessToken: config.playground.accessToken ?? null,
      wrongTokens: new WrongTokens({ entrance: 'playground', clock, logger, counted: metrics.wrongToken }),
      isEmbeddedService: config.videoService === undefined,
    });
    platforms.set(playground.name, playground);
  }
  if (config.discord !== undefined) {
    const reachable = (task: TaskId) => queue.schedule('deliver:discord', task, clock.now());
    const common = { access: config.access, store, clock, random, logger, relay, bot: () => bot };
    const { createDiscord } = await import('#adapters/discord/index.ts');
    const discord = createDiscord({ ...config.discord, ...common, reachable });
    platforms.set(discord.name, discord);
  }
  if (config.slack !== undefined) {
    const common = { http, store, clock, logger, catalog, relay, publicUrl, membership, bot: () => bot };
    const { createSlack } = await import('#adapters/slack/index.ts');
    const slack = createSlack({ ...config.slack, ...common, access: config.access });
    platforms.set(slack.name, slack);
  }
  for (const [name, platform] of platforms) platforms.set(name, instrumentPlatform(platform, metrics.meters.platform));
}

/** Returns the key that scopes task ids to their video service; constant for the embedded one, whose URL changes. */
function serviceKeyOf({ videoService }: Config): string {
  return videoService?.baseUrl ?? 'sandbox';
}

/** Serves the queue dashboard for operators, if it is enabled. */
async function addBoard({ config, logger, metrics }: Infrastructure, { http, queue }: App): Promise<void> {
  if (config.boardToken === undefined || !('queues' in queue)) return;
  const { serveBoard } = await import('./http/board.ts');
  const wrongTokens = new WrongTokens({ entrance: 'board', clock, logger, counted: metrics.wrongToken });
  await serveBoard(http, { queues: queue.queues(), token: config.boardToken, wrongTokens });
}

/** Starts the queue with its job handlers. */
async function startJobs({ config, logger, metrics }: Infrastructure, app: App): Promise<void> {
  const { repository, followed, videos, queue, chat, clips, interactivePriority, membership } = app;
  const shared = { repository, videos, queue, clock, random, logger };
  const observer = { progressed: chat.progressed, retrying: chat.retrying, polled: metrics.polled };
  const maxRepeatedFetches = config.maxConcurrent.deliveries;
  const pace = config.poll;
  const { poll, fetch } = createPoller({ ...shared, followed, observer, pace, clips, maxRepeatedFetches });
  const send = createSubmitter({
    ...shared,
    membership,
    observer,
    createTimeoutMs: config.createTimeoutMs,
    firstPollMs: config.poll.firstMs,
  });
  const { deliver, notify } = chat;
  queue.start(metrics.stepping({ send: interactivePriority.after(send), poll, fetch, deliver, notify }));
}

/** Starts the embedded video service, for when none is configured; it offers the models of the catalog. */
async function startSandbox(
  { config, logger, store, catalog, relay }: Pick<Infrastructure, 'config' | 'logger' | 'store' | 'catalog' | 'relay'>,
  closings: Closing[],
): Promise<Infrastructure['service']> {
  const dataDir = join(config.dataDir, 'sandbox');
  const ownFile = async (url: string) => (await relay.fileOf(url))?.path ?? null;
  const sandbox = await embedSandbox({ store, dataDir, catalog, ownFile, clock, logger });
  closings.unshift(() => sandbox.close());
  return sandbox;
}

void main();
