import { DailiesError } from '../errors.ts';

/**
 * The kinds of step: `send` (POSTs), `poll` (GETs of open tasks), `fetch` (downloads of finished clips), `deliver`
 * (uploads to a chat), `notify` (mentions in a chat).
 */
export const JOB_KINDS = ['send', 'poll', 'fetch', 'deliver', 'notify'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/**
 * Where steps run, each lane with its own bound on how many run at once. Each platform has lanes of its own, so that a
 * slow or dead one holds up no other.
 */
export type QueueName = 'send' | 'poll' | 'fetch' | `deliver:${string}` | `notify:${string}`;

/** What kind of step runs in a lane. */
export function jobKindOf(lane: QueueName): JobKind {
  return lane.split(':', 1)[0] as JobKind;
}

/** Every lane of a process that these platforms are turned on in. */
export function queueNamesOf(platforms: Iterable<string>): readonly QueueName[] {
  const ofPlatforms = [...platforms].flatMap((name) => [`deliver:${name}`, `notify:${name}`] as const);
  return ['send', 'poll', 'fetch', ...ofPlatforms];
}

/**
 * Does one step for the thing called `id`.
 * @returns in how many milliseconds the next step of the same lane is due, or `null` when there is none.
 * @throws anything when `signal` aborted before it was done: it is due still, and another process does it at once.
 */
export type JobHandler = (id: string, signal: AbortSignal) => Promise<number | null>;

/** What has to be planned, unless it is. */
export interface JobOptions {
  readonly lane: QueueName;
  readonly ids: readonly string[];
  /** When the first of them is stepped that was lost. */
  readonly atMs: number;
  /** How much later each one is due than the one before it in `ids`, lost or not. Default 0: all at once. */
  readonly apartMs?: number;
  /** A plan for later than that counts as lost: whoever made it had a wrong clock. Default: none does. */
  readonly latestMs?: number;
  /** Lanes in which a plan does as well. Default: none. */
  readonly orIn?: readonly QueueName[];
}

/** How many steps of a lane begin in a stretch of time, in all processes that share the queue. */
export interface QueueLimit {
  /** At least 1. */
  readonly max: number;
  readonly perMs: number;
}

/** The lanes whose steps are limited; the others are not. */
export type QueueLimits = { readonly [Name in QueueName]?: QueueLimit };

/** How busy a lane is. */
export interface QueueStats {
  /** Steps that wait for their time or for room; of all replicas, where they share a queue. */
  readonly planned: number;
  /** Steps that run in this process. */
  readonly running: number;
  /** How late the step was that began last in this process, in milliseconds; 0 where none began for a minute. */
  readonly lagMs: number;
}

/** How late a step of a lane began, in milliseconds, and when that was, by the clock's `monotonic`. */
export interface SeenLag {
  readonly lagMs: number;
  readonly seenAtMs: number;
}

/** How long one late step says something of its lane: where nothing follows it, nothing is late. */
const LAG_COUNTS_MS = 60_000;

/** What `seen` says of a lane at `nowMs`, by the same clock; `null`: no step has begun. */
export function lagOf(seen: SeenLag | null, nowMs: number): number {
  return seen === null || nowMs - seen.seenAtMs > LAG_COUNTS_MS ? 0 : seen.lagMs;
}

/**
 * Runs steps at their time, boundedly many at once. A queue only says "step task X": whether a step may do anything
 * is decided by the record in the store, so a step run twice, late or for an ended task does no harm. Nothing in a
 * queue has to be durable: what has to be stepped is found in the store's indexes.
 */
export interface WorkQueue {
  /** Names what does the steps of each kind, and lets due ones begin. */
  start(steps: Readonly<Record<JobKind, JobHandler>>): void;
  /**
   * Has `id` stepped in `lane` at `atMs`; an earlier plan for the same id and lane is replaced. While that step runs,
   * the new plan waits for its end, and whichever of the two is due earlier holds.
   */
  schedule(lane: QueueName, id: string, atMs: number): void;
  /**
   * Has those stepped that are neither planned nor running: what was lost is found again, and what was not is left
   * alone. @returns how many were lost.
   * @throws `store_unavailable` when that cannot be known.
   */
  ensure(wanted: JobOptions): Promise<number>;
  /** Begins no step of a lane for `forMs`, in any process that shares the queue: the service asked for it. */
  holdBack(lane: QueueName, forMs: number): void;
  /** The lanes whose steps this process runs. */
  readonly lanes: readonly QueueName[];
  stats(lane: QueueName): Promise<QueueStats>;
  /**
   * Begins no more steps, and aborts the signal of the running ones: polls and fetches end at once (nothing is lost by
   * it), sends, deliveries and notices end when they are done.
   * @param patienceMs how long to wait for that. Default: however long it takes.
   * @returns whether none runs any more.
   */
  drain(patienceMs?: number): Promise<boolean>;
  /** Plans nothing more; what was planned until now is handed over. For after {@link drain}. */
  close(): Promise<void>;
}

/** Why the running steps are broken off when a queue is drained. */
export function jobEndings(): DailiesError {
  return new DailiesError('stepping tasks: this process is stopping', { code: 'internal', retryable: true });
}

/** How long a step that threw what no step should throw is left alone: somebody has to see it first. */
const AFTER_A_DEFECT_MS = 30_000;
/** The same where it may work by itself, such as when the store was away for a moment. */
const AFTER_AN_OUTAGE_MS = 5_000;

/** How long a step that threw is left alone, in milliseconds: as long as the other side asked for, where it did. */
export function pauseAfter(thrown: unknown): number {
  if (!(thrown instanceof DailiesError)) return AFTER_A_DEFECT_MS;
  return thrown.retryAfterMs ?? (thrown.retryable ? AFTER_AN_OUTAGE_MS : AFTER_A_DEFECT_MS);
}
