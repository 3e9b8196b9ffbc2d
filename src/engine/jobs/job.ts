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
