import type { CancelTimer, Clock } from '../../clock.ts';
import type { Lease, Leases } from './leases.ts';

/** Options of {@link OnOneReplica}. */
interface OnOneReplicaOptions {
  readonly leases: Pick<Leases, 'take'>;
  readonly clock: Clock;
  /** Name of the lease, which the replica keeps between two runs. */
  readonly name: string;
  /** TTL of the lease. Another replica takes over within twice that time from one that died. */
  readonly ttlMs: number;
  /** Delay from the end of a run to the next one. After a failure, and while another replica has the lease: `ttlMs`, if less. */
  readonly everyMs: number;
  readonly run: (lease: Lease) => Promise<void>;
  /** Called with the error of a failed run, or of the lease. */
  readonly failed: (thrown: unknown) => void;
}

/** Periodic work that one replica at a time does, under a lease. */
export class OnOneReplica {
  readonly #options: OnOneReplicaOptions;
  #lease: Lease | null = null;
  #running: Promise<boolean> = Promise.resolve(true);
  #cancelTimer: CancelTimer = () => undefined;
  #isStopped = false;

  constructor(options: OnOneReplicaOptions) {
    this.#options = options;
  }

  /** Starts the periodic runs. @param firstInMs delay of the first one. Default: `everyMs`. */
  start(firstInMs = this.#options.everyMs): void {
    if (this.#isStopped) return;
    const { clock, everyMs, ttlMs } = this.#options;
    const retryMs = Math.min(everyMs, ttlMs);
    const run = () => this.runNow().then((isDone) => this.start(isDone ? everyMs : retryMs));
    this.#cancelTimer = clock.after(firstInMs, () => void run());
  }

  /**
   * Runs the work, after a run in flight, unless another replica holds the lease. Never rejects.
   * @returns whether it ran and succeeded.
   */
  runNow(): Promise<boolean> {
    this.#running = this.#running.then(() => this.#run());
    return this.#running;
  }

  /** Waits for a run in flight, and releases the lease for another replica. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    await this.#running;
    await this.#lease?.release();
  }

  async #run(): Promise<boolean> {
    if (this.#isStopped) return false;
    const { leases, name, ttlMs, run, failed } = this.#options;
    try {
      if (this.#lease?.isHeld() !== true) this.#lease = await leases.take(name, ttlMs);
      if (this.#lease === null) return false;
      await run(this.#lease);
      return true;
    } catch (thrown) {
      failed(thrown);
      return false;
    }
  }
}
