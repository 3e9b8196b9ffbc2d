import { asDailiesError, DailiesError } from './errors.ts';
import { isOnTerminal, type Logger } from './logger.ts';
import { complain } from './output.ts';

/**
 * V8 compiles in the background, and may need the main thread for it: a process that is ended meanwhile now and then never
 * ends. @see https://github.com/nodejs/node/issues/54918
 */
const SETTLED_AFTER_MS = 100;

/** What stops a part of the process in good order, the part opened last first. */
export type Closing = () => Promise<void> | void;

/** What a run is given, and what it leaves to {@link runUntilStopped}. */
export interface Running {
  readonly closings: Closing[];
  /** Aborted as soon as the process is to end: what has not begun then does not begin. */
  readonly ending: AbortSignal;
  readonly failedLate: (thrown: unknown) => void;
}

/** Collaborators of {@link runUntilStopped}. */
export interface LifecycleOptions {
  readonly logger: Logger;
  /** Whether SIGHUP, too, stops the process: nothing is read again at it. */
  readonly stopsAtHangup: boolean;
  /** Counts what no code handled. */
  readonly unhandled: (kind: 'rejection' | 'exception') => void;
  /** How long draining after an uncaught exception may take. */
  readonly drainMs: number;
}

/**
 * Runs the process until SIGTERM, SIGINT or (where nothing is read again at it) SIGHUP, then closes what was opened and
 * exits with 0; a second signal exits at once. An unhandled rejection is logged and counted, and the process goes on.
 * After an uncaught exception it drains and exits with 1.
 */
export async function runUntilStopped(
  options: LifecycleOptions,
  run: (running: Running) => Promise<void>,
): Promise<void> {
  const { logger, unhandled } = options;
  const closings: Closing[] = [];
  const ending = new AbortController();
  let exitCode = 0;

  const stop = async (reason: string): Promise<void> => {
    // A second signal is somebody in a hurry.
    process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
    logger.info({ signal: reason }, 'stopping: finishing what is under way');
    if (ending.signal.aborted) return;
    ending.abort();
    // What is being opened right now has to be there to be closed.
    if (closings.length > 0) await started;
    await closeAll(closings);
    logger.info('stopped');
    // Not by the clock, whose timers keep no process alive.
    setTimeout(() => process.exit(exitCode), SETTLED_AFTER_MS);
  };
  const giveUp = async (thrown: unknown): Promise<void> => {
    // A start that was broken off has not failed.
    if (ending.signal.aborted) return;
    ending.abort();
    await closeAll(closings);
    sayWhyNotStarted(thrown, logger);
    process.exit(1);
  };
  process.once('SIGTERM', (signal) => void stop(signal)).once('SIGINT', (signal) => void stop(signal));
  if (options.stopsAtHangup) process.on('SIGHUP', (signal) => ending.signal.aborted || void stop(signal));
  process.on('unhandledRejection', (reason) => {
    unhandled('rejection');
    logger.error({ err: reason }, 'a promise was rejected and nothing handled it; the process goes on');
  });
  process.on('uncaughtException', (thrown) => {
    unhandled('exception');
    logger.fatal({ err: thrown }, 'an exception was not caught; the process drains and ends');
    exitCode = 1;
    if (ending.signal.aborted) return;
    // What was broken may be what draining waits for.
    setTimeout(() => process.exit(exitCode), options.drainMs);
    void stop('uncaughtException');
  });
  const started = run({ closings, ending: ending.signal, failedLate: (thrown) => void giveUp(thrown) }).catch(giveUp);
  await started;
}

/** A person at a terminal reads one sentence; a defect, or a log that is collected, gets everything. */
function sayWhyNotStarted(thrown: unknown, logger: Logger): void {
  const error = asDailiesError(thrown, 'starting');
  if (!isOnTerminal() || !(thrown instanceof DailiesError)) logger.fatal({ err: error }, 'Dailies could not start');
  complain(`Dailies could not start: ${error.message}\n`);
}

/** Closes what was opened, one after the other; a part that does not close keeps none of the others from it. */
async function closeAll(closings: readonly Closing[]): Promise<void> {
  for (const close of closings) {
    try {
      await close();
    } catch (thrown) {
      complain(`closing: ${asDailiesError(thrown, 'closing').message}\n`);
    }
  }
}
