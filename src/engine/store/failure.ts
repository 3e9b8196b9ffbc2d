import { DailiesError } from '../../errors.ts';

/**
 * Makes the error with which every store method rejects when the backend failed to read or write. Retryable, since
 * backends recover.
 */
export function storeUnavailable(operation: string, cause: unknown): DailiesError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DailiesError(`${operation}: ${reason}`, { code: 'store_unavailable', retryable: true, cause });
}

/** Returns the kind of an index, such as `history`, for errors: the rest of its name may hold the id of a person. */
export function kindOfIndex(index: string): string {
  return index.split(':', 1)[0] ?? '';
}
