/**
 * What can go wrong, as one closed list. Every edge (video service, store, chat platform) translates what its
 * library throws into one of these; the sentence a person reads for each is in `commands/sentences.ts`.
 */
export type ErrorCode =
  // The video service refused: no task exists. A chat may say `unauthorised` and `rate_limited` as well.
  | 'bad_request'
  | 'unauthorised'
  | 'no_balance'
  | 'forbidden'
  | 'unknown_model'
  | 'moderated'
  | 'rate_limited'
  // The video service could not be asked.
  | 'unavailable'
  | 'timed_out'
  // The POST of a create may have arrived: a task may exist.
  | 'lost_answer'
  // The video service answered, but not with what the contract promises.
  | 'bad_answer'
  | 'task_unknown'
  // The id of a task at the service: another task has it; or too many were entered.
  | 'id_taken'
  | 'id_attempts'
  | 'generation_failed'
  // Fetching a finished clip.
  | 'not_ready'
  | 'gone'
  | 'not_a_video'
  | 'refused_address'
  // The store.
  | 'store_unavailable'
  | 'store_locked'
  | 'record_damaged'
  // A chat platform.
  | 'message_gone'
  | 'missing_permission'
  | 'too_large'
  | 'platform_unavailable'
  // This machine.
  | 'overloaded'
  | 'disk_full'
  | 'internal';

/** What a {@link DailiesError} is made of, besides its sentence for the log. */
export interface ErrorDetails {
  /** Which of the known failures this is. */
  readonly code: ErrorCode;
  /** Whether the very same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** How long the other side asked to be left alone, in milliseconds; absent where it did not say. */
  readonly retryAfterMs?: number;
  /** With `too_large`: the most bytes that are taken; absent where it is not known. */
  readonly limitBytes?: number;
  /** What the other side said of it, in its own words; never holds a token. Shown to people, so at most 500 characters. */
  readonly words?: string;
  /** What the library below threw. */
  readonly cause?: unknown;
}

/**
 * The one error family of Dailies. `message` is for logs and names what was being done
 * ("retrieving task abc: HTTP 502"); people read the sentence that belongs to `code`.
 */
export class DailiesError extends Error {
  override readonly name = 'DailiesError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly limitBytes: number | undefined;
  readonly words: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.retryable = details.retryable;
    this.retryAfterMs = details.retryAfterMs;
    this.limitBytes = details.limitBytes;
    // A chat refuses half of what was cut in two.
    this.words = details.words?.slice(0, 500).toWellFormed();
  }
}

/** What is said where more is asked for at once than can be kept in hand: nothing was begun. */
export function overloaded(doing: string): DailiesError {
  return new DailiesError(`${doing}: too much is in hand`, { code: 'overloaded', retryable: true });
}

/** Makes a {@link DailiesError} of anything thrown; what is none already becomes `internal` and is not retryable. */
export function asDailiesError(thrown: unknown, doing: string): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new DailiesError(`${doing}: ${reason}`, { code: 'internal', retryable: false, cause: thrown });
}
