import TinyQueue from 'tinyqueue';
import { type CancelTimer, within } from '../../../clock.ts';
import { collection } from '../../records/collection.ts';
import type { Store } from '../../store/store.ts';
import {
  concurrencyOf,
  type JobHandler,
  type JobKind,
  type JobOptions,
  jobEndings,
  jobKindOf,
  lagOf,
  pauseAfter,
  type QueueLimit,
  type QueueName,
  type QueueOptions,
  type QueueStats,
  queueNamesOf,
  type SeenLag,
  type WorkQueue,
} from '../queue.ts';

/** A scheduled job. One that was replaced stays in the heap and is skipped when it is due. */
interface ScheduledJob {
  readonly id: string;
  /** Due time by the clock's `monotonic`, as all times in this file: clock adjustments move no job. */
  readonly atMs: number;
}

interface QueueState {
  readonly heap: TinyQueue<ScheduledJob>;
  /** The current job of each id. */
  readonly planned: Map<string, ScheduledJob>;
  readonly running: Map<string, Promise<void>>;
  readonly concurrency: number;
  readonly limit: QueueLimit | undefined;
  /** Current period of the rate limit, and the number of jobs started in it. */
  window: { readonly sinceMs: number; begun: number };
  lag: SeenLag | null;
  /** End of the pause: no job starts before. */
  pausedUntilMs: number;
  timer: { readonly atMs: number; readonly cancel: CancelTimer } | null;
}

/** Record of a queue's pause. It uses the time of day, since it outlives the process. */
interface PauseRecord {
  readonly untilMs: number;
  /** Length of the pause as requested: an adjusted clock never extends it. */
  readonly forMs: number;
}

/** Pauses that the video service asked for (`Retry-After`), by queue. */
const queuePauses = collection<QueueName, PauseRecord>({
  name: 'queue_pauses',
  holds: 'pauses of queues',
  kept: 'until they end',
  personal: 'nobody',
});

/** Options of {@link MemoryQueue}. */
interface MemoryQueueOptions extends Omit<QueueOptions, 'names'>, Partial<Pick<QueueOptions, 'names'>> {
  /** Store in which pauses survive restarts. Default: they do not. */
  readonly store?: Pick<Store, 'keyv'>;
}

/** The work queue of a single process: a heap of jobs and one timer per queue. */
export class MemoryQueue implements WorkQueue {
  readonly #options: MemoryQueueOptions;
  readonly #stopping = new AbortController();
  /** The queues of platforms are created with their first job. */
  readonly #states = new Map<QueueName, QueueState>();
  #handlers: Readonly<Record<JobKind, JobHandler>> | null = null;

  constructor(options: MemoryQueueOptions) {
    this.#options = options;
    for (const name of options.names ?? queueNamesOf([])) this.#stateOf(name);
  }

  /** Restores the pauses of an earlier process; called before {@link start}. @throws `store_unavailable` */
  async restorePauses(): Promise<void> {
    const { clock, store } = this.#options;
    for (const [name, state] of this.#states) {
      const record = store && (await queuePauses.get(store, name));
      const leftMs = record === undefined ? 0 : Math.min(record.untilMs - clock.now(), record.forMs);
      if (leftMs > 0) state.pausedUntilMs = clock.monotonic() + leftMs;
    }
  }

  start(handlers: Readonly<Record<JobKind, JobHandler>>): void {
    this.#handlers = handlers;
    for (const name of this.#states.keys()) this.#wake(name);
  }

  schedule(name: QueueName, id: string, atMs: number): void {
    const { clock } = this.#options;
    this.#plan(name, id, clock.monotonic() + atMs - clock.now());
  }

  async ensure({ queue, ids, atMs, apartMs = 0, orIn = [], latestMs = Infinity }: JobOptions): Promise<number> {
    const { clock } = this.#options;
    const there = [queue, ...orIn].map((name) => this.#stateOf(name));
    const fromMs = clock.monotonic() + atMs - clock.now();
    const untilMs = clock.monotonic() + latestMs - clock.now();
    const isPlanned = (job: ScheduledJob | undefined): boolean => job !== undefined && job.atMs <= untilMs;
    let lost = 0;
    for (const [position, id] of ids.entries()) {
      if (there.some(({ planned, running }) => isPlanned(planned.get(id)) || running.has(id))) continue;
      this.#plan(queue, id, fromMs + Math.floor(position * apartMs));
      lost += 1;
    }
    return lost;
  }

  pause(name: QueueName, forMs: number): void {
    const { clock, logger, store } = this.#options;
    const state = this.#stateOf(name);
    const untilMs = clock.monotonic() + forMs;
    if (untilMs <= state.pausedUntilMs) return;
    state.pausedUntilMs = untilMs;
    const record: PauseRecord = { untilMs: clock.now() + forMs, forMs };
    const stored = store && queuePauses.set(store, name, record, forMs);
    stored?.catch((thrown: unknown) => {
      logger.warn(
        { event: 'pause_not_persisted', lane: name, forMs, err: thrown },
        'failed to persist a pause of a queue, lost at a restart',
      );
    });
  }

  pausedMs(name: QueueName): number {
    return Math.max(0, this.#stateOf(name).pausedUntilMs - this.#options.clock.monotonic());
  }

  get names(): readonly QueueName[] {
    return [...this.#states.keys()];
  }

  async stats(name: QueueName): Promise<QueueStats> {
    const { planned, running, lag } = this.#stateOf(name);
    return { planned: planned.size, running: running.size, lagMs: lagOf(lag, this.#options.clock.monotonic()) };
  }

  async drain(patienceMs = Infinity): Promise<boolean> {
    this.#stopping.abort(jobEndings());
    const all = [...this.#states.values()];
    for (const { timer } of all) timer?.cancel();
    const ended = Promise.all(all.flatMap(({ running }) => [...running.values()])).then(() => true);
    return patienceMs === Infinity ? ended : within(this.#options.clock, patienceMs, ended, false);
  }

  async close(): Promise<void> {}

  #stateOf(name: QueueName): QueueState {
    const { concurrency, limits = {} } = this.#options;
    const state = this.#states.get(name) ?? emptyState(concurrencyOf(concurrency, name), limits[name]);
    this.#states.set(name, state);
    return state;
  }

  #plan(name: QueueName, id: string, atMs: number): void {
    const state = this.#stateOf(name);
    const job: ScheduledJob = { id, atMs };
    state.planned.set(id, job);
    // Two jobs of one id never run at once: the new one waits outside of the heap until the running one ends.
    if (state.running.has(id)) return;
    state.heap.push(job);
    if (state.timer === null || atMs < state.timer.atMs) this.#wake(name);
  }

  /** Starts due jobs while slots are free, and sets the timer for the next one. */
  #wake(name: QueueName): void {
    if (this.#handlers === null || this.#stopping.signal.aborted) return;
    const state = this.#stateOf(name);
    const nowMs = this.#options.clock.monotonic();
    if (state.pausedUntilMs > nowMs) {
      this.#setTimer(name, state.pausedUntilMs);
      return;
    }
    for (let next = state.heap.peek(); next !== undefined; next = state.heap.peek()) {
      if (state.planned.get(next.id) !== next) {
        state.heap.pop();
        continue;
      }
      // Without a free slot, the end of a running job wakes the queue.
      if (state.running.size >= state.concurrency) return;
      const startMs = next.atMs > nowMs ? next.atMs : limitedUntil(state, nowMs);
      if (startMs > nowMs) {
        this.#setTimer(name, startMs);
        return;
      }
      state.heap.pop();
      this.#run(name, next, this.#handlers[jobKindOf(name)]);
    }
  }

  #setTimer(name: QueueName, atMs: number): void {
    const { clock } = this.#options;
    const state = this.#stateOf(name);
    if (state.timer !== null && state.timer.atMs <= atMs) return;
    state.timer?.cancel();
    const fire = (): void => {
      state.timer = null;
      this.#wake(name);
    };
    state.timer = { atMs, cancel: clock.after(atMs - clock.monotonic(), fire) };
  }

  #run(name: QueueName, { id, atMs }: ScheduledJob, handler: JobHandler): void {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    const state = this.#stateOf(name);
    const nowMs = clock.monotonic();
    state.planned.delete(id);
    state.window.begun += 1;
    state.lag = { lagMs: nowMs - atMs, seenAtMs: nowMs };
    const ended = (delayMs: number | null): void => {
      state.running.delete(id);
      const waiting = state.planned.get(id)?.atMs ?? Infinity;
      const dueMs = Math.min(waiting, delayMs === null ? Infinity : clock.monotonic() + delayMs);
      if (dueMs < Infinity) this.#plan(name, id, dueMs);
      this.#wake(name);
    };
    const done = handler(id, signal).then(ended, (thrown: unknown) => {
      if (!signal.aborted) {
        logger.error({ event: 'job_failed', lane: name, id, err: thrown }, 'job threw an error, retrying later');
      }
      ended(pauseAfter(thrown));
    });
    state.running.set(id, done);
  }
}

/** Returns the time until which the rate limit of a queue is used up; `nowMs` where it is not. */
function limitedUntil(state: QueueState, nowMs: number): number {
  if (state.limit === undefined) return nowMs;
  const { max, perMs } = state.limit;
  if (nowMs >= state.window.sinceMs + perMs) state.window = { sinceMs: nowMs, begun: 0 };
  return state.window.begun < max ? nowMs : state.window.sinceMs + perMs;
}

function emptyState(concurrency: number, limit: QueueLimit | undefined): QueueState {
  return {
    heap: new TinyQueue<ScheduledJob>([], (a, b) => a.atMs - b.atMs),
    planned: new Map(),
    running: new Map(),
    concurrency,
    limit,
    window: { sinceMs: -Infinity, begun: 0 },
    lag: null,
    pausedUntilMs: -Infinity,
    timer: null,
  };
}
