import { fork } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { CopyJob, CopyOutcome } from './copy-worker.ts';

const WORKER = new URL('./copy-worker.ts', import.meta.url);
const MAX_TIMEOUT_MS = 10 * 60_000;
const MIN_TIMEOUT_MS = 30_000;
/** Far below what any disk copies. */
const BYTES_PER_MS = 1_000;
/**
 * Most of what the process reads is outside of its heap, and collected the sooner the smaller the heap may become. The
 * heap itself is so small that collecting it at once takes less than doing so in steps or threads. Measured in decision
 * record 52.
 */
const NODE_FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=1',
  '--max-old-space-size=64',
  '--no-incremental-marking',
  '--single-threaded-gc',
];

/**
 * Runs a join in a process of its own, which is killed at a deadline by the size of the clips, and when `signal` is
 * aborted. It gets no environment, and with it no token.
 * @returns its outcome; `null` when it was killed by the timeout.
 * @throws the reason of `signal`; Error when the process ended without an outcome.
 */
export async function runCopyProcess(job: CopyJob, signal: AbortSignal): Promise<CopyOutcome | null> {
  // A missing file is for the process to tell.
  const sizes = job.shots.map(({ path }) => stat(path).catch(() => ({ size: 0 })));
  const timeout = timeoutMsFor((await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0));
  signal.throwIfAborted();
  const child = fork(WORKER, {
    execArgv: NODE_FLAGS,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout,
    killSignal: 'SIGKILL',
    signal,
  });
  const ended = Promise.withResolvers<CopyOutcome | null>();
  let outcome: CopyOutcome | null = null;
  let failure: Error | null = null;
  child.once('message', (message: CopyOutcome) => {
    outcome = message;
  });
  // Also for an aborted signal; `close` follows in every case, once the process no longer writes.
  child.once('error', (error) => {
    failure = error;
  });
  child.once('close', (code, killedBy) => {
    if (outcome !== null) ended.resolve(outcome);
    else if (signal.aborted) ended.reject(signal.reason as Error);
    else if (failure === null && child.killed) ended.resolve(null);
    else ended.reject(failure ?? new Error(`the process ended with ${killedBy ?? `code ${code}`}`));
  });
  // A failure to send is a process that has ended.
  child.send(job, () => undefined);
  return ended.promise;
}

/** Returns the deadline of a join in milliseconds. */
export function timeoutMsFor(bytes: number): number {
  return Math.min(MAX_TIMEOUT_MS, MIN_TIMEOUT_MS + Math.ceil(bytes / BYTES_PER_MS));
}
