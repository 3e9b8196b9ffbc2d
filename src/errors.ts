/**
 * Every failure of Dailies, as a closed union. Every edge (video service, store, chat platform) translates the errors
 * of its library into one of these; the user-facing sentences are in `commands/sentences/errors.ts`.
 */
export type ErrorCode =
  // The video service refused: no task exists. Chat platforms use `unauthorised` and `rate_limited` as well.
  | 'bad_request'
  | 'unauthorised'
  | 'no_balance'
  | 'forbidden'
  | 'unknown_model'
  | 'moderated'
  | 'rate_limited'
  // The video service could not be reached.
  | 'unavailable'
  | 'timed_out'
  // The POST of a create may have arrived: a task may exist.
  | 'lost_answer'
  // The response of the video service violates its contract.
  | 'bad_answer'
  | 'task_unknown'
  // The last frame of another clip, with which this one should start, is gone: it was not sent.
  | 'frame_gone'
  // The upstream id of a task: another task has it; or too many were entered by hand.
  | 'id_taken'
  | 'id_attempts'
  | 'generation_failed'
  | 'cancelled'
  // Download of a finished clip.
  | 'not_ready'
  | 'gone'
  | 'not_a_video'
  | 'refused_address'
  // The store.
  | 'store_unavailable'
  | 'store_locked'
  | 'record_damaged'
  // The bucket that the clips are kept in.
  | 'storage_unavailable'
  // A chat platform.
  | 'message_gone'
  | 'missing_permission'
  | 'too_large'
  | 'platform_unavailable'
  // Clips cannot be joined as they are, and there is no ffmpeg.
  | 'shots_differ'
  // This machine.
  | 'overloaded'
  | 'disk_full'
  // The data folder is at MAX_DATA_BYTES.
  | 'data_full'
  | 'internal';

/** Fields of a {@link DailiesError}, besides its message for the log. */
export interface ErrorDetails {
  readonly code: ErrorCode;
  /** True if the same call may succeed later without any change by a person. */
  readonly retryable: boolean;
  /** Retry-After of the remote side, in milliseconds; absent where it gave none. */
  readonly retryAfterMs?: number;
  /** With `too_large`: the maximum number of bytes; absent where it is unknown. */
  readonly limitBytes?: number;
  /** The remote side's own message, without tokens. Shown to users, so at most 500 characters. */
  readonly words?: string;
  /** A person takes no direct message of the bot. Default: false. */
  readonly isUnreachable?: boolean;
  /** The error of the underlying library. */
  readonly cause?: unknown;
}

/**
 * The only error type of Dailies. `message` is for logs and names the operation ("retrieving task abc: HTTP 502");
 * users read the sentence of `code`.
 */
export class DailiesError extends Error {
  override readonly name = 'DailiesError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly limitBytes: number | undefined;
  readonly words: string | undefined;
  readonly isUnreachable: boolean | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.retryable = details.retryable;
    this.retryAfterMs = details.retryAfterMs;
    this.limitBytes = details.limitBytes;
    this.isUnreachable = details.isUnreachable;
    // The cut may split a surrogate pair, and a chat platform rejects half of one.
    this.words = details.words?.slice(0, 500).toWellFormed();
  }
}

/** Makes the error of a request that exceeds the number allowed in flight; nothing was started. Retryable. */
export function overloaded(operation: string): DailiesError {
  return new DailiesError(`${operation}: too much is in hand`, { code: 'overloaded', retryable: true });
}

/** Returns the error of a file system without space left; `null` for anything else that was thrown. Retryable. */
export function diskFull(thrown: unknown, operation: string): DailiesError | null {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return null;
  return new DailiesError(`${operation}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
}

/** Converts anything thrown to a {@link DailiesError}; anything else becomes `internal`, not retryable. */
export function asDailiesError(thrown: unknown, operation: string): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new DailiesError(`${operation}: ${reason}`, { code: 'internal', retryable: false, cause: thrown });
}
