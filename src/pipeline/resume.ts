import { type Clock, sleep } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** How long after a store that was away the tasks are resumed again. */
const AGAIN_MS = 1_000;

/** Parts that take up what an earlier process left, each returning how much that is. */
export interface Resumable {
  readonly tasks: { resume(): Promise<number> };
  readonly chat: { resume(): Promise<number> };
}

/** Collaborators of {@link resume}. */
export interface ResumeOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted once the process is to end. */
  readonly ending: AbortSignal;
}

/**
 * Resumes open tasks and undelivered outcomes, as often as it takes: by then this process takes orders, and must not end
 * because the store is away for a moment.
 * @throws what is not retryable; the signal's reason once `ending` is aborted.
 */
export async function resume(
  { tasks, chat }: Resumable,
  { clock, logger, ending }: ResumeOptions,
): Promise<{ readonly open: number; readonly undelivered: number }> {
  for (;;) {
    try {
      return { open: await tasks.resume(), undelivered: await chat.resume() };
    } catch (thrown) {
      if (!(thrown instanceof DailiesError) || !thrown.retryable) throw thrown;
      logger.warn({ err: thrown }, 'open tasks could not be resumed yet; trying again');
    }
    // The clock keeps no process alive, but what listens by now does.
    await sleep(clock, AGAIN_MS, ending);
  }
}
