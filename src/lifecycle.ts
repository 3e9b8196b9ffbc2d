import { asDailiesError, DailiesError } from './errors.ts';
import { isOnTerminal, type Logger } from './logger.ts';
import { complain } from './output.ts';

/**
 * Delay before the process exits. V8 compiles in the background and may need the main thread for it: a process that
 * exits meanwhile occasionally hangs. @see https://github.com/nodejs/node/issues/54918
 */
const EXIT_DELAY_MS = 100;

/** Lifecycle of the process, as its parts see it. */
export interface Run {
  /** Aborted as soon as the shutdown begins: no further part may start then. */
  readonly ending: AbortSignal;
  /** Fails the start after it has moved on: stops everything and exits with 1. */
  readonly failedLate: (thrown: unknown) => void;
}

/** Part of the process that is stopped at shutdown. */
export interface Stoppable {
  /** Name of the part in error messages. */
  readonly name: string;
  /** Stops the part, even if its start failed or never ended. */
  readonly stop: () => Promise<void> | void;
}

/** Lifecycle for the opening of parts, see {@link runUntilStopped}. */
export interface Opening extends Run {
  /** Registers an opened part, which is stopped before those opened earlier. */
  readonly opened: (part: Stoppable) => void;
}

/** Options of {@link runUntilStopped}. */
interface LifecycleOptions {
  readonly logger: Logger;
  /** True if SIGHUP stops the process, too, since it reloads nothing. */
  readonly stopsAtHangup: boolean;
  /** Counts unhandled errors. */
  readonly unhandled: (kind: 'rejection' | 'exception') => void;
  /** Timeout of the drain after an uncaught exception, in milliseconds. */
  readonly drainMs: number;
}

/**
 * Runs the process until SIGTERM, SIGINT or (unless it reloads the catalog) SIGHUP, then shuts down: closes everything
 * that was opened and exits with 0; a second signal exits at once with 1. An unhandled rejection is logged and counted,
 * and the process continues. After an uncaught exception it drains and exits with 1.
 */
export async function runUntilStopped(
  options: LifecycleOptions,
  run: (opening: Opening) => Promise<void>,
): Promise<void> {
  const { logger, unhandled } = options;
  const parts: Stoppable[] = [];
  const ending = new AbortController();
  let exitCode = 0;

  const stop = async (reason: string): Promise<void> => {
    // A second signal forces the exit.
    process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
    logger.info({ event: 'shutdown_started', signal: reason }, 'shutting down: draining jobs and requests in flight');
    if (ending.signal.aborted) return;
    ending.abort();
    // A part that is still being opened can only be closed afterwards.
    if (parts.length > 0) await started;
    await stopAll(parts.toReversed());
    logger.info({ event: 'shutdown_finished' }, 'stopped');
    // Not a timer of the clock, which does not keep the process alive.
    setTimeout(() => process.exit(exitCode), EXIT_DELAY_MS);
  };
  const abandonStart = async (thrown: unknown): Promise<void> => {
    // An interrupted start is not a failed one.
    if (ending.signal.aborted) return;
    ending.abort();
    await stopAll(parts.toReversed());
    reportFailedStart(thrown, logger);
    process.exit(1);
  };
  process.once('SIGTERM', (signal) => void stop(signal)).once('SIGINT', (signal) => void stop(signal));
  if (options.stopsAtHangup) process.on('SIGHUP', (signal) => ending.signal.aborted || void stop(signal));
  process.on('unhandledRejection', (reason) => {
    unhandled('rejection');
    logger.error({ event: 'unhandled_rejection', err: reason }, 'unhandled promise rejection; continuing');
  });
  process.on('uncaughtException', (thrown) => {
    unhandled('exception');
    logger.fatal({ event: 'uncaught_exception', err: thrown }, 'uncaught exception; draining and exiting');
    exitCode = 1;
    if (ending.signal.aborted) return;
    // The drain may depend on the part that broke, so it has a timeout.
    setTimeout(() => process.exit(exitCode), options.drainMs);
    void stop('uncaughtException');
  });
  const started = run({
    ending: ending.signal,
    failedLate: (thrown) => void abandonStart(thrown),
    opened: (part) => void parts.push(part),
  }).catch(abandonStart);
  await started;
}

/** Prints the reason in one sentence; logs the full error as well for a defect, or if the log is not on a terminal. */
function reportFailedStart(thrown: unknown, logger: Logger): void {
  const error = asDailiesError(thrown, 'starting');
  if (!isOnTerminal() || !(thrown instanceof DailiesError)) {
    logger.fatal({ event: 'start_failed', err: error }, 'failed to start');
  }
  complain(`Dailies could not start: ${error.message}\n`);
}

/** Stops parts in order; one that fails does not prevent the others. */
export async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  for (const { name, stop } of parts) {
    try {
      await stop();
    } catch (thrown) {
      complain(`stopping ${name}: ${asDailiesError(thrown, 'stopping').message}\n`);
    }
  }
}
