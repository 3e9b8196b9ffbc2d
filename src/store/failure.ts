import { DailiesError } from '../errors.ts';

/**
 * The error with which every method of the store rejects when its backend did not take or give the data. Retryable:
 * backends come back.
 */
export function storeUnavailable(doing: string, cause: unknown): DailiesError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DailiesError(`${doing}: ${reason}`, { code: 'store_unavailable', retryable: true, cause });
}
