import { expect, it } from 'vitest';
import { Outage } from '#src/engine/store/redis/errors.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

function outage(settleMs?: number) {
  const clock = new ManualClock();
  const logged: string[] = [];
  const log = { begin: (reason: string) => void logged.push(reason), end: () => void logged.push('over') };
  return { clock, logged, outage: new Outage({ clock, ...log, ...(settleMs === undefined ? {} : { settleMs }) }) };
}

it('logs an outage once, and the next one again', () => {
  const { logged, outage: redis } = outage();
  redis.end();
  for (const reason of ['full', 'full', 'read-only']) redis.begin(reason);
  for (let calls = 0; calls < 2; calls++) redis.end();
  redis.begin('full');
  expect(logged).toEqual(['full', 'over', 'full']);
});

it('does not begin again by a connection that reports it after its end', () => {
  const { clock, logged, outage: redis } = outage(10_000);
  redis.begin('read-only');
  redis.end();
  clock.advance(9_999);
  redis.begin('read-only');
  redis.end();
  expect(logged).toEqual(['read-only', 'over']);
  clock.advance(1);
  redis.begin('read-only');
  expect(logged).toEqual(['read-only', 'over', 'read-only']);
});

it('of several causes begins with the first, and ends once none lasts', () => {
  const { logged, outage: redis } = outage();
  const [unreachable, rejecting] = [redis.cause(), redis.cause()];
  rejecting.begin('it is a replica');
  unreachable.begin('the connection broke');
  unreachable.end();
  unreachable.end();
  expect(logged).toEqual(['it is a replica']);
  rejecting.end();
  expect(logged).toEqual(['it is a replica', 'over']);
});
