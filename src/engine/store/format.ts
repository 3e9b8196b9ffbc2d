import { DailiesError } from '../../errors.ts';

/** Format of the stores that this version creates, and the only one that it reads. */
export const FORMAT = 2;

/**
 * Asserts that this version reads a store of that format; `null`: it has records, but states none.
 * @throws `store_unavailable`, not retryable.
 */
export function assertFormat(found: number | null): void {
  if (found === FORMAT) return;
  const format = found === null ? 'states no format' : `has format ${found}`;
  throw new DailiesError(
    `opening the store: it ${format}, and this version of Dailies reads format ${FORMAT} alone; nothing was changed: ` +
      'let STORE_URL name an empty store, or start the version that made this one (docs/upgrading.md)',
    { code: 'store_unavailable', retryable: false },
  );
}
