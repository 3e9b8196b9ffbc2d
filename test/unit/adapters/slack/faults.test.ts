import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createForm } from '#commands/input/forms.ts';
import type { Upload } from '#src/chat/platform.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import type { FakeSlack, Message } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;

let house: SlackHouse;
let slack: FakeSlack;
let directory: string;
let origin: Origin;

beforeEach(async () => {
  house = await SlackHouse.start();
  slack = house.slack;
  directory = await mkdtemp(join(tmpdir(), 'dailies-slack-clip-'));
  slack.people.slash('/video a fox');
  origin = (await house.heard()).caller;
  await slack.until(() => house.whispers(slack.users.alice, slack.channels.general).length === 1, 'an answer');
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(slack.violations).toEqual([]);
});

const clip = (bytes = 5_000): Promise<Upload> => writeClip(directory, { bytes });
const seen = () => slack.messages(origin.channel).filter(({ visibleTo }) => visibleTo === null);
const cards = () => seen().filter(({ fileIds }) => fileIds.length === 0);
const clips = () => seen().filter(({ fileIds }) => fileIds.length > 0);
const open = () => house.platform.open(TASK, origin, taskView({ task: TASK }));
const attach = async (message: Awaited<ReturnType<typeof open>>) =>
  house.platform.attach(message, origin, doneView({ task: TASK }), await clip());
/** Retries until success, as the core does. */
const until = async <T>(work: () => Promise<T>, tries = 8): Promise<T> => {
  for (let left = tries; ; left -= 1) {
    try {
      return await work();
    } catch (thrown) {
      if (left === 0 || !(thrown instanceof Error && 'retryable' in thrown && thrown.retryable === true)) throw thrown;
    }
  }
};

it('truncates the description of a clip between characters, without those that turn the direction of text', async () => {
  const message = await open();
  const description = `\u202E${'a'.repeat(999)}🦊`;
  await house.platform.attach(message, origin, doneView({ task: TASK }), { ...(await clip()), description });
  expect(clips()).toHaveLength(1);
  expect(slack.files.map(({ altText }) => altText)).toEqual(['a'.repeat(999)]);
});

describe('a lost response', () => {
  it('to a post leads to no duplicate message', async () => {
    slack.dropNextAnswer('chat.postMessage');
    const first = await until(open);
    await house.restart();
    expect(await open()).toEqual(first);
    expect(cards()).toHaveLength(1);
  });

  it('to a post leads to no duplicate message if another process retries it', async () => {
    slack.dropNextAnswer('chat.postMessage');
    slack.failHttp('conversations.history', 503);
    await expect(open()).rejects.toMatchObject({ retryable: true });
    await house.restart();
    await open();
    expect(cards()).toHaveLength(1);
  });

  it('to a post leads to no duplicate message while the search for it is rate-limited', async () => {
    slack.dropNextAnswer('chat.postMessage');
    slack.rateLimit('conversations.history', 30);
    const limited = { code: 'rate_limited', retryable: true };
    await expect(open()).rejects.toMatchObject(limited);
    await expect(open()).rejects.toMatchObject(limited);
    expect(cards()).toHaveLength(1);
  });

  it('to a notification leads to no second ping', async () => {
    const message = await open();
    slack.dropNextAnswer('chat.postMessage');
    const place = { team: origin.team, channel: origin.channel, address: origin.address };
    const notice = { key: 'end:1', place, replyTo: message, mention: origin.user, view: endNotice(origin) };
    const told = await until(() => house.platform.notify(notice));
    expect(await house.platform.notify(notice)).toEqual(told);
    expect(slack.pings).toHaveLength(1);
    expect(slack.message(told.message).threadTs).toBe(message.message);
  });

  it('to an edit is retried', async () => {
    const message = await open();
    slack.dropNextAnswer('chat.update');
    await until(() => house.platform.edit(message, origin, doneView({ task: TASK }), 'final'));
    expect(plainOf(slack.message(message.message))).toContain('2:14');
  });

  it.each([
    'files.getUploadURLExternal',
    'upload',
    'files.completeUploadExternal',
    'files.info',
    'chat.update',
  ] as const)('to %s leaves one clip in the thread', async (method) => {
    const message = await open();
    slack.dropNextAnswer(method);
    await until(() => attach(message));
    expect(clips().map(({ threadTs }) => threadTs)).toEqual([message.message]);
  });

  it.each(['files.completeUploadExternal', 'chat.update'] as const)(
    'to %s and a restart leave one clip in the thread',
    async (method) => {
      const message = await open();
      slack.failHttp(method, 502, { acts: true });
      slack.failHttp('files.info', 502);
      await attach(message).catch(() => undefined);
      await house.restart();
      await until(() => attach(message));
      expect(clips()).toHaveLength(1);
    },
  );
});

describe('a clip with the mention in its message', () => {
  const attachTelling = async (message: Awaited<ReturnType<typeof open>>) => {
    const notice = { view: endNotice(origin, { task: TASK }), mention: origin.user };
    return house.platform.attach(message, origin, doneView({ task: TASK }), { ...(await clip()), notice });
  };

  it.each([null, 'files.getUploadURLExternal', 'files.completeUploadExternal', 'files.info', 'chat.update'] as const)(
    'pings once, in the thread, whichever response is lost (%s)',
    async (method) => {
      const message = await open();
      if (method !== null) slack.dropNextAnswer(method);
      expect(await until(() => attachTelling(message))).toEqual({ isAnnounced: true });
      expect(clips().map((one) => [one.threadTs, plainOf(one)])).toEqual([
        [message.message, expect.stringContaining('is ready.')],
      ]);
      expect(slack.pings.map(({ id, ts }) => [id, ts])).toEqual([[slack.users.alice, clips()[0]?.ts]]);
      expect(await attachTelling(message)).toEqual({ isAnnounced: true });
      expect(slack.pings).toHaveLength(1);
    },
  );

  it('is not reported as announced if an earlier version shared it without the mention', async () => {
    const message = await open();
    expect(await attach(message)).toEqual({ isAnnounced: false });
    expect(await attachTelling(message)).toEqual({ isAnnounced: false });
    expect(slack.pings).toEqual([]);
  });

  it('is there and announced where its card may not be edited, and says so', async () => {
    const message = await open();
    slack.removeScopes(['chat:write']);
    const refusal = expect.objectContaining({ code: 'missing_permission' });
    for (let times = 0; times < 2; times += 1)
      expect(await attachTelling(message)).toEqual({ isAnnounced: true, refusal });
    expect(clips()).toHaveLength(1);
    expect(slack.pings).toHaveLength(1);
    slack.grantScopes(['chat:write']);
    expect(await attachTelling(message)).toEqual({ isAnnounced: true });
    expect([clips().length, slack.pings.length]).toEqual([1, 1]);
  });

  it('gives the reason in a direct message', async () => {
    const message = await open();
    slack.fail('files.completeUploadExternal', 'is_archived');
    expect(await attachTelling(message)).toEqual({ isAnnounced: true });
    const [direct] = slack.messages(slack.dm(slack.users.alice));
    expect(plainOf(direct as Message)).toContain('is archived, so here is your clip');
    // Slack shows it by its name.
    expect(direct?.text).toContain(`<#${origin.channel}>`);
  });
});

describe('a clip', () => {
  it('is linked from its message permanently', async () => {
    const message = await open();
    await attach(message);
    await house.platform.edit(message, origin, doneView({ task: TASK, buttons: ['details'] }), 'final');
    const text = JSON.stringify(slack.message(message.message).blocks);
    expect(text).toContain('/permalinks/files/');
    expect(text).toContain('red-fox.mp4');
  });

  it('is awaited while Slack is slow to share it', async () => {
    const message = await open();
    slack.processSlowly(3);
    await attach(message);
    expect(slack.calls.filter(({ method }) => method === 'files.info').length).toBeGreaterThan(3);
    expect(clips()).toHaveLength(1);
  });

  it('is shared again if the first request was lost', async () => {
    const message = await open();
    slack.failHttp('files.completeUploadExternal', 502);
    await until(() => attach(message));
    expect(clips()).toHaveLength(1);
  });

  it('whose sharing stays unconfirmed is deleted and uploaded again within a minute', async () => {
    await house.remove();
    const clock = new ManualClock(Date.now());
    house = await SlackHouse.start({ clock });
    slack = house.slack;
    origin = { ...origin, team: slack.team.id, channel: slack.channels.general };
    const message = await open();
    const startMs = clock.now();
    const pump = setInterval(() => clock.advance(250), 1);
    try {
      slack.processSlowly(1000);
      slack.failHttp('files.completeUploadExternal', 502, { acts: true });
      const isDeleted = () => slack.calls.some(({ method }) => method === 'files.delete');
      while (!isDeleted() && clock.now() < startMs + 60_000)
        await expect(attach(message)).rejects.toMatchObject({ code: 'platform_unavailable', retryable: true });
      expect(isDeleted()).toBe(true);
      slack.processSlowly(0);
      await until(() => attach(message));
    } finally {
      clearInterval(pump);
    }
    expect(slack.calls.filter(({ method }) => method === 'files.completeUploadExternal')).toHaveLength(2);
  });

  it('is sent to its requester and linked from the message if the channel refuses files', async () => {
    const message = await open();
    slack.kick(origin.channel);
    await attach(message);
    const [direct] = slack.messages(slack.dm(slack.users.alice));
    expect(direct?.fileIds).toHaveLength(1);
    expect(JSON.stringify(slack.message(message.message).blocks)).toContain('/permalinks/files/');
  });

  it.each(['kick', 'archive'] as const)('is sent to its requester if the channel is out of reach (%s)', async (how) => {
    origin = { ...origin, channel: slack.channels.secret };
    const message = await open();
    slack[how](slack.channels.secret);
    // The message can no longer be edited, but the clip was delivered.
    expect(await attach(message)).toEqual({ isAnnounced: true });
    expect(clips()).toEqual([]);
    expect(slack.messages(slack.dm(slack.users.alice)).map(({ fileIds }) => fileIds.length)).toEqual([1]);
  });

  it.each(['edit_window_closed', 'cant_update_message'])(
    'reports the outcome once in the thread if its message can no longer be edited (%s)',
    async (refusal) => {
      const message = await open();
      for (let times = 0; times < 2; times += 1) {
        slack.fail('chat.update', refusal);
        await attach(message);
      }
      expect(clips()).toHaveLength(1);
      const beneath = cards().filter(({ threadTs }) => threadTs === message.message);
      expect(beneath.map(plainOf)).toEqual([expect.stringContaining('2:14')]);
      // Progress is not posted as a message.
      slack.fail('chat.update', refusal);
      const progress = house.platform.edit(message, origin, taskView({ task: TASK, progress: 50 }), 'progress');
      await expect(progress).rejects.toMatchObject({ code: 'missing_permission' });
    },
  );

  it.each([
    ['file_type_not_allowed', 'missing_permission', 'this workspace doesn’t allow this kind of file'],
    ['posting_to_channel_denied', 'missing_permission', 'the app isn’t allowed to post in this channel'],
    // Slack’s codes only appear in the log.
    ['invalid_arguments', 'internal', 'it gave no reason that I understand'],
    ['something_new', 'internal', 'it gave no reason that I understand'],
  ])('rejects with a permanent error and its reason if Slack refuses it (%s)', async (refusal, code, words) => {
    const message = await open();
    slack.fail('files.getUploadURLExternal', refusal);
    const refused = { code, retryable: false, words, message: expect.stringContaining(refusal) };
    await expect(attach(message)).rejects.toMatchObject(refused);
  });

  it('is not uploaded if its message was deleted', async () => {
    const message = await open();
    slack.deleteMessage(message.message);
    await expect(attach(message)).rejects.toMatchObject({ code: 'message_gone' });
    expect(slack.files).toEqual([]);
  });

  it('is posted in the thread of its command', async () => {
    const said = slack.people.mention('a red fox');
    const { caller: inThread } = await house.heard(({ what }) => what === 'a red fox');
    const message = await house.platform.open(TASK, inThread, taskView({ task: TASK }));
    await house.platform.attach(message, inThread, doneView({ task: TASK }), await clip());
    expect(slack.message(message.message).threadTs).toBe(said.ts);
    expect(clips().map(({ threadTs }) => threadTs)).toEqual([said.ts]);
    // Its retry is posted there too, since threads cannot be nested.
    const retry = { ...origin, replyTo: message.message };
    const again = await house.platform.open('task-2' as TaskId, retry, taskView());
    expect(slack.message(again.message).threadTs).toBe(said.ts);
  });
});

describe('a rate limit', () => {
  it.each(['chat.update', 'files.getUploadURLExternal', 'files.completeUploadExternal', 'files.info'] as const)(
    'on %s rejects with its delay, and blocks further calls until it is over',
    async (method) => {
      const message = await open();
      const act = () => attach(message);
      slack.rateLimit(method, 1);
      const limited = { code: 'rate_limited', retryable: true };
      await expect(act()).rejects.toMatchObject(limited);
      const calls = slack.calls.filter((call) => call.method === method).length;
      await expect(act()).rejects.toMatchObject(limited);
      expect(slack.calls.filter((call) => call.method === method)).toHaveLength(calls);
    },
  );

  it('on posting rejects, and delays the next post', async () => {
    slack.rateLimit('chat.postMessage', 1);
    await expect(open()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 1000 });
    await open();
    expect(cards()).toHaveLength(1);
  });

  it('on progress edits does not block the clip', async () => {
    const message = await open();
    slack.rateLimit('chat.update', 30);
    const progress = house.platform.edit(message, origin, taskView({ task: TASK, progress: 50 }), 'progress');
    await expect(progress).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: expect.any(Number) });
    await expect(attach(message)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(clips()).toHaveLength(1);
  });

  it('of its own keeps progress edits below Slack’s limit, with a reserve for final ones', async () => {
    const message = await open();
    const edits = Array.from({ length: 60 }, (_, progress) =>
      house.platform.edit(message, origin, taskView({ task: TASK, progress }), 'progress').catch(() => 'dropped'),
    );
    const dropped = (await Promise.all(edits)).filter((one) => one === 'dropped');
    expect(dropped.length).toBeGreaterThan(10);
    await house.platform.edit(message, origin, doneView({ task: TASK }), 'final');
    expect(slack.rateLimited).toBe(0);
  });
});

describe('missing permissions', () => {
  const place = (channel: string) => ({ team: origin.team, channel, address: {} });

  it('share one lookup between concurrent checks', async () => {
    const missing = Array.from({ length: 60 }, () => house.platform.channels.missingRight(place(slack.channels.clips)));
    expect(new Set(await Promise.all(missing))).toEqual(new Set([null]));
    const asked = slack.calls.filter(({ method, args }) => {
      return method === 'conversations.info' && args['channel'] === slack.channels.clips;
    });
    expect(asked).toHaveLength(1);
  });

  it('are avoided by joining a public channel', async () => {
    expect(await house.platform.channels.missingRight(place(slack.channels.lobby))).toBeNull();
    expect(slack.channel(slack.channels.lobby).members.has(slack.team.botUserId)).toBe(true);
  });

  it('ask for an invitation if the bot may not join', async () => {
    slack.removeScopes(['channels:join']);
    const invite = { kind: 'uninvited', type: '/invite @dailies' };
    expect(await house.platform.channels.missingRight(place(slack.channels.lobby))).toMatchObject(invite);
    expect(await house.platform.channels.missingRight(place(slack.channels.hidden))).toMatchObject(invite);
    expect(await house.platform.channels.missingRight(place(slack.channels.secret))).toBeNull();
    expect(await house.platform.channels.missingRight(place(slack.dm(slack.users.alice)))).toBeNull();
  });

  it('include direct messages between other people, where the bot cannot be invited', async () => {
    expect(await house.platform.channels.missingRight(place('D0OTHERS'))).toEqual({ kind: 'others' });
  });

  it.each([
    ['a command', () => void slack.people.slash('/video a group fox', { channel: slack.channels.group })],
    [
      'a form',
      async () => {
        const { bot } = house;
        bot.reply = createForm(parseCatalog(sandboxCatalog));
        slack.people.slash('/video', { channel: slack.channels.group });
        await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
        const view = slack.forms.shown(slack.users.alice);
        bot.reply = { kind: 'refused', sentence: 'No.' };
        if (view !== null) slack.forms.submit(view, { prompt: 'a group fox' });
      },
    ],
  ])('detect a group message by its name, from %s', async (_way, order) => {
    await order();
    const { caller } = await house.heard(({ what }) => JSON.stringify(what).includes('a group fox'));
    expect(await house.platform.channels.missingRight(caller)).toEqual({ kind: 'group' });
  });

  it('include archived channels', async () => {
    slack.archive(slack.channels.clips);
    expect(await house.platform.channels.missingRight(place(slack.channels.clips))).toEqual({ kind: 'archived' });
  });

  it('reject with `unauthorised` for a revoked token', async () => {
    const message = await open();
    slack.revokeToken();
    await expect(house.platform.edit(message, origin, doneView(), 'final')).rejects.toMatchObject({
      code: 'unauthorised',
      retryable: true,
    });
  });
});

describe('the connection', () => {
  const works = async (): Promise<void> => {
    slack.people.mention('are you there');
    await house.heard(({ what }) => what === 'are you there');
  };

  it('is replaced when Slack requests it', async () => {
    slack.disconnect('refresh_requested');
    await slack.until(() => slack.socket.opened > 1 && slack.socket.isConnected, 'a new connection');
    await works();
  });

  it('reconnects after a gap, and receives the events sent meanwhile', async () => {
    slack.closeSocket({ refuse: 2 });
    slack.people.mention('are you there');
    await house.heard(({ what }) => what === 'are you there');
    expect(house.platform.notReady()).toBeNull();
  });

  it('reconnects after Slack was unreachable', async () => {
    slack.failHttp('apps.connections.open', 503);
    slack.breakSocket();
    await slack.until(() => slack.socket.opened > 1 && slack.socket.isConnected, 'a new connection');
    await works();
  });
});
