import { expect, it } from 'vitest';
import { pauseAfter } from '#src/engine/queue/queue.ts';
import { DailiesError } from '#src/errors.ts';

it.each([
  ['an unexpected error, which an operator has to look into', new TypeError('a defect'), 30_000],
  ['an outage that may end soon', new DailiesError('reading', { code: 'store_unavailable', retryable: true }), 5_000],
  ['an error that is not retryable', new DailiesError('reading', { code: 'internal', retryable: false }), 30_000],
  [
    'a delay requested by the other side',
    new DailiesError('reading', { code: 'rate_limited', retryable: true, retryAfterMs: 7_000 }),
    7_000,
  ],
])('delays the retry of a job after %s', (_what, thrown, pauseMs) => {
  expect(pauseAfter(thrown)).toBe(pauseMs);
});
