import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setCardId } from '#src/chat/sets/set-view.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { cutView, setView, taskView } from '#test/fakes/views.ts';

// What is below the card of a storyboard is in a thread that begins at the card.

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
  house.bot.reply = privately('Yes.');
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const SET = '0123456789abcdef' as TaskId;
const OTHER = '9123456789abcdef' as TaskId;
const SHOTS = ['1123456789abcdef' as TaskId, '2123456789abcdef' as TaskId];

function origin(): Origin {
  const { guildId: team, channels, users } = house.discord;
  const user = { id: users.alice, name: 'alice' };
  return { platform: 'discord', team, channel: channels.general, user, interaction: 'reaction:1', address: {} };
}

function below(card: string): Origin {
  return { ...origin(), address: { below: card }, replyTo: card };
}

/** Posts the card of a storyboard. @returns its message, which is the thread's id as well */
async function card(set = SET): Promise<string> {
  const members = SHOTS.map((task) => ({ view: taskView({ task }), message: null }));
  const view = setView({ kind: 'storyboard', id: set, of: 2 }, members);
  return (await house.platform.open(setCardId(set), origin(), view)).message;
}

async function shot(at: number, of: string) {
  const task = SHOTS[at] as TaskId;
  return house.platform.open(task, below(of), taskView({ task }));
}

const started = () =>
  house.discord.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/threads')).length;

describe('what is posted below a card', () => {
  it('is in the thread of the card, which its first message starts', async () => {
    const thread = await card();
    expect(await shot(0, thread)).toMatchObject({ channel: thread });
    await house.restart();
    expect(await shot(1, thread)).toMatchObject({ channel: thread });
    const cut = await house.platform.open('cut-0123456789abcdef' as TaskId, below(thread), cutView());
    expect(cut.channel).toBe(thread);
    expect(started()).toBe(1);
    expect(house.discord.threadOf(thread)).toBe('Storyboard 01234567');
    expect(house.discord.messages(house.discord.channels.general)).toHaveLength(1);
  });

  it('is in the thread that someone else has started at the card', async () => {
    const thread = await card();
    house.discord.startThread(thread, 'ours');
    expect(await shot(0, thread)).toMatchObject({ channel: thread });
  });

  it('replies to the card where the bot may start no thread, and is not tried there again', async () => {
    const { discord } = house;
    const { general } = discord.channels;
    discord.deny(general, ['CREATE_PUBLIC_THREADS']);
    const of = await card();
    for (const at of [0, 1]) {
      const { channel, message } = await shot(at, of);
      expect(channel).toBe(general);
      expect(discord.message(message).replyTo).toBe(of);
    }
    expect(started()).toBe(1);
  });

  it('replies to the card once the thread is deleted, or takes no message of the bot', async () => {
    const { discord } = house;
    const of = await card();
    await shot(0, of);
    discord.deleteChannel(of);
    const { channel, message } = await shot(1, of);
    expect(channel).toBe(discord.channels.general);
    expect(discord.message(message).replyTo).toBe(of);
  });

  it('stays in the thread where Discord refuses one message', async () => {
    const of = await card();
    await shot(0, of);
    house.discord.fail('POST /channels/:channel/messages', 400, { code: 50_035 });
    await expect(shot(1, of)).rejects.toThrow();
    expect(await shot(1, of)).toMatchObject({ channel: of });
  });

  it('replies to a card that is in a thread itself', async () => {
    const { discord } = house;
    const { thread } = discord.channels;
    const address = { thread: 'yes' };
    const there = { ...origin(), channel: thread, address };
    const view = setView({ kind: 'storyboard', id: SET, of: 2 }, [{ view: taskView(), message: null }]);
    const { message: of } = await house.platform.open(setCardId(SET), there, view);
    const task = SHOTS[0] as TaskId;
    const reply = { ...there, address: { ...address, below: of }, replyTo: of };
    const { channel, message } = await house.platform.open(task, reply, taskView({ task }));
    expect([channel, discord.message(message).replyTo]).toEqual([thread, of]);
    expect(started()).toBe(0);
  });
});

describe('the thread of a card', () => {
  it('counts as the channel of the card for who presses and orders there', async () => {
    const { people, channels } = house.discord;
    const thread = await card();
    const { message } = await shot(0, thread);
    const ordered = people.slash('video create', { prompt: 'a fox' }, { channel: thread });
    for (const heard of [
      await house.heard(people.press(message, `details:${SHOTS[0]}`, { channel: thread })),
      await house.heard(ordered),
    ]) {
      expect(heard.caller).toMatchObject({ channel: channels.general });
      expect(heard.caller).not.toHaveProperty('parentChannel');
      expect(heard.caller.rights?.[channels.general]).toMatchObject({ view: true, post: true });
      expect(await house.platform.channels.missingRight(heard.caller)).toBeNull();
    }
  });

  it('counts as the channel of the card from when a person starts it, and is the thread of its shots', async () => {
    const { people, channels } = house.discord;
    const thread = await card();
    house.discord.startThread(thread, 'ours');
    const { caller } = await house.heard(people.slash('video create', { prompt: 'a fox' }, { channel: thread }));
    expect(caller).toMatchObject({ channel: channels.general });
    expect(caller).not.toHaveProperty('parentChannel');
    const task = SHOTS[0] as TaskId;
    const origin = { ...below(thread), address: { ...caller.address, below: thread }, interaction: caller.interaction };
    expect(await house.platform.open(task, origin, taskView({ task }))).toMatchObject({ channel: thread });
  });

  it('has no take of another storyboard that is ordered there', async () => {
    const { people } = house.discord;
    const [here, there] = [await card(), await card(OTHER)];
    await shot(0, here);
    await shot(1, there);
    const take = 'a123456789abcdef' as TaskId;
    house.bot.reply = { kind: 'task', task: take };
    const { caller } = await house.heard(people.slash('video create', { prompt: 'a fox' }, { channel: here }));
    const origin = { ...below(there), ...caller, address: { ...caller.address, below: there } };
    expect(await house.platform.open(take, origin, taskView({ task: take }))).toMatchObject({ channel: there });
  });

  it('has the answers to what is pressed and ordered there', async () => {
    const { people } = house.discord;
    const thread = await card();
    await shot(0, thread);
    const take = 'a123456789abcdef' as TaskId;
    house.bot.reply = { kind: 'task', task: take };
    const pressed = people.slash('video create', { prompt: 'a fox' }, { channel: thread });
    const { caller } = await house.heard(pressed);
    const shown = await house.platform.open(take, { ...origin(), ...caller }, taskView({ task: take }));
    expect(shown.channel).toBe(thread);
    expect(shown.message).toBe((await house.answerTo(pressed)).id);
  });

  it('counts as the channel of the card for reactions', async () => {
    const { people, channels } = house.discord;
    const thread = await card();
    const { message } = await shot(0, thread);
    house.bot.reply = null;
    people.react(message, '🔁', { channel: thread });
    const { caller, what } = await house.hears(({ kind }) => kind === 'react');
    expect(caller).toMatchObject({ channel: channels.general });
    expect(what).toMatchObject({ message: { channel: thread, message } });
  });
});
