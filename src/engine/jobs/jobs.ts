import type { CancelTimer, Clock } from '../../clock.ts';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Lease } from '../cluster/leases.ts';
import { pagesOf } from '../store/pages.ts';
import type { Store } from '../store/store.ts';

/** One run of a {@link Job}. */
export interface JobRun {
  /** Returns whether to go on: `false` once this replica has lost the lease, or stops. */
  readonly isActive: () => boolean;
  /** @throws an error that ends the run and is not reported, once it is not active any more. */
  readonly assertActive: () => void;
  /** Runs one part of the work. A failure does not hold up the other parts; the run reports it at its end. */
  readonly attempt: (part: () => Promise<unknown>) => Promise<void>;
}

interface Schedule {
  /** In snake case. Names its lease, and the event of its failures in the log: `retention_failed`. */
  readonly name: string;
  /**
   * Delay from the end of a run to the next one. After a failure, and while another replica has the lease: `leaseMs`, or 30
   * seconds without a lease, if less.
   */
  readonly everyMs: number;
  /** Delay of the first run after the start. Default: `everyMs`. */
  readonly firstInMs?: number;
  /**
   * TTL of the lease under which one replica at a time runs it; another one takes over within twice that time from one
   * that died. `null`: every replica runs it for itself.
   */
  readonly leaseMs: number | null;
}

/** Work that recurs. */
interface RecurringJob extends Schedule {
  readonly index?: undefined;
  readonly run: (run: JobRun) => Promise<void>;
}

/** Work on each member of an index that is due, oldest first. */
export interface DueJob extends Schedule {
  /** Index whose scores are times in ms since the epoch; a member whose work is done leaves it. */
  readonly index: string;
  /** Time from its score until a member is due. Default: 0. */
  readonly afterMs?: number;
  /** Works on one member. A failure does not hold up the others: it is reported, and the member is due again. */
  readonly run: (member: string, run: JobRun) => Promise<void>;
}

/** Periodic work of the process, as a value: {@link Jobs} runs it. */
export type Job = RecurringJob | DueJob;

/** Dependencies of {@link Jobs}. */
interface JobsDeps {
  /** Absent: the process shares nothing, so that no job needs its lease, and none has an index. */
  readonly store?: Pick<Store, 'leases' | 'scan'> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The periodic jobs of a process. */
export class Jobs {
  readonly #timers: ReadonlyMap<string, JobTimer>;

  /** @param jobs each with a name of its own. */
  constructor(deps: JobsDeps, jobs: readonly Job[]) {
    this.#timers = new Map(jobs.map((job) => [job.name, new JobTimer(deps, job)]));
    if (this.#timers.size < jobs.length) throw new TypeError('scheduling jobs: two of them have the same name');
  }

  start(): void {
    for (const timer of this.#timers.values()) timer.start();
  }

  /**
   * Runs a job at once, after a run in flight, unless another replica has its lease. Its failures are logged.
   * @returns whether it ran, without a failure.
   */
  async runNow(name: string): Promise<boolean> {
    const timer = this.#timers.get(name);
    if (timer === undefined) throw new TypeError(`running job ${name}: there is none of that name`);
    return timer.runNow();
  }

  /** Waits for the runs in flight, and releases the leases for other replicas. */
  async stop(): Promise<void> {
    await Promise.all([...this.#timers.values()].map((timer) => timer.stop()));
  }
}

/** Ends a run that is not active any more. */
class RunEnded extends DailiesError {}

/** Delay after a failed run of a job without a lease. */
const RETRY_MS = 30_000;

const ENDED = { code: 'internal', retryable: true } as const;

/** Timer and lease of one job. The replica keeps the lease between two runs. */
class JobTimer {
  readonly #deps: JobsDeps;
  readonly #job: Job;
  #lease: Lease | null = null;
  #running: Promise<boolean> = Promise.resolve(true);
  #cancelTimer: CancelTimer = () => undefined;
  #isStopped = false;

  constructor(deps: JobsDeps, job: Job) {
    this.#deps = deps;
    this.#job = job;
  }

  start(delayMs = this.#job.firstInMs ?? this.#job.everyMs): void {
    if (this.#isStopped) return;
    const { everyMs, leaseMs } = this.#job;
    const retryMs = Math.min(everyMs, leaseMs ?? RETRY_MS);
    const run = () => this.runNow().then((isDone) => this.start(isDone ? everyMs : retryMs));
    this.#cancelTimer = this.#deps.clock.after(delayMs, () => void run());
  }

  /** Never rejects. @returns whether it ran and succeeded. */
  runNow(): Promise<boolean> {
    this.#running = this.#running.then(() => this.#run());
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    await this.#running;
    await this.#lease?.release();
  }

  async #run(): Promise<boolean> {
    if (this.#isStopped) return false;
    const job = this.#job;
    const failures: unknown[] = [];
    try {
      const isHeld = await this.#holdLease();
      if (isHeld === null) return false;
      const isActive = (): boolean => !this.#isStopped && isHeld();
      const run: JobRun = {
        isActive,
        assertActive() {
          if (!isActive()) throw new RunEnded(`running job ${job.name}: this replica stops it`, ENDED);
        },
        async attempt(part) {
          try {
            await part();
          } catch (thrown) {
            failures.push(thrown);
          }
        },
      };
      await (job.index === undefined ? job.run(run) : this.#runDue(job, run));
    } catch (thrown) {
      failures.push(thrown);
    }
    this.#report(failures.filter((thrown) => !(thrown instanceof RunEnded)));
    return failures.length === 0;
  }

  async #runDue(job: DueJob, run: JobRun): Promise<void> {
    const { store, clock } = this.#deps;
    const { index, afterMs = 0 } = job;
    if (store === undefined) return;
    for await (const page of pagesOf(store, index, { max: clock.now() - afterMs })) {
      for (const { member } of page) {
        if (!run.isActive()) return;
        await run.attempt(() => job.run(member, run));
      }
    }
  }

  /** Takes the lease unless it is held. @returns whether it still is; `null` while another replica holds it. */
  async #holdLease(): Promise<(() => boolean) | null> {
    const { name, leaseMs } = this.#job;
    const { store } = this.#deps;
    if (leaseMs === null || store === undefined) return () => true;
    if (this.#lease?.isHeld() !== true) this.#lease = await store.leases.take(`job:${name}`, leaseMs);
    const lease = this.#lease;
    return lease === null ? null : () => lease.isHeld();
  }

  /** Logs the first failure of a run. A member of an index may name a person, so none is logged. */
  #report(failures: readonly unknown[]): void {
    const [err] = failures;
    if (failures.length === 0) return;
    const event = `${this.#job.name}_failed`;
    this.#deps.logger.warn({ event, failures: failures.length, err }, 'a periodic job failed, retrying');
  }
}
