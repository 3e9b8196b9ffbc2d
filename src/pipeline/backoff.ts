/** Bounds of the poll interval. @see ../config.ts `POLL_FIRST_MS`, `POLL_MIN_MS`, `POLL_MAX_MS`, `TASK_DEADLINE_MS` */
export interface PollPace {
  /** Delay from acceptance to the first poll. */
  readonly firstMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  /** A task older than this is overdue and polled every `maxMs`. */
  readonly deadlineMs: number;
}

/**
 * Poll interval by the age of a task, in multiples of `minMs`: a clip that is not finished after two minutes seldom
 * finishes seconds later.
 * @see docs/video-service.md "Pace"
 */
const STAGES = [
  { untilAgeMs: 2 * 60_000, intervals: 1 },
  { untilAgeMs: 5 * 60_000, intervals: 2 },
  { untilAgeMs: 10 * 60_000, intervals: 3 },
  { untilAgeMs: 20 * 60_000, intervals: 4 },
] as const;

/** Jitter: largest share by which an interval is stretched, so that tasks created together are not polled together. */
const JITTER = 0.1;

/**
 * Returns the delay until the next poll of a task of that age, in milliseconds.
 * @param random from 0 to 1.
 */
export function nextPollMs(pace: PollPace, ageMs: number, random: number): number {
  if (ageMs >= pace.deadlineMs) return pace.maxMs;
  const intervals = STAGES.find((stage) => ageMs < stage.untilAgeMs)?.intervals ?? 6;
  return Math.round(Math.min(pace.maxMs, pace.minMs * intervals * (1 + JITTER * random)));
}
