import type { DailiesError } from '../errors.ts';
import type { VideoRequest } from './request.ts';

/** Task id assigned by the video service. May contain any character: encode it in paths. */
export type UpstreamId = string & { readonly __brand: 'UpstreamId' };

/** Task states of the specification, into which every dialect is translated. */
export type UpstreamStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';

/** Cost of a task, as reported by the service. */
export interface Cost {
  /** Decimal string, perhaps with more decimals than a price has. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** Reason of a failure, as reported by the service. */
interface UpstreamFailure {
  readonly code: 'generation_failed' | 'moderated' | 'cancelled';
  readonly words: string | null;
  /** The service says that it bills the task all the same. Absent: it does not. */
  readonly isBilled?: true;
}

/** Task as reported by the service. */
export interface UpstreamTask {
  readonly id: UpstreamId;
  readonly status: UpstreamStatus;
  /** Percentage, clamped to 0 to 100; `null` where the service reported none. */
  readonly progress: number | null;
  /** Number of requests ahead of it in the service's queue. Absent: the service does not say. */
  readonly ahead?: number;
  /** What the service says that the task has cost. Absent: it does not say, or not yet. */
  readonly cost?: Cost;
  /** Number of units that the service bills it by, such as tokens: a decimal string. Absent: it does not say, or not yet. */
  readonly units?: string;
  /** Reason of the failure; `null` unless the task failed. */
  readonly failure: UpstreamFailure | null;
}

/** Outcome of a create. Only `accepted` and `lost` may be billed. */
export type CreateOutcome =
  /** The service accepted it and returned an id. */
  | { readonly kind: 'accepted'; readonly task: UpstreamTask }
  /** The service refused it: no task exists, and a retry would be refused again. */
  | { readonly kind: 'refused'; readonly error: DailiesError }
  /** Provably no task exists (never left this machine, or 429): may be sent again after `error.retryAfterMs`. */
  | { readonly kind: 'unsent'; readonly error: DailiesError }
  /** The outcome is unknown: a task may exist and may be billed. Never retried automatically. */
  | { readonly kind: 'lost'; readonly error: DailiesError };

export interface CreateOptions {
  /**
   * Sent as `Idempotency-Key`: the bot's task id, from the third submission on with its number (ignored by services
   * without support; nothing relies on it).
   */
  readonly key: string;
  /** Called right before the bytes leave; `false` ends in `unsent` without sending. */
  readonly mayStillSend: () => boolean;
}

/** Clip on this machine's disk. */
export interface Clip {
  /** Absolute path of the file. */
  readonly path: string;
  readonly bytes: number;
  /** Media type, such as `video/mp4`. */
  readonly contentType: string;
  /** Only that two downloads were identical says that it is complete. Absent: its length or its boxes do. */
  readonly isUnproven?: true;
}

/** The configured video services. Implemented by `services.ts`. */
export interface VideoServices {
  /**
   * Returns the service that makes a request, or has its task.
   * @throws DailiesError `unavailable`, retryable: it is not configured any more
   */
  of(request: Pick<VideoRequest, 'service'>): VideoService;
  close(): Promise<void>;
}

/** Port of one video service. Implemented by `client.ts`. */
export interface VideoService {
  /** Sends one POST, at most once; never throws. @param request validated by `check.ts`. */
  create(request: VideoRequest, options: CreateOptions): Promise<CreateOutcome>;
  /**
   * Sends one GET of the task's state, without retries (the poller has its own schedule).
   * @throws DailiesError `task_unknown` (retryable unless the service returns that code: a proxy's 404 proves nothing),
   *   `unauthorised`, `rate_limited`, `unavailable`, `timed_out`, `bad_answer`.
   */
  retrieve(id: UpstreamId, signal?: AbortSignal): Promise<UpstreamTask>;
  /** Returns whether the service lists the tasks of a request's model. */
  canList(of: VideoRequest): boolean;
  /**
   * Lists the tasks that the service took between two times, in milliseconds since the Unix epoch by its own clock, and that
   * differ from a request in nothing that the list says of them; `isSame`: it says all of it. `null`: it lists none.
   * @param time with the `look` that it is for: a list is read once for each
   * @throws DailiesError as {@link retrieve} does
   */
  list(
    of: VideoRequest,
    time: { readonly fromMs: number; readonly untilMs: number; readonly look: object },
  ): Promise<readonly { id: UpstreamId; isSame: boolean }[] | null>;
  /**
   * Asks the service to take a task off its queue, which {@link retrieve} has just reported as queued: at some services the
   * same call deletes a clip that is there. What became of the task is for {@link retrieve} to say.
   * @param mayStillSend called right before the bytes leave
   * @returns `refused` also where it cannot; `forgets`: it agreed, and does not know a task any more that it cancelled
   * @throws DailiesError as {@link retrieve} does, where it gave no answer
   */
  cancel(id: UpstreamId, mayStillSend: () => boolean): Promise<'refused' | 'agreed' | 'forgets'>;
  /**
   * Streams the clip of a completed task to `path` (through `path + '.part'`, which a later call resumes where the
   * service supports Range). A broken transfer that made progress resumes at once; any other failure is left to the
   * caller's retry, which frees the slot for other downloads meanwhile. A clip is complete by the service's length,
   * else by its boxes, else if a second download is identical.
   * @throws DailiesError `not_ready` (retryable), `gone`, `not_a_video` (retryable until the same file is received
   *   again), `refused_address` (its `words` are an `AddressRefusal`), `unauthorised`, `unavailable`, `timed_out`,
   *   `bad_answer` (longer than any clip may be), `disk_full`, `internal` (the file system).
   */
  download(id: UpstreamId, path: string, signal?: AbortSignal): Promise<Clip>;
  close(): Promise<void>;
}
