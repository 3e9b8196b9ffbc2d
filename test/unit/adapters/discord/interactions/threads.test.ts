import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TaskId } from '#src/tasks/task.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { taskView } from '#test/fakes/views.ts';

// On Discord a thread is a channel with an id of its own; its orders count towards the budget of its channel.

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
  house.bot.reply = privately('Yes.');
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

it('passes on the channel of a thread, and no category of a channel', async () => {
  const { people, channels } = house.discord;
  for (const channel of [channels.thread, channels.secret]) {
    const { caller } = await house.heard(people.slash('video list', {}, { channel }));
    expect(caller).toMatchObject({ channel, parentChannel: channels.general });
  }
  const { caller } = await house.heard(people.slash('video list'));
  expect(caller.channel).toBe(channels.general);
  expect(caller.parentChannel).toBeUndefined();
});

it('passes on the channel of a thread that is given as an option', async () => {
  const { people, channels, users } = house.discord;
  const asked = people.slash('video-admin budget', { channel: channels.thread }, { permissions: ['MANAGE_GUILD'] });
  const { caller } = await house.heard(asked);
  expect(caller.rights?.[channels.thread]?.parent).toBe(channels.general);
  expect(caller.rights?.[channels.general]).not.toHaveProperty('parent');
  const place = { team: caller.team, channel: channels.thread, address: {} };
  expect(await house.platform.channels.rights(place, users.alice)).toMatchObject({ parent: channels.general });
});

/** Reacts in a thread to the message of a task there. */
async function reactInThread(emoji: string) {
  const { people, channels, users } = house.discord;
  const channel = channels.thread;
  const { caller } = await house.heard(people.slash('video list', {}, { channel }));
  house.bot.heard.length = 0;
  const task = 'task0123456789ab' as TaskId;
  const { message } = await house.platform.open(
    task,
    { ...caller, user: { id: users.alice, name: 'alice' } },
    taskView({ task }),
  );
  house.bot.reply = null;
  people.react(message, emoji, { channel });
}

it('looks up the channel of a thread for 🔁', async () => {
  await reactInThread('🔁');
  const { caller } = await house.hears(({ kind }) => kind === 'react');
  expect(caller).toMatchObject({
    channel: house.discord.channels.thread,
    parentChannel: house.discord.channels.general,
  });
});
