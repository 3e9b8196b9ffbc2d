import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { retry } from '../retry.ts';

/** Delay before retrying after the store was unavailable. */
const RETRY_MS = 1_000;

/** Parts that resume the work of an earlier process, each returning the number of its items. */
interface Resumable {
  readonly tasks: { resume(): Promise<number> };
  readonly chat: { resume(): Promise<number> };
}

/** Options of {@link resume}. */
interface ResumeOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted at shutdown. */
  readonly ending: AbortSignal;
}

/**
 * Resumes open tasks and undelivered outcomes, retrying until it succeeds: by then this process accepts orders, and
 * must not exit because the store is briefly unavailable.
 * @throws errors that are not retryable; the signal's reason once `ending` is aborted.
 */
export async function resume(
  { tasks, chat }: Resumable,
  { clock, logger, ending }: ResumeOptions,
): Promise<{ readonly open: number; readonly undelivered: number }> {
  const failed = (thrown: unknown): void => {
    if (!(thrown instanceof DailiesError) || !thrown.retryable) throw thrown;
    logger.warn({ event: 'resume_failed', err: thrown }, 'failed to resume open tasks, retrying');
  };
  // Timers of the clock do not keep the process alive, but its listening server does.
  const options = { clock, random: () => 1, firstMs: RETRY_MS, maxMs: RETRY_MS, signal: ending, failed };
  return retry(options, async () => ({ open: await tasks.resume(), undelivered: await chat.resume() }));
}
