import { expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { pauseAfter } from '#src/queue/queue.ts';

it.each([
  ['what nobody expected: until somebody may have seen it', new TypeError('a defect'), 30_000],
  [
    'an outage that may be over soon',
    new DailiesError('reading', { code: 'store_unavailable', retryable: true }),
    5_000,
  ],
  ['what will fail again', new DailiesError('reading', { code: 'internal', retryable: false }), 30_000],
  [
    'a wish of the other side',
    new DailiesError('reading', { code: 'rate_limited', retryable: true, retryAfterMs: 7_000 }),
    7_000,
  ],
])('leaves a step alone after %s', (_what, thrown, pauseMs) => {
  expect(pauseAfter(thrown)).toBe(pauseMs);
});
