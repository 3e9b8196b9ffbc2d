import type { DailiesError } from '../errors.ts';
import type { VideoRequest } from './request.ts';

/** The id the video service gave a task. May hold any character: encode it in paths. */
export type UpstreamId = string & { readonly __brand: 'UpstreamId' };

/** The service's five states, as the specification names them; every dialect is translated into these. */
export type UpstreamStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';

/** What the service says of one of its tasks. */
export interface UpstreamTask {
  readonly id: UpstreamId;
  readonly status: UpstreamStatus;
  /** 0 to 100, clamped; `null` where the service gave none. */
  readonly progress: number | null;
  /** Why it failed, where it did. */
  readonly failure: { readonly code: 'generation_failed' | 'moderated'; readonly words: string | null } | null;
}

/** How a create ended. Only `accepted` and `lost` can have cost anything. */
export type CreateOutcome =
  /** The service took it and gave an id. */
  | { readonly kind: 'accepted'; readonly task: UpstreamTask }
  /** The service said no: no task exists, and asking again would say no again. */
  | { readonly kind: 'refused'; readonly error: DailiesError }
  /** Provably no task exists (never left this machine, or 429): may be sent again, not before `error.retryAfterMs`. */
  | { readonly kind: 'unsent'; readonly error: DailiesError }
  /** It may have arrived and nobody can tell: a task may exist and may be billed. Never sent again by a machine. */
  | { readonly kind: 'lost'; readonly error: DailiesError };

/** A clip on this machine's disk. */
export interface Clip {
  /** Absolute path of the file. */
  readonly path: string;
  readonly bytes: number;
  /** Such as `video/mp4`. */
  readonly contentType: string;
}

/** The video service, as the rest of Dailies knows it. Implemented by `client.ts`. */
export interface VideoService {
  /**
   * Sends one POST, at most once; never throws.
   * @param request validated by `catalog.ts`.
   * @param options.key our task's id, from the third send on with the number of the send, sent as `Idempotency-Key` (harmless where unknown; nothing relies on it).
   * @param options.mayStillSend asked right before the bytes leave; `false` ends in `unsent` without sending.
   */
  create(
    request: VideoRequest,
    options: { readonly key: string; readonly mayStillSend: () => boolean },
  ): Promise<CreateOutcome>;
  /**
   * One GET of the task's state, without retries of its own (the poller has its own pace).
   * @throws DailiesError `task_unknown` (retryable unless the service says it by name: a front's 404 proves nothing),
   *   `unauthorised`, `rate_limited`, `unavailable`, `timed_out`, `bad_answer`.
   */
  retrieve(id: UpstreamId, signal?: AbortSignal): Promise<UpstreamTask>;
  /**
   * Streams the clip of a completed task to `path` (by way of `path + '.part'`, which a later call resumes where the
   * service has Range). A broken transfer that got ahead goes on at once; every other failure is for the caller to repeat,
   * so that others get the slot meanwhile. A clip counts as whole by the length the service gives, else by its boxes,
   * else when a second download brings the same.
   * @throws DailiesError `not_ready` (retryable), `gone`, `not_a_video` (retryable until the same file comes again),
   *   `refused_address` (its `words` are an `AddressRefusal`), `unauthorised`,
   *   `unavailable`, `timed_out`, `bad_answer` (longer than any clip may be), `disk_full`, `internal` (the file system).
   */
  download(id: UpstreamId, path: string, signal?: AbortSignal): Promise<Clip>;
  /** Lets go of the connections. */
  close(): Promise<void>;
}
