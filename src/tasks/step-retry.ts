import type { DailiesError, ErrorCode } from '../errors.ts';
import type { Task, TaskState } from './task.ts';

/** A step of an open task that failed and is repeated by itself: what people are told while they wait. */
export interface StepRetry {
  readonly step: 'send' | 'poll' | 'fetch';
  /** Why the last try failed. */
  readonly code: ErrorCode;
  /** The service's own words, where it gave any. */
  readonly words: string | null;
  /** When it is tried next, in milliseconds since the Unix epoch. */
  readonly nextAtMs: number;
}

/** Gets told of steps that failed and are repeated. Must not throw. */
export interface RetryObserver {
  /**
   * @param failures how many tries in a row have failed, at least 1.
   * @param isForAll whether the service asked for a pause that holds every task's step of that kind back.
   */
  retrying(
    task: Pick<Task, 'id' | 'state'>,
    retry: StepRetry,
    seen: { readonly failures: number; readonly isForAll: boolean },
  ): void;
}

/** The state whose tasks wait for a step of that kind. */
const WAITING: Readonly<Record<StepRetry['step'], TaskState>> = {
  send: 'claimed',
  poll: 'polling',
  fetch: 'completed',
};

/** Whether a task in `state` waits for that step; what failed in an earlier state is of no interest any more. */
export function isWaitingFor({ step }: Pick<StepRetry, 'step'>, state: TaskState): boolean {
  return WAITING[step] === state;
}

/** Describes a failed try for people. */
export function retryOf(step: StepRetry['step'], { code, words }: DailiesError, nextAtMs: number): StepRetry {
  return { step, code, words: words ?? null, nextAtMs };
}

/** A wait below this is told as such; a longer one with the time of its end, to this precision. */
const SOON_MS = 60_000;

/** Whether the next try is so near that its time is not worth naming. */
export function isSoon(nextAtMs: number, nowMs: number): boolean {
  return nextAtMs - nowMs < SOON_MS;
}

/** Tells whether two failed tries look the same to people: a time that is near is not named. */
export function retryFingerprint({ step, code, words, nextAtMs }: StepRetry, nowMs: number): string {
  return JSON.stringify([step, code, words, isSoon(nextAtMs, nowMs) ? 'soon' : Math.round(nextAtMs / SOON_MS)]);
}
