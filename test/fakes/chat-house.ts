import { pino } from 'pino';
import { AttachmentPlanner, type Fitter, type Links } from '#src/chat/attachment-plan.ts';
import { ChatEngine } from '#src/chat/chat.ts';
import { MessageLocks } from '#src/chat/message-lock.ts';
import type { ChatOptions } from '#src/chat/parts.ts';
import { Subscriptions } from '#src/chat/subscriptions.ts';
import type { Handover } from '#src/chat/view.ts';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import type { WorkQueue } from '#src/engine/queue/queue.ts';
import type { Store } from '#src/engine/store/store.ts';
import type { ErrorCode } from '#src/errors.ts';
import type { Clips } from '#src/pipeline/clip-files.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { UsualDuration } from '#src/tasks/duration-estimates.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { TeamSettings } from '#src/teams/settings-schema.ts';
import type { TeamKey } from '#src/teams/team-settings.ts';
import type { Clip, UpstreamId, UpstreamTask } from '#src/videos/service.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { FakePlatform } from './platform.ts';
import { pass, settle } from './settle.ts';
import { CLIP, EVENTS, NOON_MS, newTask } from './tasks.ts';

/** Dependencies of a {@link ChatHouse}; new ones by default. */
export interface ChatHouseOptions {
  readonly store?: Store;
  readonly platform?: FakePlatform;
  readonly clock?: ManualClock;
  readonly fitter?: Fitter;
  readonly links?: Links;
  readonly usual?: UsualDuration;
  /** Default: clips are kept for good. */
  readonly keptUntil?: ChatOptions['keptUntil'];
  /** Default: no team has reviews, or marks of AI. */
  readonly settingsOf?: (team: TeamKey) => Promise<Partial<TeamSettings>>;
  /** Default: no other service takes an order. */
  readonly elsewhere?: ChatOptions['elsewhere'];
  /** Default: the catalog has no models. */
  readonly modelOf?: ChatOptions['modelOf'];
  /** Default: nobody is named in `ADMINS`. */
  readonly admins?: ChatOptions['admins'];
  /** Default: no request has a picture. */
  readonly pictureOf?: ChatOptions['forApprovers']['pictureOf'];
  /** Finds a clip. Default: returns the clip's own location. */
  readonly find?: Clips['find'];
}

/** The chat engine of one process on a fake platform; tests trigger task events themselves. */
export class ChatHouse {
  readonly store: Store;
  readonly platform: FakePlatform;
  readonly clock: ManualClock;
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  readonly chat: ChatEngine;
  readonly subscriptions: Subscriptions;
  readonly delivered: { readonly task: Task; readonly handover: Handover | null; readonly lagMs: number | null }[] = [];
  readonly failed: ErrorCode[] = [];
  readonly #options: ChatHouseOptions;

  constructor(options: ChatHouseOptions = {}) {
    this.#options = options;
    const store = options.store ?? new MemoryStore();
    const clock = options.clock ?? new ManualClock(NOON_MS);
    const logger = pino({ level: 'silent' });
    const links = options.links ?? { forClip: async () => null };
    const concurrency = { send: 1, poll: 1, fetch: 1, deliver: 4, notify: 4, join: 1, frame: 1 };
    this.store = store;
    this.clock = clock;
    this.platform = options.platform ?? new FakePlatform();
    this.queue = new MemoryQueue({ clock, logger, concurrency });
    this.repository = new TaskRepository(store);
    this.subscriptions = new Subscriptions(store);
    const platforms = new Map([[this.platform.name, this.platform]]);
    this.chat = new ChatEngine({
      store,
      repository: this.repository,
      queue: this.queue,
      subscriptions: this.subscriptions,
      clips: { find: options.find ?? (async ({ clip }) => clip) },
      locks: new MessageLocks({ leases: store.leases, exclusive: store.exclusive, clock }),
      clock,
      logger,
      platforms,
      handing: new AttachmentPlanner({ fitter: options.fitter ?? { isThere: false, fit: async () => null }, links }),
      forApprovers: {
        leftFor: async () => ({ amount: '36.20', currency: 'USD' }),
        pictureOf: options.pictureOf ?? (async () => null),
      },
      keptUntil: options.keptUntil ?? (async () => null),
      admins: options.admins ?? [],
      elsewhere: options.elsewhere ?? (async () => null),
      settingsOf: async (team) => ({ aiLabel: false, ...(await options.settingsOf?.(team)) }),
      durationEstimates: { usual: () => options.usual ?? null },
      modelOf: options.modelOf ?? (() => undefined),
      observer: {
        delivered: (task, handover, lagMs) => this.delivered.push({ task, handover, lagMs }),
        failedOnce: (_task, { code }) => this.failed.push(code),
      },
      random: () => 0,
      editIntervalMs: 3_000,
      deadlineMs: 1_800_000,
      slowestPollMs: 30_000,
      refundKnown: true,
    });
    this.repository.subscribe(this.chat);
    const nothing = async (): Promise<null> => null;
    const deliver = (id: string) => this.chat.deliver(id);
    const notify = (id: string) => this.chat.notify(id);
    this.queue.start({ send: nothing, poll: nothing, fetch: nothing, deliver, notify, join: nothing, frame: nothing });
  }

  /**
   * Simulates a crash and starts another process on the same store and platform. Timers of the old process do not fire
   * any more.
   */
  async restart(options: ChatHouseOptions = {}): Promise<ChatHouse> {
    const { store, platform, clock } = this;
    if (store instanceof MemoryStore) store.reopen();
    const next = new ChatHouse({ ...this.#options, store, platform, clock: new ManualClock(clock.now()), ...options });
    await next.chat.resume();
    await next.pass(0);
    return next;
  }

  /** Claims a task, applies events, and runs all work that is due without advancing the clock. */
  async task(changes: Partial<Task> = {}, ...events: readonly TaskEvent[]): Promise<TaskId> {
    const made = newTask({ createdAtMs: this.clock.now(), ...changes });
    const task = { ...made, origin: { audience: 'team' as const, ...made.origin } };
    await this.repository.claim([task]);
    await this.chat.show(task.id);
    await this.happen(task.id, ...events);
    return task.id;
  }

  /** Creates a task that is running at the service and whose message is shown. */
  running(changes: Partial<Task> = {}): Promise<TaskId> {
    return this.task(changes, EVENTS.send, EVENTS.accepted);
  }

  /** Creates a task whose clip is on disk. */
  async done(changes: Partial<Task> = {}, clip: Clip = CLIP): Promise<TaskId> {
    const id = await this.running(changes);
    await this.happen(id, { kind: 'completed', atMs: this.clock.now() }, { kind: 'fetched', clip });
    return id;
  }

  /** Applies events to a task. @throws TypeError if the task's state ignores one */
  async happen(id: TaskId, ...events: readonly TaskEvent[]): Promise<void> {
    for (const given of events) {
      const event = await this.#withOwnId(id, given);
      const recorded = await this.repository.record(id, event);
      if (recorded?.done !== true) throw new TypeError(`${event.kind} does not count in ${recorded?.task.state}`);
    }
    await this.pass(0);
  }

  /** Makes the upstream id unique: no two tasks may share one. */
  async #withOwnId(id: TaskId, event: TaskEvent): Promise<TaskEvent> {
    if (event.kind !== 'accepted') return event;
    const holder = await this.repository.holderOf(event.upstreamId, {});
    if (holder === undefined || holder === id) return event;
    return { ...event, upstreamId: `${event.upstreamId}-${id}` as UpstreamId };
  }

  /** Simulates a poll: the service reports a task's progress. */
  async poll(
    id: TaskId,
    progress: number | null,
    status: UpstreamTask['status'] = 'in_progress',
    ahead?: number,
  ): Promise<void> {
    const task = await this.repository.get(id);
    if (task?.upstreamId === undefined) throw new TypeError(`${id} is not at the service`);
    this.chat.progressed(task, {
      id: task.upstreamId,
      status,
      progress,
      failure: null,
      ...(ahead === undefined ? {} : { ahead }),
    });
    await this.pass(0);
  }

  /** Advances the clock; timers that are due run even with 0 ms. */
  async pass(ms: number, stepMs = 250): Promise<void> {
    await pass(this.clock, ms, stepMs);
    for (let round = 0; round < 3; round += 1) {
      this.clock.advance(0);
      await settle();
    }
  }

  /** Returns a task's record from the store. */
  async record(id: TaskId): Promise<Task> {
    const task = await this.repository.get(id);
    if (task === undefined) throw new TypeError(`there is no task ${id}`);
    return task;
  }
}
