import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { type Interaction, startDiscord } from '#test/fakes/discord/index.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { pass, settle } from '#test/fakes/settle.ts';
import { FreezableClock, SharedStore } from '#test/fakes/shared-store.ts';
import { doneView, setView, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;
const CALLBACK = 'POST /interactions/:interaction/:token/callback';
const BY_TOKEN = 'PATCH /webhooks/:application/:token/messages/:message';

let shared: SharedStore;
let clock: ManualClock;
let holderTime: FreezableClock;
let holder: DiscordHouse;
let other: DiscordHouse;

beforeEach(async () => {
  shared = new SharedStore();
  clock = new ManualClock(Date.now());
  holderTime = new FreezableClock();
  const discord = await startDiscord({ clock });
  const houseOf = (time: FreezableClock) => DiscordHouse.start({ clock, discord, store: shared.replica(time) });
  holder = await houseOf(holderTime);
  other = await houseOf(new FreezableClock());
  for (const { bot } of [holder, other]) {
    bot.reply = { kind: 'task', task: TASK };
    bot.onShow = () => Promise.resolve({ channel: '', message: '' });
  }
});

afterEach(async () => {
  await holder.remove();
  await other.remove();
  expect(holder.discord.violations).toEqual([]);
  expect(holder.discord.vanished).toEqual([]);
  await holder.discord.close();
});

const ask = (channel = holder.discord.channels.general): Interaction =>
  holder.discord.people.slash('video create', { prompt: 'a fox' }, { channel });

/** Returns the origin of a task, as recorded by the replica that received it. */
async function originOf(asked: Interaction): Promise<Origin> {
  return (await holder.heard(asked)).caller;
}

/** Freezes the holder past its lease, so that another replica can take it over. */
function freezeHolder(): void {
  shared.leases.forgetAll();
  holderTime.pass(60_000);
}

describe('a shard', () => {
  it('is held by one replica, and the other one is ready meanwhile', () => {
    expect(holder.discord.gateway).toMatchObject({ identifies: 1, shards: [0] });
    expect([holder.platform.notReady(), other.platform.notReady()]).toEqual([null, null]);
    expect(holder.discord.commandWrites).toBe(1);
  });

  it('is closed on loss before further packets are handled; its next holder receives them', async () => {
    freezeHolder();
    const asked = ask();
    expect(asked.isDelivered).toBe(true);
    const heard = () => [...holder.bot.heard, ...other.bot.heard].length;
    await expect.poll(heard, { timeout: 300_000, interval: 1 }).toBe(1);
    expect(holder.discord.gateway).toMatchObject({ identifies: 1, resumes: 1, shards: [0] });
    await holder.discord.answered(asked);
    expect([holder.platform.notReady(), other.platform.notReady()]).toEqual([null, null]);
  });

  it('is closed on loss even without traffic', async () => {
    const { discord } = holder;
    const time = new ManualClock();
    await Promise.all([other.platform.stop(), holder.platform.stop()]);
    const third = await DiscordHouse.start({ clock, discord, store: shared.replica(time) });
    await discord.until(() => discord.gateway.resumes === 1, 'a resumed session');
    shared.leases.isAway = true;
    await pass(time, 12_000, 1_000);
    await discord.until(() => !discord.gateway.isConnected, 'the end of the connection');
    shared.leases.isAway = false;
    await third.remove();
  });

  it('without a holder is reported by every replica', async () => {
    shared.leases.isAway = true;
    freezeHolder();
    ask();
    await expect.poll(() => other.platform.notReady()).toContain('shard 0 of 1');
    expect(holder.platform.notReady()).toContain('shard 0 of 1');
    shared.leases.isAway = false;
    await expect.poll(() => other.platform.notReady()).toBeNull();
  });

  it('is taken over from a stopped replica, resuming its session', async () => {
    holder.bot.reply = privately('Yes.');
    await holder.answerTo(ask());
    await holder.platform.stop();
    const asked = ask();
    await other.heard(asked);
    const [resumption] = other.discord.gateway.resumptions;
    // READY, the bot's server and the first command: all of them were handled.
    expect(resumption?.seq).toBe((resumption?.lastSeq ?? 0) - 1);
    await other.discord.answered(asked);
  });

  it('is claimed at once on release, not at the next check', async () => {
    const { discord } = holder;
    const time = new ManualClock();
    const store = shared.replica(new FreezableClock());
    const third = await DiscordHouse.start({ clock, discord, store, gatewayClock: time });
    await other.platform.stop();
    await holder.platform.stop();
    // It received the broadcast, and its claim delay is shorter than the check interval.
    await settle();
    time.advance(300);
    await discord.until(() => discord.gateway.resumes === 1, 'a resumed session');
    await third.remove();
  });
});

describe('a message', () => {
  it('is not posted in addition to a response of another replica in flight', async () => {
    const go = holder.discord.hold(CALLBACK);
    const asked = ask();
    const origin = await originOf(asked);
    await expect(other.platform.open(TASK, origin, taskView())).rejects.toMatchObject({
      code: 'platform_unavailable',
      retryable: true,
    });
    go();
    await holder.discord.answered(asked);
    const opened = await Promise.all([holder, other].map(({ platform }) => platform.open(TASK, origin, taskView())));
    expect(opened[0]).toEqual(opened[1]);
    expect(holder.discord.messages(origin.channel)).toHaveLength(1);
  });

  it('is not posted in addition to it by a replica whose clock is half a minute ahead', async () => {
    const { discord } = holder;
    const ahead = new ManualClock(Date.now() + 30_000);
    const third = await DiscordHouse.start({ clock: ahead, discord, store: shared.replica(new FreezableClock()) });
    const go = discord.hold(CALLBACK);
    const asked = ask();
    const origin = await originOf(asked);
    await expect(third.platform.open(TASK, origin, taskView())).rejects.toMatchObject({ retryable: true });
    go();
    await discord.answered(asked);
    await third.remove();
  });

  it('is not posted in addition to a response that broke off and may still arrive', async () => {
    const { discord } = holder;
    const { promise, resolve } = Promise.withResolvers<void>();
    holder.bot.gate = promise;
    for (let tries = 0; tries < 2; tries += 1) discord.fail(CALLBACK, 502);
    const asked = ask();
    const origin = await originOf(asked);
    clock.advance(1_600);
    await expect(holder.platform.open(TASK, origin, taskView())).rejects.toMatchObject({ retryable: true });
    expect(discord.requests.filter(({ route }) => route === CALLBACK)).toHaveLength(2);
    await fetch(`${discord.apiUrl}/v10/interactions/${asked.id}/${asked.token}/callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'DiscordBot (https://dailies.example, 1)' },
      body: JSON.stringify({ type: 5, data: {} }),
    });
    const { message } = await holder.platform.open(TASK, origin, taskView());
    expect(discord.messages(origin.channel).map(({ id }) => id)).toEqual([message]);
    resolve();
  });

  it('posted by both concurrently is deduplicated', async () => {
    const asked = ask();
    const origin = await originOf(asked);
    await holder.discord.answered(asked);
    const { application: _application, token: _token, expiresAtMs: _expiresAtMs, ...address } = origin.address;
    const reaction = { ...origin, address };
    const opened = await Promise.all([holder, other].map(({ platform }) => platform.open(TASK, reaction, taskView())));
    expect(opened[0]).toEqual(opened[1]);
  });

  it('is edited and gets its clip by a replica without the shard; an unconfirmed upload is looked up', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dailies-replicas-'));
    const clip = await writeClip(directory);
    const asked = ask();
    const origin = await originOf(asked);
    await holder.discord.answered(asked);
    const message = await holder.platform.open(TASK, origin, taskView());
    await other.platform.edit(message, origin, taskView({ progress: 80 }), 'final');
    expect(plainOf(holder.discord.message(message.message))).toContain('80 %');
    holder.discord.dropNextAnswer(BY_TOKEN);
    await holder.platform.attach(message, origin, doneView(), clip).catch(() => undefined);
    await other.platform.attach(message, origin, doneView(), clip);
    const uploads = holder.discord.requests.filter(({ body }) => JSON.stringify(body).includes('"id":0'));
    expect(uploads).toHaveLength(1);
    expect(holder.discord.message(message.message).attachments).toHaveLength(1);
    await rm(directory, { recursive: true });
  });

  it('gets a clip that another replica did not see confirmed, beside those that it has', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dailies-replicas-'));
    const asked = ask();
    const origin = await originOf(asked);
    await holder.discord.answered(asked);
    const place = { id: TASK, kind: 'takes', of: 2 } as const;
    const nameOf = (at: number): string => `red-fox-7f3a-${at}.mp4`;
    const cardWith = (...there: readonly number[]) => {
      const members = there.map((at) => ({
        view: doneView({ set: { ...place, at } }),
        message: null,
        file: { name: nameOf(at), description: 'a red fox' },
      }));
      return setView(place, members);
    };
    const message = await holder.platform.open(cardWith(1).id, origin, cardWith());
    const attach = async ({ platform }: DiscordHouse, at: number, ...there: readonly number[]) =>
      platform.attach(message, origin, cardWith(...there), await writeClip(directory, { name: nameOf(at) }));
    await attach(holder, 1, 1);
    holder.discord.dropNextAnswer(BY_TOKEN);
    await attach(holder, 2, 1, 2).catch(() => undefined);
    await attach(other, 2, 1, 2);
    const uploads = holder.discord.requests.filter(({ body }) => JSON.stringify(body).includes('"id":0'));
    expect(uploads).toHaveLength(2);
    const { attachments } = holder.discord.message(message.message);
    expect(attachments.map(({ filename }) => filename)).toEqual([1, 2].map(nameOf));
    await rm(directory, { recursive: true });
  });

  it('gets its renewal button even if the replica that scheduled it is gone', async () => {
    const asked = ask(holder.discord.channels.group);
    const origin = await originOf(asked);
    await holder.discord.answered(asked);
    const message = await holder.platform.open(TASK, origin, taskView());
    await holder.platform.stop();
    await pass(clock, 14 * 60_000, 5_000);
    const asks = () => buttonsOf(other.discord.message(message.message)).some(({ id }) => id === 'follow');
    await other.discord.until(asks, 'the message asking for a press');
    const route = (one: { readonly route: string | null }) => one.route === BY_TOKEN;
    expect(other.discord.requests.filter(route)).toHaveLength(2);
  });
});

it('looks permissions up on either replica, and accepts a newly granted one at once', async () => {
  const { discord } = holder;
  const place = { team: discord.guildId, channel: discord.channels.clips, address: {} };
  const both = () => Promise.all([holder, other].map(({ platform }) => platform.channels.missingRight(place)));
  expect(await both()).toEqual([null, null]);
  discord.deny(other.discord.channels.general, ['ATTACH_FILES']);
  const general = { ...place, channel: discord.channels.general };
  expect(await other.platform.channels.missingRight(general)).toMatchObject({ right: 'Attach Files' });
  discord.deny(discord.channels.general, []);
  expect(await other.platform.channels.missingRight(general)).toBeNull();
});
