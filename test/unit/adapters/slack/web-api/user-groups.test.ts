import { expect, it } from 'vitest';
import type { Clients } from '#adapters/slack/web-api/client.ts';
import { UserGroups } from '#adapters/slack/web-api/user-groups.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { SlackHouse } from '#test/fakes/slack-house.ts';

const to = { team: 'T1', enterprise: undefined };

/** A workspace with one user group, whose calls are counted. */
function workspace() {
  const clock = new ManualClock(0);
  const state = { users: ['U1'], calls: 0, isDown: false };
  const list = async ({ usergroup }: { usergroup: string }) => {
    state.calls += 1;
    if (state.isDown) throw new Error('no answer');
    return { users: usergroup === 'S1' ? [...state.users] : [] };
  };
  const clients = {
    answer: async (_to: object, _operation: string, run: (client: object) => unknown) =>
      run({ usergroups: { users: { list } } }),
  } as unknown as Clients;
  return { clock, state, groups: new UserGroups(clients, clock) };
}

it('knows the members of a user group for half a minute, so that a removal counts soon', async () => {
  const { clock, state, groups } = workspace();
  expect(await groups.includes(to, 'S1', 'U1')).toBe(true);
  expect(await groups.includes(to, 'S1', 'U2')).toBe(false);
  expect(await groups.includes(to, 'S2', 'U1')).toBe(false);
  state.users = ['U2'];
  clock.advance(29_999);
  expect(await groups.includes(to, 'S1', 'U1')).toBe(true);
  clock.advance(1);
  expect(await groups.includes(to, 'S1', 'U1')).toBe(false);
  expect(await groups.includes(to, 'S1', 'U2')).toBe(true);
});

it('asks Slack once for concurrent presses: the method takes 20 calls a minute', async () => {
  const { state, groups } = workspace();
  const presses = Array.from({ length: 50 }, () => groups.includes(to, 'S1', 'U1'));
  expect(await Promise.all(presses)).not.toContain(false);
  expect(state.calls).toBe(1);
});

it('keeps the groups of workspaces apart', async () => {
  const { state, groups } = workspace();
  await groups.includes(to, 'S1', 'U1');
  state.users = [];
  expect(await groups.includes({ ...to, team: 'T2' }, 'S1', 'U1')).toBe(false);
});

it('takes no one for a member where the lookup fails, not even by a list kept too long, and keeps no failure', async () => {
  const { clock, state, groups } = workspace();
  await groups.includes(to, 'S1', 'U1');
  clock.advance(30_000);
  state.isDown = true;
  await expect(groups.includes(to, 'S1', 'U1')).rejects.toThrow('no answer');
  state.isDown = false;
  expect(await groups.includes(to, 'S1', 'U1')).toBe(true);
});

it('says which scope is missing, and what to do', async () => {
  const house = await SlackHouse.start();
  const { slack, platform } = house;
  const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
  slack.setGroup('S1', [slack.users.alice]);
  slack.removeScopes(['usergroups:read']);
  await expect(platform.channels.isInGroup(place, 'S1', slack.users.alice)).rejects.toMatchObject({
    code: 'missing_permission',
    words:
      'the app is missing usergroups:read; an admin adds it under OAuth & Permissions at https://api.slack.com/apps and reinstalls the app',
  });
  slack.grantScopes(['usergroups:read']);
  expect(await platform.channels.isInGroup(place, 'S1', slack.users.alice)).toBe(true);
  await expect(platform.channels.isInGroup(place, 'S2', slack.users.alice)).rejects.toMatchObject({
    code: 'missing_permission',
    words: 'Slack knows no such user group',
  });
  // Nothing else depends on the scope.
  slack.removeScopes(['usergroups:read']);
  expect(await platform.channels.missingRight(place)).toBeNull();
  expect(platform.notReady()).toBeNull();
  await house.remove();
  expect(slack.violations).toEqual([]);
});
