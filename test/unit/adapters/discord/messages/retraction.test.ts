import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MessageRef, Notice } from '#src/chat/platform.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { approvalNotice, doneView, endNotice, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;
const REMOVED = 'This clip was deleted.';
const REQUEST = approvalNotice();
const KEPT = { code: 'missing_permission', retryable: false };

let house: DiscordHouse;
let clock: ManualClock;
let directory: string;
let origin: Origin;
let message: MessageRef;

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  directory = await mkdtemp(join(tmpdir(), 'dailies-retraction-'));
  house.bot.reply = { kind: 'task', task: TASK };
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
  await rm(directory, { recursive: true });
});

/** Delivers a clip to a channel. */
async function deliver(channel: string): Promise<void> {
  const asked = house.discord.people.slash('video create', { prompt: 'x' }, { channel });
  origin = (await house.heard(asked)).caller;
  await house.discord.answered(asked);
  message = await house.platform.open(TASK, origin, taskView());
  await house.platform.attach(message, origin, doneView(), await writeClip(directory));
}

const post = (key: string, view: Notice['view']): Promise<MessageRef> =>
  house.platform.notify({
    key,
    place: { team: origin.team, channel: origin.channel, address: origin.address },
    replyTo: message,
    mention: origin.user,
    view,
  });
const notify = (): Promise<MessageRef> => post(`end:${TASK}:done:1`, endNotice(origin));
const ask = (): Promise<MessageRef> => post(`ask:${TASK}:`, REQUEST);
const retract = (ref = message): Promise<void> =>
  house.platform.retract(ref, { ...origin, interaction: '', address: {} }, { kind: 'removed', reason: 'deleted' });
const textOf = ({ message: id }: MessageRef): string => plainOf(house.discord.message(id)).trim();

describe('where the bot is a member', () => {
  beforeEach(() => deliver(house.discord.channels.general));

  it('uses its own token once that of the interaction has expired', async () => {
    const notice = await notify();
    clock.advance(20 * 60_000);
    await retract(notice);
    await retract();
    expect([notice, message].map(textOf)).toEqual([REMOVED, REMOVED]);
    expect(house.discord.message(message.message).attachments).toEqual([]);
    // A notice with a link had its preview suppressed: it becomes a message of components.
    expect(house.discord.message(notice.message).content).toBe('');
  });

  it('edits a message only once', async () => {
    await retract();
    const { edits } = house.discord.message(message.message);
    await retract();
    expect(house.discord.message(message.message).edits).toBe(edits);
  });

  it('tells that a message stays where the bot lost its access, but forgets the clip', async () => {
    clock.advance(20 * 60_000);
    house.discord.deny(origin.channel, ['VIEW_CHANNEL']);
    await expect(retract()).rejects.toMatchObject(KEPT);
    expect(await storedIn(house.store)).not.toMatch(/red.fox/);
    house.discord.deny(origin.channel, []);
    await retract();
    expect(textOf(message)).toBe(REMOVED);
  });

  it('counts a message in a deleted channel as retracted', async () => {
    clock.advance(20 * 60_000);
    house.discord.deleteChannel(origin.channel);
    await retract();
  });

  it('passes on a failure that may pass, and keeps what a repetition needs', async () => {
    clock.advance(20 * 60_000);
    house.discord.fail('PATCH /channels/:channel/messages/:message', 400, { code: 30_046 });
    await expect(retract()).rejects.toMatchObject({ code: 'rate_limited', retryable: true });
    expect(textOf(message)).not.toBe(REMOVED);
    await retract();
    expect(textOf(message)).toBe(REMOVED);
  });
});

describe('where the bot is not a member', () => {
  beforeEach(() => deliver(house.discord.channels.group));

  it('uses the token of the interaction, for its follow-ups as well', async () => {
    const notice = await notify();
    await retract(notice);
    await retract();
    expect([notice, message].map(textOf)).toEqual([REMOVED, REMOVED]);
    expect(await storedIn(house.store)).not.toMatch(/red.fox/);
  });

  it('tells that messages stay once the token has expired, but forgets the clip', async () => {
    const notice = await notify();
    clock.advance(20 * 60_000);
    const before = house.discord.requests.length;
    await expect(retract(notice)).rejects.toMatchObject(KEPT);
    await expect(retract()).rejects.toMatchObject(KEPT);
    expect(house.discord.requests).toHaveLength(before);
    expect(textOf(message)).toContain('Done in 2:14');
    expect(await storedIn(house.store)).not.toMatch(/red.fox/);
    await expect(retract(notice)).rejects.toMatchObject(KEPT);
  });

  it('tells that a follow-up stays if Discord ended the token early', async () => {
    const notice = await notify();
    house.discord.expireTokens();
    await expect(retract(notice)).rejects.toMatchObject(KEPT);
  });

  it('edits its notices with that token, and never waits for a press to show them without someone', async () => {
    const posted = [await notify(), await ask()];
    const edits = async () => {
      const views = [endNotice(origin, { prompt: 'a grey heron' }), { ...REQUEST, prompt: 'a grey heron' }];
      return Promise.allSettled(
        posted.map(async (one, at) => house.platform.edit(one, origin, views[at] ?? REQUEST, 'final')),
      );
    };
    await edits();
    for (const one of posted) expect(textOf(one)).toContain('a grey heron');
    clock.advance(20 * 60_000);
    expect(await edits()).toMatchObject([{ reason: KEPT }, { reason: KEPT }]);
  });
});
