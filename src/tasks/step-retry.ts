import type { DailiesError, ErrorCode } from '../errors.ts';
import type { VideoRequest } from '../videos/index.ts';
import type { Task, TaskState } from './task.ts';

/** A failed job of an open task that is retried automatically, as shown to users while they wait. */
export interface StepRetry {
  readonly step: 'send' | 'poll' | 'fetch';
  /** Name of the service. Absent: the only one. */
  readonly service?: string;
  /** Error of the last attempt. */
  readonly code: ErrorCode;
  /** Error message of the service, if any. */
  readonly words: string | null;
  /** Time of the next attempt, in milliseconds since the Unix epoch. */
  readonly nextAtMs: number;
}

/** Observes failed jobs that are retried. Must not throw. */
export interface RetryObserver {
  /**
   * @param failures number of failed attempts in a row, at least 1.
   * @param isForAll whether the service asked for a pause, which delays the jobs of that kind of all its tasks.
   */
  retrying(
    task: Pick<Task, 'id' | 'state'>,
    retry: StepRetry,
    seen: { readonly failures: number; readonly isForAll: boolean },
  ): void;
}

const WAITING: Readonly<Record<StepRetry['step'], TaskState>> = {
  send: 'claimed',
  poll: 'polling',
  fetch: 'completed',
};

/** Returns whether a task in `state` waits for that job; failures in an earlier state are obsolete. */
export function isWaitingFor({ step }: Pick<StepRetry, 'step'>, state: TaskState): boolean {
  return WAITING[step] === state;
}

/** Describes a failed attempt for users. @param of the request of the task */
export function retryOf(
  step: StepRetry['step'],
  { code, words }: DailiesError,
  nextAtMs: number,
  { service }: Pick<VideoRequest, 'service'>,
): StepRetry {
  return { step, ...(service === undefined ? {} : { service }), code, words: words ?? null, nextAtMs };
}

/** Delay below which the next attempt is displayed without its time; also the precision of displayed times. */
const SOON_MS = 60_000;

/** Returns whether the next attempt is so near that its time is not displayed. */
export function isSoon(nextAtMs: number, nowMs: number): boolean {
  return nextAtMs - nowMs < SOON_MS;
}

/** Returns a string that is equal for two retries that are displayed alike: a near time is not displayed. */
export function retryFingerprint({ step, code, words, nextAtMs }: StepRetry, nowMs: number): string {
  return JSON.stringify([step, code, words, isSoon(nextAtMs, nowMs) ? 'soon' : Math.round(nextAtMs / SOON_MS)]);
}

/** Parses a pause of another replica, perhaps of another version; `null` where it is invalid. */
export function parsePause(text: string): StepRetry | null {
  try {
    const { step, service, code, words, nextAtMs } = JSON.parse(text) as Partial<StepRetry>;
    if (step !== 'send' || code === undefined || typeof nextAtMs !== 'number') return null;
    return { step, ...(service === undefined ? {} : { service }), code, words: words ?? null, nextAtMs };
  } catch {
    return null;
  }
}
