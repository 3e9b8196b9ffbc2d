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

/** Fields of interactions that Discord added over the years. */
const LATER = [
  'app_permissions',
  'attachment_size_limit',
  'authorizing_integration_owners',
  'channel',
  'context',
  'entitlements',
];

describe('an interaction without the newer fields', () => {
  it('is handled, and its message is edited by the bot itself once the token has expired', async () => {
    const told = house.discord.people.slash('video create', { prompt: 'a fox' }, { without: LATER });
    const { caller: origin } = await house.heard(told);
    await house.discord.answered(told);
    const message = await house.platform.open(TASK, origin, taskView());
    house.discord.expireTokens();
    await house.platform.edit(message, origin, taskView(), 'final');
    expect(told.usesAfterExpiry).toBe(1);
  });

  it.each([
    ['bot', LATER],
    ['user', []],
  ])('is attributed to the %s in an unannounced server', async (access, without) => {
    const { elsewhere } = house.discord.channels;
    const told = house.discord.people.slash('video create', { prompt: 'a fox' }, { channel: elsewhere, without });
    const { caller } = await house.heard(told);
    await house.discord.answered(told);
    expect(caller.address).toMatchObject({ access });
  });
});
