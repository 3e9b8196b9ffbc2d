import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskId } from '#src/tasks/task.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
  house.bot.reply = { kind: 'task', task: TASK };
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
});

afterEach(async () => {
  await house.remove();
  expect(house.discord.violations).toEqual([]);
});

/** What Discord came to say about interactions only over the years. */
const LATER = [
  'app_permissions',
  'attachment_size_limit',
  'authorizing_integration_owners',
  'channel',
  'context',
  'entitlements',
];

describe('an interaction that says no more than it once did', () => {
  it('is taken, and its message is edited by the bot itself once the token is over', async () => {
    const told = house.discord.people.slash('video create', { prompt: 'a fox' }, { without: LATER });
    const { caller } = await house.heard(told);
    await house.discord.answered(told);
    const { mayManage: _mayManage, ...origin } = caller;
    const message = await house.platform.open(TASK, origin, taskView());
    house.discord.expireTokens();
    await house.platform.edit(message, origin, taskView(), 'final');
    expect(told.usesAfterExpiry).toBe(1);
  });

  it.each([
    ['bot', LATER],
    ['user', []],
  ])('comes from where the %s is, in a server nobody told of', async (access, without) => {
    const { elsewhere } = house.discord.channels;
    const told = house.discord.people.slash('video create', { prompt: 'a fox' }, { channel: elsewhere, without });
    const { caller } = await house.heard(told);
    await house.discord.answered(told);
    expect(caller.address).toMatchObject({ access });
  });
});
