import { join, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Adapter, ConfiguredPlatform } from '#commands/adapter.ts';
import { createBot } from '#commands/bot.ts';
import type { Bot } from '#commands/bot-port.ts';
import { createGalleryPress } from '#commands/gallery/press.ts';
import { createSpendingRules } from '#commands/money/spending-rules.ts';
import { createCuts } from './app/cuts.ts';
import { createAppEnhancer, createVideos, openAppQueue, pipelineSettingsOf, serviceKeyOf } from './app/services.ts';
import { createAttachmentPlanner } from './chat/attachment-plan.ts';
import { AudienceBackfill, Audiences } from './chat/audiences.ts';
import { ChatEngine } from './chat/chat.ts';
import { createRevealSweep } from './chat/comparisons/reveal-sweep.ts';
import type { Platform } from './chat/platform.ts';
import { PlatformStarter } from './chat/start-platforms.ts';
import { createSubscriptions } from './chat/subscriptions.ts';
import type { Clock } from './clock.ts';
import { createMembership, KEEPING_BLIND, type Membership } from './cluster/membership.ts';
import { createMessageLocks, type MessageLocks, type WithMessageLock } from './cluster/message-lock.ts';
import type { Config } from './config/config.ts';
import { WrongTokens } from './http/access-tokens.ts';
import { foldersOf, missing } from './http/readiness.ts';
import { addStatusRoutes, createHttpServer, Draining, listen } from './http/server.ts';
import { createGallery, type Gallery } from './library/gallery/gallery.ts';
import { createLibrary, type Library } from './library/library.ts';
import { createPersonExport } from './library/person-export.ts';
import { PersonalDefaults } from './library/personal-defaults.ts';
import { createKeptUntil } from './library/retention-periods.ts';
import { DataSpace } from './library/space/data-space.ts';
import { type Run, type Stoppable, stopAll } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { type ClipLinks, createClipLinks } from './media/clip-links.ts';
import { createFfmpegFitter } from './media/ffmpeg.ts';
import { createFileFinder, type FindFile } from './media/file-finder.ts';
import { FolderCheck, prepareClipsFolder } from './media/folder-check.ts';
import type { Relay } from './media/relay.ts';
import { serveMedia } from './media/routes.ts';
import type { SignedLinks } from './media/signed-links.ts';
import { instrumentPlatforms } from './metrics/calls.ts';
import type { Metrics } from './metrics/metrics.ts';
import { Approvals } from './money/approvals.ts';
import { createMoney, type Money } from './money/money.ts';
import { OlderReplicas } from './money/older-replicas.ts';
import { createStatements, type Statements } from './money/statement/statements.ts';
import { createTeamNotices, type TeamNotices } from './money/team-notices.ts';
import { createApprovalSweep } from './pipeline/approval-sweep.ts';
import { createBookkeeper } from './pipeline/bookkeeper.ts';
import { Drafts } from './pipeline/drafts.ts';
import { createLedger } from './pipeline/ledger-reader.ts';
import { createReconciler } from './pipeline/reconcile.ts';
import { resume } from './pipeline/resume.ts';
import { startBackfill } from './pipeline/upstream-ids.ts';
import { drain } from './queue/drain.ts';
import { STEERING } from './sandbox/steering.ts';
import { type OpenStorage, openStorage } from './storage/open.ts';
import { assertNotMigrating } from './store/migrate/unfinished.ts';
import type { Store } from './store/store.ts';
import type { Cuts } from './studio/cuts/cuts.ts';
import { References } from './studio/references/references.ts';
import { createReviews } from './studio/reviews.ts';
import { Boards } from './studio/storyboards/boards.ts';
import { createPipeline, type Pipeline } from './task-pipeline.ts';
import { createDurationEstimates, type DurationEstimates, learningDurations } from './tasks/duration-estimates.ts';
import type { TaskId } from './tasks/task.ts';
import type { Catalog } from './videos/model.ts';
import { createReferenceCheck } from './videos/references/addresses.ts';

/** Dependencies of {@link createApp}. */
export interface AppDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  /** Closed by the caller, after the app. */
  readonly store: Store;
  readonly catalog: () => Catalog;
  /** `null`: links are off. */
  readonly links: SignedLinks | null;
  readonly relay: Relay;
  /** The configured video service, or the embedded one. */
  readonly service: { readonly baseUrl: string; readonly token: string };
  /** Path of the ffmpeg that fits clips into upload limits; `null` where there is none. */
  readonly ffmpeg: string | null;
  readonly platforms: readonly ConfiguredPlatform[];
}

/** Facts about the start, for the log. */
export interface Started {
  /** Address of the HTTP server. */
  readonly address: string;
  /** Number of open tasks that were resumed. */
  readonly open: number;
  /** Number of tasks whose outcome is not delivered yet. */
  readonly undelivered: number;
}

/** Part of the app with its place in the order of start and stop. */
interface Part {
  readonly name: string;
  readonly start?: (run: Run) => Promise<Partial<Started>> | Promise<void> | void;
  readonly stop?: () => Promise<void> | void;
}

/** The bot on its store and its video service, which the caller opens before and closes afterwards. */
export class App {
  /** Platforms that are turned on. */
  readonly platforms: readonly Platform[];
  readonly #parts: readonly Part[];
  readonly #connections: readonly Stoppable[];
  #running: readonly Part[] = [];

  constructor(platforms: readonly Platform[], parts: readonly Part[], connections: readonly Stoppable[]) {
    this.platforms = platforms;
    this.#parts = parts;
    this.#connections = connections;
  }

  /**
   * Starts the parts in order. @throws the reason of the first part that cannot start; the reason of `ending` once the
   * shutdown begins.
   */
  async start(run: Run): Promise<Started> {
    let started: Started = { address: '', open: 0, undelivered: 0 };
    for (const part of this.#parts) {
      run.ending.throwIfAborted();
      this.#running = [part, ...this.#running];
      started = { ...started, ...(await part.start?.(run)) };
    }
    return started;
  }

  /** Stops what was started, in reverse order, and closes the connections. */
  async stop(): Promise<void> {
    await stopAll(this.#running.map(({ name, stop = () => undefined }) => ({ name, stop })));
    await stopAll(this.#connections);
  }
}

/**
 * Creates the app; nothing runs yet. Each part is created after those that it depends on: queue, pipeline, adapters,
 * chat, bot. The adapters, which the chat sends through, receive the bot last.
 */
export async function createApp(deps: AppDeps): Promise<App> {
  const { config, store, clock, logger, metrics } = deps;
  const clipsDir = resolve(join(config.dataDir, 'clips'));
  await prepareClipsFolder(clipsDir);
  const durationEstimates = await createDurationEstimates(store.keyv('waits'));
  const queue = await openAppQueue(deps);
  const { storage, ...opened } = await openStorage(config.media, { folder: clipsDir, clock, logger });
  const videos = createVideos(deps);
  const membership = createMembership({ leases: store.leases, exclusive: store.exclusive, clock });
  const folders = new FolderCheck(foldersOf(config, clipsDir), clock);
  const space = new DataSpace({ ...deps, ...opened });
  const assertWritable = async () => void (await Promise.all([folders.assertWritable(), space.assertRoom()]));
  const money = createMoney({ store, clock });
  const pipeline = createPipeline({
    ...deps,
    queue,
    videos,
    membership,
    ...pipelineSettingsOf(config),
    ...money,
    assertWritable,
    settingsOf: (team) => money.settings.get(team),
    storage,
  });
  const http = createHttpServer(logger);
  const find = createFileFinder({ ...deps, ...pipeline, findCut: (id) => cuts.find(id as TaskId) });
  const clipLinks = createClipLinks({ ...deps, ...pipeline, storage });
  const locks = createMessageLocks({ leases: store.leases, exclusive: store.exclusive, clock });
  const adapters = await openAdapters(deps, { http, queue, membership, find, clipLinks, locks });
  const platforms = instrumentPlatforms(adapters, clock, metrics.meters.platform);
  const audiences = new Audiences({ store, platforms, clock, logger });
  const basis = { money, queue, pipeline, http, platforms, opened };
  const parts = { ...basis, audiences, membership, locks, durationEstimates, clipLinks };
  const chat = createAppChat(deps, parts);
  const statements = createStatements({ ...deps, repository: pipeline.repository });
  const cuts = createCuts(deps, { ...parts, storage, assertWritable });
  const removing = { cuts, messages: chat, space, retention: config.retention };
  const library = createLibrary({ ...deps, ...pipeline, ...money, ...removing, platforms });
  const exporting = { writePersonExport: createPersonExport({ ...deps, ...money }) };
  const teamNotices = createTeamNotices({ ...deps, ...money, ...exporting, platforms });
  const gallery = createGallery({ ...deps, ...parts, cuts });
  const bot = createAppBot(deps, { ...parts, chat, cuts, statements, teamNotices, gallery, library, assertWritable });
  for (const adapter of adapters) adapter.serve(bot);

  const learning = learningDurations(durationEstimates, logger);
  for (const observer of [metrics.taskObserver, learning, chat, teamNotices.observer, space.observer])
    pipeline.repository.subscribe(observer);
  metrics.watch({ ...deps, queue, platforms, space, deadlineMs: config.poll.deadlineMs, dataDir: config.dataDir });
  const draining = new Draining(clock);
  const reasons = () => missing({ store, platforms, folders, storageProblem: opened.problem });
  addStatusRoutes(http, { metrics: metrics.registry, missing: reasons, draining });
  const order = orderOf(deps, { ...parts, chat, cuts, draining, find, teamNotices, statements, library, gallery, bot });
  return new App([...platforms.values()], order, [
    { name: 'the HTTP server', stop: () => http.close() },
    { name: 'the storage of clips', stop: opened.close },
    { name: 'the queue', stop: () => queue.close() },
    { name: 'the client of the video service', stop: () => videos.close() },
  ]);
}

/** Parts of the app. */
interface Parts {
  readonly money: Money;
  readonly queue: Awaited<ReturnType<typeof openAppQueue>>;
  readonly pipeline: Pipeline;
  readonly http: FastifyInstance;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly audiences: Audiences;
  readonly membership: Membership;
  readonly locks: MessageLocks;
  readonly durationEstimates: DurationEstimates;
  readonly chat: ChatEngine;
  readonly draining: Draining;
  readonly find: FindFile;
  readonly clipLinks: ClipLinks;
  readonly opened: Omit<OpenStorage, 'storage'>;
  readonly teamNotices: TeamNotices;
  readonly statements: Statements;
  readonly library: Library;
  readonly cuts: Cuts;
  readonly gallery: Gallery;
  readonly bot: Bot;
}

/** Returns the parts in the order of their start, which is the reverse of the order in which they stop. */
function orderOf(deps: AppDeps, parts: Parts): readonly Part[] {
  const { config, store, clock, logger } = deps;
  const { money, queue, pipeline, http, chat, membership, audiences, draining } = parts;
  const { notices, watch } = parts.teamNotices;
  const starter = new PlatformStarter([...parts.platforms.values()], { clock, logger });
  const found = deps.metrics.foundLost;
  const reconciler = createReconciler({ store, queue, clock, pace: config.poll, logger, found });
  const approvals = createApprovalSweep({ store, repository: pipeline.repository, clock, logger });
  const reveals = createRevealSweep({ store, comparisons: chat.comparisons, clock, logger });
  const backfill = new AudienceBackfill(audiences, logger);
  const bookkeeper = createBookkeeper({ ...money, store, repository: pipeline.repository, clock, logger });
  return [
    { name: 'the pages', start: () => addPages(deps, parts) },
    // Before any task is resumed, so that a start on an occupied port fails early.
    { name: 'listening', start: async () => ({ address: await listen(http, config.http) }) },
    { name: 'the chat', stop: () => chat.stop() },
    { name: 'the membership', start: () => membership.join(), stop: () => membership.leave() },
    { name: 'the state of a migration', start: () => assertNotMigrating(store) },
    { name: 'the environment', start: () => money.applyEnvironment(config) },
    { name: 'the running jobs', stop: () => drain(deps, queue) },
    { name: 'the platforms', start: ({ failedLate }) => starter.start(failedLate), stop: () => starter.stop() },
    { name: 'the jobs', start: () => startJobs(deps, parts) },
    {
      name: 'the open tasks',
      start: ({ ending }) => resume({ tasks: pipeline.tasks, chat }, { logger, clock, ending }),
    },
    { name: 'the cuts', start: () => parts.cuts.start(), stop: () => parts.cuts.stop() },
    { name: 'the reconciler', start: () => reconciler.start(), stop: () => reconciler.stop() },
    { name: 'the requests for approval', start: () => approvals.start(), stop: () => approvals.stop() },
    { name: 'the reveals', start: () => reveals.start(), stop: () => reveals.stop() },
    { name: 'the notices', start: () => notices.start(), stop: () => notices.stop() },
    { name: 'the alerts and reports', start: () => watch.start(), stop: () => watch.stop() },
    ...parts.library.parts,
    ...parts.opened.parts({ ...deps, ...pipeline }),
    { name: 'the bookkeeper', start: () => bookkeeper.start(), stop: () => bookkeeper.stop() },
    { name: 'the backfill', start: () => backfill.start(), stop: () => backfill.stop() },
    { name: 'the bookings of statements', stop: () => parts.statements.decisions.stop() },
    // Where other replicas keep running, proxies are notified first and send their requests to those.
    { name: 'the proxies', stop: () => (store.exclusive ? undefined : draining.begin()) },
    {
      name: 'the index of upstream ids',
      start: ({ ending }) => startBackfill({ store, clock, logger }, { service: serviceKeyOf(config), signal: ending }),
    },
  ];
}

/** Loads and creates the adapters of the platforms that are turned on: loading an SDK takes most of the start. */
function openAdapters(
  deps: AppDeps,
  parts: Pick<Parts, 'http' | 'queue' | 'membership' | 'find' | 'clipLinks' | 'locks'>,
): Promise<readonly Adapter[]> {
  const { http, queue, membership, find, clipLinks, locks } = parts;
  const adapterDeps = {
    ...deps,
    http,
    membership,
    clipLinks,
    clipOf: async (task: TaskId) => (await find(task)) ?? null,
    reachable: (task: TaskId, platform: string) => queue.schedule(`deliver:${platform}`, task, deps.clock.now()),
    withMessageLock: ((task, act) => locks.run(task, 'message', act)) satisfies WithMessageLock,
    countWrongToken: deps.metrics.wrongToken,
  };
  return Promise.all(deps.platforms.map(({ open }) => open(adapterDeps)));
}

function createAppChat(
  deps: AppDeps,
  {
    queue,
    pipeline,
    platforms,
    audiences,
    locks,
    durationEstimates,
    money,
    clipLinks: links,
  }: Pick<
    Parts,
    'queue' | 'pipeline' | 'platforms' | 'audiences' | 'locks' | 'durationEstimates' | 'money' | 'clipLinks'
  >,
): ChatEngine {
  const { config, catalog, ffmpeg, logger } = deps;
  return new ChatEngine({
    ...deps,
    repository: pipeline.repository,
    clips: pipeline.clips,
    queue,
    platforms,
    audiences,
    locks,
    durationEstimates,
    subscriptions: createSubscriptions(deps.store),
    links,
    handing: createAttachmentPlanner({ fitter: createFfmpegFitter({ ffmpeg, logger }), links }),
    modelOf: (name) => catalog().models.find((model) => model.name === name),
    observer: deps.metrics.deliveryObserver,
    editIntervalMs: config.progressEditMs,
    deadlineMs: config.poll.deadlineMs,
    slowestPollMs: config.poll.maxMs,
    refundKnown: config.videoService === undefined,
    leftFor: money.leftFor,
    reviewRules: (team) => money.settings.get(team),
    keptUntil: createKeptUntil({ ...deps, ...money, retention: config.retention }),
  });
}

type BotParts = Pick<
  Parts,
  'pipeline' | 'chat' | 'cuts' | 'money' | 'statements' | 'teamNotices' | 'queue' | 'gallery' | 'library'
> & { readonly assertWritable: () => Promise<void> };

function createAppBot(deps: AppDeps, parts: BotParts): Bot {
  const { pipeline, chat, cuts, money, statements, teamNotices, gallery, library } = parts;
  const { config, store, relay, service, clock, logger, metrics } = deps;
  const publicUrl = config.links?.publicUrl;
  const withoutBlindness = new OlderReplicas(store, KEEPING_BLIND);
  return createBot({
    ...deps,
    tasks: pipeline.tasks,
    chat,
    cuts,
    ledger: createLedger(store),
    notices: teamNotices.notices,
    ...money,
    drafts: new Drafts(store, clock),
    boards: new Boards(store),
    approvals: new Approvals({ ...deps, ...parts, ...money, repository: pipeline.repository }),
    subscriptions: createSubscriptions(store),
    statements,
    gallery,
    reviews: createReviews({ ...deps, ...pipeline }),
    ...library,
    defaults: new PersonalDefaults(store),
    isBlindnessUnsafe: () => withoutBlindness.areAlive(),
    enhancer: createAppEnhancer(deps),
    references: new References(store, clock),
    libraryFiles: relay.libraryFiles,
    admins: config.admins,
    refunds: config.refunds,
    renewed: (url) => relay.renew(url),
    checkReferences: createReferenceCheck({ baseUrl: service.baseUrl, publicUrl, clock, logger }),
    fileBehind: (url) => relay.describe(url),
    steering: config.videoService === undefined ? STEERING : [],
    spendingRules: createSpendingRules({ ...money, clock }),
    limitReached: metrics.limitReached,
    overBudget: metrics.overBudget,
    dataFull: metrics.dataFull,
  });
}

type PageParts = Pick<Parts, 'http' | 'queue' | 'find' | 'clipLinks' | 'gallery' | 'bot' | 'platforms'>;

/** Adds the signed links, the gallery, and the queue dashboard if it is enabled. */
async function addPages(
  { config, links, clock, logger, metrics }: AppDeps,
  { http, queue, find, clipLinks, gallery, bot, platforms }: PageParts,
): Promise<void> {
  await serveMedia(http, { links, find, redirectFor: (id) => clipLinks.redirectFor(id as TaskId) });
  await gallery.serve(createGalleryPress({ bot, platforms, admins: config.admins, logger }));
  if (config.boardToken === undefined || !('queues' in queue)) return;
  const { serveBoard } = await import('./http/board.ts');
  const wrongTokens = new WrongTokens({ entrance: 'board', clock, logger, counted: metrics.wrongToken });
  await serveBoard(http, { queues: queue.queues(), token: config.boardToken, wrongTokens });
}

/** Starts the queue with its job handlers. */
function startJobs(
  { metrics }: AppDeps,
  { queue, pipeline, chat, cuts }: Pick<Parts, 'queue' | 'pipeline' | 'chat' | 'cuts'>,
): void {
  const handlers = pipeline.createHandlers({
    progressed: (task, upstream) => chat.progressed(task, upstream),
    retrying: (task, retry, seen) => chat.retrying(task, retry, seen),
    polled: metrics.polled,
  });
  const deliver = (id: string) => chat.deliver(id);
  const notify = (id: string) => chat.notify(id);
  const join = (id: string, signal: AbortSignal) => cuts.run(id, signal);
  queue.start(metrics.stepping({ ...handlers, deliver, notify, join }));
}
