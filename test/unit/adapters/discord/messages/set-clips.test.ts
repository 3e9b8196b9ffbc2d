import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import type { SetView } from '#src/chat/view.ts';
import type { Origin, SetPlace, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { walk } from '#test/fakes/discord/components.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { settle } from '#test/fakes/settle.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { doneView, setView, taskView } from '#test/fakes/views.ts';

const BY_TOKEN = 'PATCH /webhooks/:application/:token/messages/:message';
const BY_BOT = 'PATCH /channels/:channel/messages/:message';
const MINUTE_MS = 60_000;
const KEPT = { code: 'missing_permission', retryable: false };
const WAITING = { code: 'platform_unavailable', retryable: true };
const TAKES = { id: 'task-1' as TaskId, kind: 'takes', of: 4 } as const;

let house: DiscordHouse;
let clock: ManualClock;
let directory: string;
let origin: Origin;
let message: MessageRef;

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  directory = await mkdtemp(join(tmpdir(), 'dailies-set-clips-'));
  house.bot.reply = { kind: 'task', task: card().id };
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(house.discord.violations).toEqual([]);
  expect(house.discord.vanished).toEqual([]);
});

const nameOf = (at: number): string => `red-fox-7f3a-${at}.mp4`;

/** Returns the card of a set. @param there numbers of the tasks whose clips it has; the others are running */
function card(there: readonly number[] = [], place: Omit<SetPlace, 'at'> = TAKES): SetView {
  const members = Array.from({ length: place.of }, (_, index) => {
    const at = index + 1;
    const own = { task: `task-${at}` as TaskId, set: { ...place, at } };
    if (!there.includes(at)) return { view: taskView(own), message: null };
    return { view: doneView(own), message: null, file: { name: nameOf(at), description: 'a red fox' } };
  });
  return setView(place, members, { buttons: ['details'] });
}

async function open(channel: string, view = card()): Promise<void> {
  const asked = house.discord.people.slash('video create', { prompt: 'x' }, { channel });
  origin = (await house.heard(asked)).caller;
  await house.discord.answered(asked);
  message = await house.platform.open(view.id, origin, view);
}

/** Attaches a clip. @param there as in {@link card} */
async function attach(
  at: number,
  there: readonly number[],
  bytes = 5_000 + at,
  place = TAKES as Omit<SetPlace, 'at'>,
): Promise<void> {
  const file = await writeClip(directory, { name: nameOf(at), bytes });
  await house.platform.attach(message, origin, card(there, place), file);
}

const edit = (there: readonly number[], urgency: 'progress' | 'final' = 'final'): Promise<void> =>
  house.platform.edit(message, origin, card(there), urgency);

const shown = () => house.discord.message(message.message);
const files = () => shown().attachments.map(({ filename }) => filename);
const vanished = () => house.discord.takeVanished().map(({ attachment }) => attachment.filename);
const stored = () => storedIn(house.store);

/** Returns the files and alternative texts of its gallery. */
function gallery() {
  const items = [...walk(shown().components)].flatMap(({ items: some = [] }) => some);
  return items.map(({ media, description }) => {
    const file = shown().attachments.find(({ id }) => id === media.attachment_id);
    return { name: file?.filename, text: description };
  });
}

/** Returns the names of the files that were uploaded, also of those whose response was lost. */
const uploads = (): readonly string[] =>
  house.discord.requests.flatMap(({ body }) => /"id":0,"filename":"([^"]+)"/u.exec(JSON.stringify(body))?.[1] ?? []);

describe('where the bot is a member, the card of a set', () => {
  beforeEach(() => open(house.discord.channels.general));

  it('has its clips in its own order, each uploaded once, with alternative texts that begin with their names', async () => {
    await attach(3, [3]);
    await attach(1, [1, 3]);
    await edit([1, 3], 'progress');
    await attach(2, [1, 2, 3]);
    await edit([1, 2, 3]);
    const texts = [1, 2, 3].map((at) => ({ name: nameOf(at), text: `Take ${at}: a red fox` }));
    expect(gallery()).toEqual(texts);
    expect(shown().attachments.map(({ description }) => description)).toEqual(texts.map(({ text }) => text));
    expect(uploads()).toEqual([3, 1, 2].map(nameOf));
  });

  it('loses none to a progress edit that comes late', async () => {
    await attach(1, [1]);
    await attach(2, [1, 2]);
    await edit([1], 'progress');
    expect(files().toSorted()).toEqual([1, 2].map(nameOf));
    await edit([1, 2]);
    expect(gallery().map(({ name }) => name)).toEqual([1, 2].map(nameOf));
  });

  it('names compared clips by their labels', async () => {
    const place = { id: TAKES.id, kind: 'comparison', of: 2 } as const;
    for (const at of [1, 2]) await attach(at, [1, at], 5_000, place);
    expect(gallery().map(({ text }) => text)).toEqual(['Clip A: a red fox', 'Clip B: a red fox']);
  });

  it('keeps the clips that its view names, and loses the others for good', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    await edit([2]);
    expect([files(), gallery().length, vanished()]).toEqual([[nameOf(2)], 1, [nameOf(1)]]);
    expect(await stored()).toMatch(/7f3a-2/u);
    expect(await stored()).not.toMatch(/7f3a-1/u);
    await edit([]);
    expect([files(), vanished()]).toEqual([[], [nameOf(2)]]);
    expect(await stored()).not.toMatch(/7f3a/u);
  });

  it('still knows a clip whose removal failed, and removes it at the next attempt', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    house.discord.fail(BY_TOKEN, 400, { code: 30_046 });
    await expect(edit([2])).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await stored()).toMatch(/7f3a-1/u);
    await edit([2]);
    expect([files(), vanished()]).toEqual([[nameOf(2)], [nameOf(1)]]);
  });

  it('forgets a clip that it cannot remove any more, and says so', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    clock.advance(20 * MINUTE_MS);
    house.discord.deny(origin.channel, ['VIEW_CHANNEL']);
    await expect(edit([2])).rejects.toMatchObject(KEPT);
    expect(await stored()).not.toMatch(/7f3a-1/u);
    house.discord.deny(origin.channel, []);
    await edit([2]);
    expect([files(), vanished()]).toEqual([[nameOf(2)], [nameOf(1)]]);
  });

  it('gets a clip once although its confirmation was lost, beside those that it has', async () => {
    await attach(1, [1]);
    house.discord.dropNextAnswer(BY_TOKEN);
    await attach(2, [1, 2]).catch(() => undefined);
    await house.restart();
    await attach(2, [1, 2]);
    await attach(2, [1, 2]);
    expect([files(), uploads()]).toEqual([
      [nameOf(1), nameOf(2)],
      [nameOf(1), nameOf(2)],
    ]);
  });

  it('does not have a clip twice that was not confirmed before another one came', async () => {
    house.discord.dropNextAnswer(BY_TOKEN);
    await attach(1, [1]).catch(() => undefined);
    await attach(2, [2]);
    await attach(1, [1, 2]);
    expect(files()).toEqual([nameOf(1), nameOf(2)]);
    expect(vanished()).toEqual([nameOf(1)]);
  });

  it('keeps the others if Discord refuses one as too large, and then takes a smaller copy', async () => {
    await attach(1, [1]);
    house.discord.fail(BY_TOKEN, 413, { code: 40_005 });
    await expect(attach(2, [1, 2])).rejects.toMatchObject({ code: 'too_large' });
    expect(files()).toEqual([nameOf(1)]);
    await edit([1]);
    await attach(2, [1, 2], 3_000);
    expect(shown().attachments.map(({ bytes }) => bytes)).toEqual([5_001, 3_000]);
  });

  it('has a file of another size in place of the one with its name', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    await attach(1, [1, 2], 3_000);
    expect(shown().attachments.map(({ bytes }) => bytes)).toEqual([3_000, 5_002]);
    expect(vanished()).toEqual([nameOf(1)]);
  });

  it('gets the rest of its clips from the bot itself once the token of the interaction has expired', async () => {
    await attach(1, [1]);
    clock.advance(15 * MINUTE_MS);
    await attach(2, [1, 2]);
    house.discord.dropNextAnswer(BY_BOT);
    await attach(3, [1, 2, 3]).catch(() => undefined);
    await attach(3, [1, 2, 3]);
    expect([files(), uploads()]).toEqual([[1, 2, 3].map(nameOf), [1, 2, 3].map(nameOf)]);
  });

  it('loses all of them when it is retracted', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    await house.platform.retract(message, origin, { kind: 'removed', reason: 'deleted' });
    expect([files(), vanished()]).toEqual([[], [1, 2].map(nameOf)]);
    expect(await stored()).not.toMatch(/7f3a/u);
  });

  it('forgets a clip that expired, without an edit', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    const { edits } = shown();
    await house.platform.expire(message, card([2]));
    expect(shown().edits).toBe(edits);
    expect(await stored()).toMatch(/7f3a-2/u);
    expect(await stored()).not.toMatch(/7f3a-1/u);
  });
});

describe('where the bot is not a member, the card of a set', () => {
  beforeEach(() => open(house.discord.channels.group));

  const asks = (): boolean => buttonsOf(shown()).some(({ id }) => id === 'follow');

  async function press(button: string): Promise<void> {
    house.bot.reply = privately('The details.');
    const { length } = house.reached;
    await house.discord.answered(house.discord.people.press(message.message, button));
    await expect.poll(() => house.reached, { interval: 1, timeout: 300_000 }).toHaveLength(length + 1);
  }

  it('has the renewal button beside its clips, and gets the rest after a press', async () => {
    await attach(1, [1]);
    clock.advance(14 * MINUTE_MS);
    await house.discord.until(asks, 'the renewal button');
    await attach(2, [1, 2]);
    expect([files(), gallery().length, asks()]).toEqual([[1, 2].map(nameOf), 2, true]);
    clock.advance(6 * MINUTE_MS);
    await expect(attach(3, [1, 2, 3])).rejects.toMatchObject(WAITING);
    await press('follow');
    expect([files(), gallery().length, asks()]).toEqual([[1, 2].map(nameOf), 2, false]);
    await attach(3, [1, 2, 3]);
    expect([files(), uploads()]).toEqual([[1, 2, 3].map(nameOf), [1, 2, 3].map(nameOf)]);
  });

  it('says that a clip stays once the token has expired, and forgets it', async () => {
    for (const at of [1, 2]) await attach(at, [1, at]);
    clock.advance(20 * MINUTE_MS);
    await expect(edit([2], 'progress')).rejects.toMatchObject(WAITING);
    await expect(edit([2])).rejects.toMatchObject(KEPT);
    expect(await stored()).not.toMatch(/7f3a-1/u);
    await expect(edit([2])).rejects.toMatchObject(WAITING);
    await press(`details:${card().id}`);
    await edit([2]);
    expect([files(), vanished()]).toEqual([[nameOf(2)], [nameOf(1)]]);
  });

  it.each(['expired', 'could not be removed'])(
    'is not emptied by a press or the renewal button after a clip %s',
    async (what) => {
      for (const at of [1, 2]) await attach(at, [1, at]);
      clock.advance(14 * MINUTE_MS);
      await house.discord.until(asks, 'the renewal button');
      clock.advance(6 * MINUTE_MS);
      if (what === 'expired') await house.platform.expire(message, card([2]));
      else await expect(edit([2])).rejects.toMatchObject(KEPT);
      await press('follow');
      clock.advance(14 * MINUTE_MS);
      await settle();
      expect(plainOf(shown())).toContain('Take 1');
      await edit([2]);
      expect([files(), vanished()]).toEqual([[nameOf(2)], [nameOf(1)]]);
    },
  );
});
