import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MessageRef, Upload } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { fakeClip } from '#test/fakes/clip.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

const BY_TOKEN = 'PATCH /webhooks/:application/:token/messages/:message';
const BY_BOT = 'PATCH /channels/:channel/messages/:message';
const POSTED = 'POST /channels/:channel/messages';
const TASK = 'task-1' as TaskId;

let house: DiscordHouse;
let clock: ManualClock;
let directory: string;
let origin: Origin;
let message: MessageRef;

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  directory = await mkdtemp(join(tmpdir(), 'dailies-faults-'));
  house.bot.reply = { kind: 'task', task: TASK };
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
  const asked = house.discord.people.slash('video create', { prompt: 'a fox' });
  const { mayManage: _mayManage, ...caller } = (await house.heard(asked)).caller;
  origin = caller;
  await house.discord.answered(asked);
  message = await house.platform.open(TASK, origin, taskView());
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(house.discord.violations).toEqual([]);
  expect(house.discord.vanished).toEqual([]);
});

const edit = (urgency: 'progress' | 'final' = 'final') => house.platform.edit(message, origin, doneView(), urgency);
const calls = (route: string) => house.discord.requests.filter((one) => one.route === route);
const shown = () => house.discord.message(message.message);
const notify = (key = 'end') =>
  house.platform.notify({
    key,
    place: { team: origin.team, channel: origin.channel, address: origin.address },
    replyTo: message,
    mention: origin.user,
    view: endNotice(origin),
  });

async function upload(bytes: number): Promise<Upload> {
  const path = join(directory, 'clip.mp4');
  await writeFile(path, fakeClip(bytes));
  return { path, bytes, contentType: 'video/mp4', name: 'fox.mp4', description: 'a fox' };
}

describe('progress', () => {
  it('is dropped at a rate limit instead of waiting, and says how long', async () => {
    house.discord.rateLimit(BY_TOKEN, { retryAfterMs: 300, scope: 'shared' });
    await expect(edit('progress')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: expect.any(Number) });
    expect(calls(BY_TOKEN)).toHaveLength(2);
    // The delivery waits its time and arrives.
    await edit();
    expect(plainOf(shown())).toContain('2:14');
  });

  it('does not queue behind anything', async () => {
    const go = house.discord.hold(BY_TOKEN);
    const final = edit();
    await expect(edit('progress')).rejects.toMatchObject({ code: 'rate_limited' });
    go();
    await final;
  });
});

describe('the interaction’s token', () => {
  it('is given up after its time without being tried, and by an edit of the bot’s own', async () => {
    clock.advance(15 * 60_000);
    await edit();
    expect(calls(BY_TOKEN)).toHaveLength(1);
    expect(calls(BY_BOT)).toHaveLength(1);
  });

  it('asks nobody for a press before it ends: the bot itself goes on', async () => {
    clock.advance(14 * 60_000);
    await house.platform.edit(message, origin, taskView(), 'progress');
    expect(buttonsOf(shown()).map(({ id }) => id)).not.toContain('follow');
  });

  it('is not used again once Discord refused it, not even after a restart', async () => {
    house.discord.expireTokens();
    await edit();
    await edit();
    await house.restart();
    await edit();
    expect(calls(BY_TOKEN).map(({ status }) => status)).toEqual([200, 401]);
    expect(calls(BY_BOT)).toHaveLength(3);
  });

  it('leads to a message of the bot’s own where the answer never was', async () => {
    house.discord.expireTokens();
    const opened = await house.platform.open('task-2' as TaskId, origin, taskView());
    expect(opened.message).not.toBe(message.message);
    expect(house.discord.message(opened.message)).toMatchObject({ visibleTo: null, channelId: origin.channel });
  });
});

describe('an old message', () => {
  beforeEach(() => clock.advance(61 * 60_000));

  it('that Discord lets nobody edit for a while is left alone for a while', async () => {
    house.discord.fail(BY_BOT, 400, { code: 30_046 });
    await expect(edit()).rejects.toMatchObject({ code: 'rate_limited', retryable: true, retryAfterMs: 6_000 });
  });
});

describe('a 401', () => {
  it('stops nothing but itself', async () => {
    clock.advance(15 * 60_000);
    house.discord.fail(BY_BOT, 401);
    await expect(edit()).rejects.toMatchObject({ code: 'unauthorised', retryable: true });
    await edit();
    expect(plainOf(shown())).toContain('2:14');
  });
});

describe('a clip', () => {
  it('that Discord finds too large is said to be', async () => {
    house.discord.fail(BY_TOKEN, 413, { code: 40_005 });
    const attached = house.platform.attach(message, origin, doneView(), await upload(5000));
    await expect(attached).rejects.toMatchObject({ code: 'too_large' });
  });

  it('has to fit what the bot itself may post once the token is gone', async () => {
    const subscriber = { ...origin, uploadLimitBytes: 50 * 1024 ** 2 };
    clock.advance(15 * 60_000);
    const attached = house.platform.attach(message, subscriber, doneView(), await upload(11 * 1024 ** 2));
    await expect(attached).rejects.toMatchObject({ code: 'too_large', limitBytes: 10 * 1024 ** 2 });
    expect(calls(BY_BOT)).toHaveLength(0);
  });

  it('is described in whole characters', async () => {
    const description = `${'a'.repeat(1023)}🦊`;
    await house.platform.attach(message, origin, doneView(), { ...(await upload(5000)), description });
    expect(shown().attachments).toMatchObject([{ description: 'a'.repeat(1023) }]);
  });

  it('whose confirmation got lost is there once', async () => {
    const file = await upload(5000);
    house.discord.dropNextAnswer(BY_TOKEN);
    await house.platform.attach(message, origin, doneView(), file).catch(() => undefined);
    await house.platform.attach(message, origin, doneView(), file);
    expect(shown().attachments).toHaveLength(1);
    expect(plainOf(shown())).toContain('2:14');
    const uploads = calls(BY_TOKEN).filter(({ body }) => JSON.stringify(body).includes('"id":0'));
    expect(uploads).toHaveLength(1);
  });
});

describe('the mention', () => {
  it.each([
    ['got lost', () => house.discord.dropNextAnswer(POSTED)],
    ['is a 502 that did it', () => house.discord.fail(POSTED, 502, { acts: true })],
  ])('is one where its confirmation %s', async (_how, spoil) => {
    spoil();
    await notify().catch(() => undefined);
    await notify();
    expect(house.discord.pings).toHaveLength(1);
  });
});

describe('after minutes without a store', () => {
  const AWAY = new DailiesError('writing', { code: 'store_unavailable', retryable: true });
  const again = { ...taskView(), task: 'task-2' as TaskId };
  /** Shows another task by a token that Discord no longer takes: in a message of its own. */
  const show = () => house.platform.open(again.task, origin, { ...again, createdAtMs: clock.now() - ageMs });
  let ageMs = 0;

  const pass = (ms: number): void => {
    clock.advance(ms);
    ageMs += ms;
  };

  beforeEach(() => {
    ageMs = 0;
  });

  it.each([
    ['the answer', () => undefined],
    ['a message of its own', () => house.discord.expireTokens()],
  ])('a task that was shown in %s is found, however long ago', async (_where, spoil) => {
    spoil();
    vi.spyOn(house.store, 'commit').mockRejectedValueOnce(AWAY);
    await expect(show()).rejects.toMatchObject({ code: 'store_unavailable' });
    const there = house.discord.messages(origin.channel).map(({ id }) => id);
    pass(16 * 60_000);
    expect(there).toContain((await show()).message);
    expect(house.discord.messages(origin.channel)).toHaveLength(there.length);
  });

  it('a mention that was posted is found', async () => {
    const go = house.discord.hold(POSTED);
    const notified = notify();
    await expect.poll(() => house.discord.held, { interval: 1 }).toBe(1);
    vi.spyOn(house.store.keyv('adapters'), 'set').mockRejectedValueOnce(AWAY);
    go();
    await expect(notified).rejects.toThrow();
    pass(16 * 60_000);
    await notify();
    await notify();
    expect(house.discord.pings).toHaveLength(1);
  });
});

it('a mention is not taken for another one in the same words, under another message', async () => {
  const other = await house.platform.open('task-2' as TaskId, { ...origin, address: {} }, taskView());
  const tell = (key: string, replyTo: MessageRef) =>
    house.platform.notify({ key, place: origin, replyTo, mention: origin.user, view: endNotice(origin) });
  house.discord.fail(POSTED, 403, { code: 50_001 });
  await expect(tell('one', message)).rejects.toThrow();
  await tell('two', other);
  clock.advance(16 * 60_000);
  await tell('one', message);
  expect(house.discord.pings).toHaveLength(2);
});

describe('a refusal', () => {
  it.each([
    ['automatic moderation', 400, 200_000, 'missing_permission', false],
    ['the filter of links', 400, 240_000, 'missing_permission', false],
    ['a limit of files', 400, 400_001, 'missing_permission', false],
    ['a locked thread', 400, 160_005, 'missing_permission', false],
    ['a full thread', 400, 30_033, 'missing_permission', false],
    ['another kind of channel', 400, 50_008, 'missing_permission', false],
    ['a recipient who wants no such thing', 400, 20_009, 'missing_permission', false],
    ['the size of the file', 400, 50_045, 'too_large', false],
    ['something switched off for now', 403, 40_004, 'platform_unavailable', true],
    ['something else switched off for now', 403, 40_006, 'platform_unavailable', true],
    ['what is not known yet', 400, 999_999, 'internal', false],
  ] as const)('because of %s says so in Discord’s words', async (_why, status, code, meaning, retryable) => {
    house.discord.fail(BY_TOKEN, status, { code });
    const words = retryable ? undefined : expect.stringContaining(`${code}`);
    await expect(edit()).rejects.toMatchObject({ code: meaning, retryable, words });
  });

  it('of an archived thread is got over by the bot’s own token, which wakes it', async () => {
    house.discord.fail(BY_TOKEN, 400, { code: 50_083 });
    await edit();
    expect(calls(BY_BOT)).toHaveLength(1);
    expect(plainOf(shown())).toContain('2:14');
  });
});

it.each([
  ['INTERACTION_CREATE', null],
  ['INTERACTION_CREATE', { id: '1', token: 't', application_id: '2', type: 2 }],
  ['INTERACTION_CREATE', { id: '1', token: 't', application_id: '2', type: 3 }],
  ['INTERACTION_CREATE', { id: '1', token: 't', application_id: '2', type: 5, data: null }],
  ['INTERACTION_CREATE', 7],
  ['MESSAGE_REACTION_ADD', null],
  ['MESSAGE_REACTION_ADD', { message_id: '1' }],
])('a malformed %s (%j) ends nothing, now or when its session is resumed', async (event, data) => {
  house.discord.garble(event, data);
  const later = house.discord.people.slash('video list');
  await house.heard(later);
  await house.discord.answered(later);
  await house.restart();
  const afterwards = house.discord.people.slash('video list');
  await house.heard(afterwards);
  await house.discord.answered(afterwards);
});

describe('what is gone', () => {
  it.each([
    ['the message', () => house.discord.deleteMessage(message.message)],
    ['the channel', () => house.discord.deleteChannel(message.channel)],
  ])('%s ends editing, by token and by bot', async (_what, remove) => {
    remove();
    await expect(edit()).rejects.toMatchObject({ code: 'message_gone', retryable: false });
    clock.advance(15 * 60_000);
    await expect(edit()).rejects.toMatchObject({ code: 'message_gone', retryable: false });
  });

  it('a bot that was thrown out is told that it may not', async () => {
    clock.advance(15 * 60_000);
    house.discord.removeBot();
    await expect(edit()).rejects.toMatchObject({ retryable: false });
  });
});

it('never logs or keeps a token in an error', async () => {
  house.discord.fail(BY_TOKEN, 403, { code: 50_013 });
  const error: unknown = await edit().catch((thrown: unknown) => thrown);
  const { token = '' } = origin.address;
  expect(token.length).toBeGreaterThan(10);
  const { inspect } = await import('node:util');
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(token);
});
