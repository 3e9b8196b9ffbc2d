import { pino } from 'pino';
import type { Job } from '#src/engine/jobs/jobs.ts';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import type { JobHandler, JobKind, QueueName, WorkQueue } from '#src/engine/queue/queue.ts';
import type { Store } from '#src/engine/store/store.ts';
import type { ErrorCode } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { SignedLinks } from '#src/media/clip-links.ts';
import { deliverQueue } from '#src/pipeline/next-job.ts';
import type { Order } from '#src/pipeline/order.ts';
import type { PollCache, PollerOptions, PollPace } from '#src/pipeline/poll.ts';
import type { TaskObserver, TaskRepository } from '#src/pipeline/repository.ts';
import type { TaskService, TaskServiceOptions } from '#src/pipeline/task-service.ts';
import type { ServiceKey } from '#src/pipeline/upstream-ids.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import { createPipeline, type Pipeline } from '#src/task-pipeline.ts';
import type { Limits } from '#src/tasks/limits.ts';
import type { Refunds } from '#src/tasks/money.ts';
import type { StepRetry } from '#src/tasks/step-retry.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { UpstreamTask } from '#src/videos/service.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { ManualClock } from './manual-clock.ts';
import { ScriptedMembership } from './membership.ts';
import { MemoryStore } from './memory-store.ts';
import { pass } from './settle.ts';
import { NOON_MS, orderOf } from './tasks.ts';
import { ScriptedVideos } from './videos.ts';

/** Dependencies and options of a {@link TaskHouse}; new ones by default. */
export interface TaskHouseOptions {
  /** Default: every clip can be stored. */
  readonly assertWritable?: () => Promise<void>;
  /** Default: every budget is enforced. */
  readonly restoreSpend?: () => Promise<void>;
  readonly store?: Store;
  readonly videos?: ScriptedVideos;
  readonly clock?: ManualClock;
  readonly owner?: string;
  readonly logger?: Logger;
  readonly exclusive?: boolean;
  readonly pace?: Partial<PollPace>;
  readonly limits?: Limits;
  readonly refunds?: Refunds;
  /** Default: it is not known of any model. */
  readonly billingOf?: PollerOptions['billingOf'];
  readonly settingsOf?: TaskServiceOptions['settingsOf'];
  readonly concurrency?: Partial<Readonly<Record<JobKind, number>>>;
  /** Queues that exist from the start. Default: those of no platform and no named service. */
  readonly queues?: readonly QueueName[];
  readonly observers?: readonly TaskObserver[];
  readonly deliver?: JobHandler;
  /** Default: each service has an account of its own. */
  readonly serviceKey?: ServiceKey;
  /** Signs the URLs of frames. Default: links are off. */
  readonly links?: SignedLinks;
}

/** Task pipeline of one process, as the app creates it, on scripted parts and without a chat. */
export class TaskHouse {
  readonly store: Store;
  readonly videos: ScriptedVideos;
  readonly clock: ManualClock;
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  readonly followed: PollCache;
  readonly service: TaskService;
  readonly membership: ScriptedMembership;
  readonly lostCreates: Job;
  /** Progress reported between state changes. */
  readonly progressed: { readonly task: Pick<Task, 'id' | 'state'>; readonly upstream: UpstreamTask }[] = [];
  /** Failed steps that are retried. */
  readonly retrying: { readonly retry: StepRetry; readonly failures: number; readonly isForAll: boolean }[] = [];
  /** Outcomes of polls. */
  readonly polled: ('ok' | ErrorCode)[] = [];
  /** Ids that the deliver queue's handler received. */
  readonly delivered: string[] = [];
  readonly #options: TaskHouseOptions;
  readonly #pipeline: Pipeline;

  constructor(options: TaskHouseOptions = {}) {
    this.#options = options;
    this.store = options.store ?? new MemoryStore(options.exclusive);
    this.videos = options.videos ?? new ScriptedVideos();
    this.clock = options.clock ?? new ManualClock(NOON_MS);
    const { clock, store, videos } = this;
    const { exclusive = true, logger = pino({ level: 'silent' }), limits, assertWritable, restoreSpend } = options;
    const concurrency = {
      send: 8,
      poll: 32,
      fetch: 4,
      deliver: 4,
      notify: 4,
      join: 1,
      frame: 1,
      ...options.concurrency,
    };
    const queue = new MemoryQueue({
      clock,
      logger,
      concurrency,
      ...(options.queues === undefined ? {} : { names: options.queues }),
    });
    const membership = new ScriptedMembership(options.owner ?? 'me', exclusive);
    const pipeline = createPipeline({
      store,
      queue,
      videos,
      membership,
      clock,
      random: () => 0,
      logger,
      pace: { firstMs: 5_000, minMs: 5_000, maxMs: 30_000, deadlineMs: 1_800_000, ...options.pace },
      createTimeoutMs: 60_000,
      ...(limits === undefined ? {} : { limits }),
      ...(assertWritable === undefined ? {} : { assertWritable }),
      ...(restoreSpend === undefined ? {} : { restoreSpend }),
      ...(options.refunds === undefined ? {} : { refunds: options.refunds }),
      ...(options.billingOf === undefined ? {} : { billingOf: options.billingOf }),
      ...(options.settingsOf === undefined ? {} : { settingsOf: options.settingsOf }),
      ...(options.serviceKey === undefined ? {} : { serviceKey: options.serviceKey }),
      relay: {
        links: fileLinks(clock, options.links ?? null),
        serveFrames: () => undefined,
        reaches: () => options.links !== undefined,
      },
      storage: new FolderStorage('/clips'),
      maxRepeatedFetches: 2,
    });
    const outbox: TaskObserver = {
      changed: (task) => {
        if (!task.presented) queue.schedule(deliverQueue(task), task.id, clock.now());
      },
    };
    for (const observer of [outbox, ...(options.observers ?? [])]) pipeline.repository.subscribe(observer);
    this.queue = queue;
    this.membership = membership;
    this.repository = pipeline.repository;
    this.followed = pipeline.pollCache;
    this.lostCreates = pipeline.lostCreates;
    this.service = pipeline.tasks;
    this.#pipeline = pipeline;
  }

  /** Starts the queue with all job handlers. */
  start(): this {
    const deliver: JobHandler = async (id) => {
      this.delivered.push(id);
      return null;
    };
    const handlers = this.#pipeline.createHandlers({
      retrying: (_task, retry, seen) => this.retrying.push({ retry, ...seen }),
      progressed: (task, upstream) => this.progressed.push({ task, upstream }),
      polled: (outcome) => this.polled.push(outcome),
    });
    this.queue.start({
      ...handlers,
      deliver: this.#options.deliver ?? deliver,
      notify: async () => null,
      join: async () => null,
    });
    return this;
  }

  /** Creates another process on the same store, service and clock: after a crash, or in parallel to this one. */
  another(options: TaskHouseOptions = {}): TaskHouse {
    const { store, videos, clock } = this;
    return new TaskHouse({ ...this.#options, store, videos, clock, owner: 'another', ...options });
  }

  /** Submits an order and runs all work that is due without time passing. */
  async order(changes: Partial<Order> = {}): Promise<TaskId> {
    const { task } = await this.submit(changes);
    await this.pass(0);
    return task.id;
  }

  /** Submits an order. @throws TypeError if a limit rejects it */
  async submit(changes: Partial<Order> = {}): Promise<{ readonly task: Task; readonly isNew: boolean }> {
    const submission = await this.service.submit(orderOf(changes));
    if (!submission.ok) throw new TypeError(`an order did not fit: ${JSON.stringify(submission)}`);
    return submission;
  }

  /** Advances the clock. */
  pass(ms: number, stepMs?: number): Promise<void> {
    return pass(this.clock, ms, stepMs);
  }

  /** Returns the record of a task. @throws TypeError if there is none */
  async task(id: TaskId): Promise<Task> {
    const task = await this.repository.get(id);
    if (task === undefined) throw new TypeError(`there is no task ${id}`);
    return task;
  }
}
