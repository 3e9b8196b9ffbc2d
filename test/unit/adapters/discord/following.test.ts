import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

const MINUTE_MS = 60_000;
const TASK = 'task-1' as TaskId;

let house: DiscordHouse;
let clock: ManualClock;
let origin: Origin;
let message: MessageRef;

/** Somebody who installed the bot asks for a clip where it is not a member. */
beforeEach(async () => {
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  house.bot.reply = { kind: 'task', task: TASK };
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
  const asked = house.discord.people.slash('video create', { prompt: 'x' }, { channel: house.discord.channels.group });
  const { mayManage: _mayManage, ...caller } = (await house.heard(asked)).caller;
  origin = caller;
  await house.discord.answered(asked);
  message = await house.platform.open(TASK, origin, taskView());
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const shown = () => house.discord.message(message.message);
const asks = () => buttonsOf(shown()).some(({ id }) => id === 'follow');
const isAsking = () => house.discord.until(asks, 'the message asking for a press');

async function press(): Promise<void> {
  const pressed = house.discord.people.press(message.message, 'follow');
  await house.discord.answered(pressed);
  while (house.reached.length === 0) await setImmediate();
}

it('asks before its token ends, and goes on after a press', async () => {
  clock.advance(13 * MINUTE_MS);
  expect(asks()).toBe(false);
  clock.advance(MINUTE_MS);
  await isAsking();
  await press();
  expect(asks()).toBe(false);
  expect(house.reached).toEqual([TASK]);
  clock.advance(10 * MINUTE_MS);
  await house.platform.edit(message, origin, doneView(), 'final');
  expect(plainOf(shown())).toContain('2:14');
});

it('asks after a restart as well', async () => {
  clock.advance(5 * MINUTE_MS);
  await house.restart();
  clock.advance(9 * MINUTE_MS);
  await isAsking();
});

it('goes on asking while progress is shown', async () => {
  clock.advance(14 * MINUTE_MS);
  await isAsking();
  await house.platform.edit(message, origin, taskView({ progress: 80 }), 'final');
  expect(plainOf(shown())).toContain('80 %');
  expect(asks()).toBe(true);
});

it('does not ask for what has ended', async () => {
  await house.platform.edit(message, origin, doneView(), 'final');
  clock.advance(14.5 * MINUTE_MS);
  await house.restart();
  expect(asks()).toBe(false);
});

it('waits for a press that comes late, without trying the dead token', async () => {
  clock.advance(14 * MINUTE_MS);
  await isAsking();
  clock.advance(6 * MINUTE_MS);
  const waiting = { code: 'platform_unavailable', retryable: true };
  const place = { team: origin.team, channel: origin.channel, address: origin.address };
  const notice = { key: 'end', place, replyTo: message, mention: origin.user, view: endNotice(origin) };
  await expect(house.platform.edit(message, origin, doneView(), 'final')).rejects.toMatchObject(waiting);
  await expect(house.platform.notify(notice)).rejects.toMatchObject(waiting);
  await press();
  await house.platform.edit(message, origin, doneView(), 'final');
  await house.platform.notify(notice);
  expect(house.discord.pings.map(({ id }) => id)).toEqual([origin.user.id]);
});

it('answers a press also while the store is away, or hangs', async () => {
  const records = house.store.keyv('adapters');
  house.bot.reply = privately('The details.');
  const get = vi.spyOn(records, 'get').mockRejectedValueOnce(new Error('away'));
  await house.discord.answered(house.discord.people.press(message.message, 'details:task-1'));
  get.mockClear().mockReturnValueOnce(new Promise(() => undefined));
  const pressed = house.discord.people.press(message.message, 'details:task-1');
  await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(1), { interval: 1 });
  clock.advance(1_100);
  await house.discord.answered(pressed);
});

it('takes any press under it for a fresh token, and answers the caller alone', async () => {
  clock.advance(10 * MINUTE_MS);
  house.bot.reply = privately('The details.');
  const pressed = house.discord.people.press(message.message, 'details:task-1');
  await house.discord.until(() => pressed.followupIds.length === 1, 'a private answer');
  expect(house.discord.message(pressed.followupIds[0] ?? '').visibleTo).toBe(origin.user.id);
  clock.advance(10 * MINUTE_MS);
  await house.platform.edit(message, origin, doneView(), 'final');
  expect(plainOf(shown())).toContain('2:14');
});
