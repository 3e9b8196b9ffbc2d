import { join, resolve } from 'node:path';
import type { Adapter, AdapterDeps, ConfiguredPlatform } from '#commands/adapter.ts';
import {
  createAppBot,
  createAppChat,
  createCuts,
  createVideos,
  openAppQueue,
  orderOf,
  type Part,
  type Parts,
  pipelineSettingsOf,
  type Started,
} from './app/index.ts';
import { MessageLocks, type Platform, type WithMessageLock } from './chat/index.ts';
import { DataSpace, Remover } from './clips/index.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config/index.ts';
import { Foreground, Membership, type Store } from './engine/index.ts';
import { createGallery } from './gallery/index.ts';
import { addStatusRoutes, createHttpServer, Draining, missing } from './http/index.ts';
import { type Run, type Stoppable, stopAll } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import {
  createClipLinks,
  createFileFinder,
  FolderCheck,
  prepareClipsFolder,
  type Relay,
  type SignedLinks,
} from './media/index.ts';
import type { Metrics } from './metrics/index.ts';
import { createMoney, createTeamNotices, Statements } from './money/index.ts';
import { createLinkReader } from './own-links.ts';
import { createPersonExport, Forgetting } from './people/index.ts';
import { openStorage } from './storage/index.ts';
import { createPipeline } from './task-pipeline.ts';
import { DurationEstimates, type TaskId } from './tasks/index.ts';
import type { Catalog, ServiceConfig } from './videos/index.ts';

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
  /** Returns the configured video services, or the embedded one, as they are configured now; at least one. */
  readonly services: () => readonly ServiceConfig[];
  /** Path of the ffmpeg that fits clips into upload limits; `null` where there is none. */
  readonly ffmpeg: string | null;
  readonly platforms: readonly ConfiguredPlatform[];
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
  const durationEstimates = await DurationEstimates.load(store, logger);
  const queue = await openAppQueue(deps);
  const foreground = new Foreground(clock);
  const { storage, ...opened } = await openStorage(config.media, { folder: clipsDir, clock, logger });
  const videos = createVideos(deps);
  const membership = new Membership({ leases: store.leases, exclusive: store.exclusive, clock });
  const folders = new FolderCheck(foldersOf(config, clipsDir), clock);
  const space = new DataSpace({ ...deps, ...opened });
  const assertWritable = async () => void (await Promise.all([folders.assertWritable(), space.assertRoom()]));
  const money = createMoney({ store, clock });
  const pipeline = createPipeline({
    ...deps,
    queue,
    videos,
    membership,
    ...pipelineSettingsOf(deps),
    ...money,
    assertWritable,
    settingsOf: (team) => money.settings.get(team),
    storage,
  });
  const http = createHttpServer(logger);
  const posterOf = (id: string): Promise<string | null> => gallery.pictureOf(id);
  const find = createFileFinder({ ...deps, ...pipeline, findCut: (id) => cuts.find(id as TaskId), posterOf });
  const clipLinks = createClipLinks({ ...deps, ...pipeline, storage });
  const locks = new MessageLocks({ leases: store.leases, exclusive: store.exclusive, clock });
  const readLink = createLinkReader({ ...deps, ...pipeline, gallery: () => gallery });
  const adapters = await openAdapters(deps, { http, queue, membership, find, clipLinks, locks, posterOf, readLink });
  const platforms = new Map(adapters.map((one) => [one.name, metrics.instrument.platform(one, clock)]));
  const basis = { money, queue, foreground, pipeline, http, platforms, adapters, opened, storage };
  const parts = { ...basis, membership, locks, durationEstimates, clipLinks, space };
  const chat = createAppChat(deps, parts);
  const statements = new Statements({ ...deps, ...money, repository: pipeline.repository });
  const cuts = createCuts(deps, { chat, storage, folder: clipsDir, assertWritable });
  const shared = { ...deps, ...pipeline, ...money, platforms, cuts };
  const remover = new Remover({ ...shared, messages: chat.retraction });
  const library = { remover, forgetting: new Forgetting({ ...shared, remover }) };
  const teamNotices = createTeamNotices({ ...shared, writePersonExport: createPersonExport(shared) });
  const gallery = createGallery({ ...deps, ...parts, cuts });
  const bot = createAppBot(deps, { ...parts, chat, cuts, statements, teamNotices, gallery, library, assertWritable });
  for (const adapter of adapters) adapter.serve(bot);

  for (const observer of [metrics.taskObserver, durationEstimates, chat, teamNotices.observer, space.observer])
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
    { name: 'the clients of the video services', stop: () => videos.close() },
  ]);
}

/** Loads and creates the adapters of the platforms that are turned on: loading an SDK takes most of the start. */
function openAdapters(
  deps: AppDeps,
  parts: Pick<Parts, 'http' | 'queue' | 'membership' | 'find' | 'clipLinks' | 'locks'> &
    Pick<AdapterDeps, 'posterOf' | 'readLink'>,
): Promise<readonly Adapter[]> {
  const { http, queue, membership, find, clipLinks, locks, posterOf, readLink } = parts;
  const adapterDeps = {
    ...deps,
    http,
    membership,
    clipLinks,
    posterOf,
    readLink,
    clipOf: async (task: TaskId) => (await find(task)) ?? null,
    reachable: (task: TaskId, platform: string) => queue.schedule(`deliver:${platform}`, task, deps.clock.now()),
    withMessageLock: ((task, act) => locks.run(task, 'message', act)) satisfies WithMessageLock,
    countWrongToken: deps.metrics.wrongToken,
  };
  return Promise.all(deps.platforms.map(({ open }) => open(adapterDeps)));
}

function foldersOf({ dataDir, playground }: AppDeps['config'], clips: string): Readonly<Record<string, string>> {
  return playground.isOn ? { clips, 'playground files': resolve(join(dataDir, 'playground')) } : { clips };
}
