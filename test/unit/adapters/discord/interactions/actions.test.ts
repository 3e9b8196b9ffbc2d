import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { fileOf } from '#test/fakes/discord/files.ts';
import { DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { endNotice, taskView } from '#test/fakes/views.ts';

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const text = (name: string, words: string) => fileOf(name, 'text/plain', Buffer.from(words));

describe('“Make a storyboard of this”', () => {
  const MAKE = 'Make a storyboard of this';
  const form: Reply = {
    kind: 'form',
    form: {
      id: 'storyboard',
      title: 'New storyboard',
      submit: 'Continue',
      fields: [{ name: 'shots', label: 'Shots, one per line', value: 'x'.repeat(5_000), required: true, long: true }],
    },
  };

  it('opens the form with the words of the message and of its text files, and says what does not fit', async () => {
    const { people } = house.discord;
    house.bot.reply = form;
    const png = fileOf('fox.png', 'image/png', Buffer.from('x'));
    const said = people.say('a fox\nit runs', [png, text('a.txt', 'it stops\n'), text('b.md', 'it sleeps')]);
    const { type, data } = await house.discord.answered(people.messageCommand(MAKE, said.id));
    expect(house.bot.heard).toMatchObject([{ kind: 'form', what: 'a fox\nit runs\nit stops\n\nit sleeps' }]);
    expect(type).toBe(9);
    expect(JSON.stringify(data)).toContain('only the first 4,000 characters');
    house.bot.reply = privately('It costs $0.40.');
    const asked = await house.answerTo(people.submitModal(house.discord.interactions.at(-1) as never));
    expect(asked.visibleTo).toBe(house.discord.users.alice);
  });

  it('refuses a message without words, and a file that is no text', async () => {
    const { people } = house.discord;
    const none = await house.answerTo(people.messageCommand(MAKE, people.say('').id));
    expect(plainOf(none)).toContain('There are no words in that message.');
    const broken = people.say('a fox', [fileOf('a.txt', 'text/plain', Buffer.from('a\0b'))]);
    expect(plainOf(await house.answerTo(people.messageCommand(MAKE, broken.id)))).toContain('a.txt isn’t text');
    expect(house.bot.heard).toEqual([]);
  });
});

describe('“Another take”', () => {
  it('presses Retry, without its price, of the clip of a message or of its mention', async () => {
    const { people, channels, users } = house.discord;
    const place = { team: '1', channel: channels.general, address: {} };
    const user = { id: users.alice, name: 'alice' };
    const origin: Origin = { ...place, platform: 'discord', user, interaction: '1' };
    const task = 'task0123456789ab' as TaskId;
    const message = await house.platform.open(task, origin, taskView({ task }));
    const view = endNotice(origin, { task });
    const notice = await house.platform.notify({ key: 'end:1', place, replyTo: message, mention: user, view });
    for (const { message: id } of [message, notice]) {
      const asked = await house.answerTo(people.messageCommand('Another take', id));
      expect(asked.visibleTo).toBe(users.alice);
    }
    const press = { kind: 'press', what: `retry:${task}` };
    expect(house.bot.heard).toMatchObject([press, press]);
  });

  it('refuses any other message', async () => {
    const { people } = house.discord;
    const none = await house.answerTo(people.messageCommand('Another take', people.say('hello').id));
    expect(plainOf(none)).toContain('isn’t the message of a clip');
    expect(house.bot.heard).toEqual([]);
  });
});

it('“Show this person’s clips” is /video list with that person, to the caller alone', async () => {
  const { people, users } = house.discord;
  const [listed, shown] = [
    await house.answerTo(people.slash('video list', { who: users.bob })),
    await house.answerTo(people.userCommand('Show this person’s clips', users.bob)),
  ];
  expect([listed, shown].map(({ visibleTo }) => visibleTo)).toEqual([users.alice, users.alice]);
  const [typed, picked] = house.bot.heard;
  expect(picked?.what).toEqual(typed?.what);
  expect(picked?.what).toEqual({ name: 'list', given: { who: [`<@${users.bob}|bob>`] } });
  const direct = house.discord.dm(users.alice);
  await house.answerTo(people.userCommand('Show this person’s clips', users.bob, { channel: direct }));
  expect(house.bot.heard.at(-1)?.what).toEqual(picked?.what);
});
