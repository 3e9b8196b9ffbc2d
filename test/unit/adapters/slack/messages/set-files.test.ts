import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BROADCAST_WORDS } from '#commands/sentences/attachments.ts';
import type { Attached, MessageRef, Upload } from '#src/chat/platform.ts';
import type { SetMember, SetView } from '#src/chat/view.ts';
import type { RemovalReason } from '#src/tasks/removal.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { doneView, setView, taskView } from '#test/fakes/views.ts';

const CARD = 'set-task-1' as TaskId;
const TAKES = { id: 'task-1' as TaskId, kind: 'takes', of: 3 } as const;
const COMPARISON = { ...TAKES, kind: 'comparison' } as const;

let house: SlackHouse;
let slack: FakeSlack;
let directory: string;
let origin: Origin;

beforeEach(async () => {
  house = await SlackHouse.start();
  slack = house.slack;
  directory = await mkdtemp(join(tmpdir(), 'dailies-slack-set-'));
  slack.people.slash('/video a fox');
  origin = (await house.heard()).caller;
  await slack.until(() => house.whispers(slack.users.alice, slack.channels.general).length === 1, 'an answer');
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(slack.violations).toEqual([]);
});

/** State of a clip: on the card, still on its way to it, not made yet, or removed. */
type State = 'there' | 'fetching' | 'running' | RemovalReason;

const nameOf = (at: number): string => `red-fox-7f3a-${at}.mp4`;

function member(set: SetView['set'], at: number, state: State): SetMember {
  const of = { task: `task-${at}` as TaskId, set: { ...set, at } };
  if (state === 'there')
    return { view: doneView(of), message: null, file: { name: nameOf(at), description: 'a red fox' } };
  if (state === 'running') return { view: taskView(of), message: null };
  if (state === 'fetching') return { view: taskView({ ...of, state: 'completed', phase: state }), message: null };
  const removal = { reason: state, atMs: 1, hasContent: true };
  return { view: doneView({ ...of, removal }), message: null };
}

const card = (states: readonly State[], set: SetView['set'] = TAKES): SetView =>
  setView(
    set,
    states.map((state, index) => member(set, index + 1, state)),
  );

async function clip(at: number): Promise<Upload> {
  const folder = join(directory, `${at}`);
  await mkdir(folder, { recursive: true });
  return writeClip(folder, { name: nameOf(at), bytes: 5_000 + at });
}

const open = (view: SetView = card(['running', 'running', 'running'])): Promise<MessageRef> =>
  house.platform.open(CARD, origin, view);
const attach = async (message: MessageRef, at: number, view: SetView): Promise<Attached> =>
  house.platform.attach(message, origin, view, await clip(at));
const edit = (message: MessageRef, view: SetView): Promise<void> => house.platform.edit(message, origin, view, 'final');
/** Opens a card with three takes that are there. */
async function delivered(): Promise<{ readonly message: MessageRef; readonly clips: readonly MessageRef[] }> {
  const message = await open();
  const one = await attach(message, 1, card(['there', 'running', 'running']));
  const two = await attach(message, 2, card(['there', 'there', 'running']));
  const three = await attach(message, 3, card(['there', 'there', 'there']));
  return { message, clips: [one, two, three].flatMap((attached) => attached.message ?? []) };
}
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

const seen = (channel = origin.channel) => slack.messages(channel).filter(({ visibleTo }) => visibleTo === null);
const clips = (channel = origin.channel) => seen(channel).filter(({ fileIds }) => fileIds.length > 0);
const left = () => slack.files.filter(({ isDeleted }) => !isDeleted).map(({ name }) => name);
/** Returns the links of a message to files, by their labels. */
function linksOf({ message }: MessageRef): Readonly<Record<string, string>> {
  const found = JSON.stringify(slack.message(message).blocks).matchAll(
    /"url":"([^"]*\/permalinks\/files\/[^"]*)","text":"([^"]*)"/gu,
  );
  return Object.fromEntries([...found].map(([, url = '', label = '']) => [label, url]));
}

describe('the clips of a set', () => {
  it('are files in the thread of its card, which links to each; each says which it is, and pings no one', async () => {
    const { message } = await delivered();
    expect(seen()).toHaveLength(4);
    expect(clips().map((one) => [one.threadTs, plainOf(one)])).toEqual(
      [1, 2, 3].map((at) => [message.message, `Take ${at}`]),
    );
    expect(slack.files.map(({ title }) => title)).toEqual([1, 2, 3].map(nameOf));
    expect(linksOf(message)).toEqual(
      Object.fromEntries([1, 2, 3].map((at) => [`Take ${at}`, expect.stringContaining(nameOf(at))])),
    );
    expect(plainOf(slack.message(message.message))).toContain('Take 1 · Take 2 · Take 3');
    expect(slack.pings).toEqual([]);
  });

  it('are named by their labels in a comparison', async () => {
    const message = await open(card(['running', 'running', 'running'], COMPARISON));
    await attach(message, 2, card(['running', 'there', 'running'], COMPARISON));
    expect(clips().map(plainOf)).toEqual(['Clip B']);
    expect(Object.keys(linksOf(message))).toEqual(['Clip B']);
  });

  it('are returned with their own messages, also by a repeated call, which adds nothing', async () => {
    const { message, clips: own } = await delivered();
    const [first, second] = clips();
    expect(own.map((one) => one.message)).toEqual(clips().map(({ ts }) => ts));
    await house.restart();
    const all = card(['there', 'there', 'there']);
    for (const [at, ts] of [
      [1, first?.ts],
      [2, second?.ts],
    ] as const)
      expect(await attach(message, at, all)).toEqual({
        isAnnounced: false,
        message: { channel: origin.channel, message: ts },
      });
    expect(clips()).toHaveLength(3);
  });

  it.each([
    'files.getUploadURLExternal',
    'upload',
    'files.completeUploadExternal',
    'files.info',
    'chat.update',
  ] as const)('are there once each, whichever response is lost (%s)', async (method) => {
    const message = await open();
    await attach(message, 1, card(['there', 'running', 'running']));
    slack.dropNextAnswer(method);
    await until(() => attach(message, 2, card(['there', 'there', 'running'])));
    expect(clips().map(plainOf)).toEqual(['Take 1', 'Take 2']);
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 2']);
  });

  it.each(['files.completeUploadExternal', 'chat.update'] as const)(
    'are there once each after a restart amid the delivery (%s)',
    async (method) => {
      const message = await open();
      await attach(message, 1, card(['there', 'running', 'running']));
      slack.failHttp(method, 502, { acts: true });
      if (method !== 'chat.update') slack.failHttp('files.info', 502);
      await attach(message, 2, card(['there', 'there', 'running'])).catch(() => undefined);
      await house.restart();
      // The other one is delivered first: its card does not name the one that is on its way.
      await attach(message, 3, card(['there', 'fetching', 'there']));
      await edit(message, card(['there', 'fetching', 'there']));
      await until(() => attach(message, 2, card(['there', 'there', 'there'])));
      expect(clips().map(plainOf).toSorted()).toEqual(['Take 1', 'Take 2', 'Take 3']);
      expect(left()).toHaveLength(3);
    },
  );

  it('go to the requester, each named, where the channel refuses files', async () => {
    const message = await open();
    slack.kick(origin.channel);
    await attach(message, 1, card(['there', 'running', 'running']));
    const { message: own } = await attach(message, 2, card(['there', 'there', 'running']));
    const direct = slack.dm(slack.users.alice);
    expect(clips(direct).map(plainOf)).toEqual([
      expect.stringMatching(/^Take 1\nI can’t post files in .*a red fox/u),
      expect.stringMatching(/^Take 2\nI can’t post files in .*a red fox/u),
    ]);
    expect(own).toEqual({ channel: direct, message: clips(direct).at(-1)?.ts });
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 2']);
  });

  it('go to the requester where the channel is archived', async () => {
    const message = await open();
    slack.archive(origin.channel);
    const attached = await attach(message, 2, card(['running', 'there', 'running']));
    expect(attached).toMatchObject({ isAnnounced: false, message: { channel: slack.dm(slack.users.alice) } });
    expect(attached.refusal).toBeUndefined();
    expect(clips(slack.dm(slack.users.alice)).map(plainOf)).toEqual([
      expect.stringMatching(/^Take 2\n.* is archived, so here is your clip/u),
    ]);
  });

  it('are not uploaded once their card is deleted, or no longer names them', async () => {
    const message = await open();
    expect(await attach(message, 1, card(['deleted', 'running', 'running']))).toEqual({ isAnnounced: false });
    slack.deleteMessage(message.message);
    const late = attach(message, 2, card(['deleted', 'there', 'running']));
    await expect(late).rejects.toMatchObject({ code: 'message_gone' });
    expect(slack.files).toEqual([]);
  });

  it('are not sent to the channel one by one', async () => {
    const said = slack.people.mention('a red fox');
    origin = (await house.heard(({ what }) => what === 'a red fox')).caller;
    const message = await open();
    await attach(message, 1, card(['there', 'there', 'there']));
    expect(clips().map(({ threadTs }) => threadTs)).toEqual([said.ts]);
    const labels = buttonsOf(slack.message(message.message)).map(({ label }) => label);
    expect(labels).not.toContain(BROADCAST_WORDS.button);
  });
});

describe('a reaction to a clip of a set', () => {
  it.each(['repeat', 'x'])('counts for that clip alone (%s), also after a restart', async (emoji) => {
    const { message, clips: own } = await delivered();
    const [, second] = own;
    await house.restart();
    await slack.botReady();
    slack.people.react(second?.message ?? '', emoji);
    slack.people.react(message.message, emoji);
    const reactions = () => house.bot.heard.filter(({ kind }) => kind === 'react').map(({ what }) => what);
    const both = [
      { message: second, emoji },
      { message, emoji },
    ];
    await vi.waitFor(() => expect(reactions()).toHaveLength(2), 300_000);
    expect(reactions()).toEqual(expect.arrayContaining(both));
  });
});

describe('a clip that its card no longer names', () => {
  const REMOVED = 'This clip was deleted.';
  const without = card(['there', 'deleted', 'there']);

  it('is deleted with all that is stored of it; the others stay', async () => {
    const { message } = await delivered();
    await edit(message, without);
    expect(left()).toEqual([nameOf(1), nameOf(3)]);
    expect(clips().map(plainOf)).toEqual(['Take 1', REMOVED, 'Take 3']);
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 3']);
    expect(await storedIn(house.store)).not.toContain(nameOf(2));
    // A repeated call deletes nothing.
    const calls = slack.calls.filter(({ method }) => method === 'files.delete').length;
    await edit(message, without);
    expect(slack.calls.filter(({ method }) => method === 'files.delete')).toHaveLength(calls);
    await attach(message, 3, without);
    expect(clips()).toHaveLength(3);
  });

  it('says why it went', async () => {
    const { message } = await delivered();
    await edit(message, card(['forgotten', 'there', 'there']));
    expect(clips().map(plainOf)).toEqual(['Removed at the requester’s request.', 'Take 2', 'Take 3']);
  });

  it('stays with its link until Slack deletes it, for which the edit is repeated', async () => {
    const { message } = await delivered();
    slack.fail('files.delete', 'ratelimited');
    await expect(edit(message, without)).rejects.toMatchObject({ code: 'rate_limited', retryable: true });
    expect(left()).toHaveLength(3);
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 2', 'Take 3']);
    await edit(message, without);
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 3']);
    expect(left()).toEqual([nameOf(1), nameOf(3)]);
  });

  it('is reported once where it may not be deleted; the card goes on without it', async () => {
    const { message } = await delivered();
    slack.fail('files.delete', 'file_deleting_disabled');
    await expect(edit(message, without)).rejects.toMatchObject({ code: 'missing_permission', retryable: false });
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 3']);
    await edit(message, without);
    expect(left()).toHaveLength(3);
  });

  it('stays in the chat if it is on its way, expired, or the edit is of progress alone', async () => {
    const { message } = await delivered();
    await edit(message, card(['fetching', 'expired', 'there']));
    await house.platform.edit(message, origin, without, 'progress');
    expect(left()).toHaveLength(3);
    expect(Object.keys(linksOf(message))).toEqual(['Take 1', 'Take 3']);
  });
});

describe('what is stored of the clips of a set', () => {
  it('has neither name nor address of an expired one, which can still be deleted', async () => {
    const { message } = await delivered();
    const expired = card(['there', 'expired', 'fetching']);
    for (let times = 0; times < 2; times += 1) await house.platform.expire(message, expired);
    const stored = await storedIn(house.store);
    expect(stored).not.toContain(nameOf(2));
    expect(stored).toContain(nameOf(1));
    expect(stored).toContain(nameOf(3));
    await edit(message, expired);
    expect(left()).toHaveLength(3);
    await edit(message, card(['there', 'deleted', 'fetching']));
    expect(left()).toEqual([nameOf(1), nameOf(3)]);
    await house.platform.expire(message, { kind: 'removed', reason: 'expired' });
    expect(await storedIn(house.store)).not.toMatch(/red-fox-7f3a/u);
  });

  it('goes with the card, and so do all its files', async () => {
    const { message } = await delivered();
    slack.fail('files.delete', 'ratelimited');
    const retract = () =>
      house.platform.retract(
        message,
        { ...origin, interaction: '', address: {} },
        { kind: 'removed', reason: 'deleted' },
      );
    await expect(retract()).rejects.toMatchObject({ retryable: true });
    await until(retract);
    expect(left()).toEqual([]);
    expect(seen().map(plainOf)).toEqual(Array.from({ length: 4 }, () => 'This clip was deleted.'));
    expect(await storedIn(house.store)).not.toMatch(/red.fox/u);
  });
});

/** Most blocks of a message, and characters of all of them together. */
const MAX_BLOCKS = 50;
const MAX_CHARACTERS = 12_000;

describe('the card of a large set', () => {
  it.each([
    ['4 takes', { ...TAKES, of: 4 }],
    ['8 compared clips', { ...COMPARISON, of: 8 }],
  ] as const)('is within the limits of a message with %s of long prompts', async (_what, set) => {
    const request = { prompt: `${'a red fox '.repeat(159)}in the snow` };
    const members = Array.from({ length: set.of }, (_, index): SetMember => {
      const { view, ...rest } = member(set, index + 1, 'there');
      const { task, ...shown } = view;
      const link = { url: `https://dailies.example/media/clip?${'x'.repeat(200)}`, expiresAtMs: 1 };
      const handover = { kind: 'fitted', bytes: 2e9, limitBytes: 1e9, link } as const;
      return { ...rest, view: { ...shown, handover, task: { ...task, request: { ...task.request, ...request } } } };
    });
    const clipsThere = members.map((_, index) => index + 1);
    const comparison = {
      stage: 'revealed',
      ended: set.of,
      voters: 3,
      revealsAtMs: null,
      tally: members.map(() => 1),
      clips: clipsThere,
      settings: { seconds: 6 },
    } as const;
    const view = setView(set, members, set.kind === 'comparison' ? { comparison } : {});
    const message = await open(view);
    for (const at of clipsThere) await attach(message, at, view);
    const { blocks } = slack.message(message.message);
    expect(Object.keys(linksOf(message))).toHaveLength(set.of);
    expect(blocks.length).toBeLessThanOrEqual(MAX_BLOCKS);
    expect(JSON.stringify(blocks).length).toBeLessThanOrEqual(MAX_CHARACTERS);
  });
});
