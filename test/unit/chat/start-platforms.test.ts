import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { PlatformStarter } from '#src/chat/start-platforms.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/settle.ts';

const logger = pino({ level: 'silent' });

/** Creates a platform whose start is settled by the test. */
function held() {
  const platform = new FakePlatform();
  const starting = Promise.withResolvers<void>();
  const stop = vi.spyOn(platform, 'stop');
  const start = vi.spyOn(platform, 'start').mockReturnValue(starting.promise);
  return { platform, starting, start, stop };
}

function starting(...platforms: readonly ReturnType<typeof held>[]) {
  const clock = new ManualClock();
  const failedLate = vi.fn();
  const hasBegun = vi.fn();
  const starter = new PlatformStarter(
    platforms.map(({ platform }) => platform),
    { clock, logger },
  );
  const found = { begun: starter.start(failedLate), stop: () => starter.stop() };
  found.begun.then(
    () => hasBegun(),
    () => undefined,
  );
  return { ...found, clock, failedLate, hasBegun };
}

it('resolves once all have started, and stops them all', async () => {
  const [one, other] = [held(), held()];
  const { hasBegun, stop } = starting(one, other);
  other.starting.resolve();
  await settle();
  expect(one.start).toHaveBeenCalledTimes(1);
  expect(hasBegun).not.toHaveBeenCalled();
  one.starting.resolve();
  await settle();
  expect(hasBegun).toHaveBeenCalledTimes(1);
  await stop();
  expect([one.stop, other.stop].map((spy) => spy.mock.calls.length)).toEqual([1, 1]);
});

it('does not wait for a slow one, and stops it as soon as it has started', async () => {
  const [slow, quick] = [held(), held()];
  const { hasBegun, stop, clock } = starting(slow, quick);
  quick.starting.resolve();
  await settle();
  clock.advance(5_000);
  await settle();
  expect(hasBegun).toHaveBeenCalledTimes(1);
  await stop();
  expect(slow.stop).not.toHaveBeenCalled();
  slow.starting.resolve();
  await settle();
  expect(slow.stop).toHaveBeenCalledTimes(1);
});

it('reports a permanent failure, before and after the timeout', async () => {
  const soon = held();
  const first = starting(soon, held());
  soon.starting.reject(new Error('a wrong token'));
  await expect(first.begun).rejects.toThrow('a wrong token');
  expect(first.failedLate).not.toHaveBeenCalled();

  const late = held();
  const second = starting(late);
  second.clock.advance(5_000);
  await settle();
  late.starting.reject(new Error('a wrong token'));
  await settle();
  expect(second.failedLate).toHaveBeenCalledWith(new Error('a wrong token'));
});
