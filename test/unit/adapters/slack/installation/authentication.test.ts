import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { Authentication } from '#adapters/slack/installation/authentication.ts';
import { TokenHealth } from '#adapters/slack/installation/token-health.ts';
import type { Workspaces } from '#adapters/slack/installation/workspaces.ts';
import type { Clients } from '#adapters/slack/web-api/client.ts';
import { DailiesError } from '#src/errors.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { pass } from '#test/fakes/settle.ts';

const unavailable = new DailiesError('asking: no answer', { code: 'platform_unavailable', retryable: true });

function begin(options: { readonly botToken?: string } = {}) {
  const clock = new ManualClock();
  const check = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const test = vi.fn(() => Promise.resolve('T1'));
  const authentication = new Authentication({
    workspaces: { check } as unknown as Workspaces,
    clients: { test } as unknown as Clients,
    health: new TokenHealth([]),
    clock,
    logger: pino({ level: 'silent' }),
    ...options,
  });
  return { clock, check, test, authentication };
}

it('is retried until Slack can be reached', async () => {
  const { clock, check, authentication } = begin();
  check.mockRejectedValueOnce(unavailable).mockRejectedValueOnce(unavailable);
  await authentication.start();
  expect(authentication.problem).toContain('asking: no answer');
  await pass(clock, 20_000, 1_000);
  expect(check).toHaveBeenCalledTimes(3);
  expect(authentication.problem).toBeNull();
});

it('is not retried once stopped, whether an attempt is due or running', async () => {
  const { clock, check, authentication } = begin();
  check.mockRejectedValueOnce(unavailable);
  await authentication.start();
  const running = Promise.withResolvers<void>();
  check.mockReturnValue(running.promise);
  await pass(clock, 5_000, 1_000);
  expect(check).toHaveBeenCalledTimes(2);
  authentication.stop();
  running.reject(unavailable);
  await pass(clock, 60_000, 1_000);
  expect(check).toHaveBeenCalledTimes(2);
  const other = begin();
  other.check.mockRejectedValue(unavailable);
  await other.authentication.start();
  other.authentication.stop();
  await pass(other.clock, 60_000, 1_000);
  expect(other.check).toHaveBeenCalledTimes(1);
});

it('tests a configured token every minute until stopped', async () => {
  const { clock, test, authentication } = begin({ botToken: 'xoxb-1' });
  await authentication.start();
  await pass(clock, 120_000, 1_000);
  expect(test).toHaveBeenCalledTimes(3);
  authentication.stop();
  await pass(clock, 120_000, 1_000);
  expect(test).toHaveBeenCalledTimes(3);
});
