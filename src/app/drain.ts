import type { Config } from '../config/index.ts';
import type { WorkQueue } from '../engine/index.ts';
import type { Logger } from '../logger.ts';

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
export async function drain(
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
