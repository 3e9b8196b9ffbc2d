import { join, resolve } from 'node:path';
import { createDiscord } from '#adapters/discord/index.ts';
import { createPlayground } from '#adapters/playground/index.ts';
import { createSlack } from '#adapters/slack/index.ts';
import { createBot } from '#commands/bot.ts';
import { createChat } from './chat/chat.ts';
import { createFfmpegFitter } from './chat/ffmpeg.ts';
import { fileNameOf } from './chat/file-name.ts';
import { createHanding } from './chat/handover.ts';
import type { Platform } from './chat/platform.ts';
import { startPlatforms } from './chat/starting.ts';
import { createSubscriptions } from './chat/subscriptions.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { asDailiesError } from './errors.ts';
import { createLeaving } from './http/leaving.ts';
import { listen } from './http/listening.ts';
import { serveMedia } from './http/media.ts';
import { createRelay, isRelayed } from './http/relay.ts';
import { createHttpServer } from './http/server.ts';
import { createSignedLinks } from './http/signed-links.ts';
import { createLogger, type Logger } from './logger.ts';
import { measurePlatform } from './metrics/measured-platform.ts';
import { measureStore } from './metrics/measured-store.ts';
import { measureVideos } from './metrics/measured-videos.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { embedSandbox } from './sandbox/embedded.ts';
import { STEERING } from './sandbox/steering.ts';
import { followCatalog, readSettingsOrExit, type Settings } from './settings.ts';
import { openConfiguredStore } from './store/open.ts';
import type { Store } from './store/store.ts';
import { createClips } from './tasks/clips.ts';
import { prepareClipsFolder } from './tasks/clips-folder.ts';
import { createCourtesy } from './tasks/courtesy.ts';
import { createFollowedTasks } from './tasks/followed.ts';
import { createFollower } from './tasks/follower.ts';
import { createLedger } from './tasks/ledger.ts';
import { createMembership } from './tasks/membership.ts';
import { openQueue } from './tasks/open-queue.ts';
import { lanesOf, type WorkQueue } from './tasks/queue.ts';
import { createRecorder, type TaskObserver } from './tasks/recorder.ts';
import { createSender } from './tasks/sender.ts';
import { createTaskService } from './tasks/service.ts';
import { createSweeper } from './tasks/sweeper.ts';
import type { TaskId } from './tasks/task.ts';
import { createWaits, learningWaits } from './tasks/waits.ts';
import { createVideoClient } from './videos/client.ts';
import type { Catalog } from './videos/model.ts';

const clock = systemClock;
const random = Math.random;

/**
 * V8 compiles in the background, and may need the main thread for it: a process that is ended meanwhile now and then never
 * ends. @see https://github.com/nodejs/node/issues/54918
 */
const SETTLED_AFTER_MS = 100;

/** What stops the process in good order, the last begun first. */
type Closing = () => Promise<void> | void;

/** Reads the configuration, wires the house, and runs it until SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const settings = await readSettingsOrExit();
  const { config } = settings;
  const logger = createLogger(config.logLevel);
  const closings: Closing[] = [];
  const ending = new AbortController();
  const stop = async (signal: string): Promise<void> => {
    // A second signal is somebody in a hurry.
    process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
    logger.info({ signal }, 'stopping: finishing what is under way');
    if (ending.signal.aborted) return;
    ending.abort();
    // What is being opened right now has to be there to be closed.
    if (closings.length > 0) await started;
    await closeAll(closings);
    logger.info('stopped');
    // Not by the clock, whose timers keep no process alive.
    setTimeout(() => process.exit(0), SETTLED_AFTER_MS);
  };
  const giveUp = async (thrown: unknown): Promise<void> => {
    // A start that was broken off has not failed.
    if (ending.signal.aborted) return;
    ending.abort();
    await closeAll(closings);
    const error = asDailiesError(thrown, 'starting');
    logger.fatal({ err: error }, 'Dailies could not start');
    process.stderr.write(`Dailies could not start: ${error.message}\n`);
    process.exit(1);
  };
  process.once('SIGTERM', (signal) => void stop(signal)).once('SIGINT', (signal) => void stop(signal));
  const running: Running = { logger, closings, ending: ending.signal, failedLate: (thrown) => void giveUp(thrown) };
  const started = run(settings, running).catch(giveUp);
  await started;
}

/** What a run is told about, and what it leaves to whoever ends it. */
interface Running {
  readonly logger: Logger;
  readonly closings: Closing[];
  /** Aborted as soon as the process is to end: what has not begun then does not begin. */
  readonly ending: AbortSignal;
  readonly failedLate: (thrown: unknown) => void;
}

async function run(settings: Settings, { logger, closings, ending, failedLate }: Running): Promise<void> {
  const { config, ffmpeg } = settings;
  const metrics = createMetrics();
  const store = measureStore(await openConfiguredStore(config.storeUrl, { logger }), clock, metrics.meters.store);
  closings.unshift(() => store.close());
  ending.throwIfAborted();
  const catalog = followCatalog(settings, logger);
  const service = config.videoService ?? (await startSandbox({ config, logger, store, catalog }, closings));
  ending.throwIfAborted();
  const foundation: Foundation = { config, logger, metrics, store, catalog, service, ffmpeg };
  const house = await build(foundation);
  closings.unshift(() => house.videos.close());
  closings.unshift(() => house.queue.close());
  closings.unshift(() => house.http.close());
  ending.throwIfAborted();
  await addPlatforms(foundation, house);
  await addBoard(foundation, house);

  // Listening first: a port that is taken must not be found out after tasks were taken up again.
  const address = await listen(house.http, config.http);
  closings.unshift(() => house.chat.stop());
  await house.membership.join();
  closings.unshift(() => house.membership.leave());
  ending.throwIfAborted();
  closings.unshift(() => drain(foundation, house.queue));
  const platforms = startPlatforms([...house.platforms.values()], { clock, logger, failedLate });
  closings.unshift(() => platforms.stop());
  await platforms.begun;
  ending.throwIfAborted();
  await startSteps(foundation, house);
  const resumed = { open: await house.tasks.resume(), undelivered: await house.chat.resume() };
  ending.throwIfAborted();
  const found = metrics.foundLost;
  const sweeper = createSweeper({ store, queue: house.queue, clock, pace: config.poll, logger, found });
  sweeper.start();
  closings.unshift(() => sweeper.stop());
  // Where others go on, whoever sends requests here is told first, and asks them.
  if (!store.exclusive) closings.unshift(() => house.leaving.leave());
  logger.info({ ...resumed, address }, 'Dailies is ready');
  greet(config, address);
}

/** How much longer than the answer to a create the steps under way may take to end: it has to be stored as well. */
const DRAIN_MARGIN_MS = 15_000;

/**
 * Lets the running steps end. A step that does not is repeated after the next start. The one thing that is not known
 * then is the answer to a create that the store did not take in all that time: that task becomes uncertain.
 */
async function drain({ config, logger }: Pick<Foundation, 'config' | 'logger'>, queue: WorkQueue): Promise<void> {
  const patienceMs = config.createTimeoutMs + DRAIN_MARGIN_MS;
  if (await queue.drain(patienceMs)) return;
  logger.warn({ patienceMs }, 'some steps are still running; they are repeated after the next start');
}

/** What everything else stands on. */
interface Foundation {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly catalog: () => Catalog;
  /** The video service that is configured, or the embedded one. */
  readonly service: { readonly baseUrl: string; readonly token: string };
  /** What fits clips; `null` where there is none. */
  readonly ffmpeg: string | null;
}

type House = Awaited<ReturnType<typeof build>>;

/** Makes the parts and joins them; nothing runs yet. */
async function build({ config, logger, metrics, store, catalog, service, ffmpeg }: Foundation) {
  const { createTimeoutMs, requestTimeoutMs } = config;
  const { creates: send, polls: poll, deliveries } = config.maxConcurrent;
  const timing = { createTimeoutMs, requestTimeoutMs, maxConnections: poll };
  const client = createVideoClient({ ...service, ...timing, catalog, clock, random, logger });
  const videos = measureVideos(client, clock, metrics.meters.videos);
  const concurrency = { send, poll, fetch: deliveries, deliver: deliveries, notify: deliveries };
  const platforms = new Map<string, Platform>();
  const lanes = () => lanesOf(platforms.keys());
  const clipsDir = resolve(join(config.dataDir, 'clips'));
  await prepareClipsFolder(clipsDir);
  const queue = await openQueue({ url: config.storeUrl, maxRate: config.maxRate, concurrency, lanes, clock, logger });
  const clips = createClips({ videos, leases: store.leases, clock, logger, clipsDir });
  const membership = createMembership({ leases: store.leases, exclusive: store.exclusive, clock });
  const waits = await createWaits(store.keyv('waits'));
  const observers: TaskObserver[] = [metrics.taskObserver, learningWaits(waits, logger)];
  const recorder = createRecorder(store, observers);
  const subscriptions = createSubscriptions(store);
  const followed = createFollowedTasks({ recorder, queue, nowMs: () => clock.now(), exclusive: store.exclusive });
  observers.push(followed.taskObserver);
  const { dataDir, poll: pace } = config;
  metrics.watch({ store, queue, platforms, clock, deadlineMs: pace.deadlineMs, dataDir });
  const signedLinks = config.links === undefined ? null : createSignedLinks({ ...config.links, clock });
  const links = { forClip: ({ id }: { readonly id: string }) => signedLinks?.sign(id) ?? null };
  const chat = createChat({
    store,
    recorder,
    queue,
    platforms,
    subscriptions,
    waits,
    clips,
    links,
    clock,
    random,
    logger,
    handing: createHanding({ fitter: createFfmpegFitter({ ffmpeg, logger }), links }),
    modelOf: (name) => catalog().models.find((model) => model.name === name),
    observer: metrics.deliveryObserver,
    editIntervalMs: config.progressEditMs,
    deadlineMs: config.poll.deadlineMs,
    slowestPollMs: config.poll.maxMs,
    refundKnown: config.videoService === undefined,
  });
  observers.push(chat.taskObserver);
  const { limits } = config;
  const tasks = createTaskService({ store, recorder, videos, queue, clock, pace, limits, logger });
  const ledger = createLedger(store);
  const steering = config.videoService === undefined ? STEERING : [];
  const { publicUrl } = config.links ?? {};
  const relay = createRelay({ links: signedLinks, publicUrl, store, dataDir: resolve(config.dataDir), logger });
  const renewed = (url: string): string => relay.renew(url);
  const courtesy = createCourtesy(clock);
  const { limitReached } = metrics;
  const people = { courtesy, limitReached, clock, logger };
  const bot = createBot({ tasks, chat, ledger, subscriptions, catalog, renewed, steering, ...people });
  const leaving = createLeaving(clock);
  const readiness = { missing: () => missing(store, platforms), isLeaving: () => leaving.isLeaving() };
  const http = createHttpServer({ logger, metrics: metrics.registry, readiness });
  return {
    videos,
    queue,
    membership,
    clips,
    recorder,
    followed,
    platforms,
    signedLinks,
    relay,
    chat,
    tasks,
    courtesy,
    bot,
    http,
    leaving,
  };
}

/** Turns on the platforms that are configured, and what the HTTP server serves for them. */
async function addPlatforms({ config, logger, metrics, store, catalog }: Foundation, house: House): Promise<void> {
  const { http, platforms, bot, queue, recorder, clips, signedLinks, relay, membership } = house;
  const { publicUrl } = config.links ?? {};
  const find = async (id: string) => {
    if (isRelayed(id)) return relay.find(id);
    const task = await recorder.get(id as TaskId);
    const clip = await (task === undefined ? undefined : clips.find(task))?.catch((thrown: unknown) => {
      logger.warn({ task: id, err: thrown }, 'a clip that somebody asks for is not here and cannot be fetched again');
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
      clipOf: async (task) => (await find(task)) ?? null,
      dataDir: resolve(config.dataDir),
      host: config.http.host,
      publicUrl: config.links === undefined ? null : new URL(config.links.publicUrl),
      accessToken: config.playground.accessToken ?? null,
      isEmbeddedService: config.videoService === undefined,
    });
    platforms.set(playground.name, playground);
  }
  if (config.discord !== undefined) {
    const reachable = (task: TaskId) => queue.schedule('deliver:discord', task, clock.now());
    const discord = createDiscord({
      ...config.discord,
      store,
      clock,
      random,
      logger,
      bot: () => bot,
      relay,
      reachable,
    });
    platforms.set(discord.name, discord);
  }
  if (config.slack !== undefined) {
    const common = { http, store, clock, logger, catalog, relay, publicUrl, membership, bot: () => bot };
    const slack = createSlack({ ...config.slack, ...common });
    platforms.set(slack.name, slack);
  }
  for (const [name, platform] of platforms) platforms.set(name, measurePlatform(platform, metrics.meters.platform));
}

/** Shows the queues to operators, where that is turned on. */
async function addBoard({ config }: Foundation, { http, queue }: House): Promise<void> {
  if (config.boardToken === undefined || !('queues' in queue)) return;
  const { serveBoard } = await import('./http/board.ts');
  await serveBoard(http, { queues: queue.queues(), token: config.boardToken });
}

/** Lets the queue do its steps. */
async function startSteps({ config, logger, metrics }: Foundation, house: House): Promise<void> {
  const { recorder, followed, videos, queue, chat, clips, courtesy, membership } = house;
  const shared = { recorder, videos, queue, clock, random, logger };
  const observer = { progressed: chat.progressed, polled: metrics.polled };
  const { poll, fetch } = createFollower({ ...shared, followed, observer, pace: config.poll, clips });
  const send = createSender({
    ...shared,
    membership,
    createTimeoutMs: config.createTimeoutMs,
    firstPollMs: config.poll.firstMs,
  });
  const { deliver, notify } = chat;
  queue.start(metrics.stepping({ send: courtesy.after(send), poll, fetch, deliver, notify }));
}

/** The embedded video service, when none is configured; it offers what the catalog offers. */
async function startSandbox(
  { config, logger, store, catalog }: Pick<Foundation, 'config' | 'logger' | 'store' | 'catalog'>,
  closings: Closing[],
): Promise<Foundation['service']> {
  const dataDir = join(config.dataDir, 'sandbox');
  const sandbox = await embedSandbox({ store, dataDir, catalog, clock, random, logger });
  closings.unshift(() => sandbox.close());
  return sandbox;
}

async function missing(store: Store, platforms: ReadonlyMap<string, Platform>): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await store.ping().catch((thrown: unknown) => {
    found['store'] = asDailiesError(thrown, 'asking the store').message;
  });
  for (const platform of platforms.values()) {
    const reason = platform.notReady();
    if (reason !== null) found[platform.name] = reason;
  }
  return found;
}

/** What the person in front of the terminal wants to know. */
function greet(config: Config, address: string): void {
  const { isOn, accessToken } = config.playground;
  const page = accessToken === undefined ? address : `${address}/?token=… (your PLAYGROUND_TOKEN)`;
  const invitation = isOn ? `Open ${page} and type /video a red fox running through snow` : `Listening at ${address}`;
  const service =
    config.videoService === undefined ? 'the embedded sandbox makes the clips' : config.videoService.baseUrl;
  process.stdout.write(`\nDailies is ready. ${invitation}\nVideo service: ${service}\n\n`);
}

/** Closes what was opened, one after the other; a part that does not close keeps none of the others from it. */
async function closeAll(closings: readonly Closing[]): Promise<void> {
  for (const close of closings) {
    try {
      await close();
    } catch (thrown) {
      process.stderr.write(`closing: ${asDailiesError(thrown, 'closing').message}\n`);
    }
  }
}

void main();
