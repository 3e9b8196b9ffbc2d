import type { Clock } from '../../clock.ts';
import type { JobHandler } from './queue.ts';

/** Number of waiting users from which on jobs give way. */
const CROWD = 32;
/** Longest time for which a job gives way: then it starts, however many users wait. */
const MAX_HOLD_MS = 1_000;

/**
 * Lets jobs give way to what users wait for, while many do. Below that, nothing is held: a process that keeps up has time for
 * both.
 */
export class Foreground {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #held = new Set<() => void>();
  #waiting = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Runs what a user waits for. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
      if (this.#waiting < CROWD) for (const release of this.#held) release();
    }
  }

  /** Returns handlers whose jobs give way before they begin. One that is held when the process stops is left to another. */
  yielding<Kind extends string>(handlers: Readonly<Record<Kind, JobHandler>>): Readonly<Record<Kind, JobHandler>> {
    const yielding = (handler: JobHandler): JobHandler => {
      const held: JobHandler = async (id, signal) => {
        await this.#hold();
        return signal.aborted ? 0 : handler(id, signal);
      };
      return (id, signal) => (this.#waiting < CROWD ? handler : held)(id, signal);
    };
    const entries = Object.entries<JobHandler>(handlers).map(([kind, handler]) => [kind, yielding(handler)] as const);
    return Object.fromEntries(entries) as Record<Kind, JobHandler>;
  }

  async #hold(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(MAX_HOLD_MS, resolve);
    this.#held.add(resolve);
    await promise;
    this.#held.delete(resolve);
    cancel();
  }
}
