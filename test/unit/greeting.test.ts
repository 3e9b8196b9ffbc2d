import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connectionsOf } from '#src/app/greeting.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';

it('reads the connection of every platform; one that hangs or fails does not delay the others', async () => {
  const clock = new ManualClock();
  const [there, hanging, failing] = [new FakePlatform('one'), new FakePlatform('two'), new FakePlatform('three')];
  hanging.connection = () => new Promise(() => undefined);
  failing.connection = () => Promise.reject(platformError('platform_unavailable'));
  const asked = connectionsOf([there, hanging, failing], clock);
  await setImmediate();
  clock.advance(3_000);
  expect(await asked).toEqual({
    one: 'one, in memory',
    two: 'connecting …',
    three: expect.stringContaining('platform_unavailable'),
  });
});
