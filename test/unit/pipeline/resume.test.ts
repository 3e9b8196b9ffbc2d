import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { resume } from '#src/pipeline/reconcile.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { settle } from '#test/fakes/settle.ts';

const logger = pino({ level: 'silent' });
const away = new DailiesError('scanning index state:claimed: Socket closed', {
  code: 'store_unavailable',
  retryable: true,
});

it('retries while the store is briefly unavailable', async () => {
  const clock = new ManualClock();
  const tasks = { resume: vi.fn().mockRejectedValueOnce(away).mockResolvedValue(250) };
  const chat = { resume: vi.fn().mockRejectedValueOnce(away).mockResolvedValue(3) };
  const resumed = resume({ tasks, chat }, { clock, logger, ending: new AbortController().signal });
  for (let round = 0; round < 2; round += 1) {
    await settle();
    clock.advance(1_000);
  }
  expect(await resumed).toEqual({ open: 250, undelivered: 3 });
});

it('rejects with errors that are not retryable, and ends at shutdown', async () => {
  const clock = new ManualClock();
  const broken = new TypeError('a defect');
  const chat = { resume: async () => 0 };
  const none = new AbortController().signal;
  await expect(
    resume({ tasks: { resume: () => Promise.reject(broken) }, chat }, { clock, logger, ending: none }),
  ).rejects.toBe(broken);
  const ending = new AbortController();
  const waiting = resume(
    { tasks: { resume: () => Promise.reject(away) }, chat },
    { clock, logger, ending: ending.signal },
  );
  await settle();
  ending.abort(new Error('stopping'));
  await expect(waiting).rejects.toThrow('stopping');
});
