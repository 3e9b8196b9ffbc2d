import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MessageRef, Upload } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
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
  origin = (await house.heard(asked)).caller;
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

const upload = (bytes: number): Promise<Upload> => writeClip(directory, { bytes });

describe('progress', () => {
  it('fails at a rate limit instead of waiting, with the retry delay', async () => {
    house.discord.rateLimit(BY_TOKEN, { retryAfterMs: 300, scope: 'shared' });
    await expect(edit('progress')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: expect.any(Number) });
    expect(calls(BY_TOKEN)).toHaveLength(2);
    // The delivery waits for the limit to end and arrives.
    await edit();
    expect(plainOf(shown())).toContain('2:14');
  });

  it('does not queue behind a call in flight', async () => {
    const go = house.discord.hold(BY_TOKEN);
    const final = edit();
    await expect(edit('progress')).rejects.toMatchObject({ code: 'rate_limited' });
    go();
    await final;
  });
});

describe('the interaction’s token', () => {
  it('is not tried after its expiry; the bot’s own token edits instead', async () => {
    clock.advance(15 * 60_000);
    await edit();
    expect(calls(BY_TOKEN)).toHaveLength(1);
    expect(calls(BY_BOT)).toHaveLength(1);
  });

  it('needs no renewal button before its expiry where the bot is a member', async () => {
    clock.advance(14 * 60_000);
    await house.platform.edit(message, origin, taskView(), 'progress');
    expect(buttonsOf(shown()).map(({ id }) => id)).not.toContain('follow');
  });

  it('is not used again once Discord rejected it, not even after a restart', async () => {
    house.discord.expireTokens();
    await edit();
    await edit();
    await house.restart();
    await edit();
    expect(calls(BY_TOKEN).map(({ status }) => status)).toEqual([200, 401]);
    expect(calls(BY_BOT)).toHaveLength(3);
  });

  it('is replaced by a message of the bot’s own if there was no response', async () => {
    house.discord.expireTokens();
    const opened = await house.platform.open('task-2' as TaskId, origin, taskView());
    expect(opened.message).not.toBe(message.message);
    expect(house.discord.message(opened.message)).toMatchObject({ visibleTo: null, channelId: origin.channel });
  });
});

describe('an old message', () => {
  beforeEach(() => clock.advance(61 * 60_000));

  it('is not edited during Discord’s limit on edits of old messages', async () => {
    house.discord.fail(BY_BOT, 400, { code: 30_046 });
    await expect(edit()).rejects.toMatchObject({ code: 'rate_limited', retryable: true, retryAfterMs: 6_000 });
  });
});

describe('a 401', () => {
  it('fails only its own call', async () => {
    clock.advance(15 * 60_000);
    house.discord.fail(BY_BOT, 401);
    await expect(edit()).rejects.toMatchObject({ code: 'unauthorised', retryable: true });
    await edit();
    expect(plainOf(shown())).toContain('2:14');
  });
});

describe('a clip', () => {
  it('that Discord rejects as too large fails with too_large', async () => {
    house.discord.fail(BY_TOKEN, 413, { code: 40_005 });
    const attached = house.platform.attach(message, origin, doneView(), await upload(5000));
    await expect(attached).rejects.toMatchObject({ code: 'too_large' });
  });

  it('is limited by the server’s upload limit once the token has expired', async () => {
    const subscriber = { ...origin, uploadLimitBytes: 50 * 1024 ** 2 };
    clock.advance(15 * 60_000);
    const attached = house.platform.attach(message, subscriber, doneView(), await upload(11 * 1024 ** 2));
    await expect(attached).rejects.toMatchObject({ code: 'too_large', limitBytes: 10 * 1024 ** 2 });
    expect(calls(BY_BOT)).toHaveLength(0);
  });

  it('has a description without characters that turn the direction of text', async () => {
    await house.platform.attach(message, origin, doneView(), { ...(await upload(5000)), description: 'a \u202Efox' });
    expect(shown().attachments).toMatchObject([{ description: 'a fox' }]);
  });

  it('has a description cut between whole characters', async () => {
    const description = `${'a'.repeat(1023)}🦊`;
    await house.platform.attach(message, origin, doneView(), { ...(await upload(5000)), description });
    expect(shown().attachments).toMatchObject([{ description: 'a'.repeat(1023) }]);
  });

  it('is attached once despite a lost confirmation', async () => {
    const file = await upload(5000);
    house.discord.dropNextAnswer(BY_TOKEN);
    await house.platform.attach(message, origin, doneView(), file).catch(() => undefined);
    await house.platform.attach(message, origin, doneView(), file);
    expect(shown().attachments).toHaveLength(1);
    expect(plainOf(shown())).toContain('2:14');
    const uploads = calls(BY_TOKEN).filter(({ body }) => JSON.stringify(body).includes('"id":0'));
    expect(uploads).toHaveLength(1);
  });

  it('stays, and is looked up, although version 1.0.0 did not record its id', async () => {
    const file = await upload(5000);
    await house.platform.attach(message, origin, doneView(), file);
    const records = house.store.keyv('discord_messages');
    const record = await records.get<{ readonly clip: object }>(message.message);
    const { name, description } = file;
    await records.set(message.message, { ...record, clip: { id: null, name, description } });
    await edit();
    await house.platform.attach(message, origin, doneView(), file);
    expect(shown().attachments).toMatchObject([{ filename: name }]);
  });
});

describe('the mention', () => {
  it.each([
    ['is lost', () => house.discord.dropNextAnswer(POSTED)],
    ['is a 502 that took effect', () => house.discord.fail(POSTED, 502, { acts: true })],
  ])('is posted once if its confirmation %s', async (_how, spoil) => {
    spoil();
    await notify().catch(() => undefined);
    await notify();
    expect(house.discord.pings).toHaveLength(1);
  });
});

describe('after a store outage of minutes', () => {
  const AWAY = new DailiesError('writing', { code: 'store_unavailable', retryable: true });
  const again = 'task-2' as TaskId;
  /** Shows another task with an expired token: in a message of its own. */
  const show = () => house.platform.open(again, origin, taskView({ task: again, createdAtMs: clock.now() - ageMs }));
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
  ])('finds a task shown in %s, regardless of its age', async (_where, spoil) => {
    spoil();
    vi.spyOn(house.store, 'commit').mockRejectedValueOnce(AWAY);
    await expect(show()).rejects.toMatchObject({ code: 'store_unavailable' });
    const there = house.discord.messages(origin.channel).map(({ id }) => id);
    pass(16 * 60_000);
    expect(there).toContain((await show()).message);
    expect(house.discord.messages(origin.channel)).toHaveLength(there.length);
  });

  it('finds a posted mention', async () => {
    const go = house.discord.hold(POSTED);
    const notified = notify();
    await expect.poll(() => house.discord.held, { interval: 1 }).toBe(1);
    vi.spyOn(house.store.keyv('discord_values'), 'set').mockRejectedValueOnce(AWAY);
    go();
    await expect(notified).rejects.toThrow();
    pass(16 * 60_000);
    await notify();
    await notify();
    expect(house.discord.pings).toHaveLength(1);
  });
});

it('does not confuse mentions with the same text that reply to different messages', async () => {
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
    ['the link filter', 400, 240_000, 'missing_permission', false],
    ['a limit on file uploads', 400, 400_001, 'missing_permission', false],
    ['a locked thread', 400, 160_005, 'missing_permission', false],
    ['a full thread', 400, 30_033, 'missing_permission', false],
    ['another kind of channel', 400, 50_008, 'missing_permission', false],
    ['a recipient who blocks explicit content', 400, 20_009, 'missing_permission', false],
    ['the size of the file', 400, 50_045, 'too_large', false],
    ['temporarily disabled messages', 403, 40_004, 'platform_unavailable', true],
    ['a temporarily disabled feature', 403, 40_006, 'platform_unavailable', true],
    ['an unknown code', 400, 999_999, 'internal', false],
  ] as const)('because of %s keeps Discord’s message', async (_why, status, code, meaning, retryable) => {
    house.discord.fail(BY_TOKEN, status, { code });
    const words = retryable ? undefined : expect.stringContaining(`${code}`);
    await expect(edit()).rejects.toMatchObject({ code: meaning, retryable, words });
  });

  it('of an archived thread is resolved by unarchiving it with the bot’s own token', async () => {
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
])('survives a malformed %s (%j), now and when its session is resumed', async (event, data) => {
  house.discord.garble(event, data);
  const later = house.discord.people.slash('video list');
  await house.heard(later);
  await house.discord.answered(later);
  await house.restart();
  const afterwards = house.discord.people.slash('video list');
  await house.heard(afterwards);
  await house.discord.answered(afterwards);
});

describe('a deleted message or channel', () => {
  it.each([
    ['the message', () => house.discord.deleteMessage(message.message)],
    ['the channel', () => house.discord.deleteChannel(message.channel)],
  ])('fails edits of %s with message_gone, by token and by the bot', async (_what, remove) => {
    remove();
    await expect(edit()).rejects.toMatchObject({ code: 'message_gone', retryable: false });
    clock.advance(15 * 60_000);
    await expect(edit()).rejects.toMatchObject({ code: 'message_gone', retryable: false });
  });

  it('fails edits for good after the bot was removed from the server', async () => {
    clock.advance(15 * 60_000);
    house.discord.removeBot();
    await expect(edit()).rejects.toMatchObject({ retryable: false });
  });
});

it('never logs a token or stores it in an error', async () => {
  house.discord.fail(BY_TOKEN, 403, { code: 50_013 });
  const error: unknown = await edit().catch((thrown: unknown) => thrown);
  const { token = '' } = origin.address;
  expect(token.length).toBeGreaterThan(10);
  const { inspect } = await import('node:util');
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(token);
});
