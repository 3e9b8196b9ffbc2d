import { expect, it } from 'vitest';
import type { Clients } from '#adapters/slack/web-api/client.ts';
import { Profiles } from '#adapters/slack/web-api/profiles.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

it('asks Slack again after a minute before it grants the right to administer', async () => {
  const clock = new ManualClock(0);
  const user = { is_admin: true };
  const users = { info: async () => ({ user: { ...user } }) };
  const clients = {
    answer: async (_to: object, _operation: string, run: (client: object, workspace: object) => unknown) =>
      run({ users }, { id: 'T1' }),
  } as unknown as Clients;
  const profiles = new Profiles(clients, clock);
  const isAdmin = () => profiles.isAdmin({ team: 'T1', enterprise: undefined }, 'U1');
  expect(await isAdmin()).toBe(true);
  user.is_admin = false;
  clock.advance(59_999);
  expect(await isAdmin()).toBe(true);
  clock.advance(1);
  expect(await isAdmin()).toBe(false);
});
