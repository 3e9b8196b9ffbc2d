import { DailiesError } from '../errors.ts';
import type { Change } from './store.ts';

/**
 * Rejects a change that no backend can store, before it reaches one.
 * @throws `internal` when a score of an index entry is not a finite number.
 */
export function assertWritable(change: Change): void {
  for (const { index, member, score } of change.index ?? []) {
    if (score === null || Number.isFinite(score)) continue;
    throw new DailiesError(`setting ${member} in index ${index}: the score ${score} is not a finite number`, {
      code: 'internal',
      retryable: false,
    });
  }
}
