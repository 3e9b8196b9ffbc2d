import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../app.ts';
import { type ChatEngine, type MessageLocks, type Platform, PlatformStarter } from '../chat/index.ts';
import { type DataSpace, type Remover, retentionJob } from '../clips/index.ts';
import type { Config } from '../config/index.ts';
import {
  assertNotMigrating,
  type Foreground,
  type Job,
  Jobs,
  type Membership,
  type WorkQueue,
} from '../engine/index.ts';
import type { Gallery } from '../gallery/index.ts';
import { type Draining, listen } from '../http/index.ts';
import type { Run } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import type { ClipLinks, FindFile } from '../media/index.ts';
import { booksCheck, type Money, type Statements, type TeamNotices } from '../money/index.ts';
import { OPEN_CUTS } from '../orders/index.ts';
import type { Forgetting } from '../people/index.ts';
import { approvalSweep, reconciliation, resume } from '../pipeline/index.ts';
import type { OpenStorage } from '../storage/index.ts';
import type { Cuts } from '../studio/index.ts';
import type { Pipeline } from '../task-pipeline.ts';
import type { DurationEstimates } from '../tasks/index.ts';
import type { createAppBot } from './bot.ts';
import { addPages } from './pages.ts';
import type { openAppQueue } from './services.ts';

/** Parts of the app, which depend on each other. */
export interface Parts {
  readonly money: Money;
  readonly queue: Awaited<ReturnType<typeof openAppQueue>>;
  readonly foreground: Foreground;
  readonly pipeline: Pipeline;
  readonly http: FastifyInstance;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly adapters: readonly { readonly jobs: readonly Job[] }[];
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
  readonly library: { readonly remover: Remover; readonly forgetting: Forgetting };
  readonly space: DataSpace;
  readonly cuts: Cuts;
  readonly gallery: Gallery;
  readonly bot: ReturnType<typeof createAppBot>;
}

/** Facts about the start, for the log. */
export interface Started {
  readonly address: string;
  /** Number of open tasks that were resumed. */
  readonly open: number;
  /** Number of tasks whose outcome is not delivered yet. */
  readonly undelivered: number;
}

/** Part of the app with its place in the order of start and stop. */
export interface Part {
  readonly name: string;
  readonly start?: (run: Run) => Promise<Partial<Started>> | Promise<void> | void;
  readonly stop?: () => Promise<void> | void;
}

/** Returns the parts in the order of their start, which is the reverse of the order in which they stop. */
export function orderOf(deps: AppDeps, parts: Parts): readonly Part[] {
  const { config, store, clock, logger } = deps;
  const { money, queue, pipeline, http, chat, membership, draining } = parts;
  const jobs = new Jobs(deps, jobsOf(deps, parts));
  const starter = new PlatformStarter([...parts.platforms.values()], { clock, logger });
  return [
    { name: 'the pages', start: () => addPages(deps, parts) },
    // Before any task is resumed, so that a start on an occupied port fails early.
    { name: 'listening', start: async () => ({ address: await listen(http, config.http) }) },
    { name: 'the chat', stop: () => chat.stop() },
    { name: 'the membership', start: () => membership.join(), stop: () => membership.leave() },
    { name: 'the state of a migration', start: () => assertNotMigrating(store) },
    { name: 'the environment', start: () => money.applyEnvironment(config) },
    { name: 'the work in progress', stop: () => drain(deps, queue) },
    { name: 'the platforms', start: ({ failedLate }) => starter.start(failedLate), stop: () => starter.stop() },
    { name: 'the workers of the queue', start: () => startWorkers(deps, parts) },
    {
      name: 'the open tasks',
      start: ({ ending }) => resume({ tasks: pipeline.tasks, chat }, { logger, clock, ending }),
    },
    { name: 'the cuts', start: () => parts.cuts.resume() },
    { name: 'the alerts and reports', stop: () => parts.teamNotices.stop() },
    { name: 'the data folder', start: () => parts.space.start(), stop: () => parts.space.stop() },
    { name: 'the periodic jobs', start: () => jobs.start(), stop: () => jobs.stop() },
    { name: 'the bookings of statements', stop: () => parts.statements.stop() },
    // Where other replicas keep running, proxies are notified first and send their requests to those.
    { name: 'the proxies', stop: () => (store.exclusive ? undefined : draining.begin()) },
  ];
}

/** Returns the periodic jobs of the process. */
function jobsOf(
  deps: AppDeps,
  { money, queue, pipeline, chat, teamNotices, library, space, opened, adapters }: Parts,
): readonly Job[] {
  const { config, clock, metrics } = deps;
  return [
    reconciliation({
      ...deps,
      queue,
      pace: config.poll,
      indexed: [{ queue: 'join', index: OPEN_CUTS }],
      found: metrics.foundLost,
    }),
    approvalSweep(pipeline.repository, clock),
    pipeline.lostCreates,
    chat.comparisons.job,
    ...teamNotices.jobs,
    library.remover.job,
    retentionJob({ ...deps, ...money, ...library, retention: config.retention }),
    library.forgetting.job,
    space.job,
    ...opened.jobs({ ...deps, ...pipeline }),
    ...adapters.flatMap(({ jobs }) => jobs),
    booksCheck({ ...deps, ...money }),
    money.carried.job,
  ];
}

/** Starts the queue with its job handlers. */
function startWorkers(
  { metrics }: AppDeps,
  { queue, foreground, pipeline, chat, cuts }: Pick<Parts, 'queue' | 'foreground' | 'pipeline' | 'chat' | 'cuts'>,
): void {
  const handlers = pipeline.createHandlers({
    progressed: (task, upstream) => chat.progressed(task, upstream),
    retrying: (task, retry, seen) => chat.retrying(task, retry, seen),
    polled: metrics.polled,
  });
  const deliver = (id: string) => chat.deliver(id);
  const notify = (id: string) => chat.notify(id);
  const join = (id: string, signal: AbortSignal) => cuts.run(id, signal);
  queue.start(foreground.yielding(metrics.stepping({ ...handlers, deliver, notify, join })));
}

/** Time that the drain adds to the timeout of a create, whose response has to be stored as well. */
const DRAIN_MARGIN_MS = 15_000;

/** Returns the longest time that the jobs of a process may take to end at shutdown, in milliseconds. */
export function drainTimeoutMs({ createTimeoutMs }: Pick<Config, 'createTimeoutMs'>): number {
  return createTimeoutMs + DRAIN_MARGIN_MS;
}

/**
 * Waits for the running jobs to end. A job that does not end in time is repeated after the next start. The only loss is
 * the response to a create that the store did not accept in all that time: that task becomes uncertain.
 */
async function drain(
  { config, logger }: { readonly config: Config; readonly logger: Logger },
  queue: WorkQueue,
): Promise<void> {
  const timeoutMs = drainTimeoutMs(config);
  if (await queue.drain(timeoutMs)) return;
  const event = 'drain_timed_out';
  logger.warn(
    { event, patienceMs: timeoutMs },
    'some jobs are still running and will be repeated after the next start',
  );
}
