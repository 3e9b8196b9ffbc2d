import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import type { Lease } from '#src/engine/cluster/leases.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { settle } from '#test/fakes/settle.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

const MINUTE_MS = 60_000;
const CHECK_EVERY_MS = 10_000;
const EDIT = 'PATCH /webhooks/:application/:token/messages/:message';
const TASK = 'task-1' as TaskId;

let house: DiscordHouse;
let clock: ManualClock;
let origin: Origin;
let message: MessageRef;

/** Requests a clip through a user install, where the bot is not a member. */
beforeEach(async () => {
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  house.bot.reply = { kind: 'task', task: TASK };
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
  const asked = house.discord.people.slash('video create', { prompt: 'x' }, { channel: house.discord.channels.group });
  origin = (await house.heard(asked)).caller;
  await house.discord.answered(asked);
  message = await house.platform.open(TASK, origin, taskView());
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const shown = () => house.discord.message(message.message);
const edits = () => house.discord.requests.filter(({ route }) => route === EDIT);
const asks = () => buttonsOf(shown()).some(({ id }) => id === 'follow');
/** Resolves once no edit of the message is in flight. */
const isUnlocked = (): Promise<void> =>
  expect.poll(() => house.store.leases.holder(`message:${TASK}`), { interval: 1, timeout: 300_000 }).toBeNull();
/** Resolves once the message has the renewal button, and its edit has finished. */
const isAsking = async (): Promise<void> => {
  await house.discord.until(asks, 'the message asking for a press');
  await isUnlocked();
};

async function press(): Promise<void> {
  const pressed = house.discord.people.press(message.message, 'follow');
  await house.discord.answered(pressed);
  while (house.reached.length === 0) await setImmediate();
}

it('shows the renewal button before the token expires, and continues after a press', async () => {
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

it('shows the button after a restart, too', async () => {
  clock.advance(5 * MINUTE_MS);
  await house.restart();
  clock.advance(9 * MINUTE_MS);
  await isAsking();
});

it('shows the button at the next check if Discord fails at first', async () => {
  for (let tries = 0; tries < 3; tries += 1) house.discord.fail(EDIT, 500);
  clock.advance(14 * MINUTE_MS);
  await house.discord.until(() => edits().length === 4, 'the failed edits');
  await isUnlocked();
  await settle();
  expect(asks()).toBe(false);
  clock.advance(CHECK_EVERY_MS);
  await isAsking();
});

it('keeps the button during progress edits', async () => {
  clock.advance(14 * MINUTE_MS);
  await isAsking();
  await house.platform.edit(message, origin, taskView({ progress: 80 }), 'final');
  expect(plainOf(shown())).toContain('80 %');
  expect(asks()).toBe(true);
});

it('shows the button while an unconfirmed task is being looked for', async () => {
  const failure = { code: 'lost_answer', words: null, search: { untilMs: clock.now() + 20 * MINUTE_MS } } as const;
  await house.platform.edit(message, origin, taskView({ state: 'uncertain', phase: 'uncertain', failure }), 'final');
  clock.advance(14 * MINUTE_MS);
  await isAsking();
});

it('shows no button for a finished task', async () => {
  await house.platform.edit(message, origin, doneView(), 'final');
  clock.advance(14.5 * MINUTE_MS);
  await house.restart();
  expect(asks()).toBe(false);
});

describe('while the message is being edited', () => {
  let turn: Lease | null;
  beforeEach(async () => {
    turn = await house.store.leases.take(`message:${TASK}`, 15_000);
  });

  it('does not overwrite the concurrent edit', async () => {
    const file = await writeClip(await mkdtemp(join(tmpdir(), 'dailies-following-')));
    const go = house.discord.hold(EDIT);
    const attached = house.platform.attach(message, origin, doneView(), file);
    await expect.poll(() => house.discord.held, { interval: 1, timeout: 300_000 }).toBe(1);
    clock.advance(14 * MINUTE_MS);
    await settle();
    go();
    await attached;
    await turn?.release();
    clock.advance(CHECK_EVERY_MS);
    await house.stop();
    expect(plainOf(shown())).toContain('2:14');
    expect(asks()).toBe(false);
    await rm(dirname(file.path), { recursive: true });
  });

  it('adds the button afterwards if it is still due', async () => {
    clock.advance(14 * MINUTE_MS);
    await settle();
    expect(asks()).toBe(false);
    await turn?.release();
    clock.advance(CHECK_EVERY_MS);
    await isAsking();
  });

  it('accepts a press without rewriting the message', async () => {
    await turn?.release();
    clock.advance(14 * MINUTE_MS);
    await isAsking();
    turn = await house.store.leases.take(`message:${TASK}`, 15_000);
    await press();
    expect(house.discord.interactions.at(-1)?.answer?.type).toBe(6);
  });
});

it('adds no button to a message whose stored content has expired: that would replace all of it', async () => {
  await house.platform.edit(message, origin, doneView(), 'final');
  await house.platform.expire(message, { kind: 'removed', reason: 'expired' });
  house.bot.reply = privately('The details.');
  await house.discord.answered(house.discord.people.press(message.message, 'details:task-1'));
  await expect.poll(() => house.reached, { interval: 1, timeout: 300_000 }).toEqual([TASK]);
  clock.advance(14 * MINUTE_MS);
  await settle();
  await isUnlocked();
  expect(plainOf(shown())).toContain('2:14');
});

it('waits for a late press, without trying the dead token', async () => {
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

it('responds to a press even while the store is unavailable or hangs', async () => {
  const records = house.store.keyv('discord_messages');
  house.bot.reply = privately('The details.');
  const get = vi.spyOn(records, 'get').mockRejectedValueOnce(new Error('away'));
  await house.discord.answered(house.discord.people.press(message.message, 'details:task-1'));
  get.mockClear().mockReturnValueOnce(new Promise(() => undefined));
  const pressed = house.discord.people.press(message.message, 'details:task-1');
  await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(1), { timeout: 300_000, interval: 1 });
  clock.advance(1_100);
  await house.discord.answered(pressed);
});

it('takes a fresh token from any press under it, and responds ephemerally', async () => {
  clock.advance(10 * MINUTE_MS);
  house.bot.reply = privately('The details.');
  const pressed = house.discord.people.press(message.message, 'details:task-1');
  await house.discord.until(() => pressed.followupIds.length === 1, 'a private answer');
  expect(house.discord.message(pressed.followupIds[0] ?? '').visibleTo).toBe(origin.user.id);
  clock.advance(10 * MINUTE_MS);
  await house.platform.edit(message, origin, doneView(), 'final');
  expect(plainOf(shown())).toContain('2:14');
});
