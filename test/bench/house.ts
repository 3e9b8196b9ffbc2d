import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#src/clock.ts';
import { Membership } from '#src/engine/cluster/membership.ts';
import { openQueue } from '#src/engine/queue/open.ts';
import { queueNamesOf, type WorkQueue } from '#src/engine/queue/queue.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { createLogger } from '#src/logger.ts';
import type { Order } from '#src/pipeline/order.ts';
import type { TaskObserver, TaskRepository } from '#src/pipeline/repository.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskService } from '#src/pipeline/task-service.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import { createPipeline } from '#src/task-pipeline.ts';
import { toChange } from '#src/tasks/indexes.ts';
import type { Task } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { createVideoServices } from '#src/videos/services.ts';
import { fileLinks } from '#test/fakes/file-links.ts';

/** Task pipeline of Dailies with a real store and a real client, without a chat. */
export interface House {
  readonly store: Store;
  readonly queue: WorkQueue;
  readonly repository: TaskRepository;
  readonly tasks: TaskService;
  /** Returns the number of successful polls so far. */
  readonly polls: () => number;
  readonly start: () => void;
  readonly close: () => Promise<void>;
}

/** Options of {@link openHouse}. */
export interface HouseOptions {
  /** Base URL of the service. */
  readonly baseUrl: string;
  /** URL of the store, as in `STORE_URL`. */
  readonly url: string;
  /** Poll interval. Default 0: polls at full speed. */
  readonly pollEveryMs?: number;
  readonly observer?: TaskObserver;
}

/** Opens a store and creates the task pipeline on it; nothing runs before `start`. */
export async function openHouse(at: HouseOptions): Promise<House> {
  const pace = { firstMs: 3_600_000, minMs: at.pollEveryMs ?? 0, maxMs: 3_600_000, deadlineMs: 3_600_000 };
  const logger = createLogger('error');
  const clock = systemClock;
  const random = () => 0;
  const store = await openStore(at.url, { logger });
  const catalog = parseCatalog(sandboxCatalog);
  const timeouts = { createTimeoutMs: 60_000, requestTimeoutMs: 30_000 };
  const services = () => [{ baseUrl: at.baseUrl, token: 'sk-bench' }];
  const client = { services, catalog: () => catalog, maxConcurrentPolls: 32 };
  const videos = createVideoServices({ ...client, ...timeouts, clock, random, logger });
  const queue = await openQueue({
    url: at.url,
    clock,
    logger,
    concurrency: { send: 8, poll: 32, fetch: 4, deliver: 4, notify: 4, join: 1, frame: 1 },
    names: queueNamesOf([]),
  });
  const membership = new Membership({ leases: store.leases, exclusive: store.exclusive, clock });
  await membership.join();
  const shared = { store, queue, videos, membership, clock, random, logger, pace };
  const { repository, tasks, createHandlers } = createPipeline({
    ...shared,
    createTimeoutMs: timeouts.createTimeoutMs,
    storage: new FolderStorage(tmpdir()),
    maxRepeatedFetches: 4,
    relay: { links: fileLinks(clock, null), serveFrames: () => undefined, reaches: () => false },
  });
  if (at.observer !== undefined) repository.subscribe(at.observer);
  let polls = 0;
  const handlers = createHandlers({
    progressed: () => {},
    retrying: () => {},
    polled: (outcome) => {
      if (outcome === 'ok') polls += 1;
    },
  });
  const nothing = async (): Promise<null> => null;
  return {
    store,
    queue,
    repository,
    tasks,
    polls: () => polls,
    start: () => queue.start({ ...handlers, deliver: nothing, notify: nothing, join: nothing, frame: nothing }),
    async close() {
      await queue.drain();
      await queue.close();
      await membership.leave();
      await videos.close();
      await store.close();
    },
  };
}

/** Creates an order like that of a user's command. */
export function orderOf(key: string): Order {
  const media = { image: [], audio: [], video: [] };
  const prompt = 'a red fox running through snow, cinematic, long lens, first light of the day';
  const user = { id: 'ana', name: 'Ana' };
  return {
    key,
    request: { model: 'swift-1', prompt, seconds: 4, aspectRatio: '16:9', resolution: '720p', media },
    origin: { platform: 'playground', team: 'playground', channel: 'general', user, interaction: key, address: {} },
    price: { amount: '0.20', currency: 'USD' },
  };
}

/** Fills a store with tasks that the service is working on. */
export async function fillWithOpenTasks(url: string, count: number): Promise<void> {
  const store = await openStore(url, { logger: createLogger('error') });
  const nowMs = Date.now();
  for (let from = 0; from < count; from += 5_000) {
    const numbers = Array.from({ length: Math.min(5_000, count - from) }, (_, index) => from + index);
    await Promise.all(numbers.map((number) => store.commit(toChange(null, openTask(number, nowMs)))));
  }
  await store.close();
}

function openTask(number: number, nowMs: number): Task {
  const { request, origin, price, key } = orderOf(`bench:${number}`);
  const common = { request, origin, price, createdAtMs: nowMs, sends: 1, unsentTries: 0, presented: true };
  const upstreamId = `task-${number}` as UpstreamId;
  return { revision: 3, id: taskIdOf(key), state: 'polling', ...common, accepted: { atMs: nowMs }, upstreamId };
}

/** Starts the service of the benchmarks; with clip sizes, its tasks complete with clips. */
export async function startUpstream(
  clipBytes: readonly number[] = [],
): Promise<{ readonly baseUrl: string; readonly stop: () => void }> {
  const child = fork(new URL('./upstream.ts', import.meta.url), {
    env: { ...process.env, CLIP_BYTES: clipBytes.join(',') },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** Runs `use` with a temporary folder, which is removed afterwards. */
export async function inFolder<Result>(use: (path: string) => Promise<Result>): Promise<Result> {
  const path = await mkdtemp(join(tmpdir(), 'dailies-bench-'));
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Returns the quantile of the values, for a share from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
